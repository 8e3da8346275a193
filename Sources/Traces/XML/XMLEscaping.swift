extension ByteBuffer {
    /// Appends text as XML character data. What XML cannot hold (control characters, U+FFFE, U+FFFF, bytes that are no
    /// UTF-8) becomes U+FFFD.
    mutating func append(xml field: some Collection<UInt8>) {
        for scalar in String(decoding: field, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "\t", "\n", "\r": append(UInt8(ascii: " "))
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": append(text: "\u{FFFD}")
            default: append(text: String(scalar))
            }
        }
    }
}
