import CPROJ

/// Geodesics on an ellipsoid, by PROJ's copy of Karney's algorithms ("Algorithms for geodesics", J. Geodesy 87, 2013);
/// distances are accurate to 15 nanometers. Angles in degrees, lengths in meters. A value type; safe in any thread.
package struct Geodesic: Sendable {
    private let ellipsoid: geod_geodesic

    /// The WGS 84 ellipsoid.
    package static let wgs84 = Geodesic(equatorialRadiusMeters: 6_378_137, flattening: 1 / 298.257_223_563)

    private init(equatorialRadiusMeters: Double, flattening: Double) {
        var ellipsoid = geod_geodesic()
        // SAFETY: writes the one struct.
        unsafe geod_init(&ellipsoid, equatorialRadiusMeters, flattening)
        self.ellipsoid = ellipsoid
    }

    /// The shortest path between two positions.
    package struct Path: Hashable, Sendable {
        /// Length in meters.
        package let distanceMeters: Double
        /// Direction at the start, degrees clockwise from north, -180 … 180.
        package let initialAzimuthDegrees: Double
        /// Direction of travel at the end, degrees clockwise from north, -180 … 180.
        package let finalAzimuthDegrees: Double
    }

    /// The shortest path between two positions. O(1), about a microsecond.
    /// - Throws: `PROJError.invalidCoordinate` for a latitude outside ±90 or a value that is not finite.
    package func path(
        fromLatitude latitude1: Double, longitude longitude1: Double,
        toLatitude latitude2: Double, longitude longitude2: Double
    ) throws(PROJError) -> Path {
        try check(latitude1, longitude1)
        try check(latitude2, longitude2)
        var distance = 0.0, azimuth1 = 0.0, azimuth2 = 0.0
        unsafe withUnsafePointer(to: ellipsoid) { ellipsoid in
            // SAFETY: reads the struct and writes three Doubles.
            unsafe geod_inverse(
                ellipsoid, latitude1, longitude1, latitude2, longitude2, &distance, &azimuth1, &azimuth2)
        }
        return Path(distanceMeters: distance, initialAzimuthDegrees: azimuth1, finalAzimuthDegrees: azimuth2)
    }

    /// The length of the shortest path between two positions, in meters. O(1), about a microsecond.
    /// - Throws: as `path`.
    package func distanceMeters(
        fromLatitude latitude1: Double, longitude longitude1: Double,
        toLatitude latitude2: Double, longitude longitude2: Double
    ) throws(PROJError) -> Double {
        try check(latitude1, longitude1)
        try check(latitude2, longitude2)
        var distance = 0.0
        unsafe withUnsafePointer(to: ellipsoid) { ellipsoid in
            // SAFETY: reads the struct and writes one Double; the azimuths are not asked for.
            unsafe geod_inverse(ellipsoid, latitude1, longitude1, latitude2, longitude2, &distance, nil, nil)
        }
        return distance
    }

    /// Where one gets to from a position by going `distanceMeters` in a direction (degrees clockwise from north); the
    /// longitude comes within ±180. O(1), under a microsecond.
    /// - Throws: as `path`.
    package func destination(
        fromLatitude latitude: Double, longitude: Double, azimuthDegrees: Double, distanceMeters: Double
    ) throws(PROJError) -> (latitude: Double, longitude: Double) {
        try check(latitude, longitude)
        guard azimuthDegrees.isFinite, distanceMeters.isFinite else { throw .invalidCoordinate }
        var latitude2 = 0.0, longitude2 = 0.0
        unsafe withUnsafePointer(to: ellipsoid) { ellipsoid in
            // SAFETY: reads the struct and writes two Doubles; the azimuth is not asked for.
            unsafe geod_direct(
                ellipsoid, latitude, longitude, azimuthDegrees, distanceMeters, &latitude2, &longitude2, nil)
        }
        return (latitude2, longitude2)
    }

    /// The area inside a ring of flat `[longitude, latitude, …]` (closed or not) joined by geodesics, in m²: positive
    /// where the ring runs counter-clockwise, and then the smaller side counts. O(n).
    /// - Throws: as `path`; `PROJError.oddCoordinateCount`.
    package func signedAreaSquareMeters(ring: [Double]) throws(PROJError) -> Double {
        guard ring.count.isMultiple(of: 2) else { throw .oddCoordinateCount }
        for index in stride(from: 0, to: ring.count, by: 2) { try check(ring[index + 1], ring[index]) }
        var polygon = geod_polygon()
        var area = 0.0
        unsafe withUnsafePointer(to: ellipsoid) { ellipsoid in
            // SAFETY: all three structs are alive, and each call writes only what is passed inout.
            unsafe geod_polygon_init(&polygon, 0)
            for index in stride(from: 0, to: ring.count, by: 2) {
                unsafe geod_polygon_addpoint(ellipsoid, &polygon, ring[index + 1], ring[index])
            }
            _ = unsafe geod_polygon_compute(ellipsoid, &polygon, 0, 1, &area, nil)
        }
        return area
    }

    /// The area of a polygon, outer ring less holes, in m²; whichever way its rings run. O(n).
    /// - Throws: as `signedAreaSquareMeters`.
    package func areaSquareMeters(polygon rings: [[Double]]) throws(PROJError) -> Double {
        guard let shell = rings.first else { return 0 }
        var area = abs(try signedAreaSquareMeters(ring: shell))
        for hole in rings.dropFirst() { area -= abs(try signedAreaSquareMeters(ring: hole)) }
        return area
    }

    /// The area of polygons that do not overlap, in km². O(n).
    /// - Throws: as `signedAreaSquareMeters`.
    package func areaSquareKilometers(polygons: [[[Double]]]) throws(PROJError) -> Double {
        var area = 0.0
        for polygon in polygons { area += try areaSquareMeters(polygon: polygon) }
        return area / 1e6
    }

    private func check(_ latitude: Double, _ longitude: Double) throws(PROJError) {
        guard abs(latitude) <= 90, longitude.isFinite else { throw .invalidCoordinate }
    }
}
