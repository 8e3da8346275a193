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
        try measure(&cut, samples, edges)
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
        let n = ShoreSearch.sampleCount
        var samples: [Sample] = []
        for row in 0..<n {
            for column in 0..<n {
                let x = ShoreSearch.middle(view.size * (2 * column + 1) / (2 * n))
                let y = ShoreSearch.middle(view.size * (2 * row + 1) / (2 * n))
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
        var steps: Double
        var ring: [Double]
        var inside: SIMD2<Int64>
    }

    private func measure(_ cut: inout CutCell, _ samples: [Sample], _ edges: ArraySlice<FaceEdge>) throws {
        let faces = try faces(of: cut)
        let squareKilometersPerStep = CellShape(view.cell).area / (Double(gridSize) * Double(gridSize))
        cut.countries = countries(of: faces, cut, samples, Self.dustArea / squareKilometersPerStep)
        for country in Set(cut.countries.map(\.country)).sorted() {
            let labels = cut.countries.filter { $0.country == country }.map(\.label)
            let own = faces.filter { labels.contains($0.label) }
            let largest = own.max { $0.steps < $1.steps }!
            let ashore = landSite(labels, country, cut, edges)
            cut.pieces.append(
                CutCell.Piece(
                    country: country, area: own.reduce(0) { $0 + $1.steps } * squareKilometersPerStep,
                    corners: own.flatMap { corners($0.ring) }, site: ashore ?? largest.inside,
                    isLand: ashore != nil || exactLabel(largest.inside.x, largest.inside.y).isLand))
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
                faces.append(
                    Face(
                        label: cut.label(column: column, row: row), steps: try polygon.area(),
                        ring: try polygon.polygonRings()[0][0], inside: SIMD2(view.i + column, view.j + row)))
            }
        }
        return faces
    }

    /// A country that holds less of a cell than this, km², is dust from rounding: it goes to the cell's main country.
    /// A square of this area has no point farther than 23 m from its sides.
    private static let dustArea = 0.002

    private static let fewestSamples = 8

    /// The country of each label: the one that holds most of where the label is.
    private func countries(
        of faces: [Face], _ cut: CutCell, _ samples: [Sample], _ dustSteps: Double
    ) -> [(label: UInt16, country: UInt16)] {
        var votes: [UInt16: [UInt16: Int]] = [:]
        for sample in samples {
            votes[cut.label(column: sample.column, row: sample.row), default: [:]][UInt16(sample.label.country), default: 0] += 1
        }
        var steps: [UInt16: Double] = [:], country: [UInt16: UInt16] = [:], totals: [UInt16: Double] = [:]
        for face in faces { steps[face.label, default: 0] += face.steps }
        for label in steps.keys {
            // A few samples beside a border may lie on the other side of it once it is rounded to the grid.
            let far = votes[label].flatMap { $0.values.reduce(0, +) >= Self.fewestSamples ? $0 : nil }
            let shares = far ?? closeVotes(for: label, faces, cut)
            country[label] = shares.max { $0.value != $1.value ? $0.value < $1.value : $0.key > $1.key }!.key
            totals[country[label]!, default: 0] += steps[label]!
        }
        let main = totals.max { $0.value != $1.value ? $0.value < $1.value : $0.key > $1.key }!.key
        return steps.keys.sorted().map { ($0, totals[country[$0]!]! < dustSteps ? main : country[$0]!) }
    }

    /// The countries at points of a label too small for the samples, in and around its largest face.
    private func closeVotes(for label: UInt16, _ faces: [Face], _ cut: CutCell) -> [UInt16: Int] {
        let face = faces.filter { $0.label == label }.max { $0.steps < $1.steps }!
        let xs = stride(from: 0, to: face.ring.count, by: 2).map { face.ring[$0] }
        let ys = stride(from: 1, to: face.ring.count, by: 2).map { face.ring[$0] }
        var votes: [UInt16: Int] = [:]
        let n = 16
        for row in 0..<n {
            for column in 0..<n {
                let x = xs.min()! + (xs.max()! - xs.min()!) * (Double(column) + 0.5) / Double(n)
                let y = ys.min()! + (ys.max()! - ys.min()!) * (Double(row) + 0.5) / Double(n)
                let leaf = SIMD2(Int64(x * leavesPerStep) | 1, Int64(y * leavesPerStep) | 1)
                guard cut.label(column: leaf.x, row: leaf.y) == label else { continue }
                votes[UInt16(exactLabel(view.i + leaf.x, view.j + leaf.y).country), default: 0] += 1
            }
        }
        return votes.isEmpty ? [UInt16(exactLabel(face.inside.x, face.inside.y).country): 1] : votes
    }

    /// A point of a country's piece on land, where a centre could be published.
    private func landSite(
        _ labels: [UInt16], _ country: UInt16, _ cut: CutCell, _ edges: ArraySlice<FaceEdge>
    ) -> SIMD2<Int64>? {
        ShoreSearch(view: view, edges: edges) { x, y in
            let label = exactLabel(x, y)
            return label.isLand && label.country == Int(country)
                && x >= view.i && x < view.i + view.size && y >= view.j && y < view.j + view.size
                && labels.contains(cut.label(column: x - view.i, row: y - view.j))
        }.site()
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
