import AtlasFormat
import Foundation

/// Geodetic latitude and longitude on WGS 84, degrees.
struct Position: Hashable, Sendable {
    /// Degrees north, -90 … 90.
    var latitude: Double
    /// Degrees east, -180 … 180.
    var longitude: Double
}

/// Sine and cosine of an angle in degrees, by the C library.
func sineAndCosine(degrees: Double) -> (sine: Double, cosine: Double) {
    (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
}

/// The verifier's own way between positions and S2 cells, from the published formulas (s2geometry.io, "S2 Cell
/// Hierarchy") and with the C library's functions: the engine has polynomials, masks and tables of its own.
///
/// Frames: latitude and longitude; a direction (x, y, z) from the Earth's center to that latitude and longitude on a
/// sphere; the face of the cube that it pierces and where, (u, v) in [-1, 1]²; (s, t) in [0, 1]², in which all cells of
/// a level are squares of one size; (i, j), the leaf cell, s and t in steps of 2⁻³⁰.
enum CubeGeometry {
    /// The leaf cell of a position; a longitude of 180° is -180°.
    static func leaf(at position: Position) -> Leaf {
        let wrapped = position.longitude.remainder(dividingBy: 360)
        let (sinLatitude, cosLatitude) = sineAndCosine(degrees: position.latitude)
        let (sinLongitude, cosLongitude) = sineAndCosine(degrees: wrapped == 180 ? -180 : wrapped)
        let (x, y, z) = (cosLatitude * cosLongitude, cosLatitude * sinLongitude, sinLatitude)
        let (face, u, v): (Int, Double, Double)
        if abs(x) > abs(y), abs(x) > abs(z) {
            (face, u, v) = x > 0 ? (0, y / x, z / x) : (3, z / x, y / x)
        } else if abs(y) > abs(z) {
            (face, u, v) = y > 0 ? (1, -x / y, z / y) : (4, z / y, -x / y)
        } else {
            (face, u, v) = z > 0 ? (2, -x / z, -y / z) : (5, -y / z, -x / z)
        }
        return Leaf(face: face, i: step(u), j: step(v))
    }

    /// i of u, or j of v. S2 rounds 2³⁰ s - ½ to the nearest whole number.
    private static func step(_ u: Double) -> Int {
        let s = u >= 0 ? 0.5 * (1 + 3 * u).squareRoot() : 1 - 0.5 * (1 - 3 * u).squareRoot()
        return min(1 << 30 - 1, max(0, Int((s * 0x1p30 - 0.5).rounded(.toNearestOrEven))))
    }

    /// The position of a point of a face.
    static func position(face: Int, s: Double, t: Double) -> Position {
        func projected(_ s: Double) -> Double { s >= 0.5 ? (4 * s * s - 1) / 3 : (1 - 4 * (1 - s) * (1 - s)) / 3 }
        let u = projected(s), v = projected(t)
        let (x, y, z): (Double, Double, Double) =
            switch face {
            case 0: (1, u, v)
            case 1: (-u, 1, v)
            case 2: (-u, -v, 1)
            case 3: (-1, -v, -u)
            case 4: (v, -1, -u)
            default: (v, u, -1)
            }
        return Position(
            latitude: atan2(z, (x * x + y * y).squareRoot()) * 180 / .pi, longitude: atan2(y, x) * 180 / .pi)
    }

    /// Where the four children meet of the level-18 cell that holds a leaf.
    static func middleOfIdentifyingCell(_ leaf: Leaf) -> Position {
        position(
            face: leaf.face, s: Double(leaf.i & ~0xfff | 0x800) * 0x1p-30, t: Double(leaf.j & ~0xfff | 0x800) * 0x1p-30)
    }

    /// By orientation, the quarters (2 i + j) in the order of the curve; and what each turns about the orientation.
    private static let quarters = [[0, 1, 3, 2], [0, 2, 3, 1], [3, 2, 0, 1], [3, 1, 0, 2]], turns = [1, 0, 0, 3]

    /// The S2 id of the cell of a level that holds a leaf: at each level the Hilbert curve visits the quarters in the
    /// order that the orientation gives, and the quarter gives the orientation below.
    static func identifier(of leaf: Leaf, level: Int) -> UInt64 {
        var orientation = leaf.face & 1, id = UInt64(leaf.face)
        for bit in stride(from: 29, through: 30 - level, by: -1) {
            let quarter = (leaf.i >> bit & 1) << 1 | leaf.j >> bit & 1
            let place = quarters[orientation].firstIndex(of: quarter)!
            id = id << 2 | UInt64(place)
            orientation ^= turns[place]
        }
        return (id << 1 | 1) << UInt64(2 * (30 - level))
    }
}

extension CubeGeometry {
    /// The first leaf cell of the cell with an S2 id, and the level; the inverse of `identifier(of:level:)`.
    static func cell(ofIdentifier id: UInt64) -> (corner: Leaf, level: Int) {
        let level = 30 - id.trailingZeroBitCount / 2
        var orientation = Int(id >> 61) & 1, i = 0, j = 0
        for step in 0..<level {
            let place = Int(id >> UInt64(59 - 2 * step)) & 3, quarter = quarters[orientation][place]
            (i, j) = (i << 1 | quarter >> 1, j << 1 | quarter & 1)
            orientation ^= turns[place]
        }
        return (Leaf(face: Int(id >> 61), i: i << (30 - level), j: j << (30 - level)), level)
    }
}

extension Quad {
    /// The point at a fraction of the cell's sides.
    func position(x: Double, y: Double) -> Position {
        CubeGeometry.position(
            face: face, s: (Double(i) + x * Double(size)) * 0x1p-30, t: (Double(j) + y * Double(size)) * 0x1p-30)
    }

    /// The four corners, counterclockwise.
    var corners: [Position] {
        [position(x: 0, y: 0), position(x: 1, y: 0), position(x: 1, y: 1), position(x: 0, y: 1)]
    }
}

extension CutPiece {
    /// The position of a point of the cut cell's grid.
    func position(x: Double, y: Double) -> Position {
        cell.position(x: x / Double(gridSize), y: y / Double(gridSize))
    }
}

extension AtlasTables {
    /// The published center of a region.
    func position(_ region: Int) -> Position {
        let (latitude, longitude) = center(region)
        return Position(latitude: latitude, longitude: longitude)
    }

    /// The region of a position, by `data/FORMAT.md`, "From a position to a region".
    func region(at position: Position) throws(FormatError) -> Int { try region(at: CubeGeometry.leaf(at: position)) }

    /// A region's published identifier; `?` where its center is outside the ranges of latitude and longitude.
    func identifier(_ region: Int) -> String {
        let center = position(region)
        guard center.latitude.magnitude <= 90, center.longitude.magnitude <= 180 else { return "?" }
        return EngineAnswers.text(ofIdentifier: CubeGeometry.identifier(of: CubeGeometry.leaf(at: center), level: 18))
    }
}
