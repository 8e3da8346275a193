/// An XML document that is read in order.
final class XMLInput<Content: XMLContent & ~Copyable>: TraceInput {
    let file: String
    let identity = DeviceIdentity.person
    /// Points have the lines of the document.
    let firstLine = 0
    let notices: [Notice] = []
    let usedOptions: InputOptions = .timeZone
    private var reader: InputReader
    private var xml: XMLReader<Content>

    var bytesRead: Int { reader.bytesRead }
    var isOnFoot: Bool { xml.isOnFoot }

    init(_ reader: consuming InputReader, content makeContent: (XMLDocument) -> Content) {
        file = reader.label
        xml = XMLReader(file: file, content: makeContent)
        self.reader = reader
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        // What was read before a failure counts.
        defer { xml.takeFixes(&batch) }
        guard try reader.nextBytes(into: &buffer) else {
            try xml.finish()
            return false
        }
        unsafe try xml.parse(buffer.bytes)
        return true
    }

    /// A document is parsed in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}
