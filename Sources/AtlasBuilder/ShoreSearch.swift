import Hereabouts

/// Looks for a point of a cell where a center could be published: the middle of a level-18 cell that is land, and
/// whatever else is asked of it.
///
/// Finds one wherever there is one: such a middle next to one that is none has an edge of a coast or border between them.
struct ShoreSearch {
    let view: CellView
    let edges: ArraySlice<FaceEdge>
    /// Whether a point, in leaf coordinates of the face, will do.
    let isWanted: (Int64, Int64) -> Bool

    /// Leaves along the side of a level-18 cell.
    private static let step: Int64 = 1 << Int64(CellID.maxLevel - RegionID.level)
    /// Points looked at along each side of the cell at first.
    static let sampleCount: Int64 = 8

    /// The middle of the level-18 cell of a leaf, at odd coordinates.
    static func middle(_ value: Int64) -> Int64 { value & -step | (step / 2 + 1) }

    /// Leaf coordinates of a point as near the middle of the cell as samples tell, if there is any at all; a meter from
    /// the shore or border if may be, since lines straight in degrees are not quite straight here.
    func site() -> SIMD2<Int64>? { site(margin: 1 << 7) ?? site(margin: 0) }

    private func site(margin: Int64) -> SIMD2<Int64>? {
        var candidates: [(distance: Int64, x: Int64, y: Int64)] = []
        let n = Self.sampleCount
        for row in 0..<n {
            for column in 0..<n {
                let x = Self.middle(view.i + view.size * (2 * column + 1) / (2 * n))
                let y = Self.middle(view.j + view.size * (2 * row + 1) / (2 * n))
                let dx = x - view.referenceX, dy = y - view.referenceY
                if isWanted(x, y) { candidates.append((abs(dx) + abs(dy), x, y)) }
            }
        }
        candidates.sort { $0 < $1 }
        for candidate in candidates where isPublishable(candidate.x, candidate.y, margin) {
            return SIMD2(candidate.x, candidate.y)
        }
        return siteByAnEdge(margin: margin)
    }

    /// Whether the point is still wanted where it would be published, to 1e-5 degrees, and a margin around.
    private func isPublishable(_ x: Int64, _ y: Int64, _ margin: Int64) -> Bool {
        let cell = CellID(face: view.face, i: UInt32(x), j: UInt32(y), level: RegionID.level)
        let at = FaceIJ(cell.publishedCenter)
        if Int(at.face) != view.face { return true }
        let i = Int64(at.i) | 1, j = Int64(at.j) | 1
        return [(0, 0), (margin, 0), (-margin, 0), (0, margin), (0, -margin)].allSatisfy { isWanted(i + $0, j + $1) }
    }

    /// The first level-18 cell along the edges whose middle will do.
    private func siteByAnEdge(margin: Int64) -> SIMD2<Int64>? {
        /// The middle of the last window of cells: the next along an edge has most of them too.
        var last: SIMD2<Int64>?
        for edge in edges {
            let dx = Int64(edge.x1) - Int64(edge.x0), dy = Int64(edge.y1) - Int64(edge.y0)
            let count = max(1, (max(abs(dx), abs(dy)) + Self.step - 1) / Self.step)
            for k in 0...count {
                let at = SIMD2(
                    Self.middle(Int64(edge.x0) + dx * k / count), Self.middle(Int64(edge.y0) + dy * k / count))
                defer { last = at }
                for around in 0..<25 {
                    let near = at &+ Self.step &* SIMD2(Int64(around % 5 - 2), Int64(around / 5 - 2))
                    guard near.x >= view.i, near.x < view.i + view.size, near.y >= view.j, near.y < view.j + view.size
                    else { continue }
                    let wasSeen = last.map { max(abs(near.x - $0.x), abs(near.y - $0.y)) <= 2 * Self.step } ?? false
                    if !wasSeen, isWanted(near.x, near.y), isPublishable(near.x, near.y, margin) { return near }
                }
            }
        }
        return nil
    }
}

extension CellID {
    /// The middle of a level-18 cell as an atlas keeps it, to 1e-5 degrees.
    var publishedCenter: Coordinate {
        let middle = center
        return Coordinate(
            latitude: (middle.latitude * 1e5).rounded() / 1e5, longitude: (middle.longitude * 1e5).rounded() / 1e5)
    }
}

extension FaceIJ {
    /// The leaf cell of a coordinate known to be valid.
    init(_ coordinate: Coordinate) {
        self.init(
            latitude: coordinate.latitude, longitude: FaceIJ.wrappedLongitude(coordinate.longitude))
    }
}
