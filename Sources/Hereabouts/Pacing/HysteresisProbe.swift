/// Probes the surroundings of a fix: is a region within the hysteresis distance?
///
/// `reaches` has 768 probes, on twelve circles, 64 directions on each. A region that comes within the radius in a strip or a
/// wedge narrower than the gaps (an eighth of the radius at most, a tenth of a circle's radius along it) can be missed, so four
/// circles are for the tips of regions that end beside the fix; a false positive is impossible.
struct HysteresisProbe {
    /// Degrees, in [-90, 90].
    let latitude: Double
    /// Degrees, in [-180, 180).
    let longitude: Double
    /// The probe radius as an arc of a meridian in degrees; never longer than the requested meters.
    let radiusDegrees: Double
    /// The largest cosine of any probe's latitude: an upper bound of the length of a degree of longitude.
    private let cosine: Double

    /// An upper bound of the meters in a degree: on WGS 84 a degree of a meridian, and of a parallel divided by the
    /// cosine of the latitude, is at most a²/b · π/180 = 111,693.9 m. So no probe is farther than the radius.
    private static let metersPerDegree = 111_700.0

    /// The radii of the circles, in parts of the whole. A region within reach mostly covers much of the outer one, which
    /// therefore comes first.
    private static let fractions: InlineArray<12, Double> = [
        1, 0.5, 0.75, 0.25, 0.125, 0.0625, 0.875, 0.625, 0.375, 0.1875, 0.09375, 0.03125,
    ]

    /// Beyond this latitude (111 km from the pole) a plane tangent at the pole replaces steps in longitude.
    private static let polarLatitude = 89.0

    init(latitude: Double, longitude: Double, radiusMeters: Double) {
        self.latitude = latitude
        self.longitude = longitude
        radiusDegrees = radiusMeters / Self.metersPerDegree
        cosine = Trigonometry.sineAndCosine(degrees: max(0, latitude.magnitude - radiusDegrees)).cosine
    }

    /// Whether a probe lies in the region; at most 768 lookups, and none where `mayReach` says no.
    func reaches<Lookup: RegionLookup>(_ region: Region, _ lookup: Lookup) throws(Lookup.Failure) -> Bool {
        guard mayReach(region, lookup) else { return false }
        for index in Self.fractions.indices {
            let fraction = Self.fractions[index]
            // 1/64 of a circle.
            let turn = (cosine: 0.995_184_726_672_196_9, sine: 0.098_017_140_329_560_6)
            let isFound = unsafe try probe(atFraction: fraction, count: 64, turn, lookup) { unsafe $0.contains(region) }
            if isFound { return true }
        }
        return false
    }

    /// Whether the lookup's quick test leaves it open that a probe lies in the region.
    ///
    /// It asks for a square about all probes in the plane of their offsets, larger by several times what the great circles
    /// between its corners bend.
    func mayReach<Lookup: RegionLookup>(_ region: Region, _ lookup: Lookup) -> Bool {
        let side = radiusDegrees * 1.02
        return lookup.mayMeet(
            region,
            between: [
                probe(east: -side, north: -side), probe(east: side, north: -side),
                probe(east: -side, north: side), probe(east: side, north: side),
            ])
    }

    /// The regions of sixteen probes, all around at the whole radius, that are others than one: one that comes near in a
    /// narrow wedge can be missed.
    func contenders<Lookup: RegionLookup>(of region: Region, _ lookup: Lookup) throws(Lookup.Failure) -> Contenders {
        // 1/16 of a circle.
        let turn = (cosine: 0.923_879_532_511_286_7, sine: 0.382_683_432_365_089_8)
        return unsafe try probe(atFraction: 1, count: 16, turn, lookup) { found in
            var contenders = Contenders()
            for index in found.indices where unsafe found[index] != region {
                contenders.insert(unsafe found[index])
            }
            return contenders
        }
    }

    /// What a function makes of the regions of probes on a circle, each direction being the one before turned by an angle.
    private func probe<Lookup: RegionLookup, Value>(
        atFraction fraction: Double, count: Int, _ turn: (cosine: Double, sine: Double), _ lookup: Lookup,
        _ body: (UnsafeMutableBufferPointer<Region>) -> Value
    ) throws(Lookup.Failure) -> Value {
        // SAFETY: both buffers are written as far as they are read, and hold values without references.
        let value: Result<Value, Lookup.Failure> = unsafe withUnsafeTemporaryAllocation(
            of: Coordinate.self, capacity: count
        ) { points in
            unsafe withUnsafeTemporaryAllocation(of: Region.self, capacity: count) { regions in
                var (east, north) = (0.0, radiusDegrees * fraction)
                for index in 0..<count {
                    unsafe points.initializeElement(at: index, to: probe(east: east, north: north))
                    unsafe regions.initializeElement(at: index, to: .invalid)
                    (east, north) = (east * turn.cosine - north * turn.sine, east * turn.sine + north * turn.cosine)
                }
                do throws(Lookup.Failure) {
                    unsafe try lookup.regions(UnsafeBufferPointer(points), into: regions)
                } catch {
                    return .failure(error)
                }
                return unsafe .success(body(regions))
            }
        }
        return try value.get()
    }

    /// The point at an offset in degrees of arc.
    private func probe(east: Double, north: Double) -> Coordinate {
        if latitude.magnitude > Self.polarLatitude { return polarProbe(east: east, north: north) }
        return Coordinate(latitude: latitude + north, longitude: longitude + east / cosine)
    }

    /// Near a pole: the same in the azimuthal equidistant projection, whose distances are never shorter than true.
    private func polarProbe(east: Double, north: Double) -> Coordinate {
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: longitude)
        let fromPole = 90 - latitude.magnitude
        let x = fromPole * cosine + east
        let y = fromPole * sine + north
        let distance = (x * x + y * y).squareRoot()
        let magnitude = 90 - distance
        return Coordinate(
            latitude: latitude < 0 ? -magnitude : magnitude, longitude: Trigonometry.arcTangentDegrees(y: y, x: x))
    }
}
