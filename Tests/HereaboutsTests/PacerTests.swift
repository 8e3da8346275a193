import FixedRandom
import Testing

@testable import Hereabouts

/// Pacing (contract C9) and its state (C12), on an Earth cut into regions of one degree.
@Suite struct PacerTests {
    /// The region of a place: one for each whole degree of latitude and longitude.
    static func snap(_ latitude: Double, _ longitude: Double) -> Region {
        let column = Int(((longitude + 540).truncatingRemainder(dividingBy: 360)).rounded(.down))
        return Region(index: UInt32(Int((latitude + 90).rounded(.down)) * 360 + column))
    }

    static func fix(_ seconds: Double, _ latitude: Double = 10.5, _ longitude: Double = 20.5) -> Fix {
        Fix(
            coordinate: Coordinate(latitude: latitude, longitude: longitude),
            time: Timestamp(nanosecondsSince1970: Int64(seconds * 1e9)))
    }

    static func report(_ pacer: inout Pacer, _ fix: Fix) throws(CoordinateError) -> Pacer.Decision {
        try pacer.report(fix, steadinessMeters: 250) { Self.snap($0, $1) }
    }

    @Test func answersFirstThenOncePerInterval() throws {
        var pacer = Pacer()
        let (here, there) = (Self.snap(10.5, 20.5), Self.snap(11.5, 20.5))
        #expect(pacer.region == nil)
        #expect(try Self.report(&pacer, Self.fix(0)) == .new(here))
        #expect(try Self.report(&pacer, Self.fix(1, 11.5)) == .paced)
        #expect(try Self.report(&pacer, Self.fix(899.999_999_9, 11.5)) == .paced)
        #expect(pacer.region == here)
        #expect(try Self.report(&pacer, Self.fix(900, 11.5)) == .new(there))
        #expect(try Self.report(&pacer, Self.fix(1_799, 10.5)) == .paced)
        #expect(try Self.report(&pacer, Self.fix(1_800, 11.5)) == .unchanged(there))
        #expect(pacer.region == there)
    }

    @Test func lateAndRepeatedFixesAreNeverAnswered() throws {
        var pacer = Pacer(interval: .zero)
        #expect(try Self.report(&pacer, Self.fix(1_000)) == .new(Self.snap(10.5, 20.5)))
        for seconds in [1_000.0, 999, 0, -1e9] {
            #expect(try Self.report(&pacer, Self.fix(seconds, 50.5)) == .paced)
        }
        // A nanosecond later is later.
        var next = Self.fix(1_000, 50.5)
        next.time.nanosecondsSince1970 += 1
        #expect(try Self.report(&pacer, next) == .new(Self.snap(50.5, 20.5)))
    }

    @Test func aFixOlderThanTheNewestSeenIsLateEvenIfUnanswered() throws {
        var pacer = Pacer()
        _ = try Self.report(&pacer, Self.fix(0))
        _ = try Self.report(&pacer, Self.fix(800))
        let cell = try CellID(latitude: 0, longitude: 0, level: 18)
        let state = try #require(pacer.state { _ in RegionID(cell: cell) })
        // Restarted with a shorter interval, only the newest fix seen makes this one late.
        var restarted = Pacer(interval: .seconds(60), state: state) { _ in Self.snap(10.5, 20.5) }
        #expect(try Self.report(&restarted, Self.fix(700, 50.5)) == .paced)
        #expect(try Self.report(&restarted, Self.fix(801, 50.5)) == .new(Self.snap(50.5, 20.5)))
    }

    @Test func anInvalidFixThrowsAndChangesNothing() throws {
        var pacer = Pacer()
        #expect(throws: CoordinateError.latitudeOutOfRange) { try Self.report(&pacer, Self.fix(0, 91)) }
        #expect(pacer == Pacer())
        _ = try Self.report(&pacer, Self.fix(0))
        let before = pacer
        #expect(throws: CoordinateError.latitudeOutOfRange) { try Self.report(&pacer, Self.fix(5_000, .nan)) }
        #expect(throws: CoordinateError.longitudeNotFinite) { try Self.report(&pacer, Self.fix(6_000, 0, .infinity)) }
        #expect(pacer == before)
    }

    @Test func timesAtTheEndsOfTheirRange() throws {
        var pacer = Pacer()
        var fix = Self.fix(0)
        fix.time = Timestamp(nanosecondsSince1970: .min)
        #expect(try Self.report(&pacer, fix) == .new(Self.snap(10.5, 20.5)))
        fix.time = Timestamp(nanosecondsSince1970: .max)
        #expect(try Self.report(&pacer, fix) == .unchanged(Self.snap(10.5, 20.5)))
        var longest = Pacer(interval: .seconds(Int64.max))
        #expect(try Self.report(&longest, Self.fix(0)) == .new(Self.snap(10.5, 20.5)))
        #expect(try Self.report(&longest, Self.fix(9e9)) == .paced)
        #expect(Pacer.nanoseconds(in: Duration(secondsComponent: 1, attosecondsComponent: 1)) == 1_000_000_001)
    }

