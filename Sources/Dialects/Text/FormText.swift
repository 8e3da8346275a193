/// Parameters of a query or a form (WHATWG URL, "application/x-www-form-urlencoded").
package struct FormText {
    private var values: [String: [UInt8]] = [:]
    private var repeated: Set<String> = []

    /// - Throws: `ExceededLimit.parameters`, `ExceededLimit.body`.
    package init(_ text: some Collection<UInt8>) throws(ExceededLimit) {
        for (name, value) in try Self.pairs(text) where values.updateValue(value, forKey: name) != nil {
            repeated.insert(name)
        }
    }

    /// The parameters in their order, repeated ones too.
    ///
    /// - Throws: `ExceededLimit.parameters`, `ExceededLimit.body`.
    package static func pairs(
        _ text: some Collection<UInt8>
    ) throws(ExceededLimit) -> [(name: String, value: [UInt8])] {
        guard text.count <= DialectLimits.bodyByteCount else { throw .body }
        let parts = text.split(
            separator: UInt8(ascii: "&"), maxSplits: DialectLimits.parameterCount, omittingEmptySubsequences: true)
        guard parts.count <= DialectLimits.parameterCount else { throw .parameters }
        return parts.map { part in
            let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (String(decoding: decoded(sides[0]), as: UTF8.self), sides.count > 1 ? decoded(sides[1]) : [])
        }
    }

    /// The value of the first of some names that is there; nil for none, or one that is empty.
    ///
    /// - Throws: `Unusable.duplicateMember` where it stands there twice.
    package subscript(names: String...) -> [UInt8]? {
        get throws(Unusable) {
            guard let name = names.first(where: { values[$0] != nil }), let value = values[name] else { return nil }
            if repeated.contains(name) { throw .duplicateMember }
            return value.isEmpty ? nil : value
        }
    }

    /// Percent signs and plus signs decoded; a percent sign before other than two digits stays.
    private static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                result.append(0x20)
            } else if byte == UInt8(ascii: "%"), rest.count >= 2, let high = digit(rest[rest.startIndex]),
                let low = digit(rest[rest.startIndex + 1])
            {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
        default: nil
        }
    }
}

extension MessageText {
    /// Appends text for a query: all but unreserved characters as percent signs and digits.
    mutating func append(query text: String) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            let isUnreserved =
                byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 || "-._~".utf8.contains(byte)
            append(isUnreserved ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        }
    }
}
