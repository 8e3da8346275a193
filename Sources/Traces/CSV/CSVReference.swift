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
    ) throws(TraceError) -> (reference: CoordinateReference?, identifier: SpatialReference, notices: [Notice]) {
        guard let choice = options.reference else { return (nil, .wgs84, []) }
        if choice.isNamed { return (try choice.reference(declaring: nil, file: label), .any, []) }
        if position.pairOrder != nil, let number = try firstSpatialReference(position.latitude, delimiter) {
            if number == 4326 { return (nil, .wgs84, []) }
            return (try choice.reference(declaring: "EPSG:\(number)", file: label), .declared(number), [])
        }
        let file = ProjectionFile(beside: label)
        return (try choice.reference(declaring: file.text, file: label), .wgs84, file.passed.map { .notAFile($0) })
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
private struct ProjectionFile {
    /// The largest that is read, in bytes.
    static let maximumBytes = 1 << 16

    /// The text; nil where there is no such file.
    private(set) var text: String?
    /// What has the name and is no file.
    private(set) var passed: [String] = []

    /// Reads `points.prj` beside `points.csv` or `points.csv.gz`.
    init(beside path: String) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let name = path[folder.endIndex...]
        let stem = name.prefix(1) + name.dropFirst().prefix { $0 != "." }
        guard !stem.isEmpty else { return }
        for ending in ["prj", "PRJ"] {
            let name = "\(folder)\(stem).\(ending)"
            do throws(SystemError) {
                guard let descriptor = try openRegularFile(name) else {
                    passed.append(name)
                    continue
                }
                defer { close(descriptor) }
                text = String(decoding: try readAll(descriptor, limit: Self.maximumBytes) ?? [], as: UTF8.self)
            } catch {
                if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.number) { continue }
                // One that cannot be read declares something that is not known.
                text = ""
            }
            return
        }
    }
}
