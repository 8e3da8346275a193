import Hereabouts

/// Writes the tables that lead from a cell to a region: top, blocks and cuts.
struct CellIndexWriter {
    let roots: [RootParts]
    /// The region of every part.
    let owners: [[UInt32]]

    private(set) var top: [UInt8] = []
    private(set) var blocks: [UInt8] = []
    private(set) var cuts: [UInt8] = []

    private static let unset: UInt32 = 0x7fff_ffff

    init(roots: [RootParts], owners: [[UInt32]]) {
        self.roots = roots
        self.owners = owners
    }

    mutating func write() throws {
        var entries = [UInt32](repeating: Self.unset, count: AtlasLayout.topCount)
        for (rootIndex, root) in roots.enumerated() {
            var block: CellID?
            var runs: [CellTree.Run] = []
            var part = 0
            while part < root.parts.count {
                var end = part + 1
                while end < root.parts.count, root.parts[end].cell == root.parts[part].cell { end += 1 }
                let cell = root.parts[part].cell
                let value = try value(rootIndex, part..<end)
                if cell.level < AtlasLayout.topLevel {
                    fill(&entries, cell, value)
                } else {
                    let parent = cell.parent(level: AtlasLayout.topLevel)
                    if let block, block != parent {
                        entries[AtlasLayout.topCell(of: block.lowerLeft)] = try entry(for: runs)
                        runs = []
                    }
                    block = parent
                    runs.append(CellTree.Run(key: key(of: cell), value: value))
                }
                part = end
            }
            if let block { entries[AtlasLayout.topCell(of: block.lowerLeft)] = try entry(for: runs) }
        }
        guard !entries.contains(Self.unset) else { throw BuildError.uncovered }
        for entry in entries { top.append(little: entry) }
    }

    private func fill(_ entries: inout [UInt32], _ cell: CellID, _ value: UInt32) {
        let corner = cell.lowerLeft
        let width = Int(cell.size >> 23)
        for i in 0..<width {
            for j in 0..<width {
                let column = Int(corner.i >> 23) + i, row = Int(corner.j >> 23) + j
                entries[Int(corner.face) << 14 | column << 7 | row] = AtlasLayout.isUniform | value
            }
        }
    }

    private func key(of cell: CellID) -> Int {
        let corner = cell.lowerLeft
        return Int(AtlasLayout.key(i: corner.i, j: corner.j))
    }

    // MARK: Blocks

    /// The top entry for the runs of one cell, which cover it in some order.
    private mutating func entry(for unordered: [CellTree.Run]) throws -> UInt32 {
        var runs: [CellTree.Run] = []
        for run in unordered.sorted(by: { $0.key < $1.key }) where runs.last?.value != run.value { runs.append(run) }
        if runs.count == 1, runs[0].value & AtlasLayout.isCut == 0 { return AtlasLayout.isUniform | runs[0].value }
        return UInt32(try CellTree(runs).write(to: &blocks) / 4)
    }

    // MARK: Cuts

    /// The value of a cell: the region of its parts, or a cut record where they belong to several.
    private mutating func value(_ root: Int, _ parts: Range<Int>) throws -> UInt32 {
        let regions = parts.map { owners[root][$0] }
        guard !regions.contains(.max) else { throw BuildError.uncovered }
        if regions.allSatisfy({ $0 == regions[0] }) { return regions[0] }
        let first = roots[root].parts[parts.lowerBound]
        let cut = roots[root].cuts[Int(first.cut)]
        var regionOfCountry: [UInt16: UInt32] = [:]
        for (part, region) in zip(parts, regions) { regionOfCountry[roots[root].parts[part].country] = region }
        let offset = cuts.count / 4
        guard offset < Int(AtlasLayout.isCut) else { throw BuildError.tooLarge }
        cuts += try CutEncoder(cut: cut).record(regionOfCountry)
        return AtlasLayout.isCut | UInt32(offset)
    }
}

/// Encodes one cut cell.
private struct CutEncoder {
    let cut: CutCell
    /// Linearly independent codes; a code is written as its coordinates in them.
    private let basis: [UInt16]

    init(cut: CutCell) throws {
        self.cut = cut
        var basis: [UInt16] = []
        for code in Set(cut.edges.map(\.code) + cut.closings.map(\.code)).sorted() {
            if Self.coordinates(of: code, in: basis) == nil { basis.append(code) }
        }
        guard basis.count <= 3 else { throw BuildError.tooManyCountriesInOneCell }
        self.basis = basis
    }

    /// The subset of the basis whose exclusive or is the code, one bit each; nil where there is none.
    private static func coordinates(of code: UInt16, in basis: [UInt16]) -> UInt8? {
        for subset in 0..<UInt8(1 << basis.count) where combination(subset, basis) == code { return subset }
        return nil
    }

    private static func combination(_ subset: UInt8, _ basis: [UInt16]) -> UInt16 {
        basis.indices.reduce(0) { subset >> UInt8($1) & 1 == 1 ? $0 ^ basis[$1] : $0 }
    }

    private func localCode(_ code: UInt16) -> UInt8 { Self.coordinates(of: code, in: basis)! }

    func record(_ regions: [UInt16: UInt32]) throws -> [UInt8] {
        let chains = chains()
        guard chains.count <= 255, cut.closings.count <= 255 else { throw BuildError.tooManyEdgesInOneCell }
        var bytes: [UInt8] = [
            UInt8(cut.cell.level), UInt8(basis.count), UInt8(cut.closings.count), UInt8(chains.count),
        ]
        for subset in 0..<UInt8(1 << basis.count) {
            let label = cut.base ^ Self.combination(subset, basis)
            // A label that occurs nowhere in the cell is never asked for; any region will do.
            let country = cut.countries.first { $0.label == label }?.country ?? cut.countries[0].country
            bytes.append(little: regions[country]!)
        }
        for closing in cut.closings {
            append(closing.x, to: &bytes)
            bytes.append(localCode(closing.code))
        }
        for chain in chains {
            bytes.append(UInt8(chain.points.count))
            bytes.append(localCode(chain.code))
            for point in chain.points {
                append(point.x, to: &bytes)
                append(point.y, to: &bytes)
            }
        }
        while bytes.count % 4 != 0 { bytes.append(0) }
        return bytes
    }

    private func append(_ coordinate: Int32, to bytes: inout [UInt8]) {
        if cut.gridSize == AtlasLayout.fineGrid {
            bytes.append(UInt8(coordinate))
        } else {
            bytes.append(little: UInt16(coordinate))
        }
    }

    private struct Chain {
        var points: [SIMD2<Int32>]
        var code: UInt16
    }

    /// Successive edges of one code as chains of at most 255 points.
    private func chains() -> [Chain] {
        var chains: [Chain] = []
        for edge in cut.edges {
            let from = SIMD2(edge.x0, edge.y0), to = SIMD2(edge.x1, edge.y1)
            if let last = chains.last, last.code == edge.code, last.points.count < 255 {
                if last.points.last! == from {
                    chains[chains.count - 1].points.append(to)
                    continue
                }
                if last.points.count == 2,
                    last.points.first! == from || last.points.first! == to || last.points.last! == to
                {
                    var points = last.points
                    if points.first! == from || points.first! == to { points.reverse() }
                    points.append(points.last! == from ? to : from)
                    chains[chains.count - 1].points = points
                    continue
                }
            }
            chains.append(Chain(points: [from, to], code: edge.code))
        }
        return chains
    }
}
