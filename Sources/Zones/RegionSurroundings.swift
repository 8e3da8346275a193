import AtlasFormat
import AtlasInspection
import GeoBridge
import Hereabouts
import PROJBridge

/// Which regions lie near a region, by GEOS on the regions' own outlines.
///
/// Cells and pieces are projected on a plane where directions and distances from the region's center are true (azimuthal
/// equidistant, by PROJ's geodesics). Within 250 km of that center no path is longer there than 1.0003 times its length on
/// the ellipsoid, and an edge, divided into steps of 2.3 km, is at most 0.2 m from its chord.
package struct RegionSurroundings: Sendable {
    /// What is added to a distance, for the plane's error: of 500 m it is 5 m.
    private static let slack = 1.01
    /// The longest step along an edge in leaf cells, which are 9 mm at most: 2.3 km.
    private static let stepInLeaves = Double(1 << 18)

    private let tables: AtlasTables

    /// Reads an atlas file, as a whole.
    ///
    /// - Throws: `FormatError`.
    package init(atlasPath: String) throws { tables = try AtlasTables(path: atlasPath) }

    init(_ tables: AtlasTables) { self.tables = tables }

    /// The regions of which any point lies within a distance of any point of a region, itself among them. All of them are
    /// found; a region that is up to 1 % farther away may be among them.
    ///
    /// - Parameter meters: at most 100 km.
    /// - Throws: `FormatError` where the file has no such region; `GEOSError`.
    /// - Complexity: O(cells around); some ten milliseconds.
    package func regions(within meters: Double, of region: Region) throws -> Set<Region> {
        guard region.index < tables.regionCount else { throw FormatError.malformed("no such region") }
        let context = try GEOSContext()
        let center = tables.center(Int(region.index)), accuracy = tables.accuracy(Int(region.index))
        let middle = Coordinate(latitude: center.latitude, longitude: center.longitude)
        let reach = accuracy + meters * Self.slack
        let listing = try CellListing(around: middle, chord: reach / CellListing.leastRadiusMeters, tables)
        let frame = TangentFrame(center: middle)
        let own = try parts(of: listing, context) { $0 == region.index }
        guard !own.isEmpty else { throw FormatError.malformed("a region without cells") }
        let around = try context.multiPolygon(own.map { try frame.polygon($0) }).prepared()
        var found: Set<Region> = [region]
        for part in try parts(of: listing, context, where: { $0 != region.index }) {
            let other = Region(index: part.region)
            guard !found.contains(other), CellListing.chord(middle, part.middle) <= chord(reach, part) else { continue }
            if try around.isWithin(meters * Self.slack, of: context.polygon(frame.polygon(part))) {
                found.insert(other)
            }
        }
        return found
    }

    /// How far the middle of a part's cell may be from the center, as a chord, for any of the part to be in reach.
    private func chord(_ reach: Double, _ part: Part) -> Double {
        let diagonal = CellID.maximumDiagonal(level: part.cell.level) / CellID.earthRadiusMeters
        return reach / CellListing.leastRadiusMeters + diagonal / 2
    }

    /// A cell of a region, or its piece of one: rings of leaf coordinates on a face.
    private struct Part {
        var region: UInt32
        var cell: Quad
        var rings: [[Double]]

        var middle: Coordinate {
            let half = Double(cell.size) / 2
            return TangentFrame.coordinate(face: cell.face, Double(cell.i) + half, Double(cell.j) + half)
        }
    }

    private func parts(
        of listing: CellListing, _ context: GEOSContext, where isWanted: (UInt32) -> Bool
    ) throws -> [Part] {
        var parts: [Part] = []
        for (owner, quad) in listing.quads where isWanted(owner) {
            parts.append(Part(region: owner, cell: quad, rings: [RegionOutline.square(quad)]))
        }
        for cut in listing.cuts {
            for piece in try cut.pieces(tables, context) where isWanted(piece.region) {
                parts.append(
                    Part(
                        region: piece.region, cell: piece.cell,
                        rings: piece.face.rings.map { RegionOutline.onFace($0, piece) }))
            }
        }
        return parts
    }

    /// The plane of positions by direction and distance from a center, in meters.
    private struct TangentFrame {
        let center: Coordinate

        static func coordinate(face: Int, _ x: Double, _ y: Double) -> Coordinate {
            let u = CubeProjection.stToUV(x * 0x1p-30), v = CubeProjection.stToUV(y * 0x1p-30)
            return CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v))
        }

        func polygon(_ part: Part) throws(PROJError) -> [[Double]] {
            var rings: [[Double]] = []
            for ring in part.rings { rings.append(try project(ring, face: part.cell.face)) }
            return rings
        }

        private func project(_ ring: [Double], face: Int) throws(PROJError) -> [Double] {
            var result: [Double] = []
            for k in stride(from: 0, to: ring.count - 2, by: 2) {
                let (x, y) = (ring[k], ring[k + 1]), (dx, dy) = (ring[k + 2] - x, ring[k + 3] - y)
                let steps = max(1, (max(dx.magnitude, dy.magnitude) / stepInLeaves).rounded(.up))
                for step in 0..<Int(steps) {
                    let part = Double(step) / steps
                    result += try point(Self.coordinate(face: face, x + dx * part, y + dy * part))
                }
            }
            return result + result.prefix(2)
        }

        private func point(_ place: Coordinate) throws(PROJError) -> [Double] {
            let path = try Geodesic.wgs84.path(
                fromLatitude: center.latitude, longitude: center.longitude,
                toLatitude: place.latitude, longitude: place.longitude)
            let (sine, cosine) = Trigonometry.sineAndCosine(degrees: path.initialAzimuthDegrees)
            return [path.distanceMeters * sine, path.distanceMeters * cosine]
        }
    }
}
