import FixedRandom
import Hereabouts
import Testing

@testable import HereaboutsLive

/// A clock that is set, at any moment and by any time.
@Suite("Clocks") struct ClockTests {
    private static let year = 365.0 * 86_400

    /// A desk with a phone that is answered at each tick, and a consumer with a grant.
    private struct Fixture {
        var desk: Desk
        var answers: [Timestamp] = []
        var random = SplitMix64(seed: 3)
        private let phone: Int

        init() throws {
            desk = try Desk(atlas: World.atlas.get(), now: moment(0))
            phone = try desk.addDevice("phone")
            try desk.addConsumer(Consumer("family"))
            try desk.grant(.reduced(), of: "phone", to: "family", at: moment(0))
        }

        /// The clock shows a moment, and the phone says where it is.
        mutating func report(at seconds: Double) throws {
            try pass(to: seconds)
            _ = try desk.report(fix(World.position(1, &random), seconds), fromDevice: phone, at: moment(seconds))
        }

        mutating func pass(to seconds: Double) throws {
            var ticks: [Timestamp] = []
            try desk.advance(to: moment(seconds)) { ticks.append($0.tick) }
            answers += ticks
        }

        /// The desk as a restart finds it.
        mutating func restart(at seconds: Double) throws {
            let state = desk.state(ofDevice: phone)
            desk = try Desk(
                snapshot: desk.snapshot(includesDevices: false), atlas: World.atlas.get(), now: moment(seconds))
            if let state { try desk.restore(state, ofDevice: phone, from: desk.atlas.fingerprint) }
        }
    }

