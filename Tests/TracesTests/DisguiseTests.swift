import Foundation
import Hereabouts
import Testing

@testable import Traces

@Suite struct DisguiseTests {
    private let key = SecretKey(bytes: Array(0..<32))
    private let header = "latitude,longitude,horizontal_accuracy,region,country,place"

    private func time(_ text: String) throws -> Timestamp {
        try #require(
            unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe Timestamp($0, inTable: TimeStyle()) })
    }

    private func disguise(_ configure: (inout Disguise) -> Void) -> Disguise {
        var disguise = Disguise()
        configure(&disguise)
        return disguise
    }

    /// Names and days that Python's `hmac` gives for the same key and messages.
    @Test func `names and days are those of HMAC-SHA256`() {
        let all = disguise { ($0.renaming, $0.dateShift) = (key, .init(key: key)) }
        #expect(
            String(decoding: all.name(ofKey: Array("van".utf8)), as: UTF8.self) == "d2a149b0c7c1045c4c37173aa4acd104")
        #expect(
            String(decoding: all.name(ofKey: Array("bus".utf8)), as: UTF8.self) == "61a5ecbfdc7301bf2541b293834ed32d")
        #expect(all.name(ofKey: []) == [])
        let day: Int64 = 86_400_000_000_000
        #expect(all.shift(of: .device(Array("van".utf8))) == 312 * day)
        #expect(all.shift(of: .device(Array("bus".utf8))) == -70 * day)
        #expect(all.shift(of: .person("")) == 190 * day)
        #expect(all.shift(of: .person("input")) == -163 * day)
        #expect(all.shift(of: .person("input", track: 1)) != all.shift(of: .person("input")))
    }

    /// Likewise those of a period.
    @Test func `names and days are of a period`() {
        let all = disguise { ($0.renaming, $0.dateShift, $0.period) = (key, .init(key: key), .seconds(30 * 86_400)) }
        let van = Array("van".utf8), day: Int64 = 86_400_000_000_000
        #expect(
            String(decoding: all.name(ofKey: van, period: 681), as: UTF8.self) == "4c03f7bfe9b569f9d9ec41848a879717")
        #expect(all.shift(of: .device(van), period: 681) == -129 * day)
        let offset = all.periodOffset(ofKey: van)
        #expect(offset == 11 * day)
        for number in [-3, 0, 681] as [Int64] {
            let start = Timestamp(nanosecondsSince1970: number * 30 * day + offset)
            for (after, isSilent) in [(0, true), (2 * day - 1, true), (2 * day, false), (30 * day - 1, false)] {
                let time = Timestamp(nanosecondsSince1970: start.nanosecondsSince1970 + after)
                #expect(all.period(at: time, offset: offset) == (number, isSilent))
            }
        }
        // Devices change their names on different days.
        #expect(Set((0..<500).map { all.periodOffset(ofKey: Array("\($0)".utf8)) / day }).count == 30)
    }

    private func days(_ count: Int, from first: Int = 0, keys: [String] = ["van", "bus"]) -> String {
        var text = "device_id,time,lat,lon\n"
        for hour in first * 24..<(first + count) * 24 {
            for key in keys {
                text +=
                    "\(key),\(1_772_323_200 + hour * 3600 + 60),\(hour % 48 < 24 ? "48.2082,16.3738" : "47.5596,7.5886")\n"
            }
        }
        return text
    }

    /// Reports by their names, with the seconds of their times.
    private func byName(_ rows: [String]) throws -> [String: [Int64]] {
        var found: [String: [Int64]] = [:]
        for row in rows {
            let fields = row.split(separator: ",")
            found[String(fields[0]), default: []].append(
                try time(String(fields[1])).nanosecondsSince1970 / 1_000_000_000)
        }
        return found
    }

    @Test func `names change and begin in silence`() throws {
        let month = disguise { ($0.renaming, $0.period) = (key, .seconds(30 * 86_400)) }
        for emission in [Emission.changes, .recomputations, .stays] {
            func run(_ text: String, _ disguise: Disguise, state: String? = nil) -> Outcome {
                convert(text) {
                    ($0.format, $0.emission, $0.disguise, $0.state) = (.csv, emission, disguise, state)
                    ($0.acceptsJumps, $0.interval) = (true, .seconds(3600))
                }
            }
            let outcome = run(days(100), month)
            let names = try byName(Array(outcome.rows.dropFirst()))
            // Of 100 days each of the two devices has four or five names, each for 28 days, and two of silence between.
            #expect((8...10).contains(names.count) && outcome.notices.isEmpty)
            let spans = names.values.map { ($0.min() ?? 0, $0.max() ?? 0) }.sorted { $0 < $1 }
            #expect(spans.allSatisfy { $0.1 - $0.0 < 28 * 86_400 })
            for key in ["van", "bus"] {
                let own = try byName(Array(run(days(100, keys: [key]), month).rows.dropFirst()))
                let spans = own.values.map { ($0.min() ?? 0, $0.max() ?? 0) }.sorted { $0 < $1 }
                #expect(zip(spans, spans.dropFirst()).allSatisfy { $1.0 - $0.1 >= 2 * 86_400 })
                #expect(own.allSatisfy { names[$0.key] == $0.value })
            }
            // Runs that go on have the same reports, wherever they end.
            for cut in [1, 20, 31, 50] {
                let scratch = Scratch()
                let parts = [days(cut), days(100 - cut, from: cut)].flatMap {
                    run($0, month, state: scratch.path("state")).rows.dropFirst()
                }
                #expect(parts.sorted() == outcome.rows.dropFirst().sorted(), "\(cut)")
            }
            // Each name has days of its own.
            let moved = disguise { ($0.renaming, $0.period, $0.dateShift) = (key, month.period, .init(key: key)) }
            let other = try byName(Array(run(days(100), moved).rows.dropFirst()))
            let shifts = names.map { ((other[$0.key]?.min() ?? 0) - ($0.value.min() ?? 0)) / 86_400 }
            #expect(Set(shifts).count >= names.count - 1 && !shifts.contains(0))
        }
    }

    /// A name begins with a report, whether or not it equals the last one of the name before (contract C10).
    @Test func `a name repeats what stood`() throws {
        let rows = (0..<100 * 24).map { "van,\(1_772_323_200 + $0 * 3600),48.2082,16.3738\n" }.joined()
        let outcome = convert("device_id,time,lat,lon\n" + rows) {
            ($0.format, $0.interval) = (.csv, .seconds(3600))
            ($0.disguise.renaming, $0.disguise.period) = (key, .seconds(30 * 86_400))
        }
        let names = try byName(Array(outcome.rows.dropFirst()))
        #expect((4...5).contains(names.count) && names.values.allSatisfy { $0.count == 1 })
    }

    @Test func `more than sixty days under one name are told of`() throws {
        func run(_ days: Int, _ configure: (inout Disguise) -> Void) -> [Notice] {
            convert(self.days(days)) {
                ($0.format, $0.interval, $0.acceptsJumps) = (.csv, .seconds(3600), true)
                configure(&$0.disguise)
            }.notices
        }
        #expect(run(70) { $0.renaming = key } == [.longNames(2)] && run(60) { $0.renaming = key } == [])
        #expect(run(70) { $0.dateShift = .init(key: key) } == [.longNames(2)] && run(70) { _ in } == [])
        #expect(run(70) { ($0.renaming, $0.period) = (key, .seconds(30 * 86_400)) } == [])
        // A person's tracks are one's.
        let tracks = [1, 4].map {
            "<trk><trkseg><trkpt lat=\"48.2\" lon=\"16.4\"><time>2026-0\($0)-01T08:07:00Z</time></trkpt></trkseg></trk>"
        }
        let person = convert("<gpx>\(tracks.joined())</gpx>") {
            ($0.format, $0.emission, $0.disguise.dateShift) = (.csv, .recomputations, .init(key: key))
            $0.acceptsJumps = true
        }
        #expect(person.rows.count == 3 && person.notices == [.longNames(1)])
        // A folder's files are together.
        let folder = FolderTests()
        for part in 0..<2 {
            _ = folder.scratch.write(Array(days(35, from: 35 * part).utf8), as: "in/\(part).csv")
        }
        let summary = try folder.run { ($0.convert.disguise.renaming, $0.convert.acceptsJumps) = (key, true) }
        #expect(summary.longNames == 2)
    }

    @Test func `names that change need keys`() {
        let outcome = convert("time,lat,lon\n2026-03-01T08:00:30Z,48.2,16.4\n") {
            ($0.format, $0.disguise.renaming, $0.disguise.period) = (.csv, key, .seconds(30 * 86_400))
        }
        #expect(outcome.error == .noKeysToRename(file: "input0") && outcome.output.isEmpty)
    }

    @Test func `days are uniform and never none`() {
        let shift = disguise { $0.dateShift = .init(key: key, mostDays: 3) }
        var counts: [Int64: Int] = [:]
        for number in 0..<6000 {
            counts[shift.shift(of: .device(Array("\(number)".utf8))) / 86_400_000_000_000, default: 0] += 1
        }
        #expect(counts.keys.sorted() == [-3, -2, -1, 1, 2, 3])
        // Five standard deviations of a binomial count about 1000.
        #expect(counts.values.allSatisfy { abs($0 - 1000) < 150 })
    }

    @Test func `times are rounded down`() throws {
        let hour = disguise { $0.timePrecision = .seconds(3600) }
        #expect(hour.written(try time("2026-03-01T08:59:59Z"), shift: 0) == (try time("2026-03-01T08:00:00Z")))
        #expect(hour.written(try time("1969-12-31T23:59:59Z"), shift: 0) == (try time("1969-12-31T23:00:00Z")))
        #expect(hour.written(Timestamp(nanosecondsSince1970: .min), shift: 0) == nil)
        #expect(hour.written(Timestamp(nanosecondsSince1970: .min), shift: -1) == nil)
    }

    private let fleet = """
        device_id,time,lat,lon,id,seen,born
        van,2026-03-01T08:00:30Z,48.2,16.4,7,1772352000,2001-02-03
        bus,2026-03-01 09:01:00+01:00,47.5596,7.5886,8,x,20010203
        van,,48.2,16.4,,,3 Feb
        van,soon,48.2,16.4,7,,
        """

    @Test func `rows have other keys and times`() throws {
        let outcome = snap(fleet) {
            $0.keep = ["born", "seen"]
            $0.disguise = disguise {
                ($0.renaming, $0.dateShift, $0.timePrecision) = (key, .init(key: key), .seconds(60))
            }
        }
        let vienna = try reducedColumns(48.2, 16.4), basel = try reducedColumns(47.5596, 7.5886)
        let all = disguise { ($0.renaming, $0.dateShift, $0.timePrecision) = (key, .init(key: key), .seconds(60)) }
        func text(_ moment: String, of device: String) throws -> String {
            var out = ByteBuffer(capacity: 20)
            try #require(all.written(try time(moment), shift: all.shift(of: .device(Array(device.utf8))))).append(
                to: &out)
            return String(decoding: out.array, as: UTF8.self)
        }
        func name(_ key: String) -> String { String(decoding: all.name(ofKey: Array(key.utf8)), as: UTF8.self) }
        let born = try text("2001-02-03T00:00:00Z", of: "van").prefix(10)
        #expect(
            outcome.rows == [
                "device_id,time,id,seen,born,\(header)",
                "d2a149b0c7c1045c4c37173aa4acd104,\(try text("2026-03-01T08:00:00Z", of: "van")),\(name("7")),1772352000,\(born),\(vienna)",
                "61a5ecbfdc7301bf2541b293834ed32d,\(try text("2026-03-01T08:01:00Z", of: "bus")),\(name("8")),x,20010203,\(basel)",
                "d2a149b0c7c1045c4c37173aa4acd104,,,,3 Feb,\(vienna)",
                ",,,,,,,,,,",
            ])
        #expect(outcome.reasons == ["5: the time is not one"])
        let named = snap(fleet) {
            ($0.keep, $0.timeColumn) = (["seen"], "seen")
            $0.disguise.timePrecision = .seconds(3600)
        }
        #expect(named.rows[1].hasPrefix("van,2026-03-01T08:00:00Z,7,2026-03-01T08:00:00Z,"))
    }

    @Test func `a key that is not copied decides the days`() throws {
        let input = "{\"user_id\":\"van\",\"time\":\"2026-03-01T08:00:30Z\",\"lat\":1,\"lon\":2}\n"
        let shift = disguise { $0.dateShift = .init(key: key) }
        let outcome = snap(input) { $0.disguise = shift }
        let rows = snap("user_id,time,lat,lon\nvan,2026-03-01T08:00:30Z,1,2\n") { $0.disguise = shift }
        var out = ByteBuffer(capacity: 20)
        try #require(
            shift.written(try time("2026-03-01T08:00:30Z"), shift: 312 * 86_400_000_000_000)
        ).append(to: &out)
        let moved = String(decoding: out.array, as: UTF8.self)
        #expect(outcome.text.hasPrefix("{\"time\":\"\(moved)\",\"latitude\":"))
        #expect(rows.rows[1].hasPrefix("\(moved),"))
        // As an input of fixes to a format without rows, and to `convert`.
        let gpx = snap(input) { ($0.disguise, $0.format) = (shift, .gpx) }
        #expect(gpx.text.contains("<time>\(moved)</time>"))
        let fixes = convert(input) { ($0.disguise, $0.format, $0.emission) = (shift, .csv, .fixes) }
        #expect(fixes.rows.count == 2 || fixes.rows.count == 1)
        let answers = convert(input) { ($0.disguise, $0.format) = (shift, .csv) }
        #expect(answers.rows[1].hasPrefix("van,\(moved.prefix(11))08:15:00Z,"))
    }

    @Test func `pacing runs on true time`() throws {
        let fleet = """
            device_id,time,lat,lon
            van,2026-03-01T08:07:00Z,48.2,16.4
            bus,2026-03-01T08:08:00Z,48.2,16.4
            van,2026-03-01T08:20:00Z,47.5596,7.5886
            bus,2026-03-01T08:50:00Z,47.5596,7.5886
            ant,2026-03-01T08:51:00Z,48.2,16.4
            """
        let plain = convert(fleet) { $0.format = .csv }
        let all = disguise { ($0.renaming, $0.dateShift) = (key, .init(key: key, mostDays: 300)) }
        for format in [TraceFormat.csv, .ndjson, .geojson] {
            let outcome = convert(fleet) { ($0.format, $0.disguise) = (format, all) }
            #expect(!outcome.text.contains("van") && !outcome.text.contains("2026-03-01"))
            #expect(outcome.summary == plain.summary)
        }
        let rows = convert(fleet) { ($0.format, $0.disguise) = (.csv, all) }.rows.dropFirst()
        // By device, in the order of the written keys, which is not that of the input.
        let keys = rows.map { String($0.prefix(32)) }
        #expect(keys == keys.sorted() && Set(keys).count == 3)
        func hours(_ rows: some Sequence<String>) -> [String] {
            rows.map { String($0.split(separator: ",")[1].suffix(9)) }.sorted()
        }
        #expect(hours(rows) == hours(plain.rows.dropFirst()))
        let fixes = convert(fleet) {
            ($0.format, $0.disguise, $0.emission, $0.onError) = (.csv, all, .fixes, .blank)
        }
        #expect(fixes.rows.count == 6 && !fixes.text.contains("2026-03-01"))
    }

    @Test func `a person's tracks move together and files apart`() throws {
        let gpx = """
            <gpx><trk><trkseg><trkpt lat="48.2" lon="16.4"><time>2026-03-01T08:07:00Z</time></trkpt></trkseg></trk>
            <trk><trkseg><trkpt lat="47.55" lon="7.58"><time>2026-03-01T09:07:00Z</time></trkpt></trkseg></trk></gpx>
            """
        let shift = disguise { $0.dateShift = .init(key: key) }
        func days(_ rows: [String]) -> [String] {
            rows.dropFirst().map { String($0.split(separator: ",")[1].prefix(10)) }
        }
        let inputs = ["a.gpx", "b.gpx"].map { ($0, Array(gpx.utf8)) }
        let apart = days(convert(inputs) { ($0.format, $0.disguise) = (.csv, shift) }.rows)
        #expect(apart.count == 4 && apart[0] == apart[1] && apart[2] == apart[3] && apart[0] != apart[2])
        let together = convert(inputs) { ($0.format, $0.disguise, $0.isOneDevice) = (.csv, shift, true) }
        #expect(Set(days(together.rows)).count == 1)
        let tracks = days(convert([inputs[0]]) { ($0.format, $0.disguise, $0.devices) = (.csv, shift, .tracks) }.rows)
        #expect(Set(tracks).count == 2)
        // `snap` moves the same file by as much.
        let scratch = Scratch()
        let file = InputName.file(scratch.write(Array(gpx.utf8), as: "a.gpx"))
        var options = SnapRun.Options()
        (options.format, options.disguise) = (.csv, shift)
        let snapped = observed(scratch) { output, observer throws(TraceError) in
            try SnapRun.run([file], to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        #expect(days(snapped.rows) == [apart[0], apart[1]])
    }

    @Test func `a key file is at least 32 bytes that its owner alone may read`() throws {
        let scratch = Scratch()
        func problem(_ bytes: [UInt8], mode: Int = 0o600) -> TraceError? {
            let path = scratch.write(bytes, as: "key")
            try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            do throws(TraceError) {
                _ = try SecretKey(contentsOf: path)
                return nil
            } catch { return error }
        }
        let good = (0..<32).map { UInt8($0) }, path = scratch.path("key")
        #expect(problem(good) == nil && problem(good, mode: 0o400) == nil)
        for mode in [0o644, 0o640, 0o604, 0o620] {
            #expect(problem(good, mode: mode) == .badKey(file: path, .readable))
        }
        #expect(problem(good.dropLast()) == .badKey(file: path, .short))
        #expect(problem([UInt8](repeating: 0, count: 32)) == .badKey(file: path, .uniform))
        #expect(problem((0..<4097).map { UInt8(truncatingIfNeeded: $0) }) == .badKey(file: path, .long))
        #expect(problem((0..<4096).map { UInt8(truncatingIfNeeded: $0) }) == nil)
        try? FileManager.default.removeItem(atPath: path)
        #expect(throws: TraceError.self) { try SecretKey(contentsOf: path) }
    }
}
