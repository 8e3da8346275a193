import FixedRandom
import Testing

@testable import Hereabouts

/// Steadiness (contract C11) on made-up borders: edges, corners, and a stack of latitudes up to the poles.
@Suite struct PacerSteadinessTests {
    /// Three regions that meet at a point in wedges of 120°, turned by an angle; in meters about the point.
    struct Corner: RegionLookup {
        let steadinessMeters = 250.0
        let latitude: Double
        let longitude: Double
        let turn: Double
        /// Where between two regions the wedge edges lie, in degrees; three edges for a corner, two for an edge.
        let edges: [Double]

        func region(latitude: Double, longitude: Double) throws(Never) -> Region {
            let cosine = Trigonometry.sineAndCosine(degrees: self.latitude).cosine
            let north = (latitude - self.latitude) * 111_200
            let east = (longitude - self.longitude).remainder(dividingBy: 360) * cosine * 111_200
            var angle = Trigonometry.arcTangentDegrees(y: north, x: east) - turn
            angle = angle.truncatingRemainder(dividingBy: 360)
            if angle < 0 { angle += 360 }
            return Region(index: UInt32(edges.filter { angle >= $0 }.count))
        }

        func fix(east: Double, north: Double, seconds: Double, accuracy: Double?) -> Fix {
            let cosine = Trigonometry.sineAndCosine(degrees: latitude).cosine
            return Fix(
                coordinate: Coordinate(
                    latitude: latitude + north / 111_200, longitude: longitude + east / (cosine * 111_200)),
                time: Timestamp(nanosecondsSince1970: Int64(seconds * 1e9)), horizontalAccuracy: accuracy)
        }
    }

