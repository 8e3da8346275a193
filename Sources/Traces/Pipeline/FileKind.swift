/// What a file is that is no table of positions, by its first bytes: the one list of signatures of formats, those that are
/// read and those that are not.
///
/// To read a further kind is to give a `TraceFormat` that recognizes it; the formats are asked before a file is refused for
/// its kind.
package enum FileKind: Hashable, Sendable {
    case gpx, kml, tcx, html, otherXML
    case json, geojson
    case nmea, ais, igc, oziExplorer
    case garminDatabase, trackMaker, lowrance, magellan
    case fit, sqlite, parquet, arrow, shapefile
    case zip, gzip, zstd, bzip2, xz, sevenZip
    case image, video, pdf, oldSpreadsheet
    /// Bytes that no text has.
    case binary

    /// What `recognize` found.
    enum Recognition {
        case known(FileKind)
        /// It may be a table.
        case none
        /// More bytes are needed.
        case undecided
    }

    /// Bytes that a kind of file has at an offset.
    private struct Signature {
        var kind: FileKind
        var bytes: [UInt8]
        var offset = 0
        /// Whether the first byte is none of a text.
        var isBinary = false

        init(_ kind: FileKind, _ text: StaticString, at offset: Int = 0) {
            self.init(
                kind, unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)),
                at: offset)
        }

        init(_ kind: FileKind, _ bytes: [UInt8], at offset: Int = 0) {
            (self.kind, self.bytes, self.offset) = (kind, bytes, offset)
            // The first byte of FIT is its header's length, 12 or 14 (garmin_fit.cc); letters may have these four anywhere.
            isBinary = kind == .fit
        }
    }

    private static let signatures: [Signature] = [
        Signature(.gzip, [0x1f, 0x8b]), Signature(.zstd, [0x28, 0xb5, 0x2f, 0xfd]), Signature(.bzip2, "BZh"),
        Signature(.xz, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), Signature(.sevenZip, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]),
        Signature(.zip, [0x50, 0x4b, 3, 4]), Signature(.zip, [0x50, 0x4b, 5, 6]),
        Signature(.fit, ".FIT", at: 8), Signature(.sqlite, "SQLite format 3"), Signature(.parquet, "PAR1"),
        Signature(.arrow, "ARROW1"), Signature(.arrow, "FEA1"), Signature(.shapefile, [0, 0, 0x27, 0x0a]),
        Signature(.image, [0x89, 0x50, 0x4e, 0x47]), Signature(.image, [0xff, 0xd8, 0xff]), Signature(.image, "GIF8"),
        Signature(.image, [0x49, 0x49, 0x2a, 0]), Signature(.image, [0x4d, 0x4d, 0, 0x2a]),
        Signature(.image, "WEBP", at: 8), Signature(.image, "ftypheic", at: 4), Signature(.image, "ftypavif", at: 4),
        Signature(.video, "ftyp", at: 4), Signature(.pdf, "%PDF-"),
        Signature(.oldSpreadsheet, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
        Signature(.oziExplorer, "OziExplorer"),
        // As gpsbabel's readers verify them: gdb.cc, gtm.cc (version 211), magproto.cc and lowranceusr.cc. Versions 2 and 3
        // of the last have no more than a number from 2 to 3 in 32 bits, which is too little: they go by their extension.
        Signature(.garminDatabase, Array("MsRcf\0".utf8)),
        Signature(.trackMaker, [0xd3, 0] + Array("TrackMaker".utf8)),
        Signature(.magellan, "$PMGNTRK,"), Signature(.magellan, "$PMGNWPL,"), Signature(.magellan, "$PMGNRTE,"),
        Signature(.magellan, "$PMGNFMT,"),
        Signature(.lowrance, [4, 0, 0, 0, 10, 0, 0, 0]), Signature(.lowrance, [5, 0, 0, 0, 10, 0, 0, 0]),
        Signature(.lowrance, [6, 0, 0, 0, 10, 0, 0, 0]),
    ]
    /// Bytes that the longest signature reaches to.
    private static let reach = signatures.map { $0.offset + $0.bytes.count }.max() ?? 0
    /// Bytes in which a text's kind is looked for.
    private static let textReach = 4096

    /// Recognizes a file by its first bytes, all of them where `isAtEnd`. How many there are at a time makes no difference.
    static func recognize(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Recognition {
        // SAFETY: here and below, slices are within the bytes.
        let isComplete = isAtEnd || bytes.count >= textReach
        let head = unsafe bytes.prefix(textReach)
        guard let first = unsafe head.first else { return isAtEnd ? .none : .undecided }
        // Of a text the first line decides: a pipe may send no more before it is answered.
        let isText = isBlank(first) || first >= 0x20 && first < 0x7f
        let start = unsafe isText ? head.prefix { !isLineEnd($0) } : head
        let isEnough = unsafe isText ? start.count < head.count : head.count >= reach
        guard isEnough || isComplete else { return .undecided }
        if let kind = unsafe kind(byStart: start) { return .known(kind) }
        if unsafe head.count >= 2, unsafe UTF16Decoder.order(head[0], head[1]) != nil { return .none }

        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let text = unsafe head.dropFirst(head.starts(with: mark) ? 3 : 0).drop(while: isBlank)
        let line = unsafe text.prefix { !isLineEnd($0) }
        guard unsafe line.count < text.count || isComplete else { return .undecided }
        switch unsafe text.first {
        case UInt8(ascii: "<"): return unsafe xml(Array(text), isComplete: isComplete)
        case UInt8(ascii: "{"): return unsafe .known(json(line))
        case UInt8(ascii: "["):
            // The name of a column may have brackets.
            guard let next = unsafe text.dropFirst().first(where: { !isBlank($0) }) else {
                return isComplete ? .known(.json) : .undecided
            }
            return unsafe "{[]\"-0123456789".utf8.contains(next) ? .known(json(line)) : .none
        case UInt8(ascii: "$"): if unsafe NMEAStart.hasSentence(line) { return .known(.nmea) }
        case UInt8(ascii: "!"): if unsafe isAIS(line) { return .known(.ais) }
        case UInt8(ascii: "A"): if unsafe mayBeIGC(line) { return unsafe igc(text, isComplete: isComplete) }
        default: break
        }
        return unsafe line.contains(0) ? .known(.binary) : .none
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func kind(byStart start: Bytes) -> FileKind? {
        signatures.first { signature in
            unsafe start.dropFirst(signature.offset).starts(with: signature.bytes)
                && (!signature.isBinary || start.first.map { $0 < 0x20 } ?? false)
        }?.kind
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 9, 10, 13].contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & ~0x20) }

    // MARK: Texts

    /// The kind of an XML document, by its root element.
    private static func xml(_ text: [UInt8], isComplete: Bool) -> Recognition {
        var at = 0
        let undecided = isComplete ? Recognition.known(.otherXML) : .undecided
        while let open = text[at...].firstIndex(of: UInt8(ascii: "<")) {
            guard open + 1 < text.count else { return undecided }
            let rest = text[(open + 1)...]
            if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") {
                let isComment = rest.starts(with: Array("!--".utf8))
                let close = Array((isComment ? "-->" : ">").utf8)
                guard let end = rest.indices.first(where: { text[$0...].starts(with: close) }) else { return undecided }
                at = end + close.count
                continue
            }
            let name = rest.prefix { isLetter($0) || "-.:_0123456789".utf8.contains($0) }
            guard open + 1 + name.count < text.count else { return undecided }
            switch name.split(separator: UInt8(ascii: ":")).last.map({ String(decoding: $0, as: UTF8.self) }) {
            case "gpx": return .known(.gpx)
            case "kml": return .known(.kml)
            case "TrainingCenterDatabase": return .known(.tcx)
            case let root? where root.lowercased() == "html": return .known(.html)
            default: return .known(.otherXML)
            }
        }
        return undecided
    }

    /// Which JSON it is, by its first line.
    private static func json(_ line: Bytes) -> FileKind {
        let content = unsafe String(decoding: line, as: UTF8.self)
        let names = ["\"FeatureCollection\"", "\"Feature\"", "\"coordinates\""]
        return names.contains { content.contains($0) } ? .geojson : .json
    }

    /// A message of AIS: `!AIVDM,`.
    private static func isAIS(_ text: Bytes) -> Bool {
        // SAFETY: the slice is within the bytes.
        let name = unsafe text.dropFirst().prefix(while: isLetter)
        return unsafe name.count == 5 && text.dropFirst(6).first == UInt8(ascii: ",")
    }

    /// Whether the first line may be that of a glider's recorder: `AXXX` and what is no table.
    private static func mayBeIGC(_ line: Bytes) -> Bool {
        unsafe line.count >= 4 && line.prefix(4).allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
            && !line.contains { ",;\t|".utf8.contains($0) }
    }

    /// Whether the second line is a header's of such a recorder.
    private static func igc(_ text: Bytes, isComplete: Bool) -> Recognition {
        let rest = unsafe text.drop { !isLineEnd($0) }.drop(while: isBlank)
        guard unsafe rest.count >= 2 else { return isComplete ? .none : .undecided }
        let start = unsafe Array(rest.prefix(2))
        let isHeader = start[0] == UInt8(ascii: "H") && "FOPS".utf8.contains(start[1])
        return isHeader ? .known(.igc) : .none
    }
}

