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
        return codes.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map {
            CutCell.Closing(x: $0.key, code: $0.value)
        }
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
        cut.isFaithful = faces.allSatisfy { isFaithful($0, cut) }
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

    /// The country of each label: the one at the point of it that is farthest from all edges, as far as samples tell.
    /// Beside an edge the exact border may run on the other side, for the edge is rounded to the grid.
    private func countries(
        of faces: [Face], _ cut: CutCell, _ samples: [Sample], _ dustSteps: Double
    ) -> [(label: UInt16, country: UInt16)] {
        var deepest: [UInt16: (depth: Double, point: SIMD2<Int64>)] = [:]
        func consider(_ column: Int64, _ row: Int64) {
            let label = cut.label(column: column, row: row)
            let depth = squaredDepth(column: column, row: row, in: cut)
            if depth > deepest[label]?.depth ?? -1 { deepest[label] = (depth, SIMD2(column, row)) }
        }
        for sample in samples { consider(sample.column, sample.row) }
        var steps: [UInt16: Double] = [:], country: [UInt16: UInt16] = [:], totals: [UInt16: Double] = [:]
        for face in faces {
            steps[face.label, default: 0] += face.steps
            if deepest[face.label]?.depth ?? 0 < Self.enoughDepth { forEachPoint(around: face, consider) }
        }
        for label in steps.keys {
            let point = deepest[label]!.point
            country[label] = UInt16(exactLabel(view.i + point.x, view.j + point.y).country)
            totals[country[label]!, default: 0] += steps[label]!
        }
        let main = totals.max { $0.value != $1.value ? $0.value < $1.value : $0.key > $1.key }!.key
        return steps.keys.sorted().map { ($0, totals[country[$0]!]! < dustSteps ? main : country[$0]!) }
    }

    /// Squared steps from every edge at which no rounding matters.
    private static let enoughDepth = 9.0

    /// The point inside a face, and a grid of points over its surroundings.
    private func forEachPoint(around face: Face, _ body: (Int64, Int64) -> Void) {
        body(face.inside.x - view.i, face.inside.y - view.j)
        let xs = stride(from: 0, to: face.ring.count, by: 2).map { face.ring[$0] }
        let ys = stride(from: 1, to: face.ring.count, by: 2).map { face.ring[$0] }
        let left = xs.min()!, bottom = ys.min()!, width = xs.max()! - left, height = ys.max()! - bottom
        let n = 16
        for row in 0..<n {
            for column in 0..<n {
                let x = left + width * (Double(column) + 0.5) / Double(n)
                let y = bottom + height * (Double(row) + 0.5) / Double(n)
                body(Int64(x * leavesPerStep) | 1, Int64(y * leavesPerStep) | 1)
            }
        }
    }

    /// The square of the distance from a point to the nearest edge, in steps.
    private func squaredDepth(column: Int64, row: Int64, in cut: CutCell) -> Double {
        let point = SIMD2(Double(column) + 0.5, Double(row) + 0.5) / leavesPerStep
        var nearest = Double.infinity
        for edge in cut.edges {
            let start = SIMD2(Double(edge.x0), Double(edge.y0))
            let along = SIMD2(Double(edge.x1), Double(edge.y1)) - start
            let t = ((point - start) * along).sum() / (along * along).sum()
            let offset = point - start - along * min(1, max(0, t))
            nearest = min(nearest, (offset * offset).sum())
        }
        return nearest
    }

    /// Whether the exact borders know a face's country near each of its corners. Where lines run so close that rounding
    /// makes them cross, a face can have the label of another, which may be anywhere in the cell.
    private func isFaithful(_ face: Face, _ cut: CutCell) -> Bool {
        let country = Int(cut.countries.first { $0.label == face.label }!.country)
        return stride(from: 0, to: face.ring.count, by: 2).allSatisfy {
            isKnown(country, near: Int64(face.ring[$0] * leavesPerStep), Int64(face.ring[$0 + 1] * leavesPerStep))
        }
    }

    /// Whether the exact borders give a country anything within some 40 m of a point of the cell.
    private func isKnown(_ country: Int, near column: Int64, _ row: Int64) -> Bool {
        func isKnown(_ dx: Int64, _ dy: Int64) -> Bool {
            // Steps of seven to ten meters.
            let x = min(view.size - 1, max(0, column + dx << 10)) | 1
            let y = min(view.size - 1, max(0, row + dy << 10)) | 1
            return exactLabel(view.i + x, view.j + y).country == country
        }
        return isKnown(0, 0) || (-4...4).contains { dy in (-4...4).contains { isKnown($0, dy) } }
    }

    /// A point of a country's piece on land, where a center could be published.
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
