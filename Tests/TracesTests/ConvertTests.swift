import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private let vienna = (latitude: 48.208234, longitude: 16.373721)
private let basel = (latitude: 47.559612, longitude: 7.588634)
private let elPaso = (latitude: 31.761934, longitude: -106.485021)

/// A CSV of fixes: device, minute of the day, position.
private func table(_ fixes: [(String, Double, (latitude: Double, longitude: Double))]) -> String {
    "id,time,lat,lon\n"
        + fixes.map { id, minute, position in
            "\(id),\(1_772_323_200 + Int(minute * 60)),\(position.latitude),\(position.longitude)\n"
        }.joined()
}

/// The time of a minute of that day.
private func time(_ minute: Int) -> String {
    String(format: "2026-03-01T%02d:%02d:00Z", minute / 60, minute % 60)
}

private let header = "id,time,latitude,longitude,horizontal_accuracy,region,country,place"

private func csv(_ options: inout ConvertRun.Options) { options.format = .csv }

@Suite struct ConvertTests {
    @Test func changesComeAtMostOnceAnInterval() throws {
        let input = table([("a", 0, vienna), ("a", 5, basel), ("a", 14.9, basel), ("a", 15, basel), ("a", 31, basel)])
        let first = "a,\(time(0)),\(try reducedColumns(vienna.latitude, vienna.longitude))"
        let second = "a,\(time(15)),\(try reducedColumns(basel.latitude, basel.longitude))"
        #expect(convert(input, csv).rows == [header, first, second])
        let repeated = "a,\(time(31)),\(try reducedColumns(basel.latitude, basel.longitude))"
        #expect(
            convert(input) { ($0.format, $0.emission) = (.csv, .recomputations) }.rows == [
                header, first, second, repeated,
            ])
        let fixes = convert(input) { ($0.format, $0.emission) = (.csv, .fixes) }.rows
        #expect(fixes.count == 6)
        #expect(fixes[2].hasPrefix("a,\(time(5)),") && fixes[2].hasSuffix(String(first.dropFirst(2 + 21))))
    }

    @Test func theIntervalIsTheUsers() {
        let input = table([("a", 0, vienna), ("a", 5, basel), ("a", 10, elPaso)])
        #expect(convert(input) { ($0.format, $0.interval) = (.csv, .seconds(300)) }.summary.written == 3)
        #expect(convert(input) { ($0.format, $0.interval) = (.csv, .seconds(301)) }.summary.written == 2)
    }

    @Test func lateAndRepeatedFixesAreNotAnswered() {
        let input = table([("a", 60, vienna), ("a", 60, basel), ("a", 0, basel), ("a", 59, elPaso)])
        #expect(convert(input, csv).summary.written == 1)
    }

    @Test func interleavedDevicesArePacedEachForItself() throws {
        var random = SplitMix64(seed: 7)
        let places = [vienna, basel, elPaso]
        var fixes: [(String, Double, (latitude: Double, longitude: Double))] = []
        for minute in 0..<120 {
            for device in 0..<20 where Bool.random(using: &random) {
                fixes.append(("d\(device)", Double(minute), places.randomElement(using: &random)!))
            }
        }
        let together = convert(table(fixes), csv).rows.dropFirst()
        for device in 0..<20 {
            let alone = convert(table(fixes.filter { $0.0 == "d\(device)" }), csv).rows.dropFirst()
            #expect(together.filter { $0.hasPrefix("d\(device),") } == Array(alone))
        }
    }

    @Test func keysAreTheSameQuotedOrNot() {
        let input =
            "id,time,lat,lon\na,0,48.2,16.3\n\"a\",1,47.5,7.5\n\"say \"\"b\"\"\",0,48.2,16.3\n\"say \"\"b\"\"\",1,47.5,7.5\n"
        let rows = convert(input, csv).rows
        #expect(rows.count == 3)
        #expect(rows[1].hasPrefix("a,") && rows[2].hasPrefix("\"say \"\"b\"\"\","))
    }

    @Test func aDeviceColumnGoesBeforeARowNumber() {
        let input = "id,device,time,lat,lon\n1,a,0,48.2,16.3\n2,a,1,47.5,7.5\n"
        let outcome = convert(input, csv)
        #expect(outcome.rows.count == 2)
        #expect(outcome.rows[0].hasPrefix("device,time,") && outcome.rows[1].hasPrefix("a,"))
        #expect(outcome.notices == [.droppedColumns(file: "input0", names: ["id"], count: 1)])
        #expect(convert(input) { ($0.format, $0.keyColumn) = (.csv, "id") }.rows.count == 3)
    }

    @Test func recordsThatAllHaveKeysOfTheirOwnAreRemarkedOn() {
        let input = table((0..<30).map { ("row\($0)", Double($0), vienna) })
        #expect(convert(input, csv).notices == [.manyDevices(file: "input0", devices: 30, records: 30)])
        #expect(convert(table((0..<30).map { ("a", Double($0), vienna) }), csv).notices == [])
    }

    @Test func timesOfAllNotationsAreOneTimeLine() {
        let input = """
            time,lat,lon
            2026-03-01T00:00:00Z,48.2,16.3
            1772323199,47.5,7.5
            1772324099999,47.5,7.5
            2026-03-01T01:15:00+01:00,47.5,7.5
            """
        let rows = convert(input, csv).rows
        #expect(rows.map { String($0.prefix(22)) }.dropFirst() == ["1,2026-03-01T00:00:00Z", "1,2026-03-01T00:15:00Z"])
    }

    @Test func withoutTimesRegionsComeOutInOrderEachChangeOnce() {
        let input = "48.2082 16.3737\n48.2083 16.3738\n47.5596 7.5886\n48.2082 16.3737\n"
        #expect(convert(input, csv).error == .noTimes(file: "input0"))
        let outcome = convert(input) { ($0.format, $0.acceptsUntimed) = (.csv, true) }
        #expect(outcome.rows.count == 4)
        #expect(outcome.rows.dropFirst().allSatisfy { $0.hasPrefix("1,,") })
        #expect(outcome.notices == [.untimed(file: "input0")])
    }

    @Test func aMissingTimeAmongTimesIsABadRecord() {
        let outcome = convert("time,lat,lon\n0,1,2\n,1,2\nsoon,1,2\n", csv)
        #expect(
            outcome.problems == [
                RecordProblem(line: 3, reason: .timeMissing), RecordProblem(line: 4, reason: .timeUnreadable),
            ])
    }

    @Test func badRecordsFollowThePolicy() {
        let input = "id,time,lat,lon\na,0,1,2\na,1,none,2\nb,1\na,2,1,2\n"
        let skipped = convert(input) { ($0.format, $0.emission) = (.csv, .fixes) }
        #expect(skipped.reasons == ["3: the latitude is not a number", "4: 2 columns where the header has 4"])
        #expect(skipped.rows.count == 3 && skipped.summary.badRecords == 2 && skipped.summary.records == 4)
        let blanked = convert(input) { ($0.format, $0.emission, $0.onError) = (.csv, .fixes, .blank) }
        #expect(blanked.rows.count == 5 && blanked.rows[2] == "a,,,,,,," && blanked.rows[3] == ",,,,,,,")
        let stopped = convert(input) { ($0.format, $0.onError) = (.csv, .stop) }
        #expect(stopped.error == .stopped && stopped.output.isEmpty && stopped.problems.count == 1)
    }

    @Test func accuracyColumnsMakeForSteadinessAndNothingElse() {
        // Which answer comes is the pacer's business; here: the columns are read, wrong ones do no harm, none come out.
        for column in ["accuracy", "horizontal_accuracy", "hdop"] {
            let outcome = convert("time,lat,lon,\(column)\n0,48.2,16.3,4.25\n900,48.2,16.3,\n1800,48.2,16.3,x\n", csv)
            #expect(outcome.problems.isEmpty && outcome.rows.count == 2)
            #expect(outcome.notices == [.droppedColumns(file: "input0", names: [column], count: 1)])
            #expect(!outcome.text.contains("4.25"))
        }
    }

    @Test func inputsWithAndWithoutKeysDoNotMix() {
        let keyed = Array("id,time,lat,lon\na,0,1,2\n".utf8)
        let bare = Array("1 2\n".utf8)
        func convert(_ inputs: [[UInt8]]) -> Outcome {
            TracesTests.convert(inputs) { ($0.format, $0.acceptsUntimed) = (.csv, true) }
        }
        #expect(convert([keyed, bare]).error == .mixedKeys(file: "input1"))
        #expect(convert([keyed, keyed]).summary.written == 1)  // one device over both files
        #expect(convert([bare, bare]).summary.written == 2)  // a device per file
    }

    @Test func geoJSONIsAFeatureCollectionOfReports() throws {
        let input = table([("a\"\\\u{1}", 0, vienna), ("a\"\\\u{1}", 20, basel)]).replacingOccurrences(
            of: "a\"", with: "a\"")
        let outcome = convert(input) { $0.format = .geojson }
        let parsed = try JSONSerialization.jsonObject(with: Data(outcome.output))
        let collection = try #require(parsed as? [String: Any])
        let features = try #require(collection["features"] as? [[String: Any]])
        #expect(collection["type"] as? String == "FeatureCollection" && features.count == 2)
        let geometry = try #require(features[1]["geometry"] as? [String: Any])
        let properties = try #require(features[1]["properties"] as? [String: Any])
        let location = try worldAtlas.reducedLocation(
            of: try worldAtlas.snap(latitude: basel.latitude, longitude: basel.longitude))
        let coordinates = try #require(geometry["coordinates"] as? [Double])
        #expect(coordinates == [location.coordinate.longitude, location.coordinate.latitude])
        #expect(Set(properties.keys) == ["id", "time", "horizontal_accuracy", "region", "country", "place"])
        #expect(properties["id"] as? String == "a\"\\\u{1}")
        #expect(properties["time"] as? String == time(20))
        #expect(properties["region"] as? String == location.region.description)
        #expect(properties["country"] as? String == location.country.code)
        #expect(properties["place"] as? String == location.place?.description)
        let empty = convert("") { $0.format = .geojson }
        #expect(try JSONSerialization.jsonObject(with: Data(empty.output)) is [String: Any])
    }

    @Test func devicesAreFoundByTheirKeysAmongMany() {
        var random = SplitMix64(seed: 8)
        var keys = DeviceKeys()
        var expected: [[UInt8]: Int] = [:]
        var mistakes = 0
        for _ in 0..<20_000 {
            let key = (0..<Int.random(in: 0...11, using: &random)).map { _ in UInt8.random(in: 97...100, using: &random)
            }
            let number = expected[key] ?? expected.count
            let found = unsafe key.withUnsafeBufferPointer { unsafe keys.number(of: $0, hash: keys.hash($0)) }
            if found.number != number || found.isNew != (expected[key] == nil) { mistakes += 1 }
            expected[key] = number
        }
        #expect(mistakes == 0 && keys.count == expected.count)
    }
}
