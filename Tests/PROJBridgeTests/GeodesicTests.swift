import PROJBridge
import Testing

@Suite struct GeodesicTests {
    /// Rows 1–10 of the 20 test cases that ship with GeographicLib and its ports (`GeodesicTest`, C. Karney): latitude
    /// and longitude of one end, azimuth there, the same of the other end, and the distance in meters.
    static let published: [[Double]] = [
        [
            35.60777, -139.44815, 111.098748429560326, -11.17491, -69.95921, 129.289270889708762,
            8935244.5604818305,
        ],
        [
            55.52454, 106.05087, 22.020059880982801, 77.03196, 197.18234, 109.112041110671519,
            4105086.1713924406,
        ],
        [
            -21.97856, 142.59065, -32.44456876433189, 41.84138, 98.56635, -41.84359951440466,
            8394328.894657671,
        ],
        [
            -66.99028, 112.2363, 173.73491240878403, -12.70631, 285.90344, 2.512956620913668,
            11150344.2312080241,
        ],
        [
            -17.42761, 173.34268, -159.033557661192928, -15.84784, 5.93557, -20.787484651536988,
            16076603.1631180673,
        ],
        [
            32.84994, 48.28919, 150.492927788121982, -56.28556, 202.29132, 48.113449399816759,
            16727068.9438164461,
        ],
        [
            6.96833, 52.74123, 92.581585386317712, -7.39675, 206.17291, 90.721692165923907,
            17102477.2496958388,
        ],
        [
            -50.56724, -16.30485, -105.439679907590164, -33.56571, -94.97412, -47.348547835650331,
            6455670.5118668696,
        ],
        [
            -58.93002, -8.90775, 140.965397902500679, -8.91104, 133.13503, 19.255429433416599,
            11756066.0219864627,
        ],
        [
            -68.82867, -74.28391, 93.774347763114881, -50.63005, -8.36685, 34.65564085411343,
            3956936.926063544,
        ],
    ]

    @Test(arguments: published)
    func `agrees with GeographicLib's published test cases`(row: [Double]) throws {
        let geodesic = Geodesic.wgs84
        let path = try geodesic.path(
            fromLatitude: row[0], longitude: row[1], toLatitude: row[3], longitude: row[4])
        // The tolerances are those of GeographicLib's own tests: 1e-8 m in length, 1e-13 degrees (relaxed to 1e-12 for
        // printing) in angle.
        #expect(abs(path.distanceMeters - row[6]) < 2e-8)
        #expect(abs(path.initialAzimuthDegrees - row[2]) < 1e-12)
        #expect(abs(path.finalAzimuthDegrees - row[5]) < 1e-12)
        let distance = try geodesic.distanceMeters(
            fromLatitude: row[0], longitude: row[1], toLatitude: row[3], longitude: row[4])
        #expect(distance == path.distanceMeters)
        let end = try geodesic.destination(
            fromLatitude: row[0], longitude: row[1], azimuthDegrees: row[2], distanceMeters: row[6])
        #expect(abs(end.latitude - row[3]) < 1e-12)
        let longitudeGap = (end.longitude - row[4]).truncatingRemainder(dividingBy: 360)
        #expect(min(abs(longitudeGap), abs(abs(longitudeGap) - 360)) < 1e-12)
    }

    @Test func `quarter meridian, equator and antipodes`() throws {
        let geodesic = Geodesic.wgs84
        // The WGS 84 quarter meridian is 10,001,965.729 m (EPSG guidance note 7-2 and others).
        let quarter = try geodesic.distanceMeters(fromLatitude: 0, longitude: 0, toLatitude: 90, longitude: 0)
        #expect(abs(quarter - 10_001_965.729) < 0.001)
        let degree = try geodesic.distanceMeters(fromLatitude: 0, longitude: 179.5, toLatitude: 0, longitude: -179.5)
        #expect(abs(degree - 6_378_137 * Double.pi / 180) < 1e-8)
        let antipodes = try geodesic.distanceMeters(fromLatitude: 0, longitude: 0, toLatitude: 0, longitude: 180)
        #expect(abs(antipodes - 2 * quarter) < 1e-6)
    }

    @Test func `areas of known figures`() throws {
        let geodesic = Geodesic.wgs84
        // Eighth of the ellipsoid; the whole is 510,065,621.724 km² (GeographicLib, `Planimeter`).
        let octant = try geodesic.signedAreaSquareMeters(ring: [0, 0, 90, 0, 0, 90])
        #expect(abs(octant * 8 - 510_065_621_724_088) < 100)
        #expect(try geodesic.signedAreaSquareMeters(ring: [0, 90, 90, 0, 0, 0]) == -octant)
        // A closing position that repeats the first changes nothing.
        #expect(try geodesic.signedAreaSquareMeters(ring: [0, 0, 90, 0, 0, 90, 0, 0]) == octant)
        // GeographicLib's Planimeter test 0: the cap north of 89 degrees in four corners.
        let cap = try geodesic.signedAreaSquareMeters(ring: [0, 89, 90, 89, 180, 89, 270, 89])
        #expect(abs(cap - 24_952_305_678.0) < 1)
        let withHole = try geodesic.areaSquareMeters(polygon: [[0, 0, 90, 0, 0, 90], [1, 1, 1, 2, 2, 2, 2, 1]])
        let hole = try geodesic.signedAreaSquareMeters(ring: [1, 1, 2, 1, 2, 2, 1, 2])
        #expect(withHole == octant - hole)
        #expect(try geodesic.areaSquareMeters(polygon: []) == 0)
    }

    @Test(arguments: [(Double.nan, 0.0), (90.001, 0), (-91, 0), (0, .infinity), (0, .nan)])
    func `bad positions are refused`(latitude: Double, longitude: Double) {
        let geodesic = Geodesic.wgs84
        #expect(throws: PROJError.invalidCoordinate) {
            try geodesic.distanceMeters(fromLatitude: 0, longitude: 0, toLatitude: latitude, longitude: longitude)
        }
        #expect(throws: PROJError.invalidCoordinate) {
            try geodesic.destination(
                fromLatitude: latitude, longitude: longitude, azimuthDegrees: 0, distanceMeters: 1)
        }
        #expect(throws: PROJError.invalidCoordinate) {
            try geodesic.signedAreaSquareMeters(ring: [0, 0, 1, 1, longitude, latitude])
        }
    }

    @Test func `bad directions and rings are refused`() {
        #expect(throws: PROJError.invalidCoordinate) {
            try Geodesic.wgs84.destination(fromLatitude: 0, longitude: 0, azimuthDegrees: .nan, distanceMeters: 1)
        }
        #expect(throws: PROJError.oddCoordinateCount) { try Geodesic.wgs84.signedAreaSquareMeters(ring: [0, 0, 1]) }
    }
}