    /// Two independent normal deviates, the same on every platform.
    static func normalPair(_ random: inout SplitMix64) -> (Double, Double) {
        // Box and Muller's way, the logarithm summed from the exponent and the series of the inverse hyperbolic
        // tangent: the tails are what is tested.
        let u = 1 - random.unit()
        let exponent = u.exponent
        let ratio = (u.significand - 1) / (u.significand + 1)
        var (series, power) = (0.0, ratio)
        for k in stride(from: 1.0, to: 40, by: 2) {
            series += power / k
            power *= ratio * ratio
        }
        let logarithm = 2 * series + Double(exponent) * 0.693_147_180_559_945_3
        let radius = (-2 * logarithm).squareRoot()
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: random.uniform(-180, 180))
        return (radius * cosine, radius * sine)
    }

    /// How many of the devices' answers gave another region than the last, a day long, one at every tick.
    ///
    /// Half of the devices are on an edge and half on a corner, or beside it, up to so many σ away.
    static func changes(
        devices: Int, sigma: Double, accuracy: Double?, besideUpTo sigmas: Double, seed: UInt64
    ) -> Int {
        var random = SplitMix64(seed: seed)
        var changes = 0
        for device in 0..<devices {
            let corner = Corner(
                latitude: random.uniform(-70, 70), longitude: random.uniform(-180, 180),
                turn: random.uniform(0, 360), edges: device % 2 == 0 ? [0, 180] : [0, 120, 240])
            let beside = random.uniform(0, sigmas * sigma)
            var pacer = Pacer()
            for k in 0..<97 {
                let (east, north) = normalPair(&random)
                let fix = corner.fix(
                    east: beside + sigma * east, north: sigma * north, seconds: Double(k) * 900, accuracy: accuracy)
                _ = pacer.take(fix, corner)
                if pacer.answer(at: fix.time, corner)?.isNew == true, k > 0 { changes += 1 }
            }
        }
        return changes
    }

    @Test(arguments: [(5.0, 7.5), (5, nil), (20, 30), (20, nil)] as [(Double, Double?)])
    func `devices at rest never change`(sigma: Double, accuracy: Double?) throws {
        for sigmas in [0.0, 3] {
            let changes = Self.changes(
                devices: SampleSize.devices.count / 10, sigma: sigma, accuracy: accuracy, besideUpTo: sigmas, seed: 500)
            #expect(changes == 0)
        }
    }

    /// 250 m is 4.2 σ of 60 m here: seen over 40,000 devices, 3.4 changes in 100,000 recomputations.
    @Test(arguments: [90, nil] as [Double?])
    func `in strong noise one recomputation in ten thousand changes`(accuracy: Double?) throws {
        let devices = 2_000
        let changes = Self.changes(devices: devices, sigma: 60, accuracy: accuracy, besideUpTo: 0, seed: 777)
        #expect(changes <= devices * 96 / 10_000)
    }

    /// A device that really moved gets the new region at its next recomputation.
    @Test func `a device that moved farther than the distance changes`() throws {
        var random = SplitMix64(seed: 502)
        for _ in 0..<2_000 {
            let corner = Corner(
                latitude: random.uniform(-89.9, 89.9), longitude: random.uniform(-180, 180), turn: 90, edges: [0, 180])
            var pacer = Pacer()
            let west = corner.fix(east: -300, north: 0, seconds: 0, accuracy: nil)
            let east = corner.fix(east: 252, north: 0, seconds: 900, accuracy: nil)
            _ = pacer.take(west, corner)
            _ = pacer.answer(at: west.time, corner)
            let before = try #require(pacer.region)
            _ = pacer.take(east, corner)
            #expect(pacer.answer(at: east.time, corner)?.isNew == true && pacer.region != before)
        }
    }

    @Test func `the distance follows the accuracy`() {
        #expect(Pacer.steadiness(limit: 250, horizontalAccuracy: nil) == 250)
        #expect(Pacer.steadiness(limit: 250, horizontalAccuracy: 3) == 60)
        #expect(Pacer.steadiness(limit: 250, horizontalAccuracy: 30) == 180)
        #expect(Pacer.steadiness(limit: 250, horizontalAccuracy: 1_000) == 250)
        #expect(Pacer.steadiness(limit: 40, horizontalAccuracy: 3) == 40)
    }

    /// Calls a function for each lookup.
    struct Probed: RegionLookup {
        let steadinessMeters = 250.0
        var body: (_ latitude: Double, _ longitude: Double) -> Region

        init(_ body: @escaping (_ latitude: Double, _ longitude: Double) -> Region) { self.body = body }

        func region(latitude: Double, longitude: Double) throws(Never) -> Region { body(latitude, longitude) }
    }

    /// No probe is farther away than asked for, and the outer circle reaches nearly so far, at every latitude.
    /// Distances by Lambert's formula would share our trigonometry, so the chord of WGS 84 positions is used.
    @Test func `probes reach the radius and no farther`() throws {
        func position(_ latitude: Double, _ longitude: Double) -> (Double, Double, Double) {
            let (a, b) = (6_378_137.0, 6_356_752.314_245)
            let (sine, cosine) = Trigonometry.sineAndCosine(degrees: latitude)
            let (sineEast, cosineEast) = Trigonometry.sineAndCosine(
                degrees: longitude.remainder(dividingBy: 360))
            let n = a * a / (a * a * cosine * cosine + b * b * sine * sine).squareRoot()
            return (n * cosine * cosineEast, n * cosine * sineEast, b * b / (a * a) * n * sine)
        }
        var random = SplitMix64(seed: 503)
        var latitudes = (0..<300).map { _ in random.uniform(-90, 90) }
        latitudes += [90, -90, 89, -89, 89.000_001, 88.999_9, 89.999, 89.999_999, -89.999, 0]
        for latitude in latitudes {
            let longitude = random.uniform(-180, 180)
            let radius = random.uniform(60, 250)
            let home = position(latitude, longitude)
            var (farthest, probes) = (0.0, 0)
            let probe = HysteresisProbe(latitude: latitude, longitude: longitude, radiusMeters: radius)
            let lookup = Probed { probeLatitude, probeLongitude in
                #expect(probeLatitude.magnitude <= 90 && probeLongitude.magnitude <= 182)
                let probe = position(probeLatitude, probeLongitude)
                let (x, y, z) = (probe.0 - home.0, probe.1 - home.1, probe.2 - home.2)
                farthest = max(farthest, (x * x + y * y + z * z).squareRoot())
                probes += 1
                return Region(index: 0)
            }
            #expect(!probe.reaches(Region(index: 1), lookup) && probes == 768)
            #expect(probe.contenders(of: Region(index: 0), lookup).isEmpty && probes == 784)
            #expect(farthest <= radius && farthest > 0.985 * radius)
        }
    }

    /// A wedge of 60°, its tip at the origin, that ends 60 m from there: seen from a few meters beside its tip, however far
    /// the probes reach.
    @Test func `the tip of a region is found`() throws {
        var random = SplitMix64(seed: 0x71b)
        let meters = 111_500.0
        let tips = Probed { latitude, longitude in
            let (north, east) = (latitude * meters, longitude * meters)
            let isWithin = (north * north + east * east).squareRoot() < 60 && north > 2 * 0.866 * abs(east)
            return Region(index: isWithin ? 1 : 0)
        }
        for _ in 0..<1_000 {
            let probe = HysteresisProbe(
                latitude: random.uniform(-7, 7) / meters, longitude: random.uniform(-7, 7) / meters,
                radiusMeters: random.uniform(60, 250))
            #expect(probe.reaches(Region(index: 1), tips))
        }
    }

    /// A strip through the circle, a tenth of its radius wide.
    @Test func `a strip is found`() throws {
        var random = SplitMix64(seed: 0x571)
        let meters = 111_500.0
        for _ in 0..<1_000 {
            let radius = random.uniform(60, 250), distance = random.uniform(0, 0.85) * radius
            let across = Trigonometry.sineAndCosine(degrees: random.uniform(-180, 180))
            let strip = Probed { latitude, longitude in
                let along = (longitude * across.sine + latitude * across.cosine) * meters
                return Region(index: abs(along - distance) < 0.05 * radius ? 1 : 0)
            }
            let probe = HysteresisProbe(latitude: 0, longitude: 0, radiusMeters: radius)
            #expect(probe.reaches(Region(index: 1), strip))
        }
    }

    /// At the pole itself, all longitudes are near.
    @Test func `the pole is near every meridian`() throws {
        for region in 0..<8 as Range<UInt32> {
            let probe = HysteresisProbe(latitude: 89.999_9, longitude: 12, radiusMeters: 250)
            let meridians = Probed { _, longitude in
                Region(index: UInt32((longitude + 540).truncatingRemainder(dividingBy: 360) / 45))
            }
            #expect(probe.reaches(Region(index: region), meridians))
        }
    }
}
