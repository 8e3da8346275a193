internal import CSimdjson
import TextCoding

/// Values that stand one after the other, or as the elements of an array whose opening bracket is gone, over any number of
/// lines. Each byte is scanned once. What may stand between values is decided here, where all bytes are seen in order.
struct JSONFraming: Framing {
    private var splitter = json_splitter()
    private var scanned = 0
    /// Whether what follows the last record end can belong to no record.
    private(set) var isBroken = false

    init(isInArray: Bool) {
        splitter.depth = isInArray ? 1 : 0
        splitter.element_depth = splitter.depth
        splitter.before = json_before_opening
    }

    /// Whether nothing is open.
    var isComplete: Bool { splitter.depth == 0 && !splitter.is_in_string && !splitter.is_in_element && !isBroken }

    mutating func lastRecordEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var end: Int?
        while true {
            // SAFETY: the splitter reads up to the count.
            switch unsafe hereabouts_json_split(&splitter, base, bytes.count, &scanned) {
            case json_split_more: return end
            case json_split_end: end = scanned
            case json_split_malformed:
                isBroken = true
                return scanned
            default: break
            }
        }
    }

    mutating func drop(_ count: Int) { scanned -= count }
}

/// The places of the values in a text: of those that stand one after the other, or of the elements of an array.
struct JSONValues {
    private var splitter = json_splitter()
    private var at = 0
    private var start = 0
    /// Whether a value has begun.
    private(set) var hasBegun = false

    /// - Parameter isOpen: whether the array's opening bracket is gone.
    init(isInArray: Bool, isOpen: Bool) {
        splitter.element_depth = isInArray ? 1 : 0
        splitter.depth = isOpen ? splitter.element_depth : 0
    }

    /// The next whole value; nil where there is none, or the text is malformed.
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard let base = bytes.baseAddress else { return nil }
        while true {
            // SAFETY: the splitter reads up to the count.
            switch unsafe hereabouts_json_split(&splitter, base, bytes.count, &at) {
            case json_split_start: (hasBegun, start) = (true, at)
            case json_split_end: return start..<at
            default: return nil
            }
        }
    }
}

/// What kind of JSON an input is, by its beginning.
enum JSONKind {
    /// One record on each line.
    case lines
    /// Values that may take several lines.
    case values
    /// An array of records.
    case array
    case geoJSON

    /// Types of GeoJSON (RFC 7946, section 1.4).
    private static let types: Set = [
        "FeatureCollection", "Feature", "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon",
        "MultiPolygon", "GeometryCollection",
    ]

    /// The kind of an input that begins so; nil for one that is no JSON.
    ///
    /// - Parameter needsMore: set where more bytes could tell more.
    static func detect(_ bytes: UnsafeBufferPointer<UInt8>, needsMore: inout Bool) -> JSONKind? {
        var at = 0
        // SAFETY: indices are tested against the count.
        var isSequence = false
        while at < bytes.count, unsafe isBlank(bytes[at]) {
            if unsafe bytes[at] == 0x1e { isSequence = true }
            at += 1
        }
        needsMore = at == bytes.count
        guard at < bytes.count else { return nil }
        if unsafe bytes[at] == UInt8(ascii: "[") { return .array }
        guard unsafe bytes[at] == UInt8(ascii: "{") else { return nil }
        var scan = Scan()
        while at < bytes.count {
            if let kind = unsafe scan.take(bytes[at]) { return kind == .lines && isSequence ? .values : kind }
            at += 1
        }
        needsMore = true
        return scan.hasLineEnd || isSequence ? .values : .lines
    }

    /// Also a record separator (RFC 7464).
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 9 || byte == 10 || byte == 13 || byte == 0x1e
    }

    /// Looks for `"type"` and `"features"` among the members of an object.
    private struct Scan {
        private var depth = 0
        private var isInString = false, isEscaped = false
        /// The last string at the top, and the name before the colon.
        private var text: [UInt8] = [], name: [UInt8] = []
        private(set) var hasLineEnd = false
        private var isAtLineStart = false
        private static let longest = 32

        mutating func take(_ byte: UInt8) -> JSONKind? {
            // A first line that breaks off: no string has a line end in it, and no object begins in the first column
            // within another.
            if byte == 10 && isInString || byte == UInt8(ascii: "{") && isAtLineStart { return .lines }
            isAtLineStart = byte == 10
            return isInString ? takeInString(byte) : takeOutside(byte)
        }

        private mutating func takeInString(_ byte: UInt8) -> JSONKind? {
            if byte == JSONString.quote && !isEscaped {
                isInString = false
                let isGeoJSON =
                    depth == 1 && name == Array("type".utf8)
                    && JSONKind.types.contains(String(decoding: text, as: UTF8.self))
                return isGeoJSON ? .geoJSON : nil
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            if depth == 1, text.count < Self.longest { text.append(byte) }
            return nil
        }

        private mutating func takeOutside(_ byte: UInt8) -> JSONKind? {
            switch byte {
            case JSONString.quote:
                isInString = true
                text = []
            case UInt8(ascii: ":"): if depth == 1 { name = text }
            case UInt8(ascii: ","): if depth == 1 { name = [] }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 1, byte == UInt8(ascii: "["), name == Array("features".utf8) { return .geoJSON }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return hasLineEnd ? .values : .lines }
            case 10: hasLineEnd = true
            default: break
            }
            return nil
        }
    }
}
