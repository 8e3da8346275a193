import GeoBridge

/// The record of a cell that borders cut, as `data/FORMAT.md` describes it. Coordinates in steps of the cell's grid.
package struct CutRecord: Sendable {
    struct Closing: Sendable {
        var x: Int, code: Int
    }
    struct Chain: Sendable {
        var code: Int
        var x: [Int], y: [Int]
    }

    package let level: Int
    /// Steps along the cell's side.
    package let gridSize: Int
    /// Regions by code.
    let regions: [UInt32]
    let closings: [Closing]
    let chains: [Chain]

    init(
        _ reader: LittleEndian, offset: Int, in section: Range<Int>, regionCount: Int
    ) throws(FormatError) {
        var at = section.lowerBound + offset
        func take(_ size: Int) throws(FormatError) -> Int {
            guard at + size <= section.upperBound else { throw .malformed("cut beyond the section") }
            defer { at += size }
            return reader.number(at, size)
        }
        level = try take(1)
        let rank = try take(1), closingCount = try take(1), chainCount = try take(1)
        guard (7...15).contains(level), (1...3).contains(rank) else { throw .malformed("head of a cut") }
        gridSize = level >= 11 ? 255 : 4096
        let width = level >= 11 ? 1 : 2
        var regions: [UInt32] = []
        for _ in 0..<(1 << rank) { regions.append(UInt32(try take(4))) }
        guard regions.allSatisfy({ $0 < regionCount }) else { throw .malformed("a region beyond the last in a cut") }
        var closings: [Closing] = []
        for _ in 0..<closingCount { closings.append(Closing(x: try take(width), code: try take(1))) }
        var chains: [Chain] = []
        for _ in 0..<chainCount {
            let count = try take(1)
            var chain = Chain(code: try take(1), x: [], y: [])
            for _ in 0..<count {
                chain.x.append(try take(width))
                chain.y.append(try take(width))
            }
            guard count >= 2 else { throw .malformed("chain of one vertex") }
            chains.append(chain)
        }
        let limit = gridSize
        guard (closings.map(\.code) + chains.map(\.code)).allSatisfy({ $0 > 0 && $0 < 1 << rank }),
            closings.allSatisfy({ $0.x <= limit }),
            chains.allSatisfy({ $0.x.allSatisfy { $0 <= limit } && $0.y.allSatisfy { $0 <= limit } })
        else { throw .malformed("code or vertex of a cut") }
        (self.regions, self.closings, self.chains) = (regions, closings, chains)
    }

    /// The region of a leaf cell, given by its column and row within this cell.
    package func region(column: Int, row: Int) -> UInt32 {
        let size = 1 << (30 - level)
        let m = gridSize == 255 ? 255 : 1, unit = gridSize == 255 ? 2 * size : 2 * size / 4096
        return regions[code(x: (2 * column + 1) * m, y: (2 * row + 1) * m, unit: unit)]
    }

    /// The code at a point, by the rule of the format. Numbers are whole or not, as long as products are exact enough.
    private func code<Number: SignedNumeric & Comparable>(x: Number, y: Number, unit: Number) -> Int
    where Number: ConvertibleFromInt {
        var code = 0
        for chain in chains {
            for k in 1..<chain.x.count {
                let x0 = Number(whole: chain.x[k - 1]) * unit, x1 = Number(whole: chain.x[k]) * unit
                guard (x0 < x) != (x1 < x) else { continue }
                let y0 = Number(whole: chain.y[k - 1]) * unit, y1 = Number(whole: chain.y[k]) * unit
                let side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
                if x1 > x0 ? side >= 0 : side <= 0 { code ^= chain.code }
            }
        }
        for closing in closings where Number(whole: closing.x) * unit < x { code ^= closing.code }
        return code
    }

    // MARK: Faces

    /// A piece of the cell that belongs to one region.
    package struct Face: Sendable {
        package var region: UInt32
        /// Closed rings, outer first, flat x, y in steps.
        package var rings: [[Double]]
        /// A point inside, in steps.
        package var x: Double, y: Double
        /// Square steps.
        package var area: Double
    }

    /// Less than a leaf cell in square steps, which are a thousand leaf cells long: too small to hold anything.
    package static let leastArea = 5e-7

    /// The pieces that the edges and the cell's sides enclose, exactly where the edges are.
    package func faces(_ context: GEOSContext) throws(GEOSError) -> [Face] {
        let n = Double(gridSize)
        var lines = chains.compactMap { chain -> [Double]? in
            let line = zip(chain.x, chain.y).flatMap { [Double($0), Double($1)] }
            return stride(from: 2, to: line.count, by: 2).contains { line[$0] != line[0] || line[$0 + 1] != line[1] }
                ? line : nil
        }
        lines.append([0, 0, n, 0, n, n, 0, n, 0, 0])
        lines.append(contentsOf: openEnds().map { [Double($0.x), Double($0.y), Double($0.x), n] })
        let polygons = try context.multiLineString(lines).unaryUnion().polygonized()
        var faces: [Face] = []
        for index in 0..<polygons.partCount {
            let (rings, point, area) = try polygons.withPart(index) { (polygon: borrowing Geometry) throws(GEOSError) in
                (try polygon.polygonRings()[0], try polygon.pointOnSurface(), try polygon.area())
            }
            let region = regions[code(x: point.x, y: point.y, unit: 1)]
            faces.append(Face(region: region, rings: rings, x: point.x, y: point.y, area: area))
        }
        return faces
    }

    private struct End: Hashable {
        var x: Int, y: Int
    }

    /// Vertices inside the cell at which the codes do not cancel: there the code changes all the way up.
    private func openEnds() -> [End] {
        var codes: [End: Int] = [:]
        for chain in chains {
            codes[End(x: chain.x[0], y: chain.y[0]), default: 0] ^= chain.code
            codes[End(x: chain.x.last!, y: chain.y.last!), default: 0] ^= chain.code
        }
        for closing in closings { codes[End(x: closing.x, y: 0), default: 0] ^= closing.code }
        return codes.filter { $0.value != 0 && $0.key.x > 0 && $0.key.x < gridSize && $0.key.y < gridSize }.keys
            .sorted { ($0.x, $0.y) < ($1.x, $1.y) }
    }
}

/// What the rule of the format needs of a number: leaf cells are asked in whole numbers, points inside faces in others.
protocol ConvertibleFromInt {
    init(whole: Int)
}

extension Int: ConvertibleFromInt {
    init(whole: Int) { self = whole }
}

extension Double: ConvertibleFromInt {
    init(whole: Int) { self.init(whole) }
}
