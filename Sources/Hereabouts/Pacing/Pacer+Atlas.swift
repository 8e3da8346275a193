extension Pacer {
    /// Takes a fix of the device and says what to publish.
    ///
    /// - Parameters:
    ///   - fix: a position and its time. Fixes may come late or twice; those are not answered.
    ///   - atlas: always the same one in the life of a pacer (see `init(interval:state:in:)` for a change).
    /// - Returns: whether the fix was answered, and with which region.
    /// - Throws: `CoordinateError` for an invalid coordinate, leaving the pacer as it was.
    /// - Complexity: O(1), without allocation: one lookup in the atlas, or at most 129 where the region would change.
    public mutating func report(_ fix: Fix, in atlas: Atlas) throws(CoordinateError) -> Decision {
        try report(
            fix, steadinessMeters: atlas.steadinessMeters,
            mayReach: { atlas.mayReach($0, latitude: $1, longitude: $2) },
            snap: { (latitude, longitude) throws(CoordinateError) in
                try atlas.snap(latitude: latitude, longitude: longitude)
            })
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

extension Atlas {
    /// The least radius of curvature of WGS 84 in meters, b²/a rounded down: that of the meridian at the equator.
    private static let leastRadius = 6_335_439.0

    /// Whether a position may lie within `steadinessMeters` of a region. False only where it does not.
    ///
    /// Everything that near lies within the region's published circle. A path on the ellipsoid is at least as long as
    /// the path through the same latitudes and longitudes on a sphere of the least radius, so the chord of that sphere
    /// is a lower bound on the distance from the center. The meter added is far above all rounding.
    ///
    /// - Parameters:
    ///   - latitude: degrees, in [-90, 90].
    ///   - longitude: degrees, in [-180, 180].
    func mayReach(_ region: Region, latitude: Double, longitude: Double) -> Bool {
        let center = center(of: region)
        let reach = (horizontalAccuracy(of: region) + 1) / Self.leastRadius
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: latitude)
        let (centerSine, centerCosine) = Trigonometry.sineAndCosine(degrees: center.latitude)
        let eastSine = Trigonometry.sineAndCosine(degrees: (longitude - center.longitude) / 2).sine
        let (north, outward) = (sine - centerSine, cosine - centerCosine)
        let chordSquared = north * north + outward * outward + 4 * cosine * centerCosine * eastSine * eastSine
        return chordSquared <= reach * reach
    }
}
