/// A GPX document.
final class GPXInput: TraceInput {
    let file: String
    let identity = DeviceIdentity.person
    /// Points have the lines of the document.
    let firstLine = 0
    let notices: [Notice] = []
    private var reader: InputReader
    private var gpx: GPXReader

    var bytesRead: Int { reader.bytesRead }

    init(_ reader: consuming InputReader, options: ConvertRun.Options) {
        file = reader.label
        gpx = GPXReader(file: file, bounds: TimeBounds(options))
        self.reader = reader
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        // What was read before a failure counts.
        defer { gpx.takeFixes(&batch) }
        guard try reader.nextBytes(into: &buffer) else {
            try gpx.finish()
            return false
        }
        unsafe try gpx.parse(buffer.bytes)
        return true
    }

    /// A document is parsed in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}
