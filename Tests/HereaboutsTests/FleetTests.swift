import FixedRandom
import Testing

@testable import Hereabouts

private let model = AtlasModel(seed: 1)
private let sharedAtlas = Result { try Atlas(bytes: model.fixture.bytes) }

@Suite struct FleetTests {
    let atlas: Atlas

    init() throws { atlas = try sharedAtlas.get() }

    private func fix(_ seconds: Int64, _ latitude: Double = 1, _ longitude: Double = 2) -> Fix {
        Fix(
            coordinate: Coordinate(latitude: latitude, longitude: longitude),
            time: Timestamp(nanosecondsSince1970: seconds * 1_000_000_000))
    }

    /// Many devices in turn: each is decided on as by a pacer of its own, over restarts too.
    @Test func `every device is paced as alone, over restarts`() throws {
        var random = SplitMix64(seed: 730)
        var fleet = Fleet(interval: .seconds(600), capacity: 50, atlas: atlas)
        var alone = (0..<50).map { _ in Pacer(interval: .seconds(600)) }
        var now: Int64 = 0
        for step in 0..<4_000 {
            now += Int64.random(in: 0...30, using: &random)
            let device = Int.random(in: 0..<50, using: &random)
            let fix = fix(
                now - (Bool.random(using: &random) ? 0 : Int64.random(in: 0...900, using: &random)),
                random.uniform(-91, 91), random.uniform(-180, 180))
            let expected = Result { try alone[device].report(fix, in: atlas) }
            let found = Result { try fleet.report(fix, from: "device \(device)") }
            #expect((try? found.get()) == (try? expected.get()))
            if step % 50 == 0 {
                let time = Timestamp(nanosecondsSince1970: now * 1_000_000_000)
                var answers: [String: Pacer.Answer] = [:]
                try fleet.tick(time) { answers[$0.key] = $0.answer }
                for index in alone.indices {
                    #expect(try alone[index].tick(time, in: atlas) == answers.removeValue(forKey: "device \(index)"))
                }
                #expect(answers.isEmpty)
            }
            #expect(fleet.region(of: "device \(device)") == alone[device].region)
            if step % 300 == 0 {
                // What waits is not kept, so all ticks come first.
                let end = Timestamp(nanosecondsSince1970: .max)
                try fleet.tick(end) { _ in }
                for index in alone.indices { _ = try alone[index].tick(end, in: atlas) }
                fleet = try Fleet(snapshot: fleet.snapshot(), capacity: 50, atlas: atlas)
                // A region whose made-up center is not its own is not found again; so for the pacers alone.
                for index in alone.indices {
                    guard let state = alone[index].state(in: atlas) else { continue }
                    alone[index] = try Pacer(interval: .seconds(600), state: state, in: atlas)
                }
            }
        }
        #expect(fleet.count > 40)
    }

    /// Packed, the memory of a device is what it is in a pacer of its own, over restarts and removals too.
    @Test func `packed pacers answer as pacers do`() throws {
        var random = SplitMix64(seed: 731)
        var packed = PackedPacers(interval: .seconds(600))
        var alone = (0..<40).map { _ in Pacer(interval: .seconds(600)) }
        for _ in alone { packed.append() }
        #expect(packed.count == 40)
        var places = alone.map { _ in (latitude: random.uniform(-89, 89), longitude: random.uniform(-180, 180)) }
        for tick in 1...400 {
            let time = Int64(tick) * 600
            for device in alone.indices where Int.random(in: 0..<3, using: &random) > 0 {
                if Int.random(in: 0..<6, using: &random) == 0 {
                    places[device] = (random.uniform(-89, 89), random.uniform(-180, 180))
                }
                let fix = fix(
                    time - Int64.random(in: 0..<600, using: &random),
                    places[device].latitude + random.uniform(-0.002, 0.002),
                    places[device].longitude + random.uniform(-0.002, 0.002))
                _ = try alone[device].report(fix, in: atlas)
                let moment = Timestamp(nanosecondsSince1970: time * 1_000_000_000)
                let expected = try alone[device].tick(moment, in: atlas)
                #expect(try packed.answer(device, fix, at: moment, in: atlas) == expected)
                #expect(packed.region(device) == alone[device].region && packed.tick(device) == moment)
                #expect(packed.state(device, in: atlas) == alone[device].state(in: atlas))
            }
            guard tick % 50 == 0, let device = alone.indices.randomElement(using: &random) else { continue }
            if let state = packed.state(device, in: atlas), Bool.random(using: &random) {
                try packed.restore(device, state, in: atlas)
                alone[device] = try Pacer(interval: .seconds(600), state: state, in: atlas)
            } else {
                packed.reset(device)
                alone[device] = Pacer(interval: .seconds(600))
                #expect(packed.region(device) == nil && packed.tick(device) == nil)
            }
        }
    }

