import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import LiveFilter
import LiveState
import Testing
import Traces

@Suite struct LiveFilterTests {
    // MARK: The clock on the wall

    @Test func `reports come at their tick without input`() throws {
        var random = SplitMix64(seed: 1)
        let world = TestWorld([
            .line(10, json("b", 1, 5, &random)), .line(20, json("a", 2, 15, &random)), .stop(1000),
        ])
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        #expect(world.writes.map(\.time) == [moment(900)])
        let lines = world.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("\"a\"") && lines[1].contains("\"b\""))
        #expect(lines.allSatisfy { $0.contains("\"time\":\"2026-09-21T14:30:00Z\"") })
        #expect(summary.end == .stopped && summary.reports == 2 && summary.devices == 2 && summary.bad.isEmpty)
    }

    @Test func `nothing is answered ahead of time`() throws {
        var random = SplitMix64(seed: 2)
        for last: TestWorld.Arrival in [.stop(899), .end(899)] {
            let world = TestWorld([.line(10, json("a", 1, 5, &random)), last])
            let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
            #expect(world.writes.isEmpty && summary.records == 1)
        }
    }

    @Test func `changes and recomputations`() throws {
        var random = SplitMix64(seed: 3)
        let arrivals = (0..<4).map {
            TestWorld.Arrival.line(Double($0) * 900 + 1, json("a", 1, Double($0) * 900 + 1, &random))
        }
        for isEvery in [false, true] {
            let world = TestWorld(arrivals + [.stop(3700)])
            _ = try LiveFilter(
                atlas: World.atlas, options: options { $0.reportsEveryAnswer = isEvery }, world: world
            ).run()
            #expect(world.writes.count == (isEvery ? 4 : 1))
        }
    }

    @Test func `where each of the first thousand records has another id, it is said once`() throws {
        func notices(
            _ count: Int, _ change: (inout LiveOptions) -> Void = { _ in }, id: (Int) -> Int
        ) throws -> [LiveNotice] {
            var random = SplitMix64(seed: 77)
            let arrivals = (0..<count).map {
                TestWorld.Arrival.line(Double($0) / 10, json("\(id($0))", 1, Double($0) / 10, &random))
            }
            var notices: [LiveNotice] = []
            _ = try LiveFilter(
                atlas: World.atlas, options: options(change), world: TestWorld(arrivals + [.stop(900)])
            ) { notices.append($0) }.run()
            return notices.filter { if case .columns(.manyDevices) = $0 { true } else { false } }
        }
        let said = LiveNotice.columns(.manyDevices(file: "standard input", devices: 1000, records: 1000))
        #expect(try notices(2100) { $0 } == [said])
        #expect(try notices(999) { $0 }.isEmpty)
        #expect(try notices(2100) { $0 % 999 }.isEmpty)
        #expect(try notices(2100, { $0.table.keyColumn = "id" }) { $0 }.isEmpty)
    }

    @Test func `fixes without times have that of their arrival`() throws {
        let world = TestWorld([
            .line(10, "{\"latitude\":1,\"longitude\":4}"), .line(1000, "{\"latitude\":1,\"longitude\":6}"), .stop(2000),
        ])
        _ = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        #expect(world.writes.map(\.time) == [moment(900), moment(1800)])
    }

    @Test func `a clock that goes back answers nothing twice`() throws {
        var random = SplitMix64(seed: 4)
        let world = TestWorld([
            .line(4000, json("a", 1, 3990, &random)), .line(5000, json("a", 2, 1200, &random)), .stop(5500),
        ])
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        #expect(world.writes.count == 1 && summary.late == 1)
    }

    /// A clock that is set an hour either way: no tick is answered twice, none before the clock showed it, and devices are
    /// answered again once the clock has passed the last tick.
    @Test(arguments: [3600.0, -3600, 1800, -1800, 90_000, -90_000]) func `a clock that is set`(_ shift: Double) throws {
        var random = SplitMix64(seed: 24)
        // A fix each minute, in another region each quarter of an hour, by clocks that are right.
        var arrivals = (0..<(6 * 60)).map { minute -> TestWorld.Arrival in
            let at = Double(minute) * 60 + 30
            return .line(at, json("a", minute / 15 % 14, at, &random))
        }
        arrivals.insert(.clock(2 * 3600 + 10, shift: shift), at: 120)
        arrivals.insert(.clock(4 * 3600 + 10, shift: 0), at: 241)
        let world = TestWorld(arrivals + [.stop(6 * 3600 + 1)])
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        let ticks = try world.output.split(separator: "\n").map { line in
            try #require(line.firstRange(of: "\"time\":\"")).upperBound
        }
        let times = zip(world.output.split(separator: "\n"), ticks).map { String($0[$1...].prefix(20)) }
        #expect(times == times.sorted() && Set(times).count == times.count, "\(times)")
        for write in world.writes {
            #expect(write.time.nanosecondsSince1970 / 1_000_000_000 % 900 < 60, "only at a tick")
        }
        // What stays answered: the two hours before, and those after the clock is right and has reached the last tick.
        #expect(times.count >= (abs(shift) > 4 * 3600 ? 8 : 12))
        #expect(summary.devices == 1 && summary.bad.isEmpty)
    }

    // MARK: Lines

    @Test func `hostile lines are counted and the run goes on`() throws {
        var random = SplitMix64(seed: 5)
        let secret = "3.141592"
        let hostile = [
            "garbage \(secret)", "{\"id\":\"\(secret)\",\"time\":1,\"latitude\":1,\"longitude\":4}",
            "{\"id\":\"\(secret)\",\"latitude\":91,\"longitude\":\(secret)}", "[", "{", "\u{0}", "{}",
            "{\"id\":\"\(secret)\",\"time\":\(start),\"latitude\":\"x\",\"longitude\":4}",
            String(repeating: "9", count: 70_000), String(repeating: "{\"a\":", count: 200),
            "{\"id\":\"\(String(repeating: "k", count: 300))\",\"time\":\(start),\"latitude\":1,\"longitude\":4}",
        ]
        let world = TestWorld(
            [.line(1, json("a", 1, 0, &random))] + hostile.map { .line(2, $0) }
                + [.bytes(3, [0xff, 0xfe, 10]), .line(4, json("b", 2, 3, &random)), .stop(1000)])
        var notices: [LiveNotice] = []
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world) { notices.append($0) }.run()
        #expect(world.output.split(separator: "\n").count == 2)
        #expect(summary.bad.values.reduce(0, +) == hostile.count + 1)
        #expect(notices.contains(.overlongLine(limit: 65_536)))
        let said = "\(notices) \(summary)"
        #expect(!said.contains(secret) && !said.contains("garbage") && !said.contains("kkk"))
    }

    @Test func `an open quote swallows nothing`() throws {
        let csv = """
            id,time,latitude,longitude
            a,\(start),1,4
            b,\(start),"1,4
            c,\(start),"1",4
            d,\(start),1,"4
            e,\(start),"a"b,"4

            """
        // However the bytes come.
        for chunk in [1, 7, 1000] {
            let bytes = Array(csv.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: chunk).map {
                TestWorld.Arrival.bytes(1, Array(bytes[$0..<min($0 + chunk, bytes.count)]))
            }
            let world = TestWorld(pieces + [.line(2, "f,\(start),1,8"), .stop(1000)])
            let summary = try LiveFilter(
                atlas: World.atlas,
                options: options {
                    $0.source = .csv
                    $0.target = .csv
                }, world: world
            ).run()
            let keys = world.output.split(separator: "\n").map { $0.prefix { $0 != "," } }
            #expect(keys == ["id", "a", "c", "f"])
            #expect(summary.bad.values.reduce(0, +) == 3)
        }
    }

    @Test func `a full table is said once`() throws {
        var random = SplitMix64(seed: 6)
        let world = TestWorld((0..<5).map { .line(1, json("d\($0)", $0, 0, &random)) } + [.stop(1000)])
        var notices: [LiveNotice] = []
        let summary = try LiveFilter(
            atlas: World.atlas, options: options { $0.maximumDevices = 2 }, world: world
        ) { notices.append($0) }.run()
        #expect(summary.refused == 3 && notices.filter { !$0.isOfColumns } == [.fullTable(limit: 2)])
        #expect(world.output.split(separator: "\n").count == 2)
    }

    @Test func `silent devices are forgotten`() throws {
        var random = SplitMix64(seed: 7)
        let world = TestWorld([.line(1, json("a", 1, 0, &random)), .stop(9000)])
        let summary = try LiveFilter(
            atlas: World.atlas, options: options { $0.forgetAfter = .seconds(3600) }, world: world
        ).run()
        #expect(summary.forgotten == 1 && summary.devices == 0)
    }

    @Test func `gpsd`() throws {
        let world = TestWorld([
            .line(1, "{\"class\":\"VERSION\",\"release\":\"3.22\",\"proto_major\":3,\"proto_minor\":14}"),
            .line(
                2,
                "{\"class\":\"TPV\",\"device\":\"/dev/ttyUSB0\",\"mode\":3,\"lat\":1,\"lon\":4,\"altHAE\":7,\"track\":12}"
            ),
            .line(3, "{\"class\":\"TPV\",\"mode\":1}"), .line(4, "{\"class\":\"SKY\"}"), .stop(1000),
        ])
        let summary = try LiveFilter(
            atlas: World.atlas,
            options: options {
                $0.source = .gpsd
                $0.target = .gpsd
            }, world: world
        ).run()
        #expect(
            world.output == """
                {"class":"TPV","device":"hereabouts","mode":2,"time":"2026-09-21T14:30:00.000Z","lat":1.00000,"lon":4.00000,"eph":60000}

                """)
        #expect(summary.records == 1 && summary.others == 3)
    }

    @Test func `own tracks`() throws {
        let payload =
            "{\"_type\":\"location\",\"lat\":1,\"lon\":4,\"tst\":\(start),\"tid\":\"ab\",\"batt\":80,\"SSID\":\"home\"}"
        let world = TestWorld([
            .line(1, "owntracks/u/phone " + payload), .line(2, payload),
            .line(3, "owntracks/u/phone {\"_type\":\"lwt\"}"),
            .line(4, "owntracks/u/gone "), .line(5, "owntracks/u/x {\"_type\":\"encrypted\",\"data\":\"A\"}"),
            .stop(1000),
        ])
        let summary = try LiveFilter(
            atlas: World.atlas,
            options: options {
                $0.source = .owntracks
                $0.target = .owntracks
            }, world: world
        ).run()
        #expect(
            world.output == """
                {"_type":"location","lat":1.00000,"lon":4.00000,"acc":60000,"tst":1790001000,"tid":"ab"}
                {"_type":"location","lat":1.00000,"lon":4.00000,"acc":60000,"tst":1790001000,"tid":"ne"}

                """)
        #expect(summary.bad == ["encrypted": 1] && summary.others == 2)
    }

    // MARK: Ends

    @Test func `a closed pipe ends the run`() throws {
        var random = SplitMix64(seed: 8)
        let world = TestWorld([
            .line(1, json("a", 1, 0, &random)), .line(5000, json("a", 2, 4990, &random)), .stop(9000),
        ])
        world.closesAfter = 0
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        #expect(summary.end == .outputClosed)
    }

    // MARK: Non-interference

    /// What comes out, and when, is a function of the regions at ticks and the clock: whatever else the devices do.
    @Test func `streams with the same regions at ticks are indistinguishable`() throws {
        for seed in 0..<300 {
            var plan = SplitMix64(seed: UInt64(seed))
            let devices = 1 + Int(plan.uniform(0, 4)), ticks = 2 + Int(plan.uniform(0, 5))
            let regions = (0..<devices).map { _ in
                (0..<ticks).map { _ in plan.uniform(0, 1) < 0.3 ? nil : Int(plan.uniform(0, 14)) }
            }
            let target = LiveTarget.allCases[seed % 4]
            func run(_ seed: UInt64) throws -> [(Timestamp, String)] {
                var random = SplitMix64(seed: seed)
                var arrivals: [(Double, String)] = []
                for device in 0..<devices {
                    for tick in 0..<ticks {
                        guard let region = regions[device][tick] else { continue }
                        let base = Double(tick) * 900
                        // Fixes elsewhere before the one that counts.
                        var at = random.uniform(1, 400)
                        for _ in 0..<Int(random.uniform(0, 4)) {
                            arrivals.append(
                                (base + at, json("d\(device)", Int(random.uniform(0, 14)), base + at, &random)))
                            at += random.uniform(2, 100)
                        }
                        at += random.uniform(2, 90)
                        arrivals.append((base + at, json("d\(device)", region, base + at, &random)))
                    }
                }
                if random.uniform(0, 1) < 0.5 { arrivals.append((random.uniform(0, 900), "garbage")) }
                arrivals.sort { $0.0 < $1.0 }
                let world = TestWorld(
                    [.line(0, "{\"id\":\"d0\",\"time\":1,\"latitude\":0,\"longitude\":0}")]
                        + arrivals.map { .line($0.0, $0.1) } + [.stop(Double(ticks + 2) * 900)])
                _ = try LiveFilter(atlas: World.atlas, options: options { $0.target = target }, world: world).run()
                return world.writes.map { ($0.time, $0.text) }
            }
            let first = try run(UInt64(2 * seed + 1000)), second = try run(UInt64(2 * seed + 1001))
            #expect(first.map(\.0) == second.map(\.0) && first.map(\.1) == second.map(\.1), "seed \(seed)")
        }
    }

    // MARK: Replay

    @Test func `a replay is what convert gives`() throws {
        for seed in 0..<40 {
            var random = SplitMix64(seed: UInt64(seed))
            var fixes: [(Double, String, Int)] = []
            for device in 0..<5 {
                var at = random.uniform(0, 2000), place = Int(random.uniform(0, 14))
                while at < 40_000 {
                    // Now and then at a tick exactly.
                    if random.uniform(0, 1) < 0.1 { at = (at / 900).rounded(.up) * 900 }
                    if random.uniform(0, 1) < 0.1 { place = Int(random.uniform(0, 14)) }
                    fixes.append((at.rounded(.down), "d\(device)", place))
                    at += random.uniform(1, random.uniform(0, 1) < 0.1 ? 5000 : 500)
                }
            }
            fixes.sort { $0.0 < $1.0 }
            let lines = fixes.map { json($0.1, $0.2, $0.0, &random) }
            for isEvery in [false, true] {
                let world = TestWorld(lines.map { .line(100_000, $0) } + [.end(100_000)])
                let live = LiveFilter(
                    atlas: World.atlas,
                    options: options {
                        $0.isReplay = true
                        $0.reportsEveryAnswer = isEvery
                    }, world: world)
                _ = try live.run()
                let folder = Folder()
                try (lines.joined(separator: "\n") + "\n").write(
                    toFile: folder.file("in.ndjson"), atomically: true, encoding: .utf8)
                var converted = ConvertRun.Options()
                converted.format = .ndjson
                converted.acceptsJumps = true
                converted.emission = isEvery ? .recomputations : .changes
                _ = try ConvertRun.run(
                    [.file(folder.file("in.ndjson"))], to: try .file(folder.file("out.ndjson"), besides: []),
                    atlas: World.atlas, options: converted, observer: RunObserver())
                let expected = try String(contentsOfFile: folder.file("out.ndjson"), encoding: .utf8)
                #expect(
                    world.output.split(separator: "\n").sorted() == expected.split(separator: "\n").sorted(),
                    "seed \(seed)")
                #expect(!expected.isEmpty)
            }
        }
    }

    // MARK: State

    private func store(_ path: String) throws -> SQLiteLiveStore {
        try SQLiteLiveStore(
            path: path, fingerprint: World.atlas.fingerprint, interval: .seconds(900), reportsEveryAnswer: false)
    }

    @Test func `a state goes on`() throws {
        var random = SplitMix64(seed: 9)
        let folder = Folder()
        func run(_ arrivals: [TestWorld.Arrival]) throws -> String {
            let world = TestWorld(arrivals)
            let store = try store(folder.file("state"))
            _ = try LiveFilter(atlas: World.atlas, options: options(), world: world, store: store).run()
            store.close()
            return world.output
        }
        let first = try run([.line(1, json("a", 1, 0, &random)), .stop(1000)])
        #expect(first.split(separator: "\n").count == 1)
        // The same region again is no change; and the tick that was answered is not answered again.
        let again = try run([
            .line(1001, json("a", 3, 899, &random)), .line(1002, json("a", 1, 1000, &random)), .stop(2000),
        ])
        #expect(again.isEmpty)
        let other = try run([.line(2001, json("a", 2, 2000, &random)), .stop(3000)])
        #expect(other.split(separator: "\n").count == 1)
    }

    @Test func `a foreign file is no state`() throws {
        let folder = Folder()
        try String(repeating: "no database ", count: 1000).write(
            toFile: folder.file("text"), atomically: true, encoding: .utf8)
        #expect(throws: LiveStoreError.notAState) { try self.store(folder.file("text")) }
        let first = try store(folder.file("state"))
        #expect(throws: LiveStoreError.inUse) { try self.store(folder.file("state")) }
        first.close()
        #expect(throws: LiveStoreError.otherInterval) {
            try SQLiteLiveStore(
                path: folder.file("state"), fingerprint: World.atlas.fingerprint, interval: .seconds(60),
                reportsEveryAnswer: false)
        }
        #expect(throws: LiveStoreError.otherAtlas) {
            try SQLiteLiveStore(
                path: folder.file("state"), fingerprint: 1, interval: .seconds(900), reportsEveryAnswer: false)
        }
    }

    /// A device that was answered in the hours ahead goes on at the clock's next tick, and one that was answered before too.
    @Test func `a state of another clock`() throws {
        var random = SplitMix64(seed: 25)
        for (shift, count) in [(3600.0, 1), (-3600, 1), (0, 0)] {
            let folder = Folder()
            func run(_ arrivals: [TestWorld.Arrival]) throws -> (lines: Int, notices: [LiveNotice]) {
                let world = TestWorld(arrivals), store = try store(folder.file("state"))
                var notices: [LiveNotice] = []
                _ = try LiveFilter(atlas: World.atlas, options: options(), world: world, store: store) {
                    notices.append($0)
                }.run()
                store.close()
                return (world.output.split(separator: "\n").count, notices)
            }
            let first = try run([
                .clock(0, shift: shift), .line(1, json("a", 1, 1 + shift, &random)), .stop(1000),
            ])
            #expect(first.lines == 1)
            let second = try run([.line(1001, json("a", 2, 1001, &random)), .stop(1900)])
            #expect(second.lines == 1)
            #expect(second.notices.filter { !$0.isOfColumns } == (shift > 0 ? [.clockSetBack] : []), "\(count)")
        }
    }

    @Test func `a forgotten device is in no state`() throws {
        var random = SplitMix64(seed: 26)
        let folder = Folder()
        let held = try store(folder.file("state"))
        let world = TestWorld([
            .line(1, json("old", 1, 0, &random)), .line(86_000, json("new", 1, 86_000, &random)), .stop(90_000),
        ])
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world, store: held).run()
        #expect(summary.forgotten == 1 && summary.devices == 1)
        var keys: [String] = []
        try held.forEachDevice { key, _, _ in keys.append(key) }
        #expect(keys == ["new"])
        held.close()
    }

    /// Keys that begin alike, are each other's beginning, or are no ASCII: the reports of a tick are in order of their bytes.
    @Test func `reports are in order of the keys bytes`() throws {
        var random = SplitMix64(seed: 27)
        var keys: Set<String> = ["a", "ab", "device", "device0", "device00", "device\u{e9}", "z", "\u{e9}", "e\u{301}"]
        for _ in 0..<300 {
            let length = 1 + Int(random.uniform(0, 30))
            keys.insert(String((0..<length).map { _ in random.uniform(0, 1) < 0.5 ? "d" : "e" }))
        }
        var order = Array(keys)
        for place in order.indices { order.swapAt(place, Int(random.uniform(0, Double(order.count)))) }
        let world = TestWorld(order.map { .line(1, json($0, 1, 0, &random)) } + [.stop(1000)])
        let summary = try LiveFilter(atlas: World.atlas, options: options(), world: world).run()
        let written = world.output.split(separator: "\n").map {
            String($0.dropFirst("{\"id\":\"".count).prefix { $0 != "\"" })
        }
        let expected = order.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        #expect(written.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(summary.devices == order.count)
    }

    /// What was committed and not written is written by the next run, once.
    @Test func `reports that did not come out are repeated`() throws {
        var random = SplitMix64(seed: 10)
        let folder = Folder()
        let world = TestWorld([.line(1, json("a", 1, 0, &random)), .stop(1000)])
        world.closesAfter = 0
        var held = try store(folder.file("state"))
        _ = try LiveFilter(atlas: World.atlas, options: options(), world: world, store: held).run()
        held.close()
        for count in [1, 0] {
            let next = TestWorld([.line(1001, json("a", 1, 1000, &random)), .stop(1100)])
            held = try store(folder.file("state"))
            _ = try LiveFilter(atlas: World.atlas, options: options(), world: next, store: held).run()
            held.close()
            #expect(next.output.split(separator: "\n").count == count)
        }
    }
}

extension LiveNotice {
    /// Whether it says how the input is read.
    fileprivate var isOfColumns: Bool { if case .columns = self { true } else { false } }
}
