import Foundation
import Hereabouts
import Testing

@testable import Traces

@Suite struct TakeoutTests {
    /// 2026-03-01T12:00:00Z.
    private let noon = 1_772_366_400.0

    private func fix(
        _ entry: Int, _ seconds: Double, accuracy: Double? = nil, _ latitude: Double = 48.2082,
        _ longitude: Double = -16.3737
    ) -> ReadFix {
        ReadFix(line: entry, latitude: latitude, longitude: longitude, seconds: noon + seconds, accuracy: accuracy)
    }

    private let location = """
        "latitudeE7": 482082000, "longitudeE7": -163737000
        """
    private let degrees = "48.2082°, -16.3737°"

    @Test func `locations`() {
        for (list, accuracy) in [
            (
                "{\(location),\"accuracy\":20,\"timestamp\":\"2026-03-01T12:00:00Z\",\"source\":\"WIFI\",\"activity\":[{\"timestamp\":\"x\",\"activity\":[{\"type\":\"STILL\"}]}]}",
                20.0
            ),
            ("{\"timestampMs\" : \"1772366400000\",\(location),\"activitys\":[{\"timestampMs\":\"1\"}]}", nil),
            (
                "{\"timestamp\":\"2026-03-01T13:00:00.000+01:00\",\(location.replacingOccurrences(of: "-163737000", with: "4131230296")),\"accuracy\":0}",
                nil
            ),
            ("{\(location),\"timestampMs\":1772366400000,\"accuracy\":null}", nil),
        ] {
            for text in [
                "{\"locations\":[\(list)]}", "{ \"somePointsTruncated\":false,\n\"locations\" : [ \(list)\n ]\n}\n",
                "\u{feff}{\"locations\":[\(list)],\"locations\":[]}",
            ] {
                let outcome = readInOrder(text)
                #expect(outcome.fixes == [fix(1, 0, accuracy: accuracy)], "\(text)")
                #expect(outcome.format == "takeout" && outcome.error == nil)
            }
        }
    }

