internal import CSimdjson
import Hereabouts
import TextCoding

/// A GeoJSON geometry that is the text of a field: `{"type":"Point","coordinates":[16.37,48.21]}`.
enum GeoJSONText {
    private static let paths = ["type", "coordinates"].map { [Array($0.utf8)] }
    /// The longest text that is read, in bytes.
    private static let longest = 4096

    /// The position of a Point; nil for any other text.
    static func point(_ text: UnsafeBufferPointer<UInt8>) -> Coordinate? {
        guard text.count <= longest else { return nil }
        let parser = JSONParser(paths: paths)
        let padded = unsafe Array(text) + [UInt8](repeating: 0, count: InputBuffer.padding)
        return unsafe padded.withUnsafeBufferPointer { padded in
            let text = unsafe UnsafeBufferPointer(rebasing: padded[..<text.count])
            var token = 0
            guard let base = text.baseAddress, unsafe parser.tokenize(text) == json_ok,
                parser.read(&token, limit: text.count, isAlone: true) == json_ok,
                unsafe JSONString.content(parser[0].bytes(base)) == Array("Point".utf8)
            else { return nil }
            return unsafe coordinate(parser[1].bytes(base))
        }
    }

    /// The position of an array of two numbers or more.
    private static func coordinate(_ array: UnsafeBufferPointer<UInt8>) -> Coordinate? {
        guard unsafe array.first == UInt8(ascii: "["), unsafe array.last == UInt8(ascii: "]") else { return nil }
        let numbers = unsafe array[1..<array.count - 1].split(separator: UInt8(ascii: ","))
        guard unsafe (2...4).contains(numbers.count) else { return nil }
        let values = unsafe numbers.map { unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: $0)) }
        guard values.allSatisfy({ $0 != nil }), let longitude = values[0], let latitude = values[1] else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }
}
