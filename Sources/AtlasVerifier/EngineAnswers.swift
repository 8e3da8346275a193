import AtlasFormat
import Hereabouts

/// The engine, asked about the atlas under verification, to compare its answers with the verifier's own.
///
/// What the verifier shares with the engine is what this file imports, and nothing else of this module imports it:
/// - `Atlas`, the engine under verification: its answers are compared, never built on;
/// - the text form of a region's identifier, so that reports name regions as they are published.
///
/// The file's tables are read by `AtlasFormat`, positions and cells are converted by `CubeGeometry`, the ellipsoid is
/// `EarthCentered`, and distances and areas are PROJ's: none of them has code in common with the engine or the builder.
/// With the builder the verifier shares the readers of the sources (`AtlasSources`), the bridge to GEOS and PROJ
/// (`GeoBridge`) and the worker pool (`ParallelMap`).
struct EngineAnswers: Sendable {
    private let atlas: Atlas

    /// Hands the engine the bytes that the verifier read, so that both read the same, whatever becomes of the file.
    /// - Throws: `FormatError` where the engine refuses them.
    init(bytes: [UInt8]) throws(FormatError) {
        do throws(AtlasError) {
            atlas = try Atlas(bytes: bytes)
        } catch {
            throw .malformed("the engine refuses it: it \(error)")
        }
    }

    func region(at leaf: Leaf) -> Int {
        Int(atlas.region(at: FaceIJ(face: UInt8(leaf.face), i: UInt32(leaf.i), j: UInt32(leaf.j))).index)
    }

    /// - Parameter longitude: degrees, in [-540, 540].
    func region(latitude: Double, longitude: Double) throws -> Int {
        Int(try atlas.snap(latitude: latitude, longitude: longitude).index)
    }

    func center(of region: Int) -> Position {
        let center = atlas.center(of: Region(index: UInt32(region)))
        return Position(latitude: center.latitude, longitude: center.longitude)
    }

    /// The region of an identifier.
    func region(identifier: UInt64) -> Int? {
        atlas.region(RegionID(cell: CellID(rawValue: identifier))).map { Int($0.index) }
    }

    /// An identifier as it is published.
    static func text(ofIdentifier identifier: UInt64) -> String {
        RegionID(cell: CellID(rawValue: identifier)).description
    }
}
