import TextCoding

extension ByteBuffer {
    /// Appends text as a JSON string. Bytes that are no UTF-8 become U+FFFD. `prefix` holds nothing to be escaped.
    mutating func append(json field: some Collection<UInt8>, after prefix: StaticString = "") {
        append(UInt8(ascii: "\""))
        append(prefix)
        JSONString.escape(field) { append($0) }
        append(UInt8(ascii: "\""))
    }
}
