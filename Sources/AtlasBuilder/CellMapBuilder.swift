import Hereabouts

/// Lays lines given in longitude and latitude onto the six cube faces as labeled edges.
struct CellMapBuilder {
    private var faces = [[FaceEdge]](repeating: [], count: 6)

    /// Source lines are straight in longitude and latitude, edges on a face are nearly great circles: pieces no longer
    /// than this keep the two within 1 m of each other up to 85° of latitude.
    private static let longestPieceMeters = 2_500.0

    /// Adds a line of flat longitude, latitude pairs in degrees.
    mutating func add(line: [Double], code: UInt16) {
        for k in stride(from: 0, to: line.count - 2, by: 2) {
            addSegment(from: (line[k], line[k + 1]), to: (line[k + 2], line[k + 3]), code: code)
        }
    }

    private mutating func addSegment(
        from a: (x: Double, y: Double), to b: (x: Double, y: Double), code: UInt16
    ) {
        // An edge along ±90° of latitude is a point.
        if a.y.magnitude >= 90, b.y.magnitude >= 90 { return }
        let metersPerDegree = 111_320.0
        let cosine = Trigonometry.sineAndCosine(degrees: min(a.y.magnitude, b.y.magnitude)).cosine
        let dx = (b.x - a.x).magnitude, dy = (b.y - a.y).magnitude
        let length = max(dx * cosine, dy) * metersPerDegree
        let count = max(1, Int((max(length / Self.longestPieceMeters, dx / 0.5)).rounded(.up)))
        var last = direction(a)
        for step in 1...count {
            let t = Double(step) / Double(count)
            let next = direction(step == count ? b : (a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t))
            addPiece(last, next, code)
            last = next
        }
    }

    private func direction(_ p: (x: Double, y: Double)) -> CubeProjection.Direction {
        CubeProjection.direction(latitude: p.y, longitude: p.x)
    }

    private mutating func addPiece(_ a: CubeProjection.Direction, _ b: CubeProjection.Direction, _ code: UInt16) {
        for face in 0..<6 {
            guard let p = Self.faceUV(a, face), let q = Self.faceUV(b, face),
                max(min(p.u.magnitude, p.v.magnitude), min(q.u.magnitude, q.v.magnitude)) < 1.02,
                max(p.u.magnitude, p.v.magnitude) < 1.02 || max(q.u.magnitude, q.v.magnitude) < 1.02
            else { continue }
            let edge = FaceEdge(
                x0: Self.grid(p.u), y0: Self.grid(p.v), x1: Self.grid(q.u), y1: Self.grid(q.v), code: code)
            if edge.x0 != edge.x1 || edge.y0 != edge.y1 { faces[face].append(edge) }
        }
    }

    /// Where a direction pierces the plane of a face; nil where it does not come near the face.
    static func faceUV(_ d: CubeProjection.Direction, _ face: Int) -> (u: Double, v: Double)? {
        let axis = [d.x, d.y, d.z, -d.x, -d.y, -d.z][face]
        guard axis > 0.3 else { return nil }
        return switch face {
        case 0: (d.y / d.x, d.z / d.x)
        case 1: (-d.x / d.y, d.z / d.y)
        case 2: (-d.x / d.z, -d.y / d.z)
        case 3: (d.z / d.x, d.y / d.x)
        case 4: (d.z / d.y, -d.x / d.y)
        default: (-d.y / d.z, -d.x / d.z)
        }
    }

    /// The nearest even leaf coordinate.
    private static func grid(_ u: Double) -> Int32 {
        Int32((CubeProjection.uvToST(u) * 0x1p29).rounded()) * 2
    }

    /// Reference points of the faces, in face order, as longitude and latitude in degrees.
    static let references: [(longitude: Double, latitude: Double)] = (0..<6).map { face in
        let middle = CubeProjection.stToUV((0x1p29 + 1.5) / 0x1p30)
        let c = CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: middle, v: middle))
        return (c.longitude, c.latitude)
    }

    func map(references: [Label]) -> CellMap { CellMap(faces: faces, references: references) }
}
