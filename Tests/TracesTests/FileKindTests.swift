import Foundation
import Hereabouts
import Testing

@testable import Traces

/// What is no table is called what it is, by both commands.
@Suite struct FileKindTests {
    static let files: [(kind: FileKind, bytes: [UInt8])] = [
        (
            .kml,
            Array(
                "<?xml version='1.0'?>\n<!-- x > y --><kml xmlns='http://www.opengis.net/kml/2.2'><Document/></kml>"
                    .utf8)
        ),
        (.kml, Array("<kml/>".utf8)), (.kml, Array("<a:kml>".utf8)),
        (.tcx, Array("\u{feff}<TrainingCenterDatabase xmlns=\"x\"></TrainingCenterDatabase>".utf8)),
        (.html, Array("<!DOCTYPE html>\n<HTML><body>".utf8)),
        (.nmea, Array("$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n".utf8)),
        (.ais, Array("!AIVDM,1,1,,B,x,0*5C\n".utf8)),
        (.igc, Array("AXXX001 a recorder\r\nHFDTE160701\r\n".utf8)),
        (.oziExplorer, Array("OziExplorer Track Point File Version 2.1\r\nWGS 84\r\n".utf8)),
        (.fit, [14, 0x10, 0x43, 8, 0x0a, 0, 0, 0] + Array(".FIT".utf8) + [0, 0, 0x40]),
        (.sqlite, Array("SQLite format 3\0".utf8) + [16, 0]), (.parquet, Array("PAR1".utf8) + [0x15, 4, 0x15, 0x10]),
        (.zip, [0x50, 0x4b, 3, 4, 20, 0]),
        (.bzip2, Array("BZh91AY".utf8)), (.xz, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0]),
        (.image, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]), (.image, [0xff, 0xd8, 0xff, 0xe0]),
        (.image, Array("GIF89a".utf8)), (.image, [0x49, 0x49, 0x2a, 0, 8]),
        (.image, Array("RIFF".utf8) + [1, 0, 0, 0] + Array("WEBPVP8 ".utf8)), (.pdf, Array("%PDF-1.7\n%x".utf8)),
        (.oldSpreadsheet, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), (.shapefile, [0, 0, 0x27, 0x0a, 0, 0]),
        (.binary, [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]),
        (.binary, Array("lat\0,lon\n".utf8)),
    ]

    @Test(arguments: files) func `a file is called what it is`(_ file: (kind: FileKind, bytes: [UInt8])) {
        // These are read.
        let isTrace = [.gpx, .kml, .tcx, .nmea, .igc, .fit, .oziExplorer].contains(file.kind)
        for readBytes in [1 << 18, 1, 5] where !isTrace {
            #expect(snap(file.bytes) { $0.readBytes = readBytes }.error == .notRead(file: "input", file.kind))
            #expect(convert([file.bytes]) { $0.readBytes = readBytes }.error == .notRead(file: "input0", file.kind))
        }
        let message = "\(TraceError.notRead(file: "f", file.kind))"
        #expect(message.hasPrefix("f: ") && message.contains(file.kind.description))
    }

    @Test func `tables are not taken for others`() {
        for header in [
            "[lat],[lon]", "{lat},{lon}x", "Apos,lat,lon", "AREA;lat;lon", "PK,lat,lon", "BZ,lat,lon", "$GP,lat,lon",
            "%PD,lat,lon",
            "GIF,lat,lon", "\u{feff}lat,lon", "lat,lon,.FIT", "MsRcf,lat,lon", "$PMGNST,lat,lon",
        ] {
            let error = snap(header + "\n1,2,3\n").error
            if case .notRead = error, !header.hasPrefix("{") { Issue.record("\(header)") }
        }
        #expect(snap("Area\tlat\tlon\nHFx\t1\t2\n").error == nil)
        #expect(snap("48.2 16.4\n").error == nil && snap("").error == nil)
    }

    /// The first line decides, however little of it comes at a time; bytes after it do not.
    @Test func `what comes later makes no difference`() {
        for input in [
            "RIFF\nabcWEBP", "[\n{\"FeatureCollection\"", "{\n\"type\":\"Feature\"}", "lat,lon\n\0,1\n", "\n\n\n<kml>",
            "\r\r{\"a\":1}",
        ] {
            let whole = snap(input)
            for readBytes in 1...12 { #expect(snap(input) { $0.readBytes = readBytes } == whole) }
        }
    }

    /// Anything that begins like a known kind is refused or read.
    @Test func `beginnings of every length are refused or read`() {
        for file in Self.files {
            for count in 0...min(file.bytes.count, 24) {
                let outcome = snap(Array(file.bytes[..<count])) { $0.readBytes = 3 }
                #expect(outcome.error != nil || outcome.summary.written == outcome.summary.records)
            }
        }
    }
}

