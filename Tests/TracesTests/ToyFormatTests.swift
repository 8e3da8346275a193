import Hereabouts
import Testing
import TextCoding

@testable import Traces

/// A format that exists for this test, written as a format's folder is: what one needs, and that nothing else knows it.
///
///     toy
///     ann 1778335200 48.2 16.4
extension TraceFormat {
    fileprivate static let toy = TraceFormat(
        name: "toy", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            unsafe String(decoding: try reader.firstLine(), as: UTF8.self) == "toy"
        },
        open: { (reader, _) throws(TraceError) in ToyInput(reader) }, makeSink: { ToySink(atlas: $0) })
}

private final class ToyInput: TraceInput {
    let identity = DeviceIdentity.keyed(name: "who")
    let firstLine = 2
    let notices: [Notice] = []
    private var reader: InputReader
    private var framing = LineFraming()

    var file: String { reader.label }
    var bytesRead: Int { reader.bytesRead }

    init(_ reader: consuming InputReader) {
        self.reader = reader
        self.reader.dropFirstLine()
    }

    func next(_ block: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        try reader.nextRecords(into: &block, framing: &framing)
    }

    func makeReader(hash: KeyHash) -> (any RecordReader)? { ToyReader(hash: hash) }
}

private final class ToyReader: RecordReader {
    private let hash: KeyHash
    private var offset = 0

    init(hash: KeyHash) { self.hash = hash }

    func begin(_ block: borrowing InputBuffer) { offset = 0 }

    func read(_ block: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        let bytes = unsafe block.bytes
        guard offset < bytes.count, let end = unsafe bytes[offset...].firstIndex(of: 10) else { return false }
        let fields = unsafe Array(bytes[offset..<end]).split(separator: 0x20).map(Array.init)
        let numbers = fields.dropFirst().map { field in
            unsafe field.withUnsafeBufferPointer { unsafe DecimalNumber.parse($0) } ?? .nan
        }
        if numbers.count != 3 || numbers.contains(where: \.isNaN) {
            batch.problems.append((batch.count, .notTwoNumbers))
        }
        let values = numbers.count == 3 ? numbers : [.nan, .nan, .nan]
        let key = fields.first ?? []
        batch.positions.append(Coordinate(latitude: values[1], longitude: values[2]))
        batch.lines.append(batch.lineCount)
        batch.times.append(values[0].isNaN ? nil : Timestamp(nanosecondsSince1970: Int64(values[0]) * 1_000_000_000))
        batch.accuracies.append(.nan)
        batch.keys.append(
            DeviceKey(
                span: FieldSpan(start: UInt32(offset), end: UInt32(offset + key.count)),
                hash: unsafe key.withUnsafeBufferPointer { unsafe hash($0) }))
        batch.lineCount += 1
        offset = end + 1
        return true
    }
}

private struct ToySink: ReportSink, ~Copyable {
    let holdsReports = false
    private let atlas: Atlas
    private var labels = DeviceLabels()

    init(atlas: Atlas) { self.atlas = atlas }

    func setKeyName(_ name: [UInt8]) {}

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        labels.add { number, label in label.append(bytes: key ?? Array(String(number).utf8)) }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        labels.append(Int(report.device), to: &out)
        atlas.withPublished(report.region) { published in
            out.append(" ")
            out.append(published.region)
        }
        out.append("\n")
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        try output.write(&out)
    }
}

@Suite struct ToyFormatTests {
    private func run(_ text: String, threads: Int = 1, readBytes: Int = 1 << 18) -> Outcome {
        convert([Array(text.utf8)]) {
            $0.formats = [.toy] + TraceFormat.all
            $0.format = .toy
            ($0.acceptsUntimed, $0.threads, $0.readBytes) = (true, threads, readBytes)
        }
    }

    private func region(_ latitude: Double, _ longitude: Double) throws -> String {
        try worldAtlas.reducedLocation(of: worldAtlas.snap(latitude: latitude, longitude: longitude)).region.description
    }

    @Test func `a new format is paced like the others`() throws {
        let vienna = try region(48.2, 16.4), basel = try region(47.55, 7.59)
        let text = """
            toy
            ann 1778335200 48.2 16.4
            bob 1778335201 47.55 7.59
            ann 1778335500 47.55 7.59
            cat here there
            ann 1778336100 47.55 7.59

            """
        for (threads, readBytes) in [(1, 1 << 18), (2, 1 << 18), (3, 7)] {
            let outcome = run(text, threads: threads, readBytes: readBytes)
            #expect(outcome.text == "ann \(vienna)\nann \(basel)\nbob \(basel)\n")
            #expect(outcome.reasons == ["5: not a latitude and a longitude"])
            #expect(outcome.error == nil)
        }
    }

    @Test func `other inputs are still recognized`() throws {
        let vienna = try region(48.2, 16.4)
        let gpx = "<gpx><trk><trkseg><trkpt lat=\"48.2\" lon=\"16.4\"/></trkseg></trk></gpx>"
        for text in [gpx, "48.2 16.4\n", "lat,lon\n48.2,16.4\n"] { #expect(run(text).text == "1 \(vienna)\n") }
    }
}
