#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A growing buffer of output bytes with one owner.
///
/// Not a `Data` and not an `[UInt8]`: appending is a bounds test and a `memcpy`, nothing is zeroed first, and growing
/// is the only allocation.
@safe package struct ByteBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Bytes in use.
    package private(set) var count = 0

    /// A buffer that holds `capacity` bytes before it first grows.
    package init(capacity: Int) {
        self.capacity = max(capacity, 64)
        // SAFETY: freed in deinit; `base` never leaves the struct but within a closure's scope.
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Forgets the contents and keeps the memory.
    @inline(__always)
    package mutating func removeAll() { count = 0 }

    /// Has the last line, which begins at an offset and ends with a line feed, be as long as the next multiple of a length, by
    /// blanks before its end.
    mutating func padLine(from start: Int, to multiple: Int) {
        let blanks = (multiple - (count - start) % multiple) % multiple
        guard blanks > 0 else { return }
        count -= 1
        for _ in 0..<blanks { append(UInt8(ascii: " ")) }
        append(10)
    }

    /// Makes room for `more` bytes. O(1), amortised.
    @inline(__always)
    package mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let newCapacity = max(capacity * 2, count + more)
        // SAFETY: `count` bytes of the old block are initialized and fit in the larger new one.
        let newBase = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe memcpy(newBase, base, count)
        unsafe base.deallocate()
        unsafe base = newBase
        capacity = newCapacity
    }

    /// Appends one byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        // SAFETY: `reserve` made room for it.
        unsafe base[count] = byte
        count += 1
    }

    /// Appends `length` bytes from `source`, which must not lie in this buffer.
    @inline(__always)
    package mutating func append(_ source: UnsafePointer<UInt8>, count length: Int) {
        reserve(length)
        // SAFETY: `reserve` made room; the caller vouches for `length` readable bytes at `source`.
        unsafe memcpy(base + count, source, length)
        count += length
    }

    /// How many bytes `append(short:)` copies at a time.
    static let shortStep = 16

    /// Appends `length` bytes from `source`, sixteen at a time: quicker than a call of `memcpy` for a field or a
    /// region's columns.
    ///
    /// - Precondition: up to fifteen bytes after the source's end are readable.
    @inline(__always)
    mutating func append(short source: UnsafePointer<UInt8>, count length: Int) {
        reserve(length + Self.shortStep)
        unsafe put(source, length)
    }

    /// Appends two such sources, with a byte between them.
    @inline(__always)
    mutating func append(
        short first: UnsafePointer<UInt8>, count firstLength: Int, _ byte: UInt8,
        short second: UnsafePointer<UInt8>, count secondLength: Int
    ) {
        reserve(firstLength + 1 + secondLength + Self.shortStep)
        unsafe put(first, firstLength)
        unsafe base[count] = byte
        count += 1
        unsafe put(second, secondLength)
    }

    /// Copies `length` bytes to the end, where there is room for them and a whole step.
    @inline(__always)
    private mutating func put(_ source: UnsafePointer<UInt8>, _ length: Int) {
        // SAFETY: there is room for the last step to run over, and the caller vouches for the source.
        let target = unsafe UnsafeMutableRawPointer(base + count)
        let start = unsafe UnsafeRawPointer(source)
        var done = 0
        while done < length {
            let step = unsafe start.loadUnaligned(fromByteOffset: done, as: SIMD16<UInt8>.self)
            unsafe target.storeBytes(of: step, toByteOffset: done, as: SIMD16<UInt8>.self)
            done += Self.shortStep
        }
        count += length
    }

    /// Appends the bytes.
    @inline(__always)
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        unsafe append(start, count: bytes.count)
    }

    /// Appends the bytes.
    package mutating func append(bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe append($0) } }

    /// Appends a literal.
    @inline(__always)
    package mutating func append(_ literal: StaticString) {
        // SAFETY: only literals of no or several scalars arrive here, and those have a pointer to static storage.
        unsafe append(literal.utf8Start, count: literal.utf8CodeUnitCount)
    }

    /// Appends the UTF-8 of a string.
    package mutating func append(text: String) {
        var text = text
        // SAFETY: the bytes are the string's, for the time of the call.
        text.withUTF8 { bytes in unsafe append(bytes) }
    }

    /// Appends an integer in decimal.
    package mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        append(digits: value.magnitude, atLeast: 1)
    }

    /// Appends `value` in decimal, padded with zeros to `width` digits.
    package mutating func append(digits value: UInt, atLeast width: Int) {
        if value >= 100_000_000 {
            // In turn the digits above the last eight, and those.
            append(digits: value / 100_000_000, atLeast: max(1, width - 8))
            return append(digits: value % 100_000_000, atLeast: 8)
        }
        for _ in 8..<max(8, width) { append(UInt8(ascii: "0")) }
        let digits = Self.eightDigits(UInt64(value))
        let zeros = (digits ^ 0x3030_3030_3030_3030).trailingZeroBitCount / 8
        let length = max(8 - zeros, min(width, 8))
        append(low: digits &>> UInt64(64 - 8 * length), count: length)
    }

    /// The decimal digits of a number below 10⁸ as ASCII, the first one lowest.
    @inline(__always)
    private static func eightDigits(_ value: UInt64) -> UInt64 {
        // Halves of four digits, quarters of two, and single ones, each in as many bits of the word. Multiplied and
        // shifted, each is divided by 100 or 10; see the test that tries all four digits.
        let fours = value / 10_000 | (value % 10_000) &<< 32
        let hundreds = (fours &* 10_486) &>> 20 & 0x7f_0000_007f
        let twos = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = (twos &* 103) &>> 10 & 0x000f_000f_000f_000f
        return tens | (twos &- tens &* 10) &<< 8 | 0x3030_3030_3030_3030
    }

    /// Appends the lowest `length` (at most 8) bytes of a word.
    @inline(__always)
    private mutating func append(low word: UInt64, count length: Int) {
        reserve(8)
        // SAFETY: `reserve` made room for all eight bytes.
        unsafe UnsafeMutableRawPointer(base + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        count += length
    }

    /// Appends a number below 100 as two digits.
    @inline(__always)
    mutating func append(twoDigits value: UInt) {
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10))
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10))
    }

    /// Appends an angle in degrees, below 1000 in magnitude, with exactly five decimals. Never prints `-0.00000`.
    package mutating func append(degrees value: Double) {
        let scaled = Int((value * 100_000).rounded()), magnitude = UInt64(scaled.magnitude)
        precondition(magnitude < 100_000_000, "an angle below 1000 degrees")
        if scaled < 0 { append(UInt8(ascii: "-")) }
        let digits = Self.eightDigits(magnitude)
        let zeros = magnitude < 1_000_000 ? 2 : magnitude < 10_000_000 ? 1 : 0
        append(low: digits &>> UInt64(8 * zeros), count: 3 - zeros)
        append(UInt8(ascii: "."))
        append(low: digits &>> 24, count: 5)
    }

    /// The contents, for the time of the call.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: the first `count` bytes are initialized; the buffer outlives the call.
        unsafe try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// The contents, until the buffer is changed; up to fifteen bytes behind them are readable after `reserve`.
    var start: UnsafePointer<UInt8> {
        // SAFETY: whoever takes it sees to it that the buffer stays as it is.
        unsafe UnsafePointer(base)
    }

    /// Removes the first byte.
    mutating func removeFirst() {
        precondition(count > 0, "a byte to remove")
        // SAFETY: all of it lies within the initialized bytes.
        unsafe memmove(base, base + 1, count - 1)
        count -= 1
    }

    /// The contents as an array, for tests and small things.
    package var array: [UInt8] { unsafe withBytes { bytes in unsafe Array(bytes) } }
}
