extension ByteBuffer {
    /// Appends a CSV field, quoted where RFC 4180 asks for it. `prefix` holds nothing to be quoted.
    mutating func append(csv field: UnsafeBufferPointer<UInt8>, after prefix: StaticString = "") {
        // SAFETY: here and below, the caller vouches for the field's bytes.
        let needsQuotes = unsafe field.contains { byte in
            byte == UInt8(ascii: ",") || byte == CSVQuote.byte || byte == 10 || byte == 13
        }
        guard needsQuotes else {
            append(prefix)
            return unsafe append(field)
        }
        append(CSVQuote.byte)
        append(prefix)
        unsafe field.forEach { byte in
            if byte == CSVQuote.byte { append(byte) }
            append(byte)
        }
        append(CSVQuote.byte)
    }

    /// Appends a CSV field, quoted where RFC 4180 asks for it.
    package mutating func append(csv field: [UInt8]) {
        unsafe field.withUnsafeBufferPointer { bytes in unsafe append(csv: bytes) }
    }
}
