import FixedRandom
import Testing

@testable import Hereabouts

/// Pacing (contract C9) and its state (C12), on an Earth cut into regions of one degree.
@Suite struct PacerTests {
    /// One region for each whole degree of latitude and longitude.
    struct Degrees: RegionLookup {
        let steadinessMeters = 250.0

        func accuracyMeters(of region: Region) throws(Never) -> Double { 70_000 }

        func region(latitude: Double, longitude: Double) throws(Never) -> Region {
            let column = Int(((longitude + 540).truncatingRemainder(dividingBy: 360)).rounded(.down))
            return Region(index: UInt32(Int((latitude + 90).rounded(.down)) * 360 + column))
        }
    }

    static func snap(_ latitude: Double, _ longitude: Double) -> Region {
        Degrees().region(latitude: latitude, longitude: longitude)
    }

    static func fix(_ seconds: Double, _ latitude: Double = 10.5, _ longitude: Double = 20.5) -> Fix {
        Fix(
            coordinate: Coordinate(latitude: latitude, longitude: longitude),
            time: Timestamp(nanosecondsSince1970: Int64(seconds * 1e9)))
    }

    static func report(_ pacer: inout Pacer, _ fix: Fix) -> Pacer.Reception { pacer.take(fix, Degrees()) }

    static func tick(_ pacer: inout Pacer, _ seconds: Double) -> Pacer.Answer? {
        pacer.answer(at: Timestamp(nanosecondsSince1970: Int64(seconds * 1e9)), Degrees())
    }

    static func answer(_ seconds: Int64, _ region: Region, isNew: Bool) -> Pacer.Answer {
        Pacer.Answer(tick: Timestamp(nanosecondsSince1970: seconds * 1_000_000_000), region: region, isNew: isNew)
    }

    @Test func `the newest fix of an interval is answered at its tick`() {
        var pacer = Pacer()
        let (here, there) = (Self.snap(10.5, 20.5), Self.snap(11.5, 20.5))
        #expect(pacer.region == nil && pacer.pendingTick == nil)
        #expect(Self.tick(&pacer, 0) == nil)
        #expect(Self.report(&pacer, Self.fix(1, 11.5)) == .kept(nil))
        #expect(pacer.pendingTick == Timestamp(secondsSince1970: 900))
        #expect(Self.report(&pacer, Self.fix(899.999_999_9, 12.5)) == .kept(nil))
        #expect(Self.tick(&pacer, 899.999_999_99) == nil)
        // A tick belongs to the interval that it ends.
        #expect(Self.report(&pacer, Self.fix(900)) == .kept(nil))
        #expect(pacer.region == nil)
        #expect(Self.tick(&pacer, 900) == Self.answer(900, here, isNew: true))
        #expect(pacer.region == here && pacer.pendingTick == nil)
        #expect(Self.tick(&pacer, 1_800) == nil)
        #expect(Self.report(&pacer, Self.fix(900.000_000_1, 11.5)) == .kept(nil))
        // The fix of a later tick shows that the tick of the one before has passed.
        #expect(Self.report(&pacer, Self.fix(2_701, 11.5)) == .kept(Self.answer(1_800, there, isNew: true)))
        #expect(Self.tick(&pacer, 5_000) == Self.answer(3_600, there, isNew: false))
        #expect(pacer.region == there)
    }

    @Test func `a fix less accurate than the circle has no answer`() {
        func fix(_ seconds: Double, _ latitude: Double, accuracy: Double?) -> Fix {
            var fix = Self.fix(seconds, latitude)
            fix.horizontalAccuracy = accuracy
            return fix
        }
        let (here, there) = (Self.snap(10.5, 20.5), Self.snap(11.5, 20.5))
        for accuracy in [70_000.1, 90_000] {
            var pacer = Pacer()
            #expect(Self.report(&pacer, fix(1, 10.5, accuracy: accuracy)) == .kept(nil))
            #expect(Self.tick(&pacer, 900) == nil && pacer.region == nil && pacer.pendingTick == nil)
            // The last one stands, and the tick's newest fix decides, whatever came before it.
            #expect(Self.report(&pacer, fix(1_000, 10.5, accuracy: 70_000)) == .kept(nil))
            #expect(Self.tick(&pacer, 1_800) == Self.answer(1_800, here, isNew: true))
            #expect(Self.report(&pacer, fix(1_900, 11.5, accuracy: nil)) == .kept(nil))
            #expect(Self.report(&pacer, fix(2_000, 11.5, accuracy: accuracy)) == .kept(nil))
            #expect(Self.report(&pacer, fix(3_000, 11.5, accuracy: accuracy)) == .kept(nil))
            #expect(Self.tick(&pacer, 3_600) == nil && pacer.region == here)
            #expect(pacer.lastTick == Timestamp(secondsSince1970: 1_800))
            // A fix that comes later counts at its own tick.
            #expect(Self.report(&pacer, fix(2_500, 11.5, accuracy: 10)) == .late)
            #expect(Self.report(&pacer, fix(3_601, 11.5, accuracy: 10)) == .kept(nil))
            #expect(Self.tick(&pacer, 4_500) == Self.answer(4_500, there, isNew: true))
        }
    }

