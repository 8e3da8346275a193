extension Pacer {
    /// Takes a fix of the device and says what to publish.
    ///
    /// - Parameters:
    ///   - fix: a position and its time. Fixes may come late or twice; those are not answered.
    ///   - atlas: always the same one in the life of a pacer (see `init(interval:state:in:)` for a change).
    /// - Returns: whether the fix was answered, and with which region.
    /// - Throws: `CoordinateError` if the fix names no place, leaving the pacer as it was.
    /// - Complexity: O(1), without allocation: one look-up in the atlas, or at most 129 where the region would change.
    public mutating func report(_ fix: Fix, in atlas: Atlas) throws(CoordinateError) -> Decision {
        try report(fix, steadinessMeters: atlas.steadinessMeters) {
            (latitude, longitude) throws(CoordinateError) in
            try atlas.snap(latitude: latitude, longitude: longitude)
        }
    }

    /// A device as it was when its state was taken.
    ///
    /// - Parameters:
    ///   - interval: the least time between two recomputations; not negative. It may differ from before.
    ///   - state: what `state(in:)` gave.
    ///   - atlas: the atlas in use from now on. If it does not have the last region, the pace is kept and the next
    ///     recomputation gives a new answer.
    public init(interval: Duration = .seconds(900), state: State, in atlas: Atlas) {
        self.init(interval: interval, state: state) { atlas.region($0) }
    }

    /// What to keep of the device over a restart; nil before its first fix, when there is nothing to keep.
    ///
    /// - Parameter atlas: the atlas that the fixes were reported with.
    public func state(in atlas: Atlas) -> State? {
        state { atlas.reducedLocation(of: $0).region }
    }
}
