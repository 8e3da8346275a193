import TextCoding

/// Cuts JSON into the values within it, as they are written. What is not well formed gives some pieces or other.
enum JSONPieces {
    /// The elements of an array; nil for another value, and `most` + 1 where there are more.
    static func elements(of array: some Collection<UInt8>, most: Int) -> [ArraySlice<UInt8>]? {
        let array = Array(array)
        guard array.first == UInt8(ascii: "[") else { return nil }
        return cut(array, most: most)
    }

    /// The members of an object in their order, repeated ones too; nil for another value, and `most` + 1 where there are more.
    static func members(
        of object: some Collection<UInt8>, most: Int
    ) -> [(name: String, value: ArraySlice<UInt8>)]? {
        let object = Array(object)
        guard object.first == UInt8(ascii: "{") else { return nil }
        return cut(object, most: most).compactMap { member in
            var end = member.startIndex + 1
            while end < member.endIndex, member[end] != JSONString.quote {
                end += member[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard member.first == JSONString.quote, end < member.endIndex,
                let colon = member.dropFirst(end - member.startIndex).firstIndex(of: UInt8(ascii: ":"))
            else {
                return nil
            }
            let name = text(member[member.startIndex...end]) ?? ""
            return (name, member[(colon + 1)...].drop { isBlank($0) })
        }
    }

    /// The text of a string; nil for anything else.
    static func text(_ value: ArraySlice<UInt8>) -> String? {
        guard value.count >= 2, value.first == JSONString.quote, value.last == JSONString.quote else { return nil }
        return unsafe value.withUnsafeBufferPointer {
            unsafe String(decoding: JSONString.content($0), as: UTF8.self)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 10 || byte == 13 }

    /// What stands between the outermost brackets and commas, without blanks around it.
    private static func cut(_ text: [UInt8], most: Int) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var depth = 0, start: Int?, end = 0, isInString = false, isEscaped = false
        for (index, byte) in text.enumerated() {
            if isInString {
                isInString = isEscaped || byte != JSONString.quote
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                end = index + 1
                continue
            }
            if isBlank(byte) { continue }
            let isOpening = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
            if depth == 1 && byte == UInt8(ascii: ",") || depth == 0 && !isOpening {
                if let from = start { pieces.append(text[from..<end]) }
                start = nil
                if pieces.count > most { return pieces }
                continue
            }
            if depth >= 1 {
                if start == nil { start = index }
                end = index + 1
            }
            if isOpening { depth += 1 }
            isInString = byte == JSONString.quote
        }
        return pieces
    }
}
