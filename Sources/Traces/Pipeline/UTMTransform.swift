import Hereabouts

extension CoordinateReference {
    /// UTM, by the zone that each record says.
    ///
    /// - Parameter system: finds a zone's reference system by its name (`EPSG:32630`); nil where PROJ lacks it.
    package static func utm(_ system: @escaping @Sendable (String) -> CoordinateReference?) -> CoordinateReference {
        CoordinateReference(name: "utm", isUTM: true) {
            let transform = UTMTransform(system)
            return { positions in transform(positions) }
        }
    }
}

/// Transforms positions of several UTM zones, on one thread.
private final class UTMTransform {
    private let system: @Sendable (String) -> CoordinateReference?
    /// By the zone's code; made when the first position of a zone comes.
    private var transforms = [CoordinateReference.Transform?](repeating: nil, count: UTMZone.count + 1)
    /// Positions of one zone after the other.
    private var gathered: [Coordinate] = []
    /// The end of each zone's positions among these.
    private var ends = [Int](repeating: 0, count: UTMZone.count + 1)

    init(_ system: @escaping @Sendable (String) -> CoordinateReference?) { self.system = system }

    /// What eastings and northings can be, in meters. A zone's own are 100,000 to 900,000 east. Some countries use one zone
    /// for all of their land: Norway's are -80,000 to 1,120,000 in zone 33. Northings are at most 10,000,000.
    private static let eastings = -500_000.0...1_500_000.0, northings = -100_000.0...10_100_000.0
    /// Numbers so small may be degrees or kilometers. As meters they are on the equator, 4.5° west of a zone's middle.
    private static let smallEasting = 1_000.0, smallNorthing = 11_000.0

    private static func isPlausible(_ position: Coordinate) -> Bool {
        let (easting, northing) = (position.longitude, position.latitude)
        return eastings.contains(easting) && northings.contains(northing)
            && (easting.magnitude > smallEasting || northing.magnitude > smallNorthing)
    }

    /// A position without a zone becomes none.
    func callAsFunction(_ positions: CoordinateReference.Positions) {
        let elements = unsafe positions.elements
        guard let zones = unsafe positions.utmZones, zones.count == elements.count else {
            for index in elements.indices { unsafe elements[index] = Self.nowhere }
            return
        }
        for index in ends.indices { ends[index] = 0 }
        // SAFETY: both have as many elements, and codes are at most `UTMZone.count`.
        for index in elements.indices {
            if unsafe !Self.isPlausible(elements[index]) { unsafe elements[index] = Self.nowhere }
            unsafe ends[Int(zones[index])] += 1
        }
        if let only = ends.firstIndex(of: elements.count) { return unsafe transform(elements, UInt8(only)) }
        unsafe transformGathered(elements, zones)
    }

    /// Sorts positions by their zones, transforms these, and puts each back into its place.
    private func transformGathered(
        _ elements: UnsafeMutableBufferPointer<Coordinate>, _ zones: UnsafeBufferPointer<UInt8>
    ) {
        if gathered.count < elements.count { gathered = Array(repeating: Self.nowhere, count: elements.count) }
        for code in 1..<ends.count { ends[code] += ends[code - 1] }
        let allEnds = ends
        // From the back, so that each end becomes its zone's start.
        for index in elements.indices.reversed() {
            let code = unsafe Int(zones[index])
            ends[code] -= 1
            unsafe gathered[ends[code]] = elements[index]
        }
        unsafe gathered.withUnsafeMutableBufferPointer { gathered in
            for code in ends.indices where ends[code] < allEnds[code] {
                // SAFETY: the zones' parts of it follow each other.
                unsafe transform(
                    UnsafeMutableBufferPointer(rebasing: gathered[ends[code]..<allEnds[code]]), UInt8(code))
            }
        }
        for index in elements.indices {
            let code = unsafe Int(zones[index])
            unsafe elements[index] = gathered[ends[code]]
            ends[code] += 1
        }
    }

    /// Transforms positions of one zone.
    private func transform(_ elements: UnsafeMutableBufferPointer<Coordinate>, _ code: UInt8) {
        let known = transforms[Int(code)]
        guard let transform = known ?? UTMZone(code: code).flatMap({ system($0.systemName)?.makeTransform() }) else {
            for index in elements.indices { unsafe elements[index] = Self.nowhere }
            return
        }
        transforms[Int(code)] = transform
        unsafe transform(CoordinateReference.Positions(elements))
    }

    private static var nowhere: Coordinate { Coordinate(latitude: .nan, longitude: .nan) }
}
