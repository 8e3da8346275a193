internal import CKernels

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
/// try rows.append(atlas.regions(at: positions), to: &bytes)
/// ```
///
/// It takes four bytes for each region of the atlas, and some seventy for each that was written.
public struct RegionRows: Sendable {
    private let atlas: Atlas
    private let format: RowFormat
    /// Where a region's text begins in `texts`, and one; 0 where it was not made.
    private var starts: [UInt32]
    /// Each text behind its length in two bytes, with a line feed.
    private var texts: [UInt8] = []
    private let blank: [UInt8]

    /// - Parameters:
    ///   - atlas: the regions.
    ///   - format: how they are written.
    public init(of atlas: Atlas, as format: RowFormat) {
        (self.atlas, self.format) = (atlas, format)
        starts = [UInt32](repeating: 0, count: atlas.regionCount)
        blank = format.blank + [lineFeed]
    }

    /// Appends a region's row, with a line feed; for `Region.invalid` one without values.
    ///
    /// - Throws: `LookupError`: a region of another atlas, or damage in an atlas that was not validated as a whole.
    public mutating func append(_ region: Region, to bytes: inout [UInt8]) throws(LookupError) {
        try append(CollectionOfOne(region), to: &bytes)
    }

    /// Appends the rows of regions, each with a line feed; for `Region.invalid` one without values. Many at once are faster.
    ///
    /// - Throws: `LookupError`, as for one; some rows may have been appended.
    public mutating func append(_ regions: some Collection<Region>, to bytes: inout [UInt8]) throws(LookupError) {
        var rest = regions[...]
        while !rest.isEmpty {
            let block = Array(rest.prefix(Atlas.blockSize))
            rest = rest.dropFirst(block.count)
            try make(block)
            for region in block where region != .invalid { prefetch(region) }
            for region in block {
                guard region != .invalid else {
                    bytes.append(contentsOf: blank)
                    continue
                }
                // SAFETY: a text is as long as its length says.
                unsafe texts.withUnsafeBufferPointer { texts in
                    let start = Int(starts[Int(region.index)]) - 1
                    let length = unsafe Int(texts[start]) | Int(texts[start + 1]) << 8
                    unsafe bytes.append(
                        contentsOf: UnsafeBufferPointer(rebasing: texts[start + 2..<start + 2 + length]))
                }
            }
        }
    }

    private func prefetch(_ region: Region) {
        unsafe texts.withUnsafeBufferPointer { texts in
            guard let base = texts.baseAddress else { return }
            // SAFETY: a prefetch never faults.
            unsafe prefetch_line(base + Int(starts[Int(region.index)]))
            unsafe prefetch_line(base + Int(starts[Int(region.index)]) + 63)
        }
    }

    /// Makes the texts of regions that have none.
    private mutating func make(_ regions: [Region]) throws(LookupError) {
        // What is far apart is fetched before it is needed.
        unsafe starts.withUnsafeBufferPointer { starts in
            for region in regions where region.index < starts.count {
                // SAFETY: a prefetch never faults.
                unsafe prefetch_line(starts.baseAddress! + Int(region.index))
            }
        }
        var missing: [Region] = []
        for region in regions where region != .invalid {
            guard starts[try atlas.validIndex(of: region)] == 0 else { continue }
            missing.append(region)
            atlas.prefetchLabel(of: region)
        }
        guard !missing.isEmpty else { return }
        do throws(AtlasError) {
            for region in missing { atlas.prefetchName(of: region, itself: false) }
            for region in missing { try atlas.validateTexts(of: region) }
        } catch {
            throw .atlas(error)
        }
        // SAFETY: the buffer is used within the call only.
        unsafe missing.withUnsafeBufferPointer { missing in
            unsafe atlas.withPublished(missing) { region, published in
                guard starts[Int(region.index)] == 0 else { return }
                starts[Int(region.index)] = UInt32(texts.count) + 1
                let start = texts.count
                texts.append(littleEndian: UInt16(0))
                texts.append(row: published, as: format)
                texts.append(lineFeed)
                let length = texts.count - start - 2
                texts[start] = UInt8(truncatingIfNeeded: length)
                texts[start + 1] = UInt8(truncatingIfNeeded: length >> 8)
            }
        }
    }
}

private let lineFeed = UInt8(ascii: "\n")

extension ReducedLocation {
    /// Appends it as text, without a line's end: the center with five decimals, the accuracy in whole meters, rounded up so that
    /// the circle still holds the region.
    public func append(to bytes: inout [UInt8], as format: RowFormat) {
        bytes.append(
            coordinate, horizontalAccuracy, region, country: country.code.utf8,
            place: place.map { ($0.isInside, $0.name.utf8) }, as: format)
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
    fileprivate mutating func append(row published: Atlas.Published, as format: RowFormat) {
        // SAFETY: the atlas keeps the texts while it calls.
        unsafe append(
            published.coordinate, published.horizontalAccuracy, published.region, country: published.country,
            place: published.place.map { unsafe (!published.isNear, $0) }, as: format)
    }

    fileprivate mutating func append<Text: Sequence<UInt8>>(
        _ coordinate: Coordinate, _ accuracy: Double, _ region: RegionID, country: Text,
        place: (isInside: Bool, name: Text)?, as format: RowFormat
    ) {
        append(format == .csv ? "" : "{\"latitude\":")
        append(degrees: coordinate.latitude)
        append(format == .csv ? "," : ",\"longitude\":")
        append(degrees: coordinate.longitude)
        append(format == .csv ? "," : ",\"horizontal_accuracy\":")
        append(digits: UInt64(accuracy.rounded(.up)), atLeast: 1)
        append(format == .csv ? "," : ",\"region\":\"")
        region.forEachByte { append($0) }
        append(format == .csv ? "," : "\",\"country\":")
        append(text: country, after: "", as: format)
        append(format == .csv ? "," : ",\"place\":")
        if let place {
            append(text: place.name, after: place.isInside ? "" : "near ", as: format)
        } else if format == .json {
            append("null")
        }
        if format == .json { append(UInt8(ascii: "}")) }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes in unsafe append(contentsOf: bytes) }
    }

    /// Appends an angle with five decimals; never `-0.00000`.
    private mutating func append(degrees value: Double) {
        let steps = Int64((value * 100_000).rounded())
        if steps < 0 { append(UInt8(ascii: "-")) }
        append(digits: steps.magnitude / 100_000, atLeast: 1)
        append(UInt8(ascii: "."))
        append(digits: steps.magnitude % 100_000, atLeast: 5)
    }

    private mutating func append(digits value: UInt64, atLeast count: Int) {
        if value >= 10 || count > 1 { append(digits: value / 10, atLeast: count - 1) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    private mutating func append(text: some Sequence<UInt8>, after prefix: StaticString, as format: RowFormat) {
        let quote = UInt8(ascii: "\"")
        guard format == .json else {
            let needsQuotes = text.contains { $0 == UInt8(ascii: ",") || $0 == quote || $0 == lineFeed || $0 == 13 }
            if needsQuotes { append(quote) }
            append(prefix)
            for byte in text {
                if byte == quote { append(quote) }
                append(byte)
            }
            if needsQuotes { append(quote) }
            return
        }
        append(quote)
        append(prefix)
        for byte in text {
            if byte == quote || byte == UInt8(ascii: "\\") { append(UInt8(ascii: "\\")) }
            guard byte >= 32 else {
                append("\\u00")
                append((byte >> 4).asHexadecimalDigit)
                append((byte & 15).asHexadecimalDigit)
                continue
            }
            append(byte)
        }
        append(quote)
    }
}