    @Test func `months of activities and visits`() {
        let activity = """
            {"activitySegment":{"startLocation":{\(location)},"endLocation":{"latitudeE7":482082000,"longitudeE7":163737000},
            "duration":{"startTimestamp":"2026-03-01T12:00:00.5Z","endTimestamp":"2026-03-01T12:10:00Z"},"distance":12,
            "waypointPath":{"waypoints":[{"latE7":1,"lngE7":2}]},"transitPath":{"transitStops":[{\(location)}]},
            "simplifiedRawPath":{"points":[{"latE7":482082000,"lngE7":-163737000,"accuracyMeters":7,"timestamp":"2026-03-01T12:05:00Z"},
            {"latE7":482082000,"lngE7":-163737000,"timestampMs":"1772366760000"}]},
            "parkingEvent":{"location":{\(location),"accuracyMetres":5},"timestamp":"2026-03-01T12:09:00Z"}}}
            """
        let visit = """
            {"placeVisit":{"location":{\(location),"name":"Clinic","placeId":"x"},"duration":{"startTimestampMs":"1772367000000","endTimestampMs":"1772370000000"},
            "otherCandidateLocations":[{\(location)}],"childVisits":[{"location":{\(location)}}]}}
            """
        let outcome = readInOrder(
            "{\"timelineObjects\":[\(activity),\(visit),{\"placeVisit\":{\"location\":{\"placeId\":\"y\"}}}]}")
        #expect(
            outcome.fixes == [
                fix(1, 0.5), fix(1, 300, accuracy: 7), fix(1, 360), fix(1, 540), fix(1, 600, 48.2082, 16.3737),
                fix(2, 600), fix(2, 3600),
            ])
        #expect(outcome.error == nil && outcome.format == "takeout")
    }

    @Test func `a timeline of an Android phone`() {
        let times = "\"startTime\":\"2026-03-01T13:00:00.000+01:00\",\"endTime\":\"2026-03-01T15:00:00.000+01:00\""
        let text = """
            {"semanticSegments":[
            {\(times),"timelinePath":[{"point":"\(degrees)","time":"2026-03-01T13:10:00.000+01:00"},{"point":"48.2082\\u00b0,-16.3737\\u00B0","time":"2026-03-01T12:20:00Z"}]},
            {\(times),"startTimeTimezoneUtcOffsetMinutes":60,"visit":{"hierarchyLevel":0,"probability":0.9,"topCandidate":{"placeId":"x","semanticType":"HOME","probability":0.5,"placeLocation":{"latLng":"\(degrees)"}}}},
            {\(times),"activity":{"start":{"latLng":"\(degrees)"},"end":{"latLng":"48.2082°, 16.3737°"},"distanceMeters":1.5,"topCandidate":{"type":"WALKING"},"parking":{"location":{"latLng":"\(degrees)"},"startTime":"2026-03-01T12:30:00Z"}}},
            {\(times),"timelineMemory":{"trip":{}}}],
            "rawSignals":[{"wifiScan":{"deliveryTime":"2026-03-01T12:00:00Z","devicesRecords":[]}},
            {"position":{"LatLng":"\(degrees)","accuracyMeters":13,"altitudeMeters":100.5,"source":"WIFI","timestamp":"2026-03-01T12:40:00.000Z"}},
            {"activityRecord":{"timestamp":"2026-03-01T12:00:00Z"}}],
            "userLocationProfile":{"frequentPlaces":[{"placeId":"x","placeLocation":"\(degrees)","label":"HOME"}]}}
            """
        let expected = [
            fix(1, 600), fix(1, 1200), fix(2, 0), fix(2, 7200), fix(3, 0), fix(3, 1800), fix(3, 7200, 48.2082, 16.3737),
            fix(6, 2400, accuracy: 13),
        ]
        let outcome = readInOrder(text)
        #expect(outcome.fixes == expected && outcome.error == nil && outcome.format == "takeout")
        #expect(readInOrder("{\"userLocationProfile\":{\"a\":[\"locations\"]}," + text.dropFirst()).fixes == expected)
    }

    @Test func `a timeline of an iPhone`() {
        let times = "\"endTime\":\"2026-03-01T15:00:00.000+01:00\",\"startTime\":\"2026-03-01T13:00:00.000+01:00\""
        let geo = "geo:48.208200,-16.373700"
        let text = """
            [
              {\(times),"visit":{"hierarchyLevel":"0","topCandidate":{"probability":"0.5","semanticType":"Home","placeID":"x","placeLocation":"\(geo)"},"probability":"0.9"}},
              {\(times),"activity":{"probability":"1.0","end":"geo:48.2082,16.3737;u=35","topCandidate":{"type":"walking"},"distanceMeters":"12.5","start":"\(geo)"}},
              {\(times),"timelinePath":[{"durationMinutesOffsetFromStartTime":"35","point":"\(geo)"},{"point":"\(geo)","durationMinutesOffsetFromStartTime":36}]},
              {\(times),"timelineMemory":{"destinations":[]}}
            ]
            """
        let outcome = readInOrder(text)
        #expect(
            outcome.fixes == [
                fix(1, 0), fix(1, 7200), fix(2, 0), fix(2, 7200, 48.2082, 16.3737), fix(3, 2100), fix(3, 2160),
            ])
        #expect(outcome.error == nil && outcome.format == "takeout")
    }

    @Test func `edits of a timeline`() {
        let text = """
            {"timelineEdits":[{"deviceId":"1","rawSignal":{"signal":{"position":{"point":{"latE7":482082000,"lngE7":-163737000},"accuracyMm":12500,"source":"WIFI","timestamp":"2026-03-01T12:00:00Z"}},"additionalTimestamp":"x"}},
            {"deviceId":"1","rawSignal":{"signal":{"wifiScan":{}}}},{"deviceId":"1","placeAggregates":{}}]}
            """
        #expect(readInOrder(text).fixes == [fix(1, 0, accuracy: 12.5)])
    }

    @Test func `bad entries are records with a reason`() {
        let time = "\"timestamp\":\"2026-03-01T12:00:00Z\""
        let cases: [(String, RecordProblem.Reason)] = [
            ("{\(time)}", .latitudeMissing), ("{\(time),\"latitudeE7\":1}", .longitudeMissing),
            ("{\(time),\"latitudeE7\":null,\"longitudeE7\":1}", .latitudeMissing),
            ("{\(time),\"latitudeE7\":\"x\",\"longitudeE7\":1}", .latitudeUnreadable),
            ("{\(time),\"latitudeE7\":[1],\"longitudeE7\":1}", .latitudeUnreadable),
            ("{\(time),\"latitudeE7\":1,\"longitudeE7\":true}", .longitudeUnreadable),
            ("{\(location)}", .timeMissing), ("{\(location),\"timestamp\":\"noon\"}", .timeUnreadable),
            ("{\(location),\"timestampMs\":\"\"}", .timeUnreadable),
            ("{\(location),\"timestampMs\":\"-1\"}", .timeUnreadable),
            ("{\(location),\"timestampMs\":\"9999999999999999\"}", .timeUnreadable),
            ("{\(location),\"timestampMs\":\"999999999999999\"}", .timeUnreadable),
            ("{\(location),\"timestampMs\":\"0\"}", .timeTooEarly),
            ("{\(location),\"timestamp\":\"2031-01-01T00:00:00Z\"}", .timeInFuture),
            ("7", .notAnObject), ("[]", .notAnObject), ("\"x\"", .notAnObject), ("{\"a\" 1}", .notJSON),
            ("{\"a\":01}", .notJSON),
            ("{\(location),\"latitudeE7\":1,\(time)}", .duplicateMember),
            ("{\"x\":\(String(repeating: "[", count: 70))\(String(repeating: "]", count: 70))}", .nestedTooDeep),
            ("{\"position\":{\"LatLng\":\"48.2082\",\(time)}}", .positionUnreadable),
            ("{\"position\":{\"LatLng\":\"x, y\",\(time)}}", .positionUnreadable),
            ("{\"position\":{\"LatLng\":\"\",\(time)}}", .positionMissing),
            ("{\"position\":{\(time)}}", .positionMissing),
            ("{\"position\":{\"LatLng\":7,\(time)}}", .positionUnreadable),
            ("{\"position\":{\"LatLng\":\"\(degrees)\"}}", .timeMissing),
            (
                "{\"startTime\":\"x\",\"timelinePath\":[{\"point\":\"geo:1,2\",\"durationMinutesOffsetFromStartTime\":\"1\"}]}",
                .timeUnreadable
            ),
            (
                "{\"startTime\":\"2026-03-01T12:00:00Z\",\"timelinePath\":[{\"point\":\"geo:1,2\",\"durationMinutesOffsetFromStartTime\":\"1e300\"}]}",
                .timeUnreadable
            ),
            ("{\"startTime\":\"2026-03-01T12:00:00Z\",\"timelinePath\":[{\"point\":\"geo:1,2\"}]}", .timeMissing),
            ("{\"startTime\":\"2026-03-01T12:00:00Z\",\"timelinePath\":[5]}", .notAnObject),
            ("{\"startTime\":\"2026-03-01T12:00:00Z\",\"timelinePath\":[[{}]]}", .notAnObject),
        ]
        for (entry, reason) in cases {
            let outcome = readInOrder("{\"locations\":[{\(location),\(time)},\(entry),{\(location),\(time)}]}")
            #expect(outcome.reasons == ["2: \(reason)"], "\(entry)")
            #expect(outcome.good == [fix(1, 0), fix(3, 0)] && outcome.error == nil, "\(entry)")
        }
        for entry in [
            "{}", "{\"startTime\":\"x\"}", "{\"timelinePath\":[]}", "{\"startTime\":\"x\",\"timelinePath\":{}}",
            "{\"activitySegment\":7}", "{\"startTime\":1,\"timelinePath\":[]}",
        ] {
            let outcome = readInOrder("{\"locations\":[{\(location),\(time)},\(entry)]}")
            #expect(outcome.fixes == [fix(1, 0)] && outcome.error == nil, "\(entry)")
        }
        let range = convert("{\"locations\":[{\"latitudeE7\":910000000,\"longitudeE7\":1,\(time)}]}")
        #expect(range.reasons == ["1: the latitude is out of range"])
    }

    @Test func `broken documents end where they break`() {
        let entry = "{\(location),\"timestamp\":\"2026-03-01T12:00:00Z\"}"
        for end in ["", "]", ",{", "}", ",\"x", ",]}", ",,", entry] {
            let outcome = readInOrder("{\"locations\":[\(entry),\n\(entry)\(end)")
            #expect(outcome.error == .malformedJSON(file: "input", line: 2), "\(end)")
            #expect(outcome.good.count == 2 || end == "", "\(end)")
        }
        let long = Array("{\"locations\":[\(entry),{\"x\":\"".utf8) + [UInt8](repeating: 0x78, count: 17 << 20)
        let outcome = readInOrder(long)
        #expect(outcome.error == .featureTooLong(file: "input", line: 1) && outcome.fixes.count == 1)
        let head = Array("{\"x\":\"".utf8) + [UInt8](repeating: 0x78, count: 17 << 20)
        #expect(readInOrder(head) { $0.inputFormat = .takeout }.error == .featureTooLong(file: "input", line: 1))
        let deep = [UInt8](repeating: 0x5b, count: 1 << 20)
        #expect(readInOrder(deep) { $0.inputFormat = .takeout }.fixes.isEmpty)
    }

    @Test func `other JSON is not taken for an export`() {
        for text in [
            "{\"time\":\"2026-03-01T12:00:00Z\",\"lat\":1,\"lon\":2}\n", "[{\"time\":1,\"lat\":1,\"lon\":2}]",
            "{\"time\":1,\"lat\":1,\"lon\":2,\"locations\":[{\"name\":\"x\"}]}\n",
            "{\"time\":1,\"lat\":1,\"lon\":2,\"locations\":[]}\n",
            "{\"time\":1,\"lat\":1,\"lon\":2,\"locations\":[7]}\n",
            "[{\"startTime\":1,\"endTime\":2,\"lat\":1,\"lon\":2,\"time\":3}]",
        ] {
            #expect(readInOrder(text).format == "ndjson", "\(text)")
        }
        let collection = "{\"type\":\"FeatureCollection\",\"locations\":[{\"latitudeE7\":1}],\"features\":[]}"
        #expect(readInOrder(collection).format == "geojson")
        #expect(readInOrder("{\"locations\":[]}") { $0.inputFormat = .takeout } == ReadOutcome(format: "takeout"))
    }

    @Test func `entries are one person's, in any order`() throws {
        func entry(_ time: String, _ latitudeE7: Int, _ longitudeE7: Int) -> String {
            "{\"latitudeE7\":\(latitudeE7),\"longitudeE7\":\(longitudeE7),\"timestamp\":\"2026-03-01T\(time)Z\",\"deviceTag\":7}"
        }
        let entries = [entry("12:00:00", 482_000_000, 164_000_000), entry("13:00:00", 475_500_000, 75_900_000)]
        let expected = [
            "1,2026-03-01T12:00:00Z,\(try reducedColumns(48.2, 16.4))",
            "1,2026-03-01T13:00:00Z,\(try reducedColumns(47.55, 7.59))",
        ]
        for list in [entries, entries.reversed()] {
            let outcome = convert("{\"locations\":[\(list.joined(separator: ","))]}") { $0.format = .csv }
            #expect(Array(outcome.rows.dropFirst()) == expected && outcome.notices.isEmpty)
        }
    }
}