    @Test func `late and repeated fixes change nothing`() {
        var pacer = Pacer()
        _ = Self.report(&pacer, Self.fix(1_000))
        for seconds in [1_000.0, 999, 0, -1e9] {
            let before = pacer
            #expect(Self.report(&pacer, Self.fix(seconds, 50.5)) == .late)
            #expect(pacer == before)
        }
        _ = Self.tick(&pacer, 1_800)
        // The tick was answered: so nothing up to it can change.
        for seconds in [1_000.0, 1_001, 1_799, 1_800] {
            #expect(Self.report(&pacer, Self.fix(seconds, 50.5)) == .late)
        }
        // A nanosecond later is later.
        var next = Self.fix(1_800, 50.5)
        next.time.nanosecondsSince1970 += 1
        #expect(Self.report(&pacer, next) == .kept(nil))
        #expect(Self.tick(&pacer, 2_700) == Self.answer(2_700, Self.snap(50.5, 20.5), isNew: true))
    }

    @Test func `ticks are multiples of the interval`() {
        func tick(_ seconds: Int64, _ interval: Int64) -> Int64 {
            Pacer.tick(for: Timestamp(nanosecondsSince1970: seconds), intervalNanoseconds: interval)
                .nanosecondsSince1970
        }
        for interval: Int64 in [1, 7, 900, 1_000_000_007] {
            for time: Int64 in [-1_801, -900, -899, -1, 0, 1, 899, 900, 901, .min, .min + 1, .max / 2] {
                let found = tick(time, interval)
                #expect(found % interval == 0 && found >= time && (found &- time) < interval)
            }
        }
        #expect(tick(.max, 900) == .max)
    }

    @Test func `times at the ends of their range`() {
        var pacer = Pacer()
        var fix = Self.fix(0)
        fix.time = Timestamp(nanosecondsSince1970: .min)
        #expect(Self.report(&pacer, fix) == .kept(nil))
        fix.time = Timestamp(nanosecondsSince1970: .max)
        guard case .kept(let first?) = Self.report(&pacer, fix) else {
            Issue.record("no answer")
            return
        }
        #expect(first.isNew && first.region == Self.snap(10.5, 20.5))
        #expect(pacer.answer(at: fix.time, Degrees())?.isNew == false)
        #expect(Self.report(&pacer, fix) == .late)
        var longest = Pacer(interval: .seconds(Int64.max))
        #expect(Self.report(&longest, Self.fix(0)) == .kept(nil))
        #expect(Self.tick(&longest, 0)?.isNew == true)
        #expect(Self.report(&longest, Self.fix(9e9)) == .kept(nil))
        #expect(longest.pendingTick == Timestamp(nanosecondsSince1970: .max))
        var shortest = Pacer(interval: .zero)
        #expect(Self.report(&shortest, Self.fix(5)) == .kept(nil))
        #expect(Self.tick(&shortest, 5) == Self.answer(5, Self.snap(10.5, 20.5), isNew: true))
        #expect(Pacer.nanoseconds(in: Duration(secondsComponent: 1, attosecondsComponent: 1)) == 1_000_000_001)
    }

