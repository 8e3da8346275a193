import Foundation
import Hereabouts
import Testing

@testable import Traces

private let testBounds: TimeBounds = {
    var options = ConvertRun.Options()
    options.now = testNow
    return TimeBounds(options)
}()

private func read(_ body: String) -> FoundFixes {
    let text =
        "<?xml version=\"1.0\"?>\n<TrainingCenterDatabase xmlns=\"http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2\">\n\(body)</TrainingCenterDatabase>"
    let whole = found(text) { TCXContent($0, bounds: testBounds, zone: nil) }
    for piece in [1, 7, 100] {
        #expect(found(text, piece: piece) { TCXContent($0, bounds: testBounds, zone: nil) } == whole)
    }
    return whole
}

private func point(_ minute: Int, _ latitude: String, _ longitude: String, element: String = "Trackpoint") -> String {
    """
    <\(element)><Time>2026-03-01T08:\(String(format: "%02d", minute)):00Z</Time><Position>
    <LatitudeDegrees>\(latitude)</LatitudeDegrees><LongitudeDegrees>\(longitude)</LongitudeDegrees></Position>
    <AltitudeMeters>170</AltitudeMeters><HeartRateBpm><Value>71</Value></HeartRateBpm></\(element)>
    """
}

@Suite struct TCXTests {
    @Test func `the laps of an activity are one track and a course is a route`() {
        let body = """
            <Activities><Activity Sport="Biking"><Id>2026-03-01T08:00:00Z</Id>
            <Lap StartTime="2026-03-01T08:00:00Z"><Track>\(point(0, "48.25", "16.5"))</Track></Lap>
            <Lap StartTime="2026-03-01T08:10:00Z"><Track>\(point(10, "48.5", "16.75"))</Track>
            <Track>\(point(20, "49", "17"))</Track></Lap></Activity>
            <MultiSportSession><FirstSport><Activity Sport="Running"><Lap><Track>\(point(30, "1", "2"))</Track></Lap></Activity></FirstSport></MultiSportSession>
            </Activities>
            <Courses><Course><Name>x</Name><Lap><BeginPosition><LatitudeDegrees>1</LatitudeDegrees></BeginPosition></Lap>
            <Track>\(point(40, "3", "4"))</Track>\(point(41, "5", "6", element: "CoursePoint"))</Course></Courses>
            """
        #expect(
            read(body).lines == [
                "4 track 1: 48.25 16.5 2026-03-01T08:00:00Z", "7 track 1: 48.5 16.75 2026-03-01T08:10:00Z",
                "10 track 1: 49.0 17.0 2026-03-01T08:20:00Z", "13 track 2: 1.0 2.0 2026-03-01T08:30:00Z",
                "18 route 3: 3.0 4.0 2026-03-01T08:40:00Z", "20 waypoint 0: 5.0 6.0 2026-03-01T08:41:00Z",
            ])
    }

    @Test func `heart beats without a position are no fixes`() {
        let beat =
            "<Trackpoint><Time>2026-03-01T08:00:00Z</Time><HeartRateBpm><Value>71</Value></HeartRateBpm></Trackpoint>"
        #expect(
            read("<Activities><Activity><Lap><Track>\(beat)\(point(1, "1", "2"))</Track></Lap></Activity></Activities>")
                .lines == ["3 track 1: 1.0 2.0 2026-03-01T08:01:00Z"])
    }

    @Test func `bad points are bad records`() {
        let untimed = point(1, "1", "2").replacing(/<Time>.*<\/Time>/, with: "")
        let early = point(1, "1", "2").replacing("2026", with: "1970")
        let points = [
            point(0, "x", "2"), point(1, "1", ""), untimed, early, point(2, "1", "2").replacing("2026", with: "soon"),
            "<Trackpoint><Position><LongitudeDegrees>1</LongitudeDegrees></Position></Trackpoint>",
            "<Trackpoint>\(point(3, "7", "8"))</Trackpoint>",
            point(4, "9", "10").replacing(
                "</Trackpoint>", with: "<Extensions>\(point(5, "7", "8"))</Extensions></Trackpoint>"),
        ].map { $0.replacing("\n", with: "") }
        let body =
            "<Activities><Activity><Lap><Track>\(points.joined(separator: "\n"))</Track></Lap></Activity></Activities>"
        #expect(
            read(body).lines == [
                "3 track 1: the latitude is not a number", "4 track 1: no longitude", "5 track 1: 1.0 2.0 -",
                "6 track 1: the time is before 1990", "7 track 1: the time is not readable", "8 track 1: no latitude",
                "9 waypoint 0: a point where none belongs", "10 track 1: 9.0 10.0 2026-03-01T08:04:00Z",
            ])
        #expect(read(point(0, "1", "2")).lines == ["3 waypoint 0: a point where none belongs"])
    }

    @Test func `hostile documents are refused`() {
        #expect(
            found("<!DOCTYPE x><TrainingCenterDatabase/>") { TCXContent($0, bounds: testBounds, zone: nil) }.error
                == .documentType(file: "input", line: 1))
        #expect(
            found("<kml/>") { TCXContent($0, bounds: testBounds, zone: nil) }.error
                == .otherRoot(file: "input", format: "TCX"))
        #expect(read(String(repeating: "<Activity>", count: 120)).error == .nestedTooDeep(file: "input", line: 3))
        #expect(read("<Activities>").error == .malformedXML(file: "input", line: 3))
    }

    @Test func `convert paces it`() {
        let input =
            "<TrainingCenterDatabase><Activities><Activity><Lap><Track>\(point(0, "48.208234", "16.373721"))\(point(20, "47.559612", "7.588634"))</Track></Lap></Activity></Activities></TrainingCenterDatabase>"
        let outcome = convert(input) { $0.format = .csv }
        #expect(outcome.error == nil && outcome.summary.written == 2)
        #expect(preciseNumbers(Array(input.utf8)).intersection(preciseNumbers(outcome.output)).isEmpty)
    }
}