extension FileKind {
    /// What it is, with its article.
    package var description: String {
        switch self {
        case .gpx: "a GPX file"
        case .kml: "a KML file"
        case .tcx: "a TCX file"
        case .html: "a web page"
        case .otherXML: "XML"
        case .json: "JSON"
        case .geojson: "GeoJSON"
        case .nmea: "a receiver's NMEA sentences"
        case .ais: "AIS messages of ships"
        case .igc: "a glider's IGC file"
        case .oziExplorer: "an OziExplorer file"
        case .garminDatabase: "a Garmin database"
        case .trackMaker: "a TrackMaker file"
        case .lowrance: "a Lowrance USR file"
        case .magellan: "a Magellan file"
        case .fit: "a FIT file"
        case .sqlite: "a SQLite database"
        case .parquet: "a Parquet file"
        case .arrow: "an Arrow file"
        case .shapefile: "a shapefile"
        case .zip: "a zip archive (KMZ files and spreadsheets are such)"
        case .gzip: "compressed with gzip"
        case .zstd: "compressed with zstd"
        case .bzip2: "compressed with bzip2"
        case .xz: "compressed with xz"
        case .sevenZip: "a 7z archive"
        case .image: "an image"
        case .video: "a video or photograph"
        case .pdf: "a PDF"
        case .oldSpreadsheet: "an old spreadsheet or document"
        case .binary: "binary data"
        }
    }

    /// What to do with it, or nil.
    package var hint: String? {
        switch self {
        case .gpx, .kml, .tcx, .nmea, .igc, .fit, .oziExplorer, .garminDatabase, .trackMaker, .lowrance, .magellan: nil
        case .ais: "make a table of them first, as with gpsdecode"
        case .json: "make a table of it first, as with jq's @csv"
        case .geojson, .shapefile: "make a table of it first: ogr2ogr -lco GEOMETRY=AS_WKT out.csv FILE"
        case .sqlite: "export the table first: sqlite3 -header -csv FILE 'select …'"
        case .parquet, .arrow: "make a CSV of it first, as with DuckDB"
        case .zip, .sevenZip: "unpack it first"
        case .gzip: "unpack it first: gzip -dc FILE | hereabouts …"
        case .zstd: "unpack it first: zstd -dc FILE | hereabouts …"
        case .bzip2: "unpack it first: bzip2 -dc FILE | hereabouts …"
        case .xz: "unpack it first: xz -dc FILE | hereabouts …"
        case .oldSpreadsheet: "save it as CSV"
        case .image, .video, .pdf, .html, .otherXML, .binary: nil
        }
    }
}
