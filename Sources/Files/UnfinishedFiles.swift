import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The paths of all existing temporary files, kept where a signal handler can read them.
package enum UnfinishedFiles {
    /// More than any run has at once. A file without a slot would survive a signal.
    private static let slotCount = 8

    // SAFETY: allocated once, by `prepare` or the first file, and never freed. A slot is the address of a NUL-terminated
    // path, or 0. Paths are leaked on purpose: a handler may be reading them.
    private nonisolated(unsafe) static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: slotCount)
        for slot in 0..<slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()

    /// A file is created in one step.
    private static let gate = SignalGate()

    /// Allocates the slots. Must be called before a handler can call `removeAll`: a handler cannot allocate.
    package static func prepare() {
        _ = unsafe slots
        gate.prepare()
    }

    /// Creates a file and notes its path, as one step for every signal: `removeAll` waits for it.
    ///
    /// - Parameter open: creates the file; returns its descriptor, or a negative number and `errno`.
    /// - Returns: the descriptor, and the slot to give to `remove`.
    static func create(_ path: String, _ open: () -> Int32) -> (descriptor: Int32, slot: Int?) {
        gate.step {
            let descriptor = open()
            return (descriptor, descriptor < 0 ? nil : add(path))
        }
    }

    private static func add(_ path: String) -> Int? {
        guard let copy = unsafe strdup(path) else { return nil }
        for slot in 0..<slotCount {
            let address = UInt(bitPattern: copy)
            if unsafe slots[slot].compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged {
                return slot
            }
        }
        unsafe free(copy)
        return nil
    }

    static func remove(_ slot: Int?) {
        if let slot { unsafe slots[slot].store(0, ordering: .releasing) }
    }

    /// Removes the files; for a process that is about to end, as no file can be created afterwards. Async-signal-safe.
    package static func removeAll() {
        gate.close()
        for slot in 0..<slotCount {
            let address = unsafe slots[slot].load(ordering: .acquiring)
            if let path = unsafe UnsafePointer<CChar>(bitPattern: address) { _ = unsafe unlink(path) }
        }
    }
}
