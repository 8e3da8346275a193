import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension InputReader {
    /// The reference system of lines of two numbers: WGS 84.
    ///
    /// - Throws: `bareReference` where another one is named.
    func bareReference(_ options: CSVOptions) throws(TraceError) -> CoordinateReference? {
        if options.reference?.isNamed == true, !isEmpty { throw .bareReference(file: label) }
        return nil
    }

    /// The reference system of a table whose header was read: the one that options name; or else what the first record says
    /// before its position (`SRID=…;`), or what a file beside it says that has its name and the extension `prj`.
    mutating func declaredReference(
        _ options: CSVOptions, _ position: PositionColumns, _ delimiter: UInt8
    ) throws(TraceError) -> (reference: CoordinateReference?, identifier: SpatialReference) {
        guard let choice = options.reference else { return (nil, .wgs84) }
        if choice.isNamed { return (try choice.reference(declaring: nil, file: label), .any) }
        if position.pairOrder != nil, let number = try firstSpatialReference(position.latitude, delimiter) {
            if number == 4326 { return (nil, .wgs84) }
            return (try choice.reference(declaring: "EPSG:\(number)", file: label), .declared(number))
        }
        return (try choice.reference(declaring: ProjectionFile.contents(beside: label), file: label), .wgs84)
    }

    /// The identifier before the position in the first record; nil where there is none.
    private mutating func firstSpatialReference(_ column: Int, _ delimiter: UInt8) throws(TraceError) -> Int? {
        let line = unsafe try firstLine()
        var start = 0, index = 0
        // SAFETY: all places are within the line.
        while start < line.count {
            let isQuoted = unsafe line[start] == CSVQuote.byte
            let rest = unsafe UnsafeBufferPointer(rebasing: line[(start + (isQuoted ? 1 : 0))...])
            if index == column { return unsafe PairText.spatialReference(rest) }
            let quoted = unsafe isQuoted ? CSVQuote.end(line.baseAddress!, from: start + 1, count: line.count) : start
            guard let from = quoted, let end = unsafe line[from...].firstIndex(of: delimiter) else { return nil }
            (start, index) = (end + 1, index + 1)
        }
        return nil
    }
}

/// The file in which shapefiles, and tables made of them, have their reference system.
private enum ProjectionFile {
    /// The most that is read, in bytes.
    static let maximumBytes = 1 << 16

    /// The text of `points.prj` beside `points.csv` or `points.csv.gz`; nil where there is none.
    static func contents(beside path: String) -> String? {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let name = path[folder.endIndex...]
        let stem = name.prefix(1) + name.dropFirst().prefix { $0 != "." }
        guard !stem.isEmpty else { return nil }
        for ending in ["prj", "PRJ"] {
            do throws(SystemError) {
                let bytes = try readAll(path: "\(folder)\(stem).\(ending)", limit: maximumBytes)
                return String(decoding: bytes ?? [], as: UTF8.self)
            } catch {
                if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.number) { continue }
                // One that cannot be read declares something that is not known.
                return ""
            }
        }
        return nil
    }
}
