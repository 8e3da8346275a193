import FixedRandom
import Foundation
import Hereabouts
import Testing

/// A device that does not move, where it is hardest: on an edge between regions, a corner of three, or a border.
struct Device: Sendable {
    enum Place: String, CaseIterable, Sendable { case edge, corner, border }

    var place: Place
    var position: Coordinate

    /// Devices of all three kinds in turn, found on the atlas by walking from region to region; three in four begin
    /// where people live.
    static func find(_ count: Int, seed: UInt64) throws -> [Device] {
        let parts = ranges(count, parts: 40)
        return try onAllCores(parts.count) { part in
            var random = SplitMix64(seed: seed &+ UInt64(part))
            return try parts[part].map { index in
                let place = Place.allCases[index % 3]
                while true {
                    if let position = try find(place, settled: index % 4 != 0, &random) {
                        return Device(place: place, position: position)
                    }
                }
            }
        }.flatMap { $0 }
    }

    /// Nil where a walk came to nothing.
    private static func find(_ place: Place, settled: Bool, _ random: inout SplitMix64) throws -> Coordinate? {
        var region = Region(index: 0)
        repeat {
            region = Region(index: UInt32(random.next() % UInt64(atlas.regionCount)))
        } while try settled && atlas.anonymity(of: region) == 0
        let start = atlas.center(of: region)
        guard start.latitude.magnitude < 85 else { return nil }
        let azimuth = random.uniform(-180, 180)
        switch place {
        case .edge: return try crossing(from: start, azimuth: azimuth, label: { $0.index })?.middle
        case .border:
            return try crossing(from: start, azimuth: azimuth, label: { RegionTable.world.code($0) })?.middle
        case .corner:
            guard let edge = try crossing(from: start, azimuth: azimuth, label: { $0.index }) else { return nil }
            return try corner(near: edge)
        }
    }

    private struct Crossing {
        /// Either side, some centimeters apart.
        var near: Coordinate, far: Coordinate
        var middle: Coordinate { Device.middle(near, far) }
    }

    private static func middle(_ a: Coordinate, _ b: Coordinate) -> Coordinate {
        Coordinate(latitude: (a.latitude + b.latitude) / 2, longitude: (a.longitude + b.longitude) / 2)
    }

    /// A point so many meters off; its longitude may go beyond ±180, so that points near it stay near in numbers.
    static func offset(_ point: Coordinate, east: Double, north: Double) -> Coordinate {
        Coordinate(
            latitude: point.latitude + north / metersPerDegree,
            longitude: point.longitude + east / metersPerDegree / cos(point.latitude * .pi / 180))
    }

    /// Where a walk of up to 150 km first changes what `label` says, narrowed down by bisection.
    private static func crossing<Label: Equatable>(
        from start: Coordinate, azimuth: Double, label: (Region) -> Label
    ) throws -> Crossing? {
        let first = label(try atlas.snap(start))
        let (east, north) = (sin(azimuth * .pi / 180), cos(azimuth * .pi / 180))
        var near = start
        for step in 1...300 {
            var far = offset(start, east: Double(step) * 500 * east, north: Double(step) * 500 * north)
            guard far.latitude.magnitude < 85 else { return nil }
            if label(try atlas.snap(far)) == first {
                near = far
                continue
            }
            for _ in 0..<15 {
                let middle = middle(near, far)
                if label(try atlas.snap(middle)) == first { near = middle } else { far = middle }
            }
            return Crossing(near: near, far: far)
        }
        return nil
    }

    /// Where three regions meet: a square that holds three, replaced by a quarter of it that does, down to 3 cm. Nil
    /// where none comes within 8 km of the edge, or the points looked at in a square miss the third.
    private static func corner(near edge: Crossing) throws -> Coordinate? {
        var center = edge.middle
        var half = 125.0
        while try regions(around: center, half: half).count < 3 {
            half *= 2
            if half > 8_000 { return nil }
        }
        // Quarters overlap, so that a corner on the seam of two is in the middle of another.
        let steps = [0.0, -0.5, 0.5]
        while half > 0.03 {
            half /= 2
            let quarters = steps.flatMap { east in
                steps.map { offset(center, east: 2 * half * east, north: 2 * half * $0) }
            }
            guard let quarter = try quarters.first(where: { try regions(around: $0, half: half).count >= 3 }) else {
                return nil
            }
            center = quarter
        }
        return center
    }

    /// The regions of 9 × 9 points of a square, until there are three.
    private static func regions(around center: Coordinate, half: Double) throws -> Set<Region> {
        var found: Set<Region> = []
        for row in -4...4 {
            for column in -4...4 {
                let point = offset(center, east: half * Double(column) / 4, north: half * Double(row) / 4)
                found.insert(try atlas.snap(point))
                if found.count >= 3 { return found }
            }
        }
        return found
    }
}