    /// Streams with gaps, bursts, late and repeated fixes and crossings: in no half-open hour more than four.
    @Test func neverMoreThanFourInAnHour() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: 100 + seed)
            var pacer = Pacer()
            var now = random.uniform(0, 1e9)
            var answers: [Double] = []
            var newest = -Double.infinity
            for _ in 0..<600 {
                // Whole quarter seconds, so that fixes exactly an interval apart come up.
                now += (random.uniform(0, [1.0, 60, 450, 1_000][Int(random.next() % 4)]) * 4).rounded() / 4
                let time = random.next() % 5 == 0 ? now - (random.uniform(0, 2_000) * 4).rounded() / 4 : now
                let fix = Self.fix(time, random.uniform(-80, 80), random.uniform(-170, 170))
                if try Self.report(&pacer, fix) != .paced {
                    #expect(time > newest)
                    answers.append(time)
                }
                newest = max(newest, time)
            }
            for (k, start) in answers.enumerated() {
                let inHour = answers[k...].prefix { $0 < start + 3_600 }.count
                #expect(inHour <= 4)
            }
            #expect(answers.count > 10)
        }
    }

    /// Saved as bytes and restored after every fix, a device decides as one that never stopped (C12).
    @Test func restartsChangeNothing() throws {
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
            var now = 0.0
            for _ in 0..<300 {
                now += random.uniform(-100, 700)
                let fix = Self.fix(now, random.uniform(10, 12), random.uniform(20, 22))
                #expect(try Self.report(&restarted, fix) == Self.report(&steady, fix))
                let saved = try #require(restarted.state(identify: identify))
                let bytes = saved.bytes
                #expect(bytes.count == Pacer.State.byteCount)
                let read = try Pacer.State(bytes: bytes)
                #expect(read == saved)
                restarted = Pacer(interval: .seconds(900), state: read) { names[$0] }
                #expect(restarted == steady)
            }
        }
    }

    @Test func aRegionThatTheAtlasNoLongerHasKeepsThePace() throws {
        var pacer = Pacer()
        _ = try Self.report(&pacer, Self.fix(0))
        let cell = try CellID(latitude: 1, longitude: 2, level: 18)
        let state = try #require(pacer.state { _ in RegionID(cell: cell) })
        var restarted = Pacer(interval: .seconds(900), state: state) { _ in nil }
        #expect(restarted.region == nil)
        #expect(try Self.report(&restarted, Self.fix(899)) == .paced)
        let again = try #require(restarted.state { _ in RegionID(cell: cell) })
        #expect(try Pacer.State(bytes: again.bytes) == again && again.region == nil)
        #expect(try Self.report(&restarted, Self.fix(900)) == .new(Self.snap(10.5, 20.5)))
    }

    @Test func nothingToSaveBeforeTheFirstFix() {
        #expect(Pacer().state { _ in RegionID(cell: CellID(rawValue: 0)) } == nil)
    }

    @Test func theByteFormIsTheDocumentedOne() throws {
        let state = Pacer.State(
            newest: Timestamp(nanosecondsSince1970: 0x0102_0304_0506_0708),
            lastRecomputation: Timestamp(nanosecondsSince1970: -2),
            region: RegionID("86e75a4bc1"))
        let bytes = state.bytes
        #expect(bytes[..<4] == [1, 0, 0, 0])
        #expect(bytes[8..<16] == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(bytes[16..<24] == [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
        #expect(bytes[24...] == [0, 0, 0, 0xc1, 0x4b, 0x5a, 0xe7, 0x86])
        // FNV-1a of the documented bytes, computed apart.
        #expect(bytes[4..<8] == [0xee, 0x82, 0xd1, 0x85])
        #expect(try Pacer.State(bytes: bytes) == state)
    }

    /// Every length, every flipped bit and every inconsistent content is refused with its own error.
    @Test func damagedStatesAreRefused() throws {
        let state = Pacer.State(
            newest: Timestamp(nanosecondsSince1970: 5), lastRecomputation: Timestamp(nanosecondsSince1970: 4),
            region: nil)
        let bytes = state.bytes
        for count in 0..<32 {
            #expect(throws: PacerStateError.wrongLength) { try Pacer.State(bytes: bytes.prefix(count)) }
        }
        #expect(throws: PacerStateError.wrongLength) { try Pacer.State(bytes: bytes + [0]) }
        for bit in 0..<256 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let error: PacerStateError = bit < 8 ? .unsupportedVersion : .damaged
            #expect(throws: error) { try Pacer.State(bytes: flipped) }
        }
        let backwards = Pacer.State(
            newest: Timestamp(nanosecondsSince1970: 4), lastRecomputation: Timestamp(nanosecondsSince1970: 5),
            region: nil)
        let noCell = Pacer.State(
            newest: state.newest, lastRecomputation: state.newest, region: RegionID(cell: CellID(rawValue: 2)))
        let wrongLevel = try Pacer.State(
            newest: state.newest, lastRecomputation: state.newest,
            region: RegionID(cell: CellID(latitude: 1, longitude: 2, level: 17)))
        for state in [backwards, noCell, wrongLevel] {
            #expect(throws: PacerStateError.inconsistent) { try Pacer.State(bytes: state.bytes) }
        }
    }
}
