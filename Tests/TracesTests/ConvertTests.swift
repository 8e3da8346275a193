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

/// Places far apart are minutes apart here.
private func csv(_ options: inout ConvertRun.Options) { (options.format, options.acceptsJumps) = (.csv, true) }

@Suite struct ConvertTests {
    /// Contract C9: at a tick the newest fix since the tick before is answered, with the tick's time.
    @Test func `answers come at ticks`() throws {
        let input = table([
            ("a", 0, vienna), ("a", 5, basel), ("a", 14.9, elPaso), ("a", 15, basel), ("a", 31, basel),
            ("a", 50, vienna),
            ("a", 59, basel),
        ])
        func row(_ minute: Int, _ place: (latitude: Double, longitude: Double)) throws -> String {
            "a,\(time(minute)),\(try reducedColumns(place.latitude, place.longitude))"
        }
        let first = try row(0, vienna), second = try row(15, basel)
        #expect(convert(input, csv).rows == [header, first, second])
        #expect(
            convert(input) { ($0.format, $0.emission, $0.acceptsJumps) = (.csv, .recomputations, true) }.rows == [
                header, first, second, try row(45, basel), try row(60, basel),
            ])
        #expect(
            convert(input) { ($0.format, $0.emission, $0.acceptsJumps) = (.csv, .fixes, true) }.rows == [
                header, first, try row(5, vienna), "a,2026-03-01T00:14:54Z" + (try row(14, vienna)).dropFirst(22),
                second,
                try row(31, basel), try row(50, basel), try row(59, basel),
            ])
    }

    /// Contract C3: no circle is smaller than the accuracy that the fix at the tick states. With a device key and without.
    @Test func `a fix less accurate than the circle has no answer`() throws {
        let fixes = [(0, vienna, "5"), (10, basel, "90000"), (16, basel, "8"), (29, basel, "60000.5"), (40, basel, "")]
        for key in ["id", "name"] {
            let lines = fixes.map { minute, place, accuracy in
                "a,\(1_772_323_200 + minute * 60),\(place.latitude),\(place.longitude),\(accuracy)\n"
            }
            let rows = convert("\(key),time,lat,lon,accuracy\n" + lines.joined(), csv).rows
            #expect(rows.count == 3)
            #expect(rows[1].hasSuffix("\(time(0)),\(try reducedColumns(vienna.latitude, vienna.longitude))"))
            #expect(rows[2].hasSuffix("\(time(45)),\(try reducedColumns(basel.latitude, basel.longitude))"))
        }
    }

    /// The first answer tells no more of when a trip began than the interval that it began in.
    @Test func `the first answer is at a tick`() throws {
        for minute in [0.1, 7, 14.9, 15] {
            let rows = convert(table([("a", minute, vienna)]), csv).rows
            #expect(rows == [header, "a,\(time(15)),\(try reducedColumns(vienna.latitude, vienna.longitude))"])
        }
    }

    @Test func `the interval is the users`() {
        let input = table([("a", 0, vienna), ("a", 5, basel), ("a", 10, elPaso)])
        func times(_ interval: Duration) -> [String] {
            convert(input) { ($0.format, $0.interval) = (.csv, interval) }.rows.dropFirst().map {
                String($0.dropFirst(13).prefix(8))
            }
        }
        #expect(times(.seconds(300)) == ["00:00:00", "00:05:00", "00:10:00"])
        // 2026-03-01 is no multiple of seven minutes.
        #expect(times(.seconds(420)) == ["00:06:00", "00:13:00"])
        #expect(times(.seconds(3_600)) == ["00:00:00", "01:00:00"])
        // The interval is not cut to seconds; its ticks are, where they are written.
        let second = convert("id,time,lat,lon\na,1772323200,48.2,16.3\na,1772323201,47.5,7.5\na,1772323202,1,2\n") {
            ($0.format, $0.interval) = (.csv, .milliseconds(1_500))
        }
        #expect(
            second.rows.dropFirst().map { $0.dropFirst(2).prefix { $0 != "," } } == [
                "2026-03-01T00:00:00Z", "2026-03-01T00:00:01Z", "2026-03-01T00:00:03Z",
            ])
    }

    @Test func `late and repeated fixes are counted`() throws {
        let input = table([
            ("a", 61, vienna), ("a", 61, basel), ("a", 0, basel), ("a", 60.5, elPaso), ("b", 3, basel),
            ("b", 2, vienna),
        ])
        let outcome = convert(input, csv)
        #expect(outcome.summary.written == 2 && outcome.problems.isEmpty)
        #expect(outcome.rows[1] == "a,\(time(75)),\(try reducedColumns(vienna.latitude, vienna.longitude))")
        #expect(outcome.notices == [.lateFixes(file: "input0", count: 4)])
        // Each input's own, in all emissions.
        for emission in Emission.allCases {
            let twice = convert([input, input].map { Array($0.utf8) }) {
                ($0.format, $0.emission, $0.acceptsJumps) = (.csv, emission, true)
            }
            #expect(twice.notices == [.lateFixes(file: "input0", count: 4), .lateFixes(file: "input1", count: 6)])
        }
        // In a table without keys nothing is late: one person's fixes are merged in time.
        let unkeyed = convert(input.replacing(/(?m)^\w+,/, with: ""), csv)
        #expect(unkeyed.notices.isEmpty)
        #expect(unkeyed.rows.dropFirst().map { $0.dropFirst(13).prefix(5) } == ["00:00", "01:15"])
    }

    @Test func `interleaved devices are paced each for itself`() throws {
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

    @Test func `keys are the same quoted or not`() {
        let input =
            "id,time,lat,lon\na,1,48.2,16.3\n\"a\",2,47.5,7.5\n\"say \"\"b\"\"\",1,48.2,16.3\n\"say \"\"b\"\"\",2,47.5,7.5\n"
        let rows = convert(input, csv).rows
        #expect(rows.count == 3)
        #expect(rows[1].hasPrefix("a,") && rows[2].hasPrefix("\"say \"\"b\"\"\","))
    }

    @Test func `a device column goes before a row number`() {
        let input = "id,device,time,lat,lon\n1,a,1,48.2,16.3\n2,a,2,47.5,7.5\n"
        let outcome = convert(input, csv)
        #expect(outcome.rows.count == 2)
        #expect(outcome.rows[0].hasPrefix("device,time,") && outcome.rows[1].hasPrefix("a,"))
        #expect(outcome.dropped == ["id"])
        #expect(convert(input) { ($0.format, $0.keyColumn) = (.csv, "id") }.rows.count == 3)
    }

    @Test func `records that all have keys of their own are remarked on`() {
        let input = table((0..<30).map { ("row\($0)", Double($0), vienna) })
        #expect(convert(input, csv).notices == [.manyDevices(file: "input0", devices: 30, records: 30)])
        #expect(convert(table((0..<30).map { ("a", Double($0), vienna) }), csv).notices == [])
    }

    @Test func `times of all notations are one time line`() {
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

    @Test func `without times regions come out in order each change once`() {
        let input = "48.2082 16.3737\n48.2083 16.3738\n47.5596 7.5886\n48.2082 16.3737\n"
        #expect(convert(input, csv).error == .noTimes(file: "input0"))
        let outcome = convert(input) { ($0.format, $0.acceptsUntimed) = (.csv, true) }
        #expect(outcome.rows.count == 4)
        #expect(outcome.rows.dropFirst().allSatisfy { $0.hasPrefix("1,,") })
        #expect(outcome.notices == [.untimed(file: "input0")])
    }

    @Test func `a missing time among times is a bad record`() {
        let outcome = convert("time,lat,lon\n0,1,2\n,1,2\nsoon,1,2\n", csv)
        #expect(outcome.reasons.sorted() == ["3: no time", "4: the time is not readable"])
        let keyed = convert("id,time,lat,lon\na,0,1,2\na,,1,2\na,soon,1,2\n", csv)
        #expect(keyed.reasons == ["3: no time", "4: the time is not readable"])
        #expect(outcome.summary.written == 1 && keyed.summary.written == 1)
    }

    @Test func `bad records follow the policy`() {
        let input = "id,time,lat,lon\na,0,1,2\na,1,none,2\nb,1\na,2,1,2\n"
        let skipped = convert(input) { ($0.format, $0.emission) = (.csv, .fixes) }
        #expect(skipped.reasons == ["3: the latitude is not a number", "4: 2 columns where the header has 4"])
        #expect(skipped.rows.count == 3 && skipped.summary.badRecords == 2 && skipped.summary.records == 4)
        let blanked = convert(input) { ($0.format, $0.emission, $0.onError) = (.csv, .fixes, .blank) }
        #expect(blanked.rows.count == 5 && blanked.rows[2] == ",,,,,,," && blanked.rows[3] == ",,,,,,,")
        let stopped = convert(input) { ($0.format, $0.onError) = (.csv, .stop) }
        #expect(stopped.error == .stopped && stopped.output.isEmpty && stopped.problems.count == 1)
    }

    @Test func `accuracy columns make for steadiness and nothing else`() {
        // Which answer comes is the pacer's business; here: the columns are read, wrong ones do no harm, none come out.
        for column in ["accuracy", "horizontal_accuracy", "hdop"] {
            let outcome = convert("time,lat,lon,\(column)\n0,48.2,16.3,4.25\n900,48.2,16.3,\n1800,48.2,16.3,x\n", csv)
            #expect(outcome.problems.isEmpty && outcome.rows.count == 2)
            #expect(outcome.dropped.isEmpty && outcome.readings[0].text.contains("accuracy \(column)"))
            #expect(!outcome.text.contains("4.25"))
        }
    }

    @Test func `inputs with and without keys do not mix`() {
        let keyed = Array("id,time,lat,lon\na,0,1,2\n".utf8)
        let bare = Array("1 2\n".utf8)
        func convert(_ inputs: [[UInt8]]) -> Outcome {
            TracesTests.convert(inputs) { ($0.format, $0.acceptsUntimed) = (.csv, true) }
        }
        #expect(convert([keyed, bare]).error == .mixedKeys(file: "input1"))
        #expect(convert([keyed, keyed]).summary.written == 1)  // one device over both files
        #expect(convert([bare, bare]).summary.written == 2)  // a device per file
    }

    @Test func `GeoJSON is a feature collection of reports`() throws {
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
        #expect(properties["time"] as? String == time(30))
        #expect(properties["region"] as? String == location.region.description)
        #expect(properties["country"] as? String == location.country.code)
        #expect(properties["place"] as? String == location.place?.description)
        let empty = convert("") { $0.format = .geojson }
        #expect(try JSONSerialization.jsonObject(with: Data(empty.output)) is [String: Any])
    }

    @Test func `devices are found by their keys among many`() {
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

    @Test func `files of several names are remarked on`() {
        let document = Array("<gpx><wpt lat='48.2' lon='16.37'><time>2026-03-01T08:07:00Z</time></wpt></gpx>".utf8)
        #expect(convert([document, document]) { $0.format = .csv }.notices == [.severalPersons(2)])
        for configure: (inout ConvertRun.Options) -> Void in [
            { $0.isOneDevice = true }, { $0.devices = .tracks },
        ] {
            #expect(convert([document, document], configure).notices.isEmpty)
        }
        #expect(convert([document]).notices.isEmpty)
    }
}
