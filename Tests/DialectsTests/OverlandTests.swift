import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("Overland")
struct OverlandTests {
    private func received(_ message: String) -> Received { OverlandReader().received(Array(message.utf8)) }

    private let readme = #"""
        {"locations": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [-122.030581, 37.331800]},
        "properties": {"timestamp": "2015-10-01T08:00:00-0700", "altitude": 0, "speed": 4, "horizontal_accuracy": 30,
        "vertical_accuracy": -1, "motion": ["driving","stationary"], "pauses": false, "activity": "other_navigation",
        "desired_accuracy": 100, "deferred": 1000, "significant_change": "disabled", "locations_in_payload": 1,
        "battery_state": "charging", "battery_level": 0.89, "device_id": "", "wifi": ""}}],
        "current": {"type":"Feature"}, "trip": {"distance": 1, "mode": "car"}}
        """#

    @Test
    func `the README's message`() throws {
        let fix = try onlyFix(received(readme))
        #expect(fix.coordinate == Coordinate(latitude: 37.3318, longitude: -122.030581))
        #expect(fix.time == time(1_443_711_600) && fix.horizontalAccuracy == 30 && fix.device == nil)
    }

    private func feature(
        _ coordinates: String = "[2,1,300]", time: String = "\"2026-03-01T07:14:59Z\"", accuracy: String = "5"
    ) -> String {
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":\#(coordinates)},"#
            + #""properties":{"timestamp":\#(time),"horizontal_accuracy":\#(accuracy),"device_id":"p"}}"#
    }

    @Test
    func `locations that cannot be used are counted by reason, and the others used`() {
        let features = [
            feature(), feature(accuracy: "-1"), feature("[2]"), feature("[200,1]"), feature(time: "\"yesterday\""),
            feature(time: "12"),
            #"{"type":"Feature","geometry":null,"properties":{"timestamp":"2026-03-01T07:14:59Z"}}"#,
            "17", feature("[[2,1],[3,1]]"), feature(accuracy: "null"),
        ]
        guard case .fixes(let fixes) = received(#"{"locations":["# + features.joined(separator: ",") + "]}") else {
            return #expect(Bool(false), "no fixes")
        }
        #expect(fixes.fixes.map(\.horizontalAccuracy) == [5, nil])
        #expect(
            fixes.unusable == [
                .markedInvalid: 1, .noPosition: 3, .positionOutOfRange: 1, .noTime: 1, .timeOutOfRange: 1,
                .notAnObject: 1,
            ])
    }

    @Test
    func `batches of none, a thousand, and more`() {
        func batch(_ count: Int) -> Received {
            received(#"{"locations":["# + repeatElement(feature(), count: count).joined(separator: ",\n ") + "]}")
        }
        #expect(batch(0) == .unusable(.emptyBatch))
        guard case .fixes(let fixes) = batch(1000) else { return #expect(Bool(false), "no fixes") }
        #expect(fixes.fixes.count == 1000 && fixes.unusable.isEmpty)
        #expect(batch(1001) == .overLimit(.batch))
        #expect(batch(1001).statusCode == 200)
        #expect(received(#"{"locations":{}}"#) == .unusable(.notAnObject))
        #expect(received(#"{"locations":null}"#) == .unusable(.unknownType))
        #expect(received("{}") == .unusable(.unknownType))
    }

    @Test
    func `the reduced feature, byte by byte, and the answer`() throws {
        let location = try reduced(31.7619, -106.485)
        let center = location.coordinate
        #expect(
            text(OverlandMessage.batch([location], device: "d\u{1}"))
                == #"{"locations":[{"type":"Feature","geometry":{"type":"#
                + #""Point","coordinates":[\#(fiveDecimals(center.longitude)),\#(fiveDecimals(center.latitude))]},"properties":{"timestamp":"#
                + #""2026-03-01T07:15:00Z","horizontal_accuracy":\#(location.accuracyMeters!),"device_id":"d\u0001"}}]}"#
        )
        #expect(text(OverlandMessage.answer) == #"{"result":"ok"}"#)
    }
}
