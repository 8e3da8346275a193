@_spi(_Unicode) import Swift

extension DeviceKey {
    /// The one form of keys that are the same to a reader: without white space and byte-order marks around it, and in
    /// Unicode's canonical composition (NFC). Where the bytes are no UTF-8, blanks and tabs around them are removed alone.
    static func normalized(_ key: [UInt8]) -> [UInt8] {
        let text = String(decoding: key, as: UTF8.self)
        guard text.utf8.elementsEqual(key) else { return Array(trimmed(key[...]) { $0 == 0x20 || $0 == 9 }) }
        let body = trimmed(text.unicodeScalars[...]) { $0.properties.isWhitespace || $0 == "\u{feff}" }
        return String(body)._nfc.flatMap { UTF8.encode($0) ?? UTF8.encodedReplacementCharacter }
    }

    private static func trimmed<Text: BidirectionalCollection>(
        _ text: Text, of isBlank: (Text.Element) -> Bool
    ) -> Text.SubSequence {
        let body = text.drop(while: isBlank)
        let end = body.lastIndex { !isBlank($0) }.map { body.index(after: $0) } ?? body.startIndex
        return body[..<end]
    }
}
