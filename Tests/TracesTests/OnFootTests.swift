import Hereabouts
import Testing

@testable import Traces

/// Recordings that say that somebody went on foot get a notice that proposes a slower pace.
@Suite struct OnFootTests {
    private static let point = "<trkpt lat=\"48.2\" lon=\"16.4\"><time>2026-03-01T08:07:00Z</time></trkpt>"

    private static func gpx(_ type: String) -> String {
        "<gpx xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><name>run</name>\(type)<trkseg>\(point)</trkseg></trk></gpx>"
    }

    private static func tcx(_ sport: String) -> String {
        """
        <TrainingCenterDatabase><Activities><Activity Sport="\(sport)"><Lap><Track><Trackpoint><Time>2026-03-01T08:07:00Z</Time>
        <Position><LatitudeDegrees>48.2</LatitudeDegrees><LongitudeDegrees>16.4</LongitudeDegrees></Position></Trackpoint></Track>
        </Lap></Activity></Activities></TrainingCenterDatabase>
        """
    }

    @Test(arguments: [
        (gpx("<type>hiking</type>"), true), (gpx("<type>Trail_Run</type>"), true), (gpx("<type> Walk </type>"), true),
        (gpx("<type>9 running</type>"), true), (gpx("<type>cycling</type>"), false), (gpx("<type>trunk</type>"), false),
        (gpx(""), false), (gpx("<extensions><type>hiking</type></extensions>"), false),
        (gpx("<type>\(String(repeating: "x", count: 200)) hiking</type>"), false),
        (tcx("Running"), true), (tcx("Biking"), false),
    ]) func `of the recording's type`(_ text: String, _ isOnFoot: Bool) throws {
        let outcome = convert(text) { $0.format = .csv }
        #expect(outcome.error == nil && outcome.rows.count == 2)
        #expect(outcome.notices == (isOnFoot ? [.onFoot(file: "input0")] : []))
        #expect(convert(text) { ($0.format, $0.interval) = (.csv, .seconds(3600)) }.notices.isEmpty)
        let folder = FolderTests()
        _ = folder.scratch.write(Array(text.utf8), as: "in/a.\(text.hasPrefix("<gpx") ? "gpx" : "tcx")")
        final class Notes { var notices: [Notice] = [] }
        let notes = Notes()
        _ = try folder.run(observer: FolderObserver(read: { notes.notices += $0.notices }))
        #expect(notes.notices.isEmpty != isOnFoot)
    }
}
