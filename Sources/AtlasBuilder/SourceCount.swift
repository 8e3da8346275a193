import AtlasSources
import Hereabouts
import ParallelMap

/// How many residents each single source of a surface counts in each region.
struct SourceCount: Sendable {
    /// The surface's sources; none for rows of positions.
    var names: [String] = []
    /// By source and region.
    var residents: [[Double]] = []

    /// Counts in the regions that own the parts.
    /// - Parameter owners: the region of every part of every root.
    /// - Throws: `InputError`.
    init(_ path: String, regionCount: Int, roots: [RootParts], owners: [[UInt32]]) throws {
        guard try SurfaceReader.recognizes(path) else { return }
        let surface = try SurfaceReader(path: path)
        names = surface.sources
        var sums = [[Double]](repeating: [Double](repeating: 0, count: regionCount), count: names.count)
        let index = PartIndex(roots: roots)
        var failure: (any Error)?
        try surface.forEachChunk { cells in
            guard failure == nil else { return }
            let batch = 4_096
            do {
                let found = try parallelMap(count: (cells.count + batch - 1) / batch) { task in
                    cells[task * batch..<min(cells.count, (task + 1) * batch)].flatMap { cell in
                        var shares: [(region: Int, residents: SIMD8<Double>)] = []
                        SurfacePoints(cell).forEach { leaf, people in
                            let (root, part) = index.part(at: leaf)
                            shares.append((Int(owners[root][part]), people.residents * SIMD8<Double>(cell.ratios)))
                        }
                        return shares
                    }
                }
                for share in found.joined() {
                    for source in sums.indices { sums[source][share.region] += share.residents[source] }
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        residents = sums
    }
}

/// The part that holds a leaf cell.
struct PartIndex: Sendable {
    let roots: [RootParts]

    /// The root and the part in it. Logarithmic.
    func part(at leaf: CellID) -> (root: Int, part: Int) {
        let root = CellRoot.index(of: leaf.rawValue), parts = roots[root].parts
        var low = 0, high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].cell.rangeMax < leaf { low = middle + 1 } else { high = middle }
        }
        guard parts[low].cut >= 0 else { return (root, low) }
        // The pieces of a cut cell follow each other.
        let country = roots[root].cuts[Int(parts[low].cut)].country(atLeaf: leaf.lowerLeft)
        let cell = parts[low].cell
        var part = low
        while parts[part].country != country {
            part += 1
            precondition(part < parts.count && parts[part].cell == cell, "a cut cell has a piece of every country")
        }
        return (root, part)
    }
}
