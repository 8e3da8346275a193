extension Pacer {
    /// Takes a fix of the device and decides what to publish.
    ///
    /// - Parameters:
    ///   - fix: a position and its time. Fixes may come late or twice; those are not answered.
    ///   - atlas: the same one in the life of a pacer. In another one the last answer is unknown, so the next
    ///     recomputation gives a new answer; the pace is kept.
    /// - Returns: whether the fix was answered, and with which region.
    /// - Throws: `LookupError`: an invalid coordinate, or damage in an atlas that was not validated as a whole. The pacer
    ///   stays as it was.
    /// - Complexity: O(1), without allocation: one lookup in the atlas, or at most 129 where the region would change.
    public mutating func report(_ fix: Fix, in atlas: Atlas) throws(LookupError) -> Decision {
        do throws(CoordinateError) {
            try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        } catch {
            throw .coordinate(error)
        }
        return try decide(
            fix, steadinessMeters: atlas.steadinessMeters,
            mayReach: { (try? atlas.validIndex(of: $0)) != nil && atlas.mayReach($0, latitude: $1, longitude: $2) },
            snap: { (latitude, longitude) throws(LookupError) in
                try atlas.markedRegion(
                    at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
            })
    }

    /// `report(_:in:)` for code inside the package whose atlas was validated as a whole or ends the program on damage.
    /// The regions have no marks.
    package mutating func report(_ fix: Fix, inValid atlas: Atlas) throws(CoordinateError) -> Decision {
        try report(
            fix, steadinessMeters: atlas.steadinessMeters,
            mayReach: { atlas.mayReach($0, latitude: $1, longitude: $2) },
            snap: { (latitude, longitude) throws(CoordinateError) in
                try atlas.snap(latitude: latitude, longitude: longitude)
            })
    }

    /// Restores a device.
    ///
    /// - Parameters:
    ///   - interval: the least time between two recomputations; not negative. It may differ from before.
    ///   - state: what `state(in:)` gave.
    ///   - atlas: the atlas in use from now on. If it does not have the last region, the pace is kept and the next
    ///     recomputation gives a new answer.
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    public init(interval: Duration = .seconds(900), state: State, in atlas: Atlas) throws(AtlasError) {
        let region: Region? = if let id = state.region { try atlas.region(withID: id) } else { nil }
        self.init(interval: interval, state: state) { _ in region }
    }

    /// `init(interval:state:in:)` for code inside the package whose atlas was validated as a whole or ends the program on
    /// damage. The region has no mark.
    package init(interval: Duration, state: State, inValid atlas: Atlas) {
        self.init(interval: interval, state: state) { atlas.region($0) }
    }

    /// What to keep of the device over a restart; nil before its first fix, when there is nothing to keep.
    ///
    /// - Parameter atlas: the atlas that the fixes were reported with.
    public func state(in atlas: Atlas) -> State? { state { try? atlas.identifier(of: $0) } }
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
