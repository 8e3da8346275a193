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

    /// Makes room for `more` bytes. O(1), amortised.
    @inline(__always)
    package mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let newCapacity = max(capacity * 2, count + more)
        // SAFETY: `count` bytes of the old block are initialised and fit in the larger new one.
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
        var length = 1
        var limit: UInt = 10
        // No number has more than twenty digits; the limit after that would not fit.
        while length < 20, value >= limit {
            length += 1
            limit = limit &* 10
        }
        length = max(length, width)
        reserve(length)
        var rest = value
        for at in stride(from: count + length - 1, through: count, by: -1) {
            // SAFETY: `reserve` made room for `length` bytes.
            unsafe base[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }

    /// Appends a number below 100 as two digits.
    @inline(__always)
    mutating func append(twoDigits value: UInt) {
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10))
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10))
    }

    /// Appends an angle in degrees, below 1e9 in magnitude, with exactly five decimals. Never prints `-0.00000`.
    package mutating func append(degrees value: Double) {
        let scaled = Int((value * 100_000).rounded())
        if scaled < 0 { append(UInt8(ascii: "-")) }
        append(digits: scaled.magnitude / 100_000, atLeast: 1)
        append(UInt8(ascii: "."))
        append(digits: scaled.magnitude % 100_000, atLeast: 5)
    }

    /// The contents, for the time of the call.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: the first `count` bytes are initialised; the buffer outlives the call.
        unsafe try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// The contents as an array, for tests and small things.
    package var array: [UInt8] { unsafe withBytes { bytes in unsafe Array(bytes) } }
}
