/// The KML documents of a KMZ archive, in the order in which it has them. Their lines are counted on from one to the next.
final class KMZInput: TraceInput {
    let file: String
    let identity = DeviceIdentity.person
    let firstLine = 0
    let notices: [Notice] = []
    let usedOptions: InputOptions = .timeZone
    private let archive: ZipReader
    private let bounds: TimeBounds
    private let zone: TimeZoneRules?
    private var document: XMLReader<KMLContent>?
    private var hasDocuments = false
    /// Lines, and tracks and routes, of the documents before.
    private var before = (lines: 0, tracks: UInt32(0))
    private var unpacked = [UInt8](repeating: 0, count: 1 << 17)

    var bytesRead: Int { archive.bytesRead }

    init(_ reader: consuming InputReader, options: ConvertRun.Options) {
        file = reader.label
        (bounds, zone) = (TimeBounds(options), options.timeStyle.zone)
        archive = ZipReader(reader)
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        guard document != nil else { return try begin() }
        // What was read before a failure counts.
        defer { document?.takeFixes(&batch) }
        let count = try archive.read(into: &unpacked)
        if count > 0 {
            try parse(count)
        } else {
            try end(&batch)
        }
        return true
    }

    /// Begins the next document; false where there is none.
    private func begin() throws(TraceError) -> Bool {
        guard try archive.nextDocument() else {
            guard hasDocuments else { throw .noDocument(file: file) }
            return false
        }
        hasDocuments = true
        let (bounds, zone, before) = (bounds, zone, before)
        document = XMLReader(file: file, linesBefore: before.lines) {
            KMLContent($0, bounds: bounds, zone: zone, tracksBefore: before.tracks)
        }
        return true
    }

    private func parse(_ count: Int) throws(TraceError) {
        unsafe try unpacked.withUnsafeBufferPointer { bytes throws(TraceError) in
            unsafe try document?.parse(UnsafeBufferPointer(rebasing: bytes[..<count]))
        }
    }

    private func end(_ batch: inout FixBatch) throws(TraceError) {
        try document?.finish()
        document?.takeFixes(&batch)
        before = (document?.line ?? 0, document?.withContent { $0.tracks } ?? 0)
        document = nil
    }

    /// A document is parsed in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}