    /// Streams with gaps, bursts, late and repeated fixes and crossings: one answer per tick at most, that of the newest
    /// fix of the interval in order of arrival, found anew here.
    @Test func `one answer per tick from its newest fix`() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: 100 + seed)
            var pacer = Pacer()
            var now = random.uniform(0, 1e9).rounded(), newest = -Double.infinity, answered = -Double.infinity
            var expected: [Double: Region] = [:], found: [Double: Region] = [:]
            func note(_ answer: Pacer.Answer?) {
                guard let answer else { return }
                answered = Double(answer.tick.nanosecondsSince1970) / 1e9
                #expect(found.updateValue(answer.region, forKey: answered) == nil, "a second answer for a tick")
            }
            for _ in 0..<600 {
                // Whole quarter seconds, so that fixes on ticks come up.
                now += (random.uniform(0, [1.0, 60, 450, 1_000][Int(random.next() % 4)]) * 4).rounded() / 4
                let time = random.next() % 5 == 0 ? now - (random.uniform(0, 2_000) * 4).rounded() / 4 : now
                let fix = Self.fix(time, random.uniform(-80, 80), random.uniform(-170, 170))
                let reception = Self.report(&pacer, fix)
                #expect((reception == .late) == (time <= newest || time <= answered))
                if case .kept(let answer) = reception {
                    note(answer)
                    newest = time
                    expected[(time / 900).rounded(.up) * 900] =
                        Self.snap(fix.coordinate.latitude, fix.coordinate.longitude)
                }
                if random.next() % 7 == 0 { note(Self.tick(&pacer, now)) }
            }
            if let tick = pacer.pendingTick { note(pacer.answer(at: tick, Degrees())) }
            #expect(found == expected && found.count > 10)
        }
    }

    /// Whatever else is reported between ticks, streams with the same newest fixes give the same answers (C16).
    @Test func `what comes between ticks tells nothing`() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: 200 + seed)
            var pacers = [Pacer(), Pacer()]
            for interval in 1..<100 {
                if random.next() % 4 == 0 { continue }
                let end = Double(interval) * 900
                let last = Self.fix(end - random.uniform(0, 400), random.uniform(10, 12), random.uniform(20, 22))
                for index in pacers.indices {
                    for _ in 0..<random.next() % 4 {
                        _ = Self.report(
                            &pacers[index], Self.fix(end - random.uniform(450, 899), random.uniform(-80, 80)))
                    }
                    _ = Self.report(&pacers[index], last)
                }
                #expect(Self.tick(&pacers[0], end) == Self.tick(&pacers[1], end))
            }
            #expect(pacers[0] == pacers[1])
        }
    }

    /// Saved as bytes and restored after every tick, a device is answered as one that never stopped (C12).
    @Test func `restarts change nothing`() throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SplitMix64(seed: 400 + seed)
            var steady = Pacer()
            var restarted = Pacer()
            var names: [RegionID: Region] = [:]
            func identify(_ region: Region) -> RegionID {
                let id = RegionID(
                    cell: CellID(face: 2, i: region.index << 12, j: 0, level: 18))
                names[id] = region
                return id
            }
            var now = 0.0, remembered = 0
            for _ in 0..<300 {
                now += random.uniform(-100, 9_000)
                // Near a corner of four regions.
                let fix = Self.fix(now, random.uniform(10.998, 11.002), random.uniform(20.998, 21.002))
                #expect(Self.report(&restarted, fix) == Self.report(&steady, fix))
                #expect(Self.tick(&restarted, now + 900) == Self.tick(&steady, now + 900))
                let saved = try #require(restarted.state(identify: identify))
                let bytes = saved.bytes
                #expect(bytes.count == Pacer.State.byteCount)
                let read = try Pacer.State(bytes: bytes)
                #expect(read == saved)
                restarted = Pacer(interval: .seconds(900), state: read) { names[$0] }
                #expect(restarted == steady)
                remembered = max(remembered, saved.standing.count)
            }
            #expect(remembered >= 2)
        }
    }

    @Test func `a fix that waits is not saved`() throws {
        var pacer = Pacer()
        _ = Self.report(&pacer, Self.fix(1))
        #expect(pacer.state { _ in RegionID(cell: CellID(rawValue: 0)) } == nil)
        _ = Self.tick(&pacer, 900)
        let identify = { (_: Region) in try? RegionID(cell: CellID(latitude: 1, longitude: 2, level: 18)) }
        let state = pacer.state(identify: identify)
        _ = Self.report(&pacer, Self.fix(901, 50))
        #expect(state != nil && pacer.state(identify: identify) == state)
    }

    @Test func `a region that the atlas no longer has keeps the pace`() throws {
        var pacer = Pacer()
        _ = Self.report(&pacer, Self.fix(0))
        _ = Self.tick(&pacer, 0)
        let cell = try CellID(latitude: 1, longitude: 2, level: 18)
        let state = try #require(pacer.state { _ in RegionID(cell: cell) })
        var restarted = Pacer(interval: .seconds(900), state: state) { _ in nil }
        #expect(restarted.region == nil)
        #expect(Self.report(&restarted, Self.fix(0)) == .late)
        let again = try #require(restarted.state { _ in RegionID(cell: cell) })
        #expect(try Pacer.State(bytes: again.bytes) == again && again.region == nil)
        #expect(Self.report(&restarted, Self.fix(900)) == .kept(nil))
        #expect(Self.tick(&restarted, 900) == Self.answer(900, Self.snap(10.5, 20.5), isNew: true))
    }

    @Test func `nothing to save before the first fix`() {
        #expect(Pacer().state { _ in RegionID(cell: CellID(rawValue: 0)) } == nil)
    }

    @Test func `the byte form is the documented one`() throws {
        let region = try #require(RegionID("86e75a4bc1"))
        let other = try RegionID(cell: CellID(latitude: 1, longitude: 2, level: 18))
        let state = Pacer.State(
            tick: Timestamp(nanosecondsSince1970: 0x0102_0304_0506_0708), region: region, here: other,
            contenders: [region], isResting: true,
            standing: [
                .init(region: other, others: [region], seconds: 0x0a0b_0c0d), .init(region: region, seconds: 1),
            ])
        let bytes = state.bytes
        #expect(bytes.count == 176 && bytes[..<4] == [2, 1, 0, 0])
        #expect(bytes[8..<16] == [8, 7, 6, 5, 4, 3, 2, 1])
        let regionBytes: [UInt8] = [0, 0, 0, 0xc1, 0x4b, 0x5a, 0xe7, 0x86], none = [UInt8](repeating: 0, count: 8)
        let otherBytes = (0..<8).map { UInt8(truncatingIfNeeded: other.cell.rawValue >> (8 * $0)) }
        let places = [
            regionBytes, otherBytes, regionBytes, none, none, none, otherBytes, regionBytes, none, none, regionBytes,
            none,
            none, none, none, none, none, none,
        ]
        #expect(Array(bytes[16..<160]) == places.flatMap(\.self))
        #expect(bytes[160...] == [0x0d, 0x0c, 0x0b, 0x0a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        var hash: UInt32 = 2_166_136_261
        for (offset, byte) in bytes.enumerated() {
            hash = (hash ^ UInt32((4..<8).contains(offset) ? 0 : byte)) &* 16_777_619
        }
        #expect(bytes[4..<8].reversed().reduce(0) { $0 << 8 | UInt32($1) } == hash)
        #expect(try Pacer.State(bytes: bytes) == state)
    }

    /// Every length, every flipped bit and every inconsistent content is refused with its own error.
    @Test func `damaged states are refused`() throws {
        let tick = Timestamp(nanosecondsSince1970: 5)
        let region = try RegionID(cell: CellID(latitude: 1, longitude: 2, level: 18))
        let bytes = Pacer.State(tick: tick, region: nil, standing: [.init(region: region, seconds: 7)]).bytes
        for count in 0..<bytes.count {
            #expect(throws: PacerStateError.wrongLength) { try Pacer.State(bytes: bytes.prefix(count)) }
        }
        #expect(throws: PacerStateError.wrongLength) { try Pacer.State(bytes: bytes + [0]) }
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let error: PacerStateError = bit < 8 ? .unsupportedVersion : .damaged
            #expect(throws: error) { try Pacer.State(bytes: flipped) }
        }
        let noCell = RegionID(cell: CellID(rawValue: 2))
        let wrongLevel = try RegionID(cell: CellID(latitude: 1, longitude: 2, level: 17))
        for state in [
            Pacer.State(tick: tick, region: noCell), Pacer.State(tick: tick, region: wrongLevel),
            Pacer.State(tick: tick, region: nil, standing: [.init(region: wrongLevel, seconds: 1)]),
            Pacer.State(tick: tick, region: nil, standing: [.init(region: region, seconds: 0)]),
            Pacer.State(
                tick: tick, region: nil,
                standing: [.init(region: region, seconds: 1), .init(region: region, seconds: 2)]),
        ] {
            #expect(throws: PacerStateError.inconsistent) { try Pacer.State(bytes: state.bytes) }
        }
    }
}
