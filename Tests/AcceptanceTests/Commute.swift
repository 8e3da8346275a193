import FixedRandom
import Foundation
import Hereabouts

/// A receiver on a commuter: its noise, and when it gives fixes.
struct CommuteReceiver: Sendable {
    enum Sampling: String, CaseIterable, Sendable {
        /// A fix each minute, day and night.
        case continuous
        /// Fixes while it moves and for two minutes after.
        case motion
    }

    /// Meters on each axis: a bias that changes over hours, 0.8 of it, and what is new in each fix.
    var sigma: Double
    /// What it says of its accuracy, 1.5 sigma; nil if it says nothing.
    var accuracy: Double?
    var sampling = Sampling.continuous

    var figures: String {
        "\(accuracy.map { String(format: "accuracy %.0f m", $0) } ?? String(format: "noise %.0f m", sigma)), "
            + sampling.rawValue
    }
}

/// What a pacer answered a commuter.
struct CommuteMonth: Sendable {
    /// The regions that stood at home at 03:00, and in how many nights each.
    var nights: [Region: Int] = [:]
    /// Ticks with a fix in the stay that the fix of the tick before was of, and how many of them changed the answer.
    var restTicks = 0, restChanges = 0
    /// Those of the changes that were at home.
    var homeChanges = 0

    var varies: Bool { nights.count > 1 }

    /// - Parameter isDaily: a recording for each day, with a pacer of its own, begun at midnight.
    init(_ commuter: Commuter, _ receiver: CommuteReceiver, seed: UInt64, isDaily: Bool = false) throws {
        var random = SplitMix64(seed: seed)
        var sky = Sky(receiver)
        var person = PacedPerson()
        var leg = 0
        var rest: Int?
        var night = commuter.nights.startIndex
        var day = 0.0
        for tick in stride(from: (commuter.start / 900).rounded(.up) * 900, to: commuter.end, by: 900) {
            while night < commuter.nights.endIndex && commuter.nights[night] < tick {
                if let region = person.region { nights[region, default: 0] += 1 }
                night += 1
            }
            while commuter.legs[leg].end < tick { leg += 1 }
            // The commuter's nights are at 03:00.
            let today = commuter.nights.first.map { ((tick - $0) / 86_400 + 0.125).rounded(.down) } ?? 0
            if isDaily && today != day {
                person = PacedPerson()
                day = today
            }
            guard let time = Self.timeOfFix(at: tick, commuter.legs, leg, receiver.sampling, &random),
                time > commuter.start
            else { continue }
            let current = commuter.legs[...leg].lastIndex { $0.start <= time } ?? leg
            let position = commuter.legs[current].position(at: time) + sky.error(at: time, &random)
            let fix = Fix(
                coordinate: commuter.coordinate(position), time: Timestamp(nanosecondsSince1970: Int64(time * 1e9)),
                horizontalAccuracy: receiver.accuracy)
            let before = person.region
            let after = try person.tick(fix, at: Timestamp(nanosecondsSince1970: Int64(tick * 1e9)))
            if commuter.legs[current].isStay {
                if rest == current && before != nil {
                    restTicks += 1
                    if after != before {
                        restChanges += 1
                        if commuter.legs[current].to == SIMD2(0, 0) { homeChanges += 1 }
                    }
                }
                rest = current
            } else {
                rest = nil
            }
        }
    }

    /// When the newest fix of the interval before a tick is taken; nil if there is none.
    private static func timeOfFix(
        at tick: Double, _ legs: [Commuter.Leg], _ leg: Int, _ sampling: CommuteReceiver.Sampling,
        _ random: inout SplitMix64
    ) -> Double? {
        switch sampling {
        case .continuous: return tick - random.uniform(0, 60)
        case .motion:
            let recent = tick - random.uniform(0, 5)
            guard legs[leg].isStay else { return recent }
            // The recording's first stay has no motion before it.
            let stop = leg == 0 ? -.infinity : legs[leg].start + 120
            return stop >= tick ? recent : stop > tick - 900 ? stop : nil
        }
    }
}

/// The errors of a receiver: a bias that wanders, with half its memory lost in two hours, and noise.
private struct Sky {
    private let sigma: Double
    private var bias: SIMD2<Double>?
    private var time = 0.0

    init(_ receiver: CommuteReceiver) { sigma = receiver.sigma }

    mutating func error(at time: Double, _ random: inout SplitMix64) -> SIMD2<Double> {
        let kept = bias == nil ? 0 : exp2(-(time - self.time) / 7_200)
        let fresh = (1 - kept * kept).squareRoot()
        func pair(_ sigma: Double) -> SIMD2<Double> { SIMD2(random.normal(0, sigma), random.normal(0, sigma)) }
        let bias = kept * (self.bias ?? SIMD2(0, 0)) + fresh * pair(0.8 * sigma)
        (self.bias, self.time) = (bias, time)
        return bias + pair(0.6 * sigma)
    }
}
