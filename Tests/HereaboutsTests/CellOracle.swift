import CS2Oracle
import FixedRandom

@testable import Hereabouts

/// The S2 library's answers in Swift form. It shares no code with what it checks.
enum CellOracle {
    /// S2's leaf cells of coordinates.
    static func leaves(_ coordinates: [Coordinate]) -> [CellID] {
        var flat: [Double] = []
        flat.reserveCapacity(2 * coordinates.count)
        for coordinate in coordinates {
            flat.append(coordinate.latitude)
            flat.append(coordinate.longitude)
        }
        // SAFETY: the oracle reads 2 · count doubles and writes count ids, the sizes of the two buffers.
        return unsafe [CellID](unsafeUninitializedCapacity: coordinates.count) { cells, count in
            count = coordinates.count
            unsafe flat.withUnsafeBufferPointer { flat in
                unsafe cells.withMemoryRebound(to: UInt64.self) { ids in
                    guard let ids = ids.baseAddress, let flat = flat.baseAddress else { return }
                    unsafe s2OracleLeaves(flat, coordinates.count, ids)
                }
            }
        }
    }

    static func token(_ cell: CellID) -> String {
        var bytes = [CChar](repeating: 0, count: 17)
        // SAFETY: the oracle writes at most 17 bytes, the last of them zero.
        unsafe s2OracleToken(cell.rawValue, &bytes)
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func cell(token: String) -> CellID {
        // SAFETY: Swift passes a zero-terminated string that outlives the call.
        unsafe CellID(rawValue: s2OracleFromToken(token))
    }

    static func faceIJ(_ cell: CellID) -> (face: Int, i: UInt32, j: UInt32, orientation: Int) {
        var (i, j, orientation) = (0 as Int32, 0 as Int32, 0 as Int32)
        // SAFETY: the oracle writes one integer through each pointer.
        let face = unsafe s2OracleFaceIJ(cell.rawValue, &i, &j, &orientation)
        return (Int(face), UInt32(i), UInt32(j), Int(orientation))
    }

    static func faceST(_ coordinate: Coordinate) -> (face: Int, s: Double, t: Double) {
        var (s, t) = (0.0, 0.0)
        // SAFETY: the oracle writes one value through each pointer.
        let face = unsafe s2OracleFaceST(coordinate.latitude, coordinate.longitude, &s, &t)
        return (Int(face), s, t)
    }

    static func edgeNeighbors(_ cell: CellID) -> [CellID] {
        unsafe ids(capacity: 4) { ids in
            // SAFETY: the oracle writes four ids.
            unsafe s2OracleEdgeNeighbors(cell.rawValue, ids)
            return 4
        }
    }

    static func allNeighbors(_ cell: CellID, level: Int) -> [CellID] {
        let capacity = 4 * (1 << (level - cell.level)) + 4
        return unsafe ids(capacity: capacity) { ids in
            // SAFETY: the oracle writes no more than `capacity` ids.
            unsafe s2OracleAllNeighbors(cell.rawValue, Int32(level), ids, capacity)
        }
    }

    static func center(_ cell: CellID) -> Coordinate {
        var flat = [0.0, 0.0]
        // SAFETY: the oracle writes two doubles.
        unsafe s2OracleCenter(cell.rawValue, &flat)
        return Coordinate(latitude: flat[0], longitude: flat[1])
    }

    static func vertices(_ cell: CellID) -> [Coordinate] {
        var flat = [Double](repeating: 0, count: 8)
        // SAFETY: the oracle writes eight doubles.
        unsafe s2OracleVertices(cell.rawValue, &flat)
        return stride(from: 0, to: 8, by: 2).map { Coordinate(latitude: flat[$0], longitude: flat[$0 + 1]) }
    }

    private static func ids(capacity: Int, _ fill: (UnsafeMutablePointer<UInt64>) -> Int) -> [CellID] {
        var ids = [UInt64](repeating: 0, count: capacity)
        let count = unsafe fill(&ids)
        return ids.prefix(count).map(CellID.init(rawValue:))
    }
}

extension SplitMix64 {
    /// A point uniform over the sphere, to a Double's last bit.
    mutating func point() -> Coordinate {
        let z = uniform(-1, 1)
        let latitude = Trigonometry.arcTangentDegrees(y: z, x: (1 - z * z).squareRoot())
        return Coordinate(latitude: latitude, longitude: uniform(-180, 180))
    }

    /// A cell of a level, each as likely as the other.
    mutating func cell(level: Int) -> CellID {
        CellID(
            face: Int(next() % 6), i: UInt32(next() % (1 << 30)), j: UInt32(next() % (1 << 30)), level: level)
    }

    /// A cell of a level on an edge of its face, and one time in four in its corner.
    mutating func cellOnFaceEdge(level: Int) -> CellID {
        let ends: [UInt32] = [0, FaceIJ.limit - 1]
        let i = ends[Int(next() % 2)]
        let j = next() % 4 == 0 ? ends[Int(next() % 2)] : UInt32(next() % (1 << 30))
        let swap = next() % 2 == 0
        return CellID(face: Int(next() % 6), i: swap ? j : i, j: swap ? i : j, level: level)
    }
}