    @Test func `no tick has two answers, whatever the clock does`() throws {
        let atlas = try World.atlas.get()
        var answered = 0, steps = 0
        for seed in 0..<400 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var desk = try Desk(atlas: atlas, now: moment(0))
            for name: DeviceID in ["a", "b", "c"] { try desk.addDevice(name) }
            var real = 0.0, offset = 0.0
            var states: [Int: DeviceState] = [:], ticks: Set<[Int64]> = []
            for _ in 0..<150 {
                real += .random(in: 0...1_000, using: &random)
                if Int.random(in: 0..<7, using: &random) == 0 {
                    offset = [
                        0, 0, 0, .random(in: -300...300, using: &random), .random(in: -1_500...1_500, using: &random),
                        .random(in: -40_000...40_000, using: &random), Self.year, -Self.year,
                    ].randomElement(using: &random)!
                }
                let now = moment(real + offset), before = desk.snapshot(includesDevices: false)
                try desk.advance(to: now) { answer in
                    let tick = [Int64(answer.device), answer.tick.nanosecondsSince1970]
                    #expect(ticks.insert(tick).inserted, "seed \(seed), \(answer.tick)")
                    answered += 1
                    states[answer.device] = nil
                }
                for index in 0..<3 where states[index] == nil { states[index] = desk.state(ofDevice: index) }
                for index in 0..<3 where Int.random(in: 0..<3, using: &random) > 0 {
                    let place = Int.random(in: 0..<4, using: &random)
                    let age = Double.random(in: -100...1_200, using: &random)
                    let fix = Fix(
                        coordinate: World.position(place, &random),
                        time: now.advanced(by: Int64(-age * 1e9)), horizontalAccuracy: 10)
                    _ = try desk.report(fix, fromDevice: index, at: now)
                }
                guard Int.random(in: 0..<12, using: &random) == 0 else { continue }
                // What a tick came to is kept before it is told, and the desk's own state a second later.
                let isKilled = Bool.random(using: &random)
                steps += desk.clockStepCount
                desk = try Desk(
                    snapshot: isKilled ? before : desk.snapshot(includesDevices: false), atlas: atlas, now: now)
                for (index, state) in states { try desk.restore(state, ofDevice: index, from: atlas.fingerprint) }
            }
            steps += desk.clockStepCount
        }
        #expect(answered > 20_000 && steps > 300)
    }

    @Test(arguments: [false, true])
    func `a clock that is a year ahead for two seconds silences nobody`(isRestarted: Bool) throws {
        var fixture = try Fixture()
        try fixture.report(at: 10)
        try fixture.report(at: 910)
        #expect(fixture.answers == [moment(900)])
        try fixture.report(at: 911 + Self.year)
        // What waited is answered at the tick that it waited for.
        #expect(fixture.answers == [moment(900), moment(1_800)])
        if isRestarted { try fixture.restart(at: 913) }
        for second in stride(from: 913.0, to: 5_000, by: 300) { try fixture.report(at: second) }
        #expect(fixture.answers == [900, 1_800, 2_700, 3_600, 4_500].map(moment))
        #expect(fixture.desk.pauseMode == nil)
        // A year later the tick that was answered ahead of its time is not answered again.
        try fixture.report(at: Self.year - 900)
        let last = fixture.answers.count
        for second in stride(from: Self.year - 600, to: Self.year + 4_000, by: 300) { try fixture.report(at: second) }
        #expect(Set(fixture.answers).count == fixture.answers.count && fixture.answers.count > last + 3)
    }

    @Test func `small steps back wait, and three of a day are followed`() throws {
        var fixture = try Fixture()
        try fixture.report(at: 10)
        try fixture.report(at: 5_000)
        // An interval and five minutes are waited for.
        try fixture.report(at: 3_801)
        #expect(fixture.desk.now == moment(5_000) && fixture.desk.clockStepCount == 0)
        var now = 5_000.0
        for step in 1...5 {
            try fixture.report(at: now + Self.year)
            now += 100
            try fixture.report(at: now)
            #expect(fixture.desk.clockStepCount == min(step, 3))
            #expect((fixture.desk.now == moment(now)) == (step <= 3))
        }
        // The next day the last one is.
        try fixture.report(at: now + 86_400)
        #expect(fixture.desk.clockStepCount == 4 && fixture.desk.now == moment(now + 86_400))
        #expect(Set(fixture.answers).count == fixture.answers.count)
    }

    @Test func `a restored state of its own moment is no step back`() throws {
        var fixture = try Fixture()
        try fixture.report(at: 10)
        try fixture.report(at: 1_000)
        try fixture.restart(at: -1e9)
        #expect(fixture.desk.now == moment(1_000))
        let snapshot = fixture.desk.snapshot()
        let desk = try Desk(
            snapshot: snapshot, atlas: World.atlas.get(), now: Timestamp(nanosecondsSince1970: .min))
        #expect(desk.now == moment(1_000))
    }

    @Test func `what was granted while the clock was ahead ends when it would have`() throws {
        var fixture = try Fixture()
        try fixture.desk.revoke(of: "phone", from: "family", at: moment(20))
        try fixture.report(at: 30)
        let ahead = 40 + Self.year
        try fixture.desk.grant(
            .reduced(validity: .duration(.seconds(600))), of: "phone", to: "family", at: moment(ahead))
        let stream = try fixture.desk.subscribeToUpdates(of: "phone", for: "family", at: moment(ahead + 1))
        try fixture.report(at: 50)
        let grants = try #require(fixture.desk.standings.first).grants
        #expect(grants.map(\.end) == [moment(650)] && grants.map(\.given) == [moment(50)])
        _ = fixture.desk.take(stream)
        // What comes from now on is seen, and nothing once it has ended.
        try fixture.report(at: 60)
        try fixture.pass(to: 651)
        guard case .update(let update)? = fixture.desk.take(stream).last?.content else {
            Issue.record("nothing was told")
            return
        }
        #expect(update.location == nil)
        try fixture.pass(to: 1_900)
        #expect(
            fixture.desk.take(stream).allSatisfy {
                if case .update(let update) = $0.content { update.location == nil } else { true }
            })
    }

    @Test(arguments: [false, true]) func `of a pause that began while the clock was ahead nothing is used`(ends: Bool)
        throws
    {
        var fixture = try Fixture()
        try fixture.report(at: 10)
        let ahead = 1_000 + Self.year
        try fixture.desk.pause(.quiet, at: moment(ahead))
        if ends { try fixture.desk.resume(at: moment(ahead + 30)) }
        try fixture.pass(to: 1_060)
        #expect(fixture.desk.pauseMode == (ends ? nil : .quiet))
        // A queue of the phone with what it saw meanwhile.
        for second in [950.0, 1_000, 1_050] {
            let reception = try fixture.desk.report(
                fix(World.center(2), second), fromDevice: 0, at: moment(1_061))
            #expect(reception == .paused, "\(second)")
        }
        if !ends { try fixture.desk.resume(at: moment(1_070)) }
        let after = try fixture.desk.report(fix(World.center(2), 1_080), fromDevice: 0, at: moment(1_080))
        #expect(after == .kept)
        // A snapshot of it is one.
        try fixture.restart(at: 1_090)
    }

    @Test func `numbers that no desk gave are no log of ticks`() throws {
        var fixture = try Fixture()
        try fixture.report(at: 10)
        try fixture.report(at: 950 + Self.year)
        try fixture.report(at: 1_000)
        func isLog(_ numbers: [Int64]?) throws -> Bool {
            var desk = try Desk(atlas: World.atlas.get(), now: moment(2_000))
            return desk.restoreTicks(numbers)
        }
        let numbers = fixture.desk.tickNumbers
        for log in [numbers, nil, [0, 0, 0, 0, 1, 2]] { #expect(try isLog(log)) }
        for count in 0..<4 { #expect(try !isLog(Array(numbers.prefix(count)))) }
        for log in [
            [0, 2, 1, 0], [0, 0, 0, 9], [0, 0, 0, 0, 2, 1], [0, 0, 0, -1], [0, 0, 0, 2, 1], [0, 0, 0, 0, 1],
            [0, 0, 0, 0] + Array(repeating: 1, count: 40),
        ] as [[Int64]] {
            #expect(try !isLog(log))
        }
        // Anything else is some log, at the ends of time too.
        for extreme in [Int64.min, .min + 1, -1, 0, .max - 1, .max] {
            var fixture = try Fixture()
            _ = fixture.desk.restoreTicks([extreme, extreme, extreme, 1, extreme, extreme, extreme])
            for second in [1_000.0, 2_000, -5_000, 4_000] { try fixture.report(at: second) }
        }
    }
}
