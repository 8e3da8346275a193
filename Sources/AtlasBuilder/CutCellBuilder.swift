import GeoBridge
import Hereabouts

/// Makes the atlas's form of a cell that borders cut, and measures its pieces.
struct CutCellBuilder {
    private let view: CellView
    private let gridSize: Int32
    private let leavesPerStep: Double
    private let context: GEOSContext
    /// The exact label at leaf coordinates.
    private let exactLabel: (Int64, Int64) -> Label

    /// Samples along each side of the cell.
    private static let sampleCount: Int64 = 8

    init(_ view: CellView, context: GEOSContext, exactLabel: @escaping (Int64, Int64) -> Label) {
        self.view = view
        self.context = context
        self.exactLabel = exactLabel
        gridSize = CutCell.gridSize(level: view.level)
        leavesPerStep = Double(view.size) / Double(gridSize)
    }

    func build(_ edges: ArraySlice<FaceEdge>) throws -> CutCell {
        let clipped = edges.filter { $0.code & Label.countryMask != 0 }.compactMap(clip)
        var cut = CutCell(
            cell: view.cell, gridSize: gridSize, base: 0, edges: clipped, closings: closings(of: clipped),
            countries: [], pieces: [])
        let samples = sampleLabels()
        cut.base = base(of: cut, samples)
        try measure(&cut, samples)
        return cut
    }

    // MARK: Geometry on the cell's grid

    /// The part of an edge inside the cell (Liang and Barsky), its ends rounded to the grid; nil where none is left.
    private func clip(_ edge: FaceEdge) -> CutCell.Edge? {
        let x0 = Double(Int64(edge.x0) - view.i), y0 = Double(Int64(edge.y0) - view.j)
        let dx = Double(Int64(edge.x1) - Int64(edge.x0)), dy = Double(Int64(edge.y1) - Int64(edge.y0))
        let size = Double(view.size)
        var enter = 0.0, leave = 1.0
        for (p, q) in [(-dx, x0), (dx, size - x0), (-dy, y0), (dy, size - y0)] {
            if p == 0 {
                if q < 0 { return nil }
            } else if p < 0 {
                enter = max(enter, q / p)
            } else {
                leave = min(leave, q / p)
            }
        }
        guard enter <= leave else { return nil }
        func grid(_ value: Double) -> Int32 {
            min(gridSize, max(0, Int32((value / leavesPerStep).rounded())))
        }
        let result = CutCell.Edge(
            x0: grid(x0 + enter * dx), y0: grid(y0 + enter * dy), x1: grid(x0 + leave * dx), y1: grid(y0 + leave * dy),
            code: edge.code & Label.countryMask)
        return result.x0 == result.x1 && result.y0 == result.y1 ? nil : result
    }

    private func closings(of edges: [CutCell.Edge]) -> [CutCell.Closing] {
        var codes: [Int32: UInt16] = [:]
        for edge in edges {
            if edge.y0 == 0 { codes[edge.x0, default: 0] ^= edge.code }
            if edge.y1 == 0 { codes[edge.x1, default: 0] ^= edge.code }
        }
        return codes.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map { CutCell.Closing(x: $0.key, code: $0.value) }
    }

    // MARK: Labels

    private struct Sample {
        var column: Int64, row: Int64
        var label: Label
    }

    private func sampleLabels() -> [Sample] {
        let n = Self.sampleCount
        var samples: [Sample] = []
        for row in 0..<n {
            for column in 0..<n {
                // Middles of level-18 cells, where a centre would be published.
                let x = view.size * (2 * column + 1) / (2 * n) & ~0xfff | 0x801
                let y = view.size * (2 * row + 1) / (2 * n) & ~0xfff | 0x801
                samples.append(Sample(column: x, row: y, label: exactLabel(view.i + x, view.j + y)))
            }
        }
        return samples
    }

    /// The label at the lower left that makes most samples come out right.
    private func base(of cut: CutCell, _ samples: [Sample]) -> UInt16 {
        var votes: [UInt16: Int] = [:]
        for sample in samples {
            votes[cut.label(column: sample.column, row: sample.row) ^ UInt16(sample.label.country), default: 0] += 1
        }
        return votes.max { $0.value != $1.value ? $0.value < $1.value : $0.key > $1.key }!.key
    }

    // MARK: Pieces

    private struct Face {
        var label: UInt16
        var country: UInt16
        var steps: Double
        var ring: [Double]
        var inside: SIMD2<Int64>
    }

