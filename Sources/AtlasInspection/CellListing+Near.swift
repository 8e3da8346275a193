import AtlasFormat
import Hereabouts

extension CellListing {
    /// The smallest radius of curvature of WGS 84, meters, rounded down: a path of d meters turns the vertical by at most
    /// d / 6,335,000.
    package static let leastRadiusMeters = 6_335_000.0

    /// What the tables list for the level-7 cells of which any point may lie near a position.
    ///
    /// - Parameter chord: how near, as a straight line between points of the unit sphere; at least that of the angle
    ///   between the two verticals.
    package init(around center: Coordinate, chord: Double, _ tables: AtlasTables) throws {
        self.init()
        let level = AtlasTables.levelOfTop, shift = 30 - level
        let from = Self.direction(center)
        // A cell reaches at most half its diagonal from its middle.
        let reach = chord + CellID.maximumDiagonal(level: level) / CellID.earthRadiusMeters / 2
        for face in 0..<6 {
            for column in 0..<1 << level {
                for row in 0..<1 << level {
                    let middle = CellID(
                        face: face, i: UInt32(column << shift), j: UInt32(row << shift), level: level
                    ).center
                    guard Self.chord(from, Self.direction(middle)) <= reach else { continue }
                    try append(tables, face: face, column: column, row: row)
                }
            }
        }
    }

    /// The straight line between two positions on the unit sphere.
    package static func chord(_ a: Coordinate, _ b: Coordinate) -> Double { chord(direction(a), direction(b)) }

    private static func chord(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
        ((a - b) * (a - b)).sum().squareRoot()
    }

    private static func direction(_ position: Coordinate) -> SIMD3<Double> {
        let direction = CubeProjection.direction(latitude: position.latitude, longitude: position.longitude)
        return SIMD3(direction.x, direction.y, direction.z)
    }
}
