import Hereabouts

/// What is reported of a device (contract C10).
package enum Emission: String, CaseIterable, Sendable {
    /// The answers that differ from the last, each with its tick.
    case changes
    /// The answer of every tick that had a fix.
    case recomputations
    /// Every fix, with its own time and the answer that stood then.
    case fixes
    /// The answers that stood at the tick before as well, and differ from the last report.
    case stays
}

/// Which of a device's answers are reported.
struct ReportRule {
    /// What of the answers so far decides it.
    struct Memory {
        /// The region of the last report; `invalid` before one.
        var reported = Region.invalid
        /// The last tick with an answer that is not withheld, and its region; `invalid` before one.
        fileprivate var region = Region.invalid
        fileprivate var tick = Timestamp(nanosecondsSince1970: .min)

        init() {}

        /// That of a device that goes on.
        ///
        /// - Parameters:
        ///   - reported: the region of the last report, where that is known.
        ///   - region: that of the last answer; nil where it is withheld or there is none.
        init(reported: Region?, region: Region?, tick: Timestamp?) {
            self.reported = reported ?? .invalid
            guard let region, let tick else { return }
            (self.region, self.tick) = (region, tick)
        }
    }

    let emission: Emission
    private let intervalNanoseconds: Int64
    /// Whether an answer is reported that equals the last report, where it would be if it did not.
    private let repeats: Bool

    init(_ emission: Emission, interval: Duration, repeats: Bool = false) {
        (self.emission, self.repeats) = (emission, repeats)
        intervalNanoseconds = Pacer.nanoseconds(in: interval)
    }

    /// Whether an answer is reported; to be asked for the answers of a device in order of their ticks.
    ///
    /// - Parameter region: nil where the answer is withheld.
    @inline(__always)
    func reports(_ region: Region?, at tick: Timestamp, _ memory: inout Memory) -> Bool {
        let isStay = emission == .stays && stays(region, at: tick, &memory)
        guard let region else { return false }
        switch emission {
        case .changes: if region == memory.reported && !repeats { return false }
        case .recomputations: break
        case .fixes: return false
        case .stays: if !isStay || region == memory.reported && !repeats { return false }
        }
        memory.reported = region
        return true
    }

    /// Whether the tick before had the same answer. A tick without one that is published begins anew.
    private func stays(_ region: Region?, at tick: Timestamp, _ memory: inout Memory) -> Bool {
        // Of one region there was an answer, so that the difference is within the range of times.
        let isStay =
            region == memory.region
            && tick.nanosecondsSince1970 &- memory.tick.nanosecondsSince1970 == intervalNanoseconds
        (memory.region, memory.tick) = (region ?? .invalid, tick)
        return isStay
    }
}
