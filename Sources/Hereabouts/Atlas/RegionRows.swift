/// How a region is written as text, the same as the command writes it.
public enum RowFormat: Hashable, Sendable {
    /// `latitude,longitude,horizontal_accuracy,region,country,place`, with quotes where RFC 4180 asks for them.
    case csv
    /// The same as a JSON object (RFC 8259).
    case json

    /// The names of the columns, for a table's first line.
    public static let csvHeader = "latitude,longitude,horizontal_accuracy,region,country,place"
}

/// Writes regions as text, each made once and copied from then on.
///
/// ```swift
/// var rows = RegionRows(of: atlas, as: .csv)
/// for region in try atlas.regions(at: positions) {
///     try rows.append(region, to: &bytes)
///     bytes.append(UInt8(ascii: "\n"))
/// }
/// ```
///
/// It takes four bytes for each region of the atlas, and some seventy for each that was written.
public struct RegionRows: Sendable {
    private let atlas: Atlas
    private let format: RowFormat
    /// Where a region's text begins in `texts`, and one; 0 where it was not made.
    private var starts: [UInt32]
    /// Each text behind its length in two bytes.
    private var texts: [UInt8] = []

    /// Texts beyond so many bytes are made each time: the largest atlas has less.
    private static let mostBytes = 1 << 30

    /// - Parameters:
    ///   - atlas: the regions.
    ///   - format: how they are written.
    public init(of atlas: Atlas, as format: RowFormat) {
        (self.atlas, self.format) = (atlas, format)
        starts = [UInt32](repeating: 0, count: atlas.regionCount)
    }

    /// Appends a region's row, without a line's end; for `Region.invalid` one without values.
    ///
    /// - Throws: `LookupError`: a region of another atlas, or damage in an atlas that was not validated as a whole.
    public mutating func append(_ region: Region, to bytes: inout [UInt8]) throws(LookupError) {
        guard region != .invalid else { return bytes.append(contentsOf: format.blank) }
        let index = try atlas.validIndex(of: region)
        if starts[index] == 0 { try make(region, index) }
        let start = Int(starts[index]) - 1
        guard start >= 0 else { return try atlas.reducedLocation(of: region).append(to: &bytes, as: format) }
        let length = Int(texts[start]) | Int(texts[start + 1]) << 8
        unsafe texts.withUnsafeBufferPointer { texts in
            // SAFETY: the text is as long as its length says.
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: texts[start + 2..<start + 2 + length]))
        }
    }

    private mutating func make(_ region: Region, _ index: Int) throws(LookupError) {
        guard texts.count < Self.mostBytes else { return }
        var text: [UInt8] = []
        try atlas.reducedLocation(of: region).append(to: &text, as: format)
        guard text.count <= Int(UInt16.max) else { return }
        starts[index] = UInt32(texts.count) + 1
        texts.append(littleEndian: UInt16(text.count))
        texts += text
    }
}

extension ReducedLocation {
    /// Appends it as text, without a line's end: the center with five decimals, the accuracy in whole meters, rounded up so that
    /// the circle still holds the region.
    public func append(to bytes: inout [UInt8], as format: RowFormat) {
        func begin(_ name: StaticString, _ separator: Unicode.Scalar = ",") {
            if format == .csv {
                if separator == "," { bytes.append(UInt8(ascii: ",")) }
                return
            }
            bytes.append(UInt8(ascii: separator))
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: "\(name)".utf8)
            bytes.append(contentsOf: "\":".utf8)
        }
        begin("latitude", "{")
        bytes.append(degrees: coordinate.latitude)
        begin("longitude")
        bytes.append(degrees: coordinate.longitude)
        begin("horizontal_accuracy")
        bytes.append(contentsOf: String(Int(clamping: Int64(horizontalAccuracy.rounded(.up)))).utf8)
        begin("region")
        bytes.append(text: region.description, as: format)
        begin("country")
        bytes.append(text: country.code, as: format)
        begin("place")
        if let place {
            bytes.append(text: place.description, as: format)
        } else if format == .json {
            bytes.append(contentsOf: "null".utf8)
        }
        if format == .json { bytes.append(UInt8(ascii: "}")) }
    }
}

extension RowFormat {
    /// What stands for a position that has no region.
    fileprivate var blank: [UInt8] {
        switch self {
        case .csv: Array(",,,,,".utf8)
        case .json:
            Array(
                #"{"latitude":null,"longitude":null,"horizontal_accuracy":null,"region":null,"country":null,"place":null}"#
                    .utf8)
        }
    }
}

extension [UInt8] {
    /// Appends an angle with five decimals; never `-0.00000`.
    fileprivate mutating func append(degrees value: Double) {
        let steps = Int64((value * 100_000).rounded())
        let digits = String(steps.magnitude)
        if steps < 0 { append(UInt8(ascii: "-")) }
        let whole = Swift.max(0, digits.utf8.count - 5)
        if whole == 0 { append(UInt8(ascii: "0")) }
        append(contentsOf: digits.utf8.prefix(whole))
        append(UInt8(ascii: "."))
        for _ in digits.utf8.count..<Swift.max(5, digits.utf8.count) { append(UInt8(ascii: "0")) }
        append(contentsOf: digits.utf8.dropFirst(whole))
    }

    fileprivate mutating func append(text: String, as format: RowFormat) {
        switch format {
        case .csv:
            let quote = UInt8(ascii: "\"")
            guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == quote || $0 == 10 || $0 == 13 }) else {
                return append(contentsOf: text.utf8)
            }
            append(quote)
            for byte in text.utf8 { append(contentsOf: byte == quote ? [quote, quote] : [byte]) }
            append(quote)
        case .json:
            append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(contentsOf: [UInt8(ascii: "\\"), byte])
                case 0..<32:
                    let digits = String(byte, radix: 16)
                    append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(digits)".utf8)
                default: append(byte)
                }
            }
            append(UInt8(ascii: "\""))
        }
    }
}