    @Test func `a full fleet refuses new devices and serves the others`() throws {
        var fleet = Fleet(capacity: 2, atlas: atlas)
        _ = try fleet.report(fix(0), from: "a")
        _ = try fleet.report(fix(0), from: "b")
        #expect(throws: FleetError.full) { try fleet.report(fix(0), from: "c") }
        #expect(try fleet.report(fix(0), from: "a") == .late)
        #expect(fleet.count == 2 && fleet.region(of: "c") == nil && fleet.state(of: "c") == nil)
        var none = Fleet(capacity: 0, atlas: atlas)
        #expect(throws: FleetError.full) { try none.report(fix(0), from: "") }
    }

    @Test func `an invalid fix makes no device`() throws {
        var fleet = Fleet(capacity: 2, atlas: atlas)
        #expect(throws: FleetError.coordinate(.latitudeOutOfRange)) { try fleet.report(fix(0, 91), from: "a") }
        #expect(throws: FleetError.coordinate(.longitudeOutOfRange)) { try fleet.report(fix(0, 0, .nan), from: "a") }
        #expect(throws: FleetError.keyTooLong) {
            try fleet.report(fix(0), from: String(repeating: "é", count: 513))
        }
        #expect(fleet.count == 0)
        _ = try fleet.report(fix(0), from: String(repeating: "é", count: 512))
        #expect(fleet.count == 1)
    }

    /// Against a fleet that never forgets: whatever is forgotten, no tick of a device is answered twice.
    @Test func `forgetting buys no answer`() throws {
        for seed in 0..<5 as Range<UInt64> {
            var random = SplitMix64(seed: 740 + seed)
            var fleet = Fleet(capacity: 20, atlas: atlas)
            var last: [String: Timestamp] = [:]
            var now: Int64 = 0, forgotten = 0, answers = 0
            func note(_ device: String, _ answer: Pacer.Answer) {
                answers += 1
                #expect(last[device].map { answer.tick > $0 } ?? true)
                last[device] = answer.tick
            }
            for _ in 0..<2_500 {
                now += Int64.random(in: 0...60, using: &random)
                let device = "\(Int.random(in: 0..<20, using: &random))"
                // Late fixes too, up to two hours.
                let time = now - (Bool.random(using: &random) ? 0 : Int64.random(in: 0...7_200, using: &random))
                let reception = try fleet.report(
                    fix(time, random.uniform(-80, 80), random.uniform(-170, 170)), from: device)
                if case .kept(let answer?) = reception { note(device, answer) }
                if Int.random(in: 0..<40, using: &random) == 0 {
                    try fleet.tick(Timestamp(nanosecondsSince1970: now * 1_000_000_000)) { note($0.key, $0.answer) }
                    let cutoff = now - Int64.random(in: 0...1_800, using: &random)
                    forgotten += fleet.forgetDevices(
                        silentSince: Timestamp(nanosecondsSince1970: cutoff * 1_000_000_000))
                }
                if Int.random(in: 0..<100, using: &random) == 0 {
                    fleet = try Fleet(snapshot: fleet.snapshot(), capacity: 20, atlas: atlas)
                }
            }
            #expect(forgotten > 10 && answers > 100)
        }
    }

    @Test func `times at the ends of their range are forgotten without a trap`() throws {
        var fleet = Fleet(interval: .seconds(Int64.max), capacity: 3, atlas: atlas)
        let (first, end) = (Timestamp(nanosecondsSince1970: .min + 1), Timestamp(nanosecondsSince1970: .max))
        let place = Coordinate(latitude: 0, longitude: 0)
        _ = try fleet.report(Fix(coordinate: place, time: first), from: "a")
        _ = try fleet.report(Fix(coordinate: place, time: end), from: "b")
        #expect(fleet.forgetDevices(silentSince: first) == 0)
        try fleet.tick(end) { _ in }
        #expect(fleet.forgetDevices(silentSince: fix(0).time) == 1)
        #expect(try fleet.report(fix(0), from: "c") == .late)
        var restored = try Fleet(snapshot: fleet.snapshot(), capacity: 3, atlas: atlas)
        #expect(restored.count == 1)
        #expect(try restored.report(fix(0), from: "c") == .late)
        #expect(restored.forgetDevices(silentSince: end) == 1)
    }

    // MARK: Snapshots

    private func fleet(_ count: Int) throws -> Fleet {
        var fleet = Fleet(capacity: 100, atlas: atlas)
        for index in 0..<count {
            _ = try fleet.report(fix(Int64(index), Double(index % 80), Double(index)), from: "device \(index)")
        }
        try fleet.tick(fix(900).time) { _ in }
        return fleet
    }

    @Test func `equal fleets give equal bytes`() throws {
        var other = Fleet(capacity: 100, atlas: atlas)
        for index in (0..<40).reversed() {
            _ = try other.report(fix(Int64(index), Double(index % 80), Double(index)), from: "device \(index)")
        }
        try other.tick(fix(900).time) { _ in }
        #expect(try fleet(40).snapshot() == other.snapshot())
    }

    @Test func `the byte form is the documented one`() throws {
        var fleet = Fleet(interval: .seconds(1), capacity: 9, atlas: atlas)
        _ = try fleet.report(fix(3), from: "é")
        _ = try fleet.report(fix(3), from: "waiting")
        _ = try fleet.report(fix(4), from: "é")
        let bytes = fleet.snapshot()
        #expect(bytes[..<16] == Array("HEREFLEE".utf8)[...] + [3, 0, 0, 0, 0, 0, 0, 0])
        #expect(bytes[16..<24] == [0, 0xca, 0x9a, 0x3b, 0, 0, 0, 0])
        #expect(bytes[24..<32] == [0, 0, 0, 0, 0, 0, 0, 0x80])
        #expect(bytes[32..<40].reversed().reduce(0) { $0 << 8 | UInt64($1) } == atlas.fingerprint)
        #expect(bytes[40..<48] == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(bytes[48..<52] == [2, 0, 0, 0])
        #expect(Array(bytes[52..<228]) == fleet.state(of: "é")?.bytes)
        #expect(bytes[228..<230] == [0xc3, 0xa9] && bytes.count == 238)
    }

    private func refusal(_ bytes: [UInt8], capacity: Int = 100) -> FleetSnapshotError? {
        do throws(FleetSnapshotError) {
            _ = try Fleet(snapshot: bytes, capacity: capacity, atlas: atlas)
            return nil
        } catch {
            return error
        }
    }

    /// The bytes with a checksum that fits.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let content = Array(bytes.dropLast(8)), sum = XXH64.hash(content)
        return content + (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }

    @Test func `truncated and damaged snapshots are refused`() throws {
        let bytes = try fleet(5).snapshot()
        #expect(refusal(bytes) == nil)
        for count in 0..<bytes.count {
            #expect(refusal(Array(bytes[..<count])) == (count < 8 ? .notASnapshot : .damaged))
        }
        for bit in stride(from: 0, to: bytes.count * 8, by: 3) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(refusal(flipped) == (bit < 64 ? .notASnapshot : .damaged))
        }
        #expect(refusal(bytes + [0]) == .damaged)
    }

    @Test func `inconsistent snapshots are refused`() throws {
        let bytes = try fleet(5).snapshot()
        func changed(_ offset: Int, _ values: [UInt8]) -> [UInt8] {
            var changed = bytes
            changed.replaceSubrange(offset..<offset + values.count, with: values)
            return sealed(changed)
        }
        for version: UInt8 in [1, 4] { #expect(refusal(changed(8, [version])) == .unsupportedVersion) }
        #expect(refusal(changed(12, [1])) == .inconsistent)
        #expect(refusal(changed(23, [0x80])) == .inconsistent, "an interval below zero")
        for count: UInt8 in [0, 4, 6, 100] { #expect(refusal(changed(40, [count])) == .inconsistent) }
        #expect(refusal(changed(40, [101])) == .exceedsCapacity)
        #expect(refusal(changed(40, [UInt8](repeating: 0xff, count: 8))) == .exceedsCapacity)
        #expect(refusal(bytes, capacity: 4) == .exceedsCapacity)
        for length: [UInt8] in [[0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0x80], [1, 4, 0, 0], [7, 0, 0, 0]] {
            #expect(refusal(changed(48, length)) == .inconsistent)
        }
        #expect(refusal(changed(52, [9])) == .inconsistent, "a state of another version")
        #expect(refusal(changed(228, [0xff])) == .inconsistent, "a key that is not UTF-8")
        // Two devices of one key: both keys are "device 0" then.
        #expect(refusal(changed(228 + 8 + 180 + 7, [UInt8(ascii: "0")])) == .inconsistent)
    }

    @Test func `a snapshot of another atlas is refused, or keeps paces and those regions that are alike`() throws {
        let bytes = try fleet(20).snapshot()
        let other = try Atlas(bytes: AtlasModel(seed: 2).fixture.bytes)
        func restored(_ bytes: [UInt8], _ otherAtlas: OtherAtlas) throws(FleetSnapshotError) -> Fleet {
            try Fleet(snapshot: bytes, capacity: 100, atlas: other, otherAtlas: otherAtlas)
        }
        #expect(throws: FleetSnapshotError.otherAtlas) { () throws in _ = try restored(bytes, .refused) }
        #expect(throws: FleetSnapshotError.otherAtlas) { () throws in
            _ = try restored(bytes, .keepingRegions(of: other))
        }
        var fleet = try restored(bytes, .keepingPaces)
        #expect(fleet.count == 20 && fleet.keys.allSatisfy { fleet.region(of: $0) == nil })
        // The tick of all is over.
        #expect(try fleet.report(fix(899), from: "device 3") == .late)
        // Version 2 does not say of which atlas it is.
        var old = bytes
        old.removeSubrange(32..<40)
        old[8] = 2
        #expect(throws: FleetSnapshotError.otherAtlas) { () throws in _ = try restored(sealed(old), .refused) }
        #expect(try restored(sealed(old), .keepingPaces).count == 20)
        let same = try Fleet(
            snapshot: sealed(old), capacity: 100, atlas: atlas, otherAtlas: .keepingRegions(of: atlas))
        #expect(try same.snapshot() == Fleet(snapshot: bytes, capacity: 100, atlas: atlas).snapshot())
    }

    // MARK: Devices

    @Test func `devices are kept one by one, and taken up again`() throws {
        var fleet = Fleet(capacity: 100, atlas: atlas)
        for index in 0..<20 {
            _ = try fleet.report(fix(Int64(index), Double(index), Double(index)), from: "device \(index)")
        }
        #expect(
            fleet.nextTick(after: fix(0).time) == fix(900).time
                && fleet.nextTick(after: fix(900).time) == fix(1_800).time)
        var kept: [String: Pacer.State] = [:]
        try fleet.tick(fix(900).time) { kept[$0.key] = $0.state }
        #expect(Set(fleet.keys) == Set(kept.keys) && kept.count == 20)
        var other = Fleet(capacity: 20, atlas: atlas)
        for (key, state) in kept { try other.restore(state, for: key, from: atlas.fingerprint) }
        // A region whose made-up center is not its own is not found again.
        fleet = try Fleet(snapshot: fleet.snapshot(), capacity: 100, atlas: atlas)
        #expect(other.snapshot() == fleet.snapshot())
        let state = try #require(kept["device 1"])
        #expect(throws: FleetError.keyTaken) { try other.restore(state, for: "device 1", from: atlas.fingerprint) }
        #expect(throws: FleetError.full) { try other.restore(state, for: "x", from: atlas.fingerprint) }
        #expect(throws: FleetError.atlas(.otherAtlas)) {
            var empty = Fleet(capacity: 1, atlas: atlas)
            try empty.restore(state, for: "x", from: 1)
        }
    }

    @Test func `an answer that could not be given is given at the next call`() throws {
        struct Full: Error {}
        var fleet = Fleet(capacity: 100, atlas: atlas)
        for index in 0..<20 {
            _ = try fleet.report(fix(Int64(index), Double(index), Double(index)), from: "device \(index)")
        }
        var given: [String] = []
        for attempt in 0..<5 {
            #expect(throws: Full.self) {
                var count = 0
                try fleet.tick(fix(900).time) { device in
                    if count == attempt { throw Full() }
                    count += 1
                    given.append(device.key)
                }
            }
        }
        try fleet.tick(fix(900).time) { given.append($0.key) }
        #expect(given.count == 20 && Set(given).count == 20)
    }

    /// Contract C9, though somebody is erased in the middle.
    @Test func `who is erased leaves nothing, and is not answered twice at a tick`() throws {
        var fleet = Fleet(capacity: 100, atlas: atlas)
        _ = try fleet.report(fix(10), from: "anna")
        try fleet.tick(fix(900).time) { _ in }
        #expect(fleet.remove("anna") && !fleet.remove("anna"))
        #expect(fleet.region(of: "anna") == nil && fleet.keys.isEmpty)
        #expect(!fleet.snapshot().contains(UInt8(ascii: "n")))
        #expect(try fleet.report(fix(890), from: "anna") == .late)
        #expect(try fleet.report(fix(901), from: "anna") == .kept(nil))
    }

    @Test func `any sealed bytes are read without a trap`() throws {
        let bytes = try fleet(5).snapshot()
        var random = SplitMix64(seed: 750)
        var accepted = 0
        for _ in 0..<2_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                changed[Int.random(in: 8..<bytes.count - 8, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { changed.removeLast(Int.random(in: 0...60, using: &random)) }
            if refusal(sealed(changed)) == nil { accepted += 1 }
        }
        #expect(accepted > 0)
    }
}
