import Foundation
import Hereabouts
import Testing

@testable import Traces

private func kml(_ longitude: Double, _ latitude: Double, hour: Int) -> String {
    """
    <kml xmlns="http://www.opengis.net/kml/2.2"><Placemark>
    <TimeStamp><when>2026-03-01T\(String(format: "%02d", hour)):00:00Z</when></TimeStamp>
    <Point><coordinates>\(longitude),\(latitude)</coordinates></Point></Placemark></kml>
    """
}

/// A zip archive of files that are not compressed, written from PKWARE's note.
private struct Zip {
    private(set) var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// - Parameters:
    ///   - flags: general purpose bits; 1 says encrypted.
    ///   - method: 0 says stored.
    mutating func add(_ name: String, _ content: String, flags: Int = 0, method: Int = 0, crc: UInt32? = nil) {
        let content = Array(content.utf8), start = bytes.count
        let sum = crc ?? Self.crc(content)
        let fields =
            Self.little(20, 2) + Self.little(flags, 2) + Self.little(method, 2) + Self.little(0, 4)
            + Self.little(Int(sum), 4) + Self.little(content.count, 4) + Self.little(content.count, 4)
            + Self.little(name.utf8.count, 2) + Self.little(0, 2)
        bytes += [0x50, 0x4b, 3, 4] + fields + Array(name.utf8) + content
        directory += [0x50, 0x4b, 1, 2] + Self.little(20, 2) + fields + Self.little(0, 2) + Self.little(0, 2)
        directory += Self.little(0, 2) + Self.little(0, 4) + Self.little(start, 4) + Array(name.utf8)
        count += 1
    }

    var archive: [UInt8] {
        bytes + directory + [0x50, 0x4b, 5, 6] + Self.little(0, 4) + Self.little(count, 2) + Self.little(count, 2)
            + Self.little(directory.count, 4) + Self.little(bytes.count, 4) + Self.little(0, 2)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xedb8_8320 : rest >> 1 }
        }
    }
}

private func zip(_ files: [(String, String)]) -> [UInt8] {
    var zip = Zip()
    for (name, content) in files { zip.add(name, content) }
    return zip.archive
}

@Suite struct KMZTests {
    private let vienna = kml(16.373721, 48.208234, hour: 8), basel = kml(7.588634, 47.559612, hour: 10)

    private func table(_ outcome: Outcome) -> [String] { Array(outcome.rows.dropFirst()) }

    @Test func `the documents of an archive are read in their order`() {
        let expected = convert([Array(vienna.utf8), Array(basel.utf8)]) { ($0.format, $0.isOneDevice) = (.csv, true) }
        let archives = [
            zip([("doc.kml", vienna), ("files/more.KML", basel)]),
            zip([
                ("files/icon.png", "PK\u{3}\u{4}"), ("a.kml", vienna), ("dir/", ""), ("Ü/ö.kml", basel),
                ("x.txt", "1,2"),
            ]),
        ]
        for archive in archives {
            for readBytes in [1, 100, 1 << 18] {
                let outcome = convert([archive]) { ($0.format, $0.readBytes) = (.csv, readBytes) }
                #expect(outcome.error == nil && outcome.summary.records == 2)
                #expect(
                    Set(table(outcome).map { $0.split(separator: ",").dropFirst() })
                        == Set(table(expected).map { $0.split(separator: ",").dropFirst() }))
            }
        }
    }

    @Test func `lines are counted on from document to document`() {
        let bad = "<kml>\n<Placemark><Point><coordinates>x,1</coordinates></Point></Placemark></kml>"
        #expect(
            convert([zip([("a.kml", bad), ("b.kml", bad)])]).reasons == [
                "2: the longitude is not a number", "4: the longitude is not a number",
            ])
        #expect(convert([zip([("a.kml", bad), ("b.kml", "<kml>")])]).error == .malformedXML(file: "input0", line: 3))
    }

    @Test func `damage is noticed`() {
        func error(_ configure: (inout Zip) -> Void) -> TraceError? {
            var zip = Zip()
            configure(&zip)
            return convert([zip.archive]).error
        }
        #expect(error { $0.add("doc.kml", vienna, crc: 1) } == .badArchive(file: "input0"))
        #expect(error { $0.add("doc.kml", vienna, flags: 1) } == .badArchive(file: "input0"))
        #expect(error { $0.add("doc.kml", vienna, method: 8) } == .badArchive(file: "input0"))
        #expect(error { $0.add("doc.kml", vienna, method: 77) } == .badArchive(file: "input0"))
        var zip = Zip()
        zip.add("doc.kml", vienna)
        for length in stride(from: 40, to: zip.bytes.count, by: 7) {
            let outcome = convert([Array(zip.bytes[..<length])])
            #expect(outcome.error != nil && outcome.output.isEmpty)
        }
    }

    @Test func `an archive without a document is called what it is`() {
        let sheet = zip([("[Content_Types].xml", "<x/>")])
        #expect(convert([sheet]).error == .notRead(file: "input0", .zip))
        #expect(convert([(name: "ride.kmz", bytes: sheet)]).error == .noDocument(file: "ride.kmz"))
        let nested = zip([("doc.kml", String(decoding: zip([("doc.kml", vienna)]), as: UTF8.self))])
        #expect(convert([nested]).error == .malformedXML(file: "input0", line: 1))
    }

    @Test func `entries are bounded`() {
        var zip = Zip()
        for _ in 0...ZipReader.maximumEntries { zip.add("a", "") }
        zip.add("doc.kml", vienna)
        #expect(convert([(name: "ride.kmz", bytes: zip.archive)]).error == .archiveTooLarge(file: "ride.kmz"))
    }

    @Test func `output is the KML in an archive and the same every time`() throws {
        let rides = [Array(vienna.utf8), Array(basel.utf8)]
        let packed = convert(rides) { ($0.format, $0.isOneDevice) = (.kmz, true) }
        let plain = convert(rides) { ($0.format, $0.isOneDevice) = (.kml, true) }
        #expect(packed.error == nil && packed.output.starts(with: [0x50, 0x4b, 3, 4]))
        #expect(convert(rides) { ($0.format, $0.isOneDevice) = (.kmz, true) }.output == packed.output)
        let again = [packed, plain].map { outcome in convert([outcome.output]) { $0.format = .csv }.output }
        #expect(again[0] == again[1] && !again[0].isEmpty)
    }

    @Test func `a bomb costs no memory`() throws {
        // 64 MiB of blanks between two tags, in an archive of some 64 KiB.
        let writer = ZipWriter(name: "doc.kml")
        var archive: [UInt8] = []
        func write(_ text: String) throws(TraceError) {
            var buffer = ByteBuffer(capacity: 1 << 20)
            buffer.append(text: text)
            try writer.write(&buffer)
            try take()
        }
        func take() throws(TraceError) {
            try writer.takePacked { packed in
                unsafe packed.withBytes { unsafe archive += Array($0) }
                packed.removeAll()
            }
        }
        try write("<kml><Placemark><Point><coordinates>")
        let blanks = String(repeating: " ", count: 1 << 20)
        for _ in 0..<64 { try write(blanks) }
        try write("16.373721,48.208234</coordinates></Point></Placemark></kml>")
        try writer.finish()
        try take()
        #expect(archive.count < 1 << 17)
        let outcome = convert([archive])
        #expect(outcome.error == nil && outcome.summary.written == 1)
    }
}
