import AtlasFormat
import ParallelMap

/// The fragments of every region with residents that has more than one.
///
/// A fragment is a set of cells of one region, each near another of them and none near any other cell of the region. A
/// cut cell counts as a whole.
struct RegionFragments: Sendable {
    struct Fragment: Sendable {
        var region: Int
        var cells: [Quad]
    }

    private struct Key: Hashable {
        var region: Int
        var cell: Quad
    }

    /// Cells nearer than this hang together, meters: 2 km, and ten meters for what the straight sides of merged cells
    /// run below those of their children (sides of 85 km by 142 m, which makes 5 m of 2 km).
    private static let gapMeters = 2_010.0
    /// Cells nearer than this hang together for a builder too.
    private static let surelyNearMeters = 1_990.0

    /// Those of one region are neighbors here.
    private(set) var fragments: [Fragment] = []
    /// By region, its fragments; regions of one fragment are absent.
    private(set) var ranges: [Int: Range<Int>] = [:]
    /// The cells of all but each region's fragment of most cells, and that fragment.
    private var others: [Key: Int] = [:]
    private var largest: [Int: Int] = [:]

    init(_ cover: RegionCover) throws {
        let batch = 256, count = cover.tables.regionCount
        let found = try parallelMap(count: (count + batch - 1) / batch) { task in
            (task * batch..<min(count, (task + 1) * batch)).flatMap { region -> [Fragment] in
                guard cover.tables.anonymity(region) > 0 else { return [] }
                let sets = Self.divided(Self.cells(of: region, cover), gap: Self.gapMeters)
                return sets.count > 1 ? sets.map { Fragment(region: region, cells: $0) } : []
            }
        }
        fragments = found.flatMap { $0 }
        for (index, fragment) in fragments.enumerated() {
            let start = ranges[fragment.region]?.lowerBound ?? index
            ranges[fragment.region] = start..<index + 1
        }
        for (region, range) in ranges {
            let most = range.max { fragments[$0].cells.count < fragments[$1].cells.count }!
            largest[region] = most
            for index in range where index != most {
                for cell in fragments[index].cells { others[Key(region: region, cell: cell)] = index }
            }
        }
    }

    /// The fragment of a region that holds a leaf cell; nil where the region has but one.
    func fragment(of region: Int, at leaf: Leaf) -> Int? {
        guard let largest = largest[region] else { return nil }
        for level in 7...15 {
            let cell = Quad(face: leaf.face, i: leaf.i, j: leaf.j, level: level)
            if let found = others[Key(region: region, cell: cell)] { return found }
        }
        return largest
    }

    private static func cells(of region: Int, _ cover: RegionCover) -> [Quad] {
        // Several pieces of a cut cell may belong to one region.
        Array(cover.quads(region)) + Set(cover.pieces(region).map(\.cell)).sorted { $0.bits < $1.bits }
    }

    /// Whether what hangs together here of a region may be in several fragments for a builder.
    static func isDoubtful(_ region: Int, _ cover: RegionCover) -> Bool { isDoubtful(cells(of: region, cover)) }

    static func isDoubtful(_ cells: [Quad]) -> Bool {
        divided(cells, gap: surelyNearMeters).count > divided(cells, gap: gapMeters).count
    }

    private static func divided(_ cells: [Quad], gap: Double) -> [[Quad]] {
        guard cells.count > 1 else { return [cells] }
        let sides = cells.map { CellSides($0) }
        var set = [Int](repeating: -1, count: cells.count), sets = 0
        for seed in cells.indices where set[seed] < 0 {
            set[seed] = sets
            var open = [seed]
            while let cell = open.popLast() {
                for other in cells.indices where set[other] < 0 && sides[cell].isNear(sides[other], gap) {
                    set[other] = sets
                    open.append(other)
                }
            }
            sets += 1
        }
        return (0..<sets).map { number in cells.indices.filter { set[$0] == number }.map { cells[$0] } }
    }
}

/// A cell's sides as straight lines, Earth-centered meters.
private struct CellSides {
    let corners: [SIMD3<Double>]
    let middle: SIMD3<Double>
    let reach: Double

    init(_ cell: Quad) {
        let corners = cell.corners.map(EarthCentered.position)
        let middle = corners.reduce(SIMD3<Double>(), +) / 4
        (self.corners, self.middle, reach) = (corners, middle, corners.map { $0.chord(to: middle) }.max()!)
    }

    /// Whether some point of one cell is near some point of the other. Of two squares apart, a corner is among the two
    /// points nearest to each other.
    func isNear(_ other: CellSides, _ gap: Double) -> Bool {
        let apart = middle.chord(to: other.middle)
        return apart <= gap
            || apart - reach - other.reach <= gap
                && (corners.contains { other.distance(from: $0) <= gap }
                    || other.corners.contains { distance(from: $0) <= gap })
    }

    private func distance(from point: SIMD3<Double>) -> Double {
        zip(corners, corners.dropFirst() + corners.prefix(1)).map { start, end in
            let side = end - start
            let share = ((point - start) * side).sum() / (side * side).sum()
            return point.chord(to: start + max(0, min(1, share)) * side)
        }.min()!
    }
}
