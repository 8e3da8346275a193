/// Text in UTF-16 as UTF-8, piece by piece. What is no UTF-16 becomes U+FFFD.
struct UTF16Decoder {
    enum ByteOrder {
        case littleEndian, bigEndian
    }

    private let order: ByteOrder
    /// The bytes that are not yet decoded, from `at` on.
    private var bytes: [UInt8] = []
    private var at = 0
    /// Whether no bytes follow those that were appended.
    var isAtEnd = false

    init(_ order: ByteOrder) { self.order = order }

    /// The order of bytes that a text's first two say; nil where they are no byte-order mark.
    static func order(_ first: UInt8, _ second: UInt8) -> ByteOrder? {
        switch (first, second) {
        case (0xff, 0xfe): .littleEndian
        case (0xfe, 0xff): .bigEndian
        default: nil
        }
    }

    /// Takes the next bytes of the text; none at its end.
    mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        bytes.removeFirst(at)
        at = 0
        // SAFETY: the caller vouches for the bytes.
        unsafe bytes.append(contentsOf: more)
        if more.isEmpty { isAtEnd = true }
    }

    /// Writes what can be decoded, at most `room` bytes, which is at least 4.
    ///
    /// - Returns: how many bytes were written; 0 where more must be appended first, and at the end.
    mutating func decode(into destination: UnsafeMutablePointer<UInt8>, room: Int) -> Int {
        var written = 0
        while written + 4 <= room, let scalar = next() {
            for byte in UTF8.encode(scalar)! {
                // SAFETY: a scalar has at most 4 bytes.
                unsafe destination[written] = byte
                written += 1
            }
        }
        return written
    }

    private func unit(_ offset: Int) -> UInt16? {
        guard offset + 1 < bytes.count else { return nil }
        let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
        return order == .littleEndian ? second << 8 | first : first << 8 | second
    }

    private mutating func next() -> Unicode.Scalar? {
        guard let unit = unit(at) else {
            // Half a unit at the end.
            guard isAtEnd, at < bytes.count else { return nil }
            at = bytes.count
            return "\u{fffd}"
        }
        if let scalar = Unicode.Scalar(unit) {
            at += 2
            return scalar
        }
        guard UTF16.isLeadSurrogate(unit) else {
            at += 2
            return "\u{fffd}"
        }
        let trail = self.unit(at + 2)
        if trail == nil && !isAtEnd { return nil }
        guard let trail, UTF16.isTrailSurrogate(trail) else {
            at += 2
            return "\u{fffd}"
        }
        at += 4
        return Unicode.Scalar(0x1_0000 + (UInt32(unit) & 0x3ff) << 10 + UInt32(trail) & 0x3ff)
    }
}
