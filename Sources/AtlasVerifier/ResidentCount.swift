import AtlasFormat
import AtlasSources
import Foundation
import ParallelMap

/// Counts the residents of every region from the population the atlas was built from, by the regions of the file under
/// verification.
///
/// From rows of positions, a row's residents belong to the region at its position, and all are promised.
///
/// From a surface (`data/SURFACE.md`), the residents of a cell live at points, and belong to the regions there. A cell
/// of more than 400 residents that is coarser than level 14 is four cells of a quarter each; the point of any other is
/// the leaf cell above and to the right of its middle. What `SurfaceReader` reads of the file is the builder's too;
/// points and regions are found anew here.
struct ResidentCount {
    /// What was counted.
    struct Count: Sendable {
        /// By region: estimated residents, and those promised.
        var residents: [Double], promised: [Double]
        /// Those of the residents who are of settlements that a list adds: they make no land settled.
        var listed: [Double]
        /// The sources that the surface is compared with, and their residents by region.
        var sources: [String] = [], bySource: [[Double]] = []
        /// Estimated residents by cell of level 11, and the cells where none is but listed ones.
        var byCell: [Quad: Double] = [:], listedCells: Set<Quad> = []
        /// Who lives where, to ask to which places they belong.
        var points: [PlaceExtents.Residents] = [], listedPoints: [PlaceExtents.Residents] = []
        /// The residents by cell, to ask what lives around a point.
        private(set) var inhabited = InhabitedLand([:], settled: [])
        /// The fragments of regions, and the residents of each.
        var fragments: RegionFragments?
        var byFragment: [(residents: Double, promised: Double)] = []

        init(regionCount: Int, fragments: RegionFragments? = nil) {
            residents = [Double](repeating: 0, count: regionCount)
            (promised, listed) = (residents, residents)
            self.fragments = fragments
            byFragment = fragments?.fragments.map { _ in (0, 0) } ?? []
        }

        /// To be called when all residents are added.
        mutating func finish() {
            inhabited = InhabitedLand(byCell, settled: byCell.keys.filter { !listedCells.contains($0) })
        }
    }

    /// Some residents at one point.
    private struct Point: Sendable {
        var region: Int32
        /// Index of the fragment; -1 where the region has but one.
        var fragment: Int32
        var leaf: Leaf
        var residents: Double, promised: Double
        var bySource: SIMD8<Float>
        var isListed = false
    }

    let tables: AtlasTables
    /// What to count apart.
    var fragments: RegionFragments?

    /// The surface that a file is; nil where it has rows.
    /// - Throws: `InputError`.
    @discardableResult static func open(_ path: String) throws(InputError) -> SurfaceReader? {
        try SurfaceReader.recognizes(path) ? SurfaceReader(path: path) : nil
    }

    /// The residents of a file.
    /// - Throws: `InputError`, `FormatError`.
    func count(_ path: String) throws -> Count {
        var count = Count(regionCount: tables.regionCount, fragments: fragments)
        if let surface = try Self.open(path) {
            try add(surface, to: &count)
        } else {
            try add(PopulationReader(path: path), to: &count)
        }
        count.finish()
        return count
    }

    private func add(_ surface: SurfaceReader, to count: inout Count) throws {
        count.sources = surface.sources
        count.bySource = surface.sources.map { _ in [Double](repeating: 0, count: tables.regionCount) }
        var failure: (any Error)?
        try surface.forEachChunk { cells in
            add(cells.count, to: &count, &failure) { index, points in
                let cell = cells[index]
                let (corner, level) = CubeGeometry.cell(ofIdentifier: cell.id)
                let first = points.count
                try addPoints(corner, level, cell.residents, cell.promised, cell.ratios, to: &points)
                for index in first..<points.count { points[index].isListed = cell.isListed }
            }
        }
        if let failure { throw failure }
    }

    private func add(_ rows: PopulationReader, to count: inout Count) throws {
        var failure: (any Error)?
        try rows.forEachChunk { samples in
            let peopled = samples.filter { $0.population > 0 }
            add(peopled.count, to: &count, &failure) { index, points in
                let sample = peopled[index]
                let leaf = CubeGeometry.leaf(at: Position(latitude: sample.latitude, longitude: sample.longitude))
                points.append(try point(leaf, sample.population, sample.population, SIMD8()))
            }
        }
        if let failure { throw failure }
    }

    /// Adds the points of a number of cells or rows, found on all cores.
    private func add(
        _ number: Int, to count: inout Count, _ failure: inout (any Error)?,
        _ find: @Sendable (Int, inout [Point]) throws -> Void
    ) {
        guard failure == nil else { return }
        let batch = 4_096
        do {
            let found = try parallelMap(count: (number + batch - 1) / batch) { task in
                var points: [Point] = []
                for index in task * batch..<min(number, (task + 1) * batch) { try find(index, &points) }
                return points
            }
            for point in found.joined() {
                let region = Int(point.region)
                count.residents[region] += point.residents
                count.promised[region] += point.promised
                let leaf = point.leaf
                let cell = Quad(face: leaf.face, i: leaf.i, j: leaf.j, level: InhabitedLand.level)
                let some = PlaceExtents.Residents(leaf, region: region, number: point.residents)
                if point.isListed {
                    if count.byCell[cell] == nil { count.listedCells.insert(cell) }
                    count.byCell[cell, default: 0] += point.residents
                    count.listed[region] += point.residents
                    count.listedPoints.append(some)
                    continue
                }
                count.listedCells.remove(cell)
                count.byCell[cell, default: 0] += point.residents
                count.points.append(some)
                if point.fragment >= 0 {
                    count.byFragment[Int(point.fragment)].residents += point.residents
                    count.byFragment[Int(point.fragment)].promised += point.promised
                }
                for source in count.bySource.indices {
                    count.bySource[source][region] += point.residents * Double(point.bySource[source])
                }
            }
        } catch {
            failure = error
        }
    }

    private func addPoints(
        _ corner: Leaf, _ level: Int, _ residents: Double, _ promised: Double, _ ratios: SIMD8<Float>,
        to points: inout [Point]
    ) throws {
        let half = (1 << (30 - level)) / 2
        if residents > 400, level < 14 {
            for (x, y) in [(0, 0), (0, half), (half, 0), (half, half)] {
                try addPoints(
                    Leaf(face: corner.face, i: corner.i + x, j: corner.j + y), level + 1, residents / 4, promised / 4,
                    ratios, to: &points)
            }
        } else {
            let leaf = Leaf(face: corner.face, i: corner.i + half, j: corner.j + half)
            points.append(try point(leaf, residents, promised, ratios))
        }
    }

    private func point(
        _ leaf: Leaf, _ residents: Double, _ promised: Double, _ ratios: SIMD8<Float>
    ) throws -> Point {
        let region = try tables.region(at: leaf)
        return Point(
            region: Int32(region), fragment: Int32(fragments?.fragment(of: region, at: leaf) ?? -1),
            leaf: leaf, residents: residents, promised: promised, bySource: ratios)
    }
}
