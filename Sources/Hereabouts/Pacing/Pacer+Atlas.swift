extension Pacer {
    /// Takes a fix of the device.
    ///
    /// - Parameters:
    ///   - fix: a position and its time. Fixes may come late or twice; those change nothing.
    ///   - atlas: the same one in the life of a pacer. In another one the last answer is unknown, so the next tick gives
    ///     a new answer; the pace is kept.
    /// - Returns: whether the fix was kept for its tick, and the answer of the tick before it, if that was not given yet.
    /// - Throws: `LookupError`: an invalid coordinate, or damage in an atlas that was not validated as a whole. The pacer
    ///   stays as it was.
    /// - Complexity: O(1), without allocation: nothing but comparisons, or for each tick 17 lookups in the atlas, some
    ///   hundred where several regions are near, and 768 for each that stood there and is no longer near.
    public mutating func report(_ fix: Fix, in atlas: Atlas) throws(LookupError) -> Reception {
        do throws(CoordinateError) {
            try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        } catch {
            throw .coordinate(error)
        }
        return try take(fix, MarkedLookup(atlas: atlas))
    }

    /// Answers the newest fix, if its tick has come.
    ///
    /// - Parameters:
    ///   - time: the present. Any time from a tick on answers that tick.
    ///   - atlas: as for `report(_:in:)`.
    /// - Returns: the answer; nil where no fix waits for a tick at or before `time`, so that the last answer stands.
    /// - Throws: `LookupError.atlas`: damage in an atlas that was not validated as a whole. The pacer stays as it was.
    public mutating func tick(_ time: Timestamp, in atlas: Atlas) throws(LookupError) -> Answer? {
        try answer(at: time, MarkedLookup(atlas: atlas))
    }

    /// `report(_:in:)` for code inside the package whose atlas was validated as a whole or ends the program on damage.
    /// The regions have no marks.
    @inline(__always)
    package mutating func report(_ fix: Fix, inValid atlas: Atlas) throws(CoordinateError) -> Reception {
        try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        return take(fix, ValidLookup(atlas: atlas))
    }

    /// `tick(_:in:)` likewise.
    package mutating func tick(_ time: Timestamp, inValid atlas: Atlas) -> Answer? {
        answer(at: time, ValidLookup(atlas: atlas))
    }

    /// Restores a device.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks; not negative. It may differ from before.
    ///   - state: what `state(in:)` gave.
    ///   - atlas: the atlas in use from now on. If it does not have the last region, the pace is kept and the next tick
    ///     gives a new answer.
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    public init(interval: Duration = .seconds(900), state: State, in atlas: Atlas) throws(AtlasError) {
        var regions: [RegionID: Region] = [:]
        for id in state.regions {
            regions[id] = try atlas.region(withID: id)
        }
        self.init(interval: interval, state: state) { regions[$0] }
    }

    /// `init(interval:state:in:)` for code inside the package whose atlas was validated as a whole or ends the program on
    /// damage. The region has no mark.
    package init(interval: Duration, state: State, inValid atlas: Atlas) {
        self.init(interval: interval, state: state) { atlas.region($0) }
    }

    /// What to keep of the device over a restart; nil before its first answer, when there is nothing to keep.
    ///
    /// - Parameter atlas: the atlas that the fixes were reported with.
    public func state(in atlas: Atlas) -> State? { state { try? atlas.identifier(of: $0) } }
}

extension Coordinate {
    /// - Throws: `CoordinateError` where it is not a position on Earth.
    package func validate() throws(CoordinateError) { try FaceIJ.check(latitude: latitude, longitude: longitude) }
}

/// For regions with marks, in an atlas that may be damaged.
private struct MarkedLookup: RegionLookup {
    let atlas: Atlas

    var steadinessMeters: Double { atlas.steadinessMeters }

    @inline(__always)
    func region(latitude: Double, longitude: Double) throws(LookupError) -> Region {
        try atlas.markedRegion(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(LookupError) {
        do throws(AtlasError) {
            var found = unsafe regions.mutableSpan
            unsafe try atlas.regions(at: coordinates.span, into: &found)
        } catch {
            throw .atlas(error)
        }
    }

    func mayReach(_ region: Region, latitude: Double, longitude: Double) -> Bool {
        (try? atlas.validIndex(of: region)) != nil && atlas.mayReach(region, latitude: latitude, longitude: longitude)
    }
}

/// For regions without marks.
struct ValidLookup: RegionLookup {
    let atlas: Atlas

    var steadinessMeters: Double { atlas.steadinessMeters }

    @inline(__always)
    func region(latitude: Double, longitude: Double) throws(Never) -> Region {
        atlas.region(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(Never) {
        unsafe atlas.snap(coordinates, into: regions)
    }

    func mayReach(_ region: Region, latitude: Double, longitude: Double) -> Bool {
        atlas.mayReach(region, latitude: latitude, longitude: longitude)
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