    private func measure(_ cut: inout CutCell, _ samples: [Sample]) throws {
        let faces = try faces(of: cut)
        let squareKilometersPerStep = CellShape(view.cell).area / (Double(gridSize) * Double(gridSize))
        cut.countries = countries(of: faces, Self.dustArea / squareKilometersPerStep)
        for country in Set(cut.countries.map(\.country)).sorted() {
            let labels = cut.countries.filter { $0.country == country }.map(\.label)
            let own = faces.filter { labels.contains($0.label) }
            let largest = own.max { $0.steps < $1.steps }!
            let ashore = landSite(country, cut, samples)
            cut.pieces.append(
                CutCell.Piece(
                    country: country, area: own.reduce(0) { $0 + $1.steps } * squareKilometersPerStep,
                    corners: own.flatMap { corners($0.ring) }, site: ashore ?? largest.inside,
                    isLand: ashore != nil || exactLabel(largest.inside.x | 1, largest.inside.y | 1).isLand))
        }
    }

    /// The faces that the edges and the cell's sides enclose.
    private func faces(of cut: CutCell) throws -> [Face] {
        let n = Double(gridSize)
        var lines = cut.edges.map { [Double($0.x0), Double($0.y0), Double($0.x1), Double($0.y1)] }
        lines.append([0, 0, n, 0, n, n, 0, n, 0, 0])
        let polygons = try context.multiLineString(lines).unaryUnion().polygonized()
        var faces: [Face] = []
        for index in 0..<polygons.partCount {
            try polygons.withPart(index) { (polygon: borrowing Geometry) throws(GEOSError) in
                let point = try polygon.pointOnSurface()
                let column = min(view.size - 1, Int64(point.x * leavesPerStep)) | 1
                let row = min(view.size - 1, Int64(point.y * leavesPerStep)) | 1
                let exact = exactLabel(view.i + column, view.j + row)
                faces.append(
                    Face(
                        label: cut.label(column: column, row: row), country: UInt16(exact.country),
                        steps: try polygon.area(), ring: try polygon.polygonRings()[0][0],
                        inside: SIMD2(view.i + column, view.j + row)))
            }
        }
        return faces
    }

    /// A country that holds less of a cell than this, km², is dust from rounding: it goes to the cell's main country.
    /// A square of this area has no point farther than 23 m from its sides.
    private static let dustArea = 0.002

    /// The country of each label: the one that holds most of the label's area.
    private func countries(of faces: [Face], _ dustSteps: Double) -> [(label: UInt16, country: UInt16)] {
        var areas: [UInt16: [UInt16: Double]] = [:]
        var totals: [UInt16: Double] = [:]
        for face in faces {
            areas[face.label, default: [:]][face.country, default: 0] += face.steps
            totals[face.country, default: 0] += face.steps
        }
        func largest(_ shares: [UInt16: Double]) -> UInt16 {
            shares.max { $0.value != $1.value ? $0.value < $1.value : $0.key > $1.key }!.key
        }
        let main = largest(totals)
        return areas.keys.sorted().map { label in
            let country = largest(areas[label]!)
            return (label, totals[country]! < dustSteps ? main : country)
        }
    }

    private func landSite(_ country: UInt16, _ cut: CutCell, _ samples: [Sample]) -> SIMD2<Int64>? {
        let middle = view.size / 2
        let ashore = samples.filter { sample in
            guard sample.label.isLand, sample.label.country == Int(country) else { return false }
            let label = cut.label(column: sample.column, row: sample.row)
            return cut.countries.contains { $0.label == label && $0.country == country }
        }
        func distance(_ s: Sample) -> Int64 { (s.column - middle).magnitude.toInt + (s.row - middle).magnitude.toInt }
        let best = ashore.min { (distance($0), $0.row, $0.column) < (distance($1), $1.row, $1.column) }
        return best.map { SIMD2(view.i + $0.column, view.j + $0.row) }
    }

    /// A ring's corners, with points between on edges so long that a straight line on the face leaves the great circle.
    private func corners(_ ring: [Double]) -> [SIMD3<Double>] {
        var result: [SIMD3<Double>] = []
        let longest = Double(gridSize) / 4
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            let dx = ring[k + 2] - ring[k], dy = ring[k + 3] - ring[k + 1]
            let pieces = view.level >= 12 ? 1 : max(1, Int((max(dx.magnitude, dy.magnitude) / longest).rounded(.up)))
            for step in 0..<pieces {
                let t = Double(step) / Double(pieces)
                result.append(position(x: ring[k] + dx * t, y: ring[k + 1] + dy * t))
            }
        }
        return result
    }

    private func position(x: Double, y: Double) -> SIMD3<Double> {
        let s = (Double(view.i) + x * leavesPerStep) / 0x1p30
        let t = (Double(view.j) + y * leavesPerStep) / 0x1p30
        let direction = CubeProjection.direction(
            face: view.face, u: CubeProjection.stToUV(s), v: CubeProjection.stToUV(t))
        return Ellipsoid.position(CubeProjection.coordinate(of: direction))
    }
}

extension UInt64 {
    fileprivate var toInt: Int64 { Int64(self) }
}
