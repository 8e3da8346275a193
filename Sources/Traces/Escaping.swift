extension ByteBuffer {
    /// Appends a CSV field, quoted where RFC 4180 asks for it. `prefix` holds nothing to be quoted.
    mutating func append(csv field: UnsafeBufferPointer<UInt8>, after prefix: StaticString = "") {
        // SAFETY: here and below, the caller vouches for the field's bytes.
        let needsQuotes = unsafe field.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 10 || byte == 13
        }
        guard needsQuotes else {
            append(prefix)
            return unsafe append(field)
        }
        append(UInt8(ascii: "\""))
        append(prefix)
        unsafe field.forEach { byte in
            if byte == UInt8(ascii: "\"") { append(byte) }
            append(byte)
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a CSV field, quoted where RFC 4180 asks for it.
    mutating func append(csv field: [UInt8]) {
        unsafe field.withUnsafeBufferPointer { bytes in unsafe append(csv: bytes) }
    }

    /// Appends text as a JSON string. Bytes that are no UTF-8 become U+FFFD. `prefix` holds nothing to be escaped.
    mutating func append(json field: some Collection<UInt8>, after prefix: StaticString = "") {
        append(UInt8(ascii: "\""))
        append(prefix)
        for byte in String(decoding: field, as: UTF8.self).utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                append("\\u00")
                append(Self.hexDigit(byte >> 4))
                append(Self.hexDigit(byte & 15))
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

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

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