/// Which columns there are is said where the line is a header, and nothing of a record is.
@Suite struct ColumnListTests {
    @Test func `errors name the columns of a header alone`() {
        #expect("\(snap("id,breite,laenge\n1,2,3\n").error!)".contains("(it has id, breite, laenge)"))
        #expect("\(snap("lat,lon,a\n1,2,3\n") { $0.keep = ["b"] }.error!)".contains("(it has lat, lon, a)"))
        #expect("\(convert("lat,lon,when\n1,2,3\n").error!)".contains("(it has lat, lon, when)"))
        for record in ["Jane Doe,Vienna,clinic", "31.7619,-106.485,Jane", "2026-03-01,Jane,Vienna"] {
            let message = "\(snap(record + "\n1,2,3\n").error!)"
            #expect(!message.contains("Jane") && !message.contains("it has") && !message.contains("31.7"))
        }
        // What looks like a number is not repeated even then.
        #expect("\(snap("id,31.7619,Jane\n").error!)".contains("(it has id, column 2, Jane)"))
    }
}

/// The reasons of bad records, which docs/GUARANTEES.md lists.
@Suite struct ReasonTests {
    private static let all: [RecordProblem.Reason] = [
        .latitudeMissing, .longitudeMissing, .latitudeUnreadable, .longitudeUnreadable, .latitudeOutOfRange,
        .longitudeOutOfRange, .positionMissing, .positionUnreadable, .hemisphereUnreadable, .hemisphereAndSign,
        .pointOutOfPlace, .timeMissing, .timeUnreadable, .dateOrderUnknown, .timeTooEarly, .timeInFuture,
        .columnCount(expected: 2, found: 3), .quote, .notTwoNumbers, .notJSON, .notAnObject, .nestedTooDeep,
        .duplicateMember, .memberIsContainer, .notPoints, .timeCount, .outsideReference, .foreignReference,
        .checksumWrong, .checksumMissing, .recordTooShort, .fixValidityUnreadable, .otherHeader, .timeFormUnknown,
        .keyIsCoordinate, .noFix, .timeRounded, .offsetUnreadable, .utmZoneUnreadable, .utmZoneDiffers,
    ]

    /// Does not compile where a reason is missing.
    private func number(_ reason: RecordProblem.Reason) -> Int {
        switch reason {
        case .latitudeMissing: 0
        case .longitudeMissing: 1
        case .latitudeUnreadable: 2
        case .longitudeUnreadable: 3
        case .latitudeOutOfRange: 4
        case .longitudeOutOfRange: 5
        case .positionMissing: 6
        case .positionUnreadable: 7
        case .hemisphereUnreadable: 8
        case .hemisphereAndSign: 9
        case .pointOutOfPlace: 10
        case .timeMissing: 11
        case .timeUnreadable: 12
        case .dateOrderUnknown: 13
        case .timeTooEarly: 14
        case .timeInFuture: 15
        case .columnCount: 16
        case .quote: 17
        case .notTwoNumbers: 18
        case .notJSON: 19
        case .notAnObject: 20
        case .nestedTooDeep: 21
        case .duplicateMember: 22
        case .memberIsContainer: 23
        case .notPoints: 24
        case .timeCount: 25
        case .outsideReference: 26
        case .foreignReference: 27
        case .checksumWrong: 28
        case .checksumMissing: 29
        case .recordTooShort: 30
        case .fixValidityUnreadable: 31
        case .otherHeader: 32
        case .timeFormUnknown: 33
        case .keyIsCoordinate: 34
        case .noFix: 35
        case .timeRounded: 36
        case .offsetUnreadable: 37
        case .utmZoneUnreadable: 38
        case .utmZoneDiffers: 39
        }
    }

    @Test func `the guarantees list every reason`() throws {
        let page = try String(
            contentsOf: projectFolder.appendingPathComponent("docs/GUARANTEES.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { $0.split(separator: "|")[0] }
        #expect(Self.all.map(number) == Array(Self.all.indices))
        for reason in Self.all {
            let listed = rows.contains { $0.contains(reason.description) }
            #expect(listed, "\(reason)")
            #expect(page.contains(reason.summary))
        }
    }
}
