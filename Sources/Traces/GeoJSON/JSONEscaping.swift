extension ByteBuffer {
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

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
