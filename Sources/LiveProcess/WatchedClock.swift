import CommandCore
import Hereabouts
import Traces

/// The system's clock, for runs that last: where it is beyond the range of times, that is said.
package final class WatchedClock {
    private var isBeyond = false

    package init() {}

    /// The present, as far as there are times.
    package func now() -> Timestamp {
        let now = Timestamp.systemClock(), wasBeyond = isBeyond
        isBeyond = now == .latestOfClocks
        if isBeyond, !wasBeyond { printError("the clock is beyond 2262-04-10: there are no ticks until it is set") }
        return now
    }
}
