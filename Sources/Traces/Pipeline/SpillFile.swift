import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Trivial values in a temporary file without a name, behind each other, to be read by their numbers.
final class SpillFile<Element: BitwiseCopyable> {
    private var descriptor: Int32 = -1
    /// How many there are.
    private(set) var count = 0

    init() {}

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Appends values.
    ///
    /// - Throws: where there is no place for them. Those before stay.
    func append(_ elements: [Element]) throws(SystemError) {
        if descriptor < 0 { descriptor = try openAnonymousFile() }
        let start = off_t(count * MemoryLayout<Element>.stride)
        guard lseek(descriptor, start, SEEK_SET) == start else { throw .last }
        let descriptor = descriptor
        // SAFETY: elements are trivial; they are read back by this process alone.
        unsafe try elements.withUnsafeBufferPointer { elements throws(SystemError) in
            let bytes = UnsafeRawBufferPointer(elements)
            unsafe try writeAll(bytes.assumingMemoryBound(to: UInt8.self), to: descriptor)
        }
        count += elements.count
    }

    /// The values of these numbers, which were appended.
    ///
    /// - Throws: `TraceError.cannotRead` of the temporary file.
    func read(_ range: Range<Int>) throws(TraceError) -> [Element] {
        let size = MemoryLayout<Element>.stride, descriptor = descriptor
        var failure: SystemError?
        let elements = unsafe [Element](unsafeUninitializedCapacity: range.count) { elements, initialized in
            var done = 0
            while done < range.count * size {
                // SAFETY: the memory has room for what is left.
                let result = unsafe pread(
                    descriptor, UnsafeMutableRawPointer(elements.baseAddress!) + done, range.count * size - done,
                    off_t(range.lowerBound * size + done))
                if result > 0 {
                    done += result
                } else if result == 0 || errno != EINTR {
                    failure = result == 0 ? SystemError(number: EIO) : .last
                    break
                }
            }
            initialized = done / size
        }
        if let failure { throw .cannotRead(file: "a temporary file of this run", failure) }
        return elements
    }
}
