import AtlasFixture
import FixedRandom

@testable import Hereabouts

/// A made-up atlas, and the region of every place in it by reading the model instead of a file.
struct AtlasModel {
    var fixture: AtlasFixture

    static let regionCount = 400

    /// Every region a face or a piece of it; blocks with whole, short and no lists; cuts of all ranks and levels, which
    /// brings both widths of coordinates.
    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let top = (0..<6 * 16_384).map { AtlasFixture.Top.value(.region($0 / 16_384)) }
        let regions = (0..<Self.regionCount).map { _ in
            AtlasFixture.Region(
                latitude: Int.random(in: -9_000_000...9_000_000, using: &random),
                longitude: Int.random(in: -18_000_000...18_000_000, using: &random),
                accuracy: Int.random(in: 1...8191, using: &random) * 10, country: Int.random(in: 0...2, using: &random),
                name: Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil,
                isNear: Bool.random(using: &random), anonymity: Int.random(in: 0...0xffff, using: &random),
                concentration: Int.random(in: 0...0xff, using: &random))
        }
        fixture = AtlasFixture(top: top, regions: regions)
        fixture.names = ["El Paso", "Ciudad Juárez", "", "Łódź"]
        fixture.countries = ["XZ", "US", "district"]
        fixture.about = #"{"made":"up"}"#
        fixture.cuts = (7...15).flatMap { level in (1...3).map { Self.cut(level, rank: $0, &random) } }
        for (count, index) in [2, 3, 128, 129, 600, 5_000].enumerated() { appendBlock(runs: index, count, &random) }
        appendCutBlocks()
    }

    private static func value(_ random: inout SplitMix64) -> AtlasFixture.Value {
        .region(Int.random(in: 0..<regionCount, using: &random))
    }

    /// Lines anywhere: the rule gives every point some code, whether or not the lines mean anything.
    private static func cut(_ level: Int, rank: Int, _ random: inout SplitMix64) -> AtlasFixture.Cut {
        let grid = level >= 11 ? 255 : 4096, codes = 1..<(1 << rank)
        let chains = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let vertices = (0..<2 * Int.random(in: 2...9, using: &random)).map { _ in
                // The sides, the corners and lines along the grid must occur.
                [0, grid, grid / 2, Int.random(in: 0...grid, using: &random)].randomElement(using: &random)!
            }
            return AtlasFixture.Cut.Chain(code: codes.randomElement(using: &random)!, vertices: vertices)
        }
        let closings = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            AtlasFixture.Cut.Closing(
                x: Int.random(in: 0...grid, using: &random), code: codes.randomElement(using: &random)!)
        }
        return AtlasFixture.Cut(
            level: level, regions: (0..<(1 << rank)).map { _ in Int.random(in: 0..<regionCount, using: &random) },
            closings: closings, chains: chains)
    }

    private mutating func appendBlock(runs: Int, _ index: Int, _ random: inout SplitMix64) {
        var keys: Set<Int> = [0]
        while keys.count < runs { keys.insert(Int.random(in: 1..<65_536, using: &random)) }
        let listLimit = [2: 0, 3: 2][index, default: 128]
        fixture.blocks.append(AtlasFixture.Block(keys.sorted().map { ($0, Self.value(&random)) }, listLimit: listLimit))
        // The cells at the corners and in the middle of faces.
        let cells = [(0, 0), (127, 127), (0, 127), (127, 0), (64, 64), (63, 64)]
        let (column, row) = cells[index]
        for face in 0..<6 { fixture.top[AtlasFixture.cell(face: face, column: column, row: row)] = .block(index) }
    }

    /// One block for every cut: the cut fills the whole level-7 cell, or a cell in its middle.
    private mutating func appendCutBlocks() {
        for index in fixture.cuts.indices {
            let size = 1 << (2 * (15 - fixture.cuts[index].level))
            let first = fixture.cuts[index].level == 7 ? 0 : 65_536 / 4 * 3 / size * size
            var runs: [(key: Int, value: AtlasFixture.Value)] = [(0, .region(index))]
            if first == 0 {
                runs = [(0, .cut(index)), (0x8000, .cut(index))]
            } else {
                runs.append((first, .cut(index)))
                if first + size < 65_536 { runs.append((first + size, .region(index + 1))) }
            }
            fixture.blocks.append(AtlasFixture.Block(runs))
            let cell = AtlasFixture.cell(face: index % 6, column: 20 + index, row: 100 - index)
            fixture.top[cell] = .block(fixture.blocks.count - 1)
        }
    }

    /// Leaf columns and rows of the level-7 cells that are more than one region.
    var dividedCells: [(face: Int, column: Int, row: Int)] {
        fixture.top.indices.filter { if case .block = fixture.top[$0] { true } else { false } }
            .map { ($0 / 16_384, $0 / 128 % 128, $0 % 128) }
    }

    // MARK: Brute force

    func region(face: Int, i: Int, j: Int) -> Int {
        switch fixture.top[AtlasFixture.cell(face: face, column: i / 8_388_608, row: j / 8_388_608)] {
        case .value(let value): return region(value, i, j)
        case .block(let index):
            let block = fixture.blocks[index]
            let key = Self.key(i, j)
            var found = 0
            for run in block.keys.indices where block.keys[run] <= key { found = run }
            return region(block.values[found], i, j)
        }
    }

    /// `i22 j22 … i15 j15`, digit by digit.
    private static func key(_ i: Int, _ j: Int) -> Int {
        var digits = ""
        for bit in (15...22).reversed() {
            digits += String((i >> bit) % 2)
            digits += String((j >> bit) % 2)
        }
        return Int(digits, radix: 2)!
    }

    private func region(_ value: AtlasFixture.Value, _ i: Int, _ j: Int) -> Int {
        switch value {
        case .region(let region): return region
        case .cut(let index):
            let cut = fixture.cuts[index]
            let size = 1 << (30 - cut.level)
            return cut.regions[Self.code(cut, column: i % size, row: j % size)]
        }
    }

    /// Counts what lies below the point, in fractions with a common denominator wide enough for all of it.
    private static func code(_ cut: AtlasFixture.Cut, column: Int, row: Int) -> Int {
        let size = Int128(1) << Int128(30 - cut.level), grid: Int128 = cut.level >= 11 ? 255 : 4096
        // The point in grid steps is x / (2 size), and so is y.
        let x = (2 * Int128(column) + 1) * grid, y = (2 * Int128(row) + 1) * grid
        var code = 0
        for chain in cut.chains {
            for k in stride(from: 0, to: chain.vertices.count - 2, by: 2) {
                var a = (x: Int128(chain.vertices[k]) * 2 * size, y: Int128(chain.vertices[k + 1]) * 2 * size)
                var b = (x: Int128(chain.vertices[k + 2]) * 2 * size, y: Int128(chain.vertices[k + 3]) * 2 * size)
                if a.x > b.x { swap(&a, &b) }
                guard a.x < x, b.x >= x else { continue }
                // The edge's height at x, times the edge's width.
                let height = a.y * (b.x - a.x) + (b.y - a.y) * (x - a.x)
                if height <= y * (b.x - a.x) { code ^= chain.code }
            }
        }
        for closing in cut.closings where Int128(closing.x) * 2 * size < x { code ^= closing.code }
        return code
    }
}
