import Foundation
import GeoBridge
import Hereabouts
import PROJBridge

/// How far points are from a country that they are not in, as the source has it.
struct CountryDistance: Sendable {
    /// A point and the country it was taken for.
    struct Question: Sendable {
        var longitude: Double
        var latitude: Double
        var country: CountryCode
    }

    let oracle: PolygonOracle
    /// Distances beyond this are not looked for, meters.
    let reach: Double

    /// Geodesic meters from every point to the nearest place of its country found; infinite beyond `reach`.
    ///
    /// First the nearest edge of the country's polygons, if half a meter behind it the country really begins (it may be
    /// overlaid there); else the innermost of 200 rings of 64 points that meets the country, which is somewhat farther
    /// than its nearest place.
    func meters(_ questions: [Question]) throws -> [Double] {
        let nearest = try nearestEdges(questions)
        var result = [Double](repeating: .infinity, count: questions.count)
        var behind: [Double] = []
        var asked: [Int] = []
        for (index, place) in nearest.enumerated() {
            guard let place else { continue }
            let question = questions[index]
            let cosine = max(1e-6, cos(question.latitude * .pi / 180))
            let east = (place.x - question.longitude) * cosine
            let north = place.y - question.latitude
            let length = max(1e-12, (east * east + north * north).squareRoot()) * metersPerDegree
            behind.append(place.x + (place.x - question.longitude) * 0.5 / length)
            behind.append(place.y + north * 0.5 / length)
            asked.append(index)
        }
        for (index, code) in zip(asked, try oracle.codes(of: behind)) where code == questions[index].country {
            result[index] = try distance(questions[index], nearest[index]!)
        }
        let open = questions.indices.filter { result[$0].isInfinite }
        for (index, meters) in zip(open, try byRings(open.map { questions[$0] })) { result[index] = meters }
        return result
    }

    private func distance(_ question: Question, _ place: (x: Double, y: Double)) throws -> Double {
        try Geodesic.wgs84.distanceMeters(
            fromLatitude: question.latitude, longitude: question.longitude, toLatitude: place.y, longitude: place.x)
    }

    private func byRings(_ questions: [Question]) throws -> [Double] {
        let rings = 200
        let directions = 64
        return try questions.map { question in
            var points: [Double] = []
            for ring in 1...rings {
                for direction in 0..<directions {
                    let radius = reach * Double(ring) / Double(rings)
                    let angle = 2 * .pi * (Double(direction) + Double(ring % 2) / 2) / Double(directions)
                    let point = shifted(
                        question.longitude, question.latitude, east: radius * cos(angle), north: radius * sin(angle))
                    points.append(point.x)
                    points.append(point.y)
                }
            }
            let hit = try oracle.codes(of: points).firstIndex(of: question.country)
            return try hit.map { try distance(question, (points[2 * $0], points[2 * $0 + 1])) } ?? .infinity
        }
    }

    // MARK: Edges

    /// A hundredth of a degree squared.
    private struct Cell: Hashable {
        var column: Int, row: Int

        init(_ x: Double, _ y: Double) {
            (column, row) = (Int((x * 100).rounded(.down)), Int((y * 100).rounded(.down)))
        }
        init(column: Int, row: Int) { (self.column, self.row) = (column, row) }
    }

    private struct Candidate: Sendable {
        var question: Int
        /// Square of the distance in degrees of latitude.
        var square: Double
        var x: Double, y: Double
    }

    /// The nearest point of the country's edges within reach, by brute force over all of them.
    private func nearestEdges(_ questions: [Question]) throws -> [(x: Double, y: Double)?] {
        var byCountry: [CountryCode: [Cell: [Int]]] = [:]
        for (index, question) in questions.enumerated() {
            byCountry[question.country, default: [:]][Cell(question.longitude, question.latitude), default: []].append(
                index)
        }
        let asked = byCountry
        let polygons = oracle.polygons
        let found = try onAllCores(polygons.count) { index -> [Candidate] in
            guard let cells = asked[polygons[index].code] else { return [] }
            return candidates(polygons[index], cells, questions)
        }
        var best = [Candidate?](repeating: nil, count: questions.count)
        for candidate in found.joined() where candidate.square < best[candidate.question]?.square ?? .infinity {
            best[candidate.question] = candidate
        }
        return best.map { $0.map { ($0.x, $0.y) } }
    }

    private func candidates(_ polygon: SourcePolygon, _ cells: [Cell: [Int]], _ questions: [Question]) -> [Candidate] {
        var best: [Int: Candidate] = [:]
        for ring in polygon.rings {
            for k in stride(from: 0, to: ring.count - 2, by: 2) {
                let (x0, y0, x1, y1) = (ring[k], ring[k + 1], ring[k + 2], ring[k + 3])
                let pieces = max(1, Int((max((x1 - x0).magnitude, (y1 - y0).magnitude) * 50).rounded(.up)))
                for piece in 0..<pieces {
                    let (from, to) = (Double(piece) / Double(pieces), Double(piece + 1) / Double(pieces))
                    consider(
                        (x0 + from * (x1 - x0), y0 + from * (y1 - y0)), (x0 + to * (x1 - x0), y0 + to * (y1 - y0)),
                        cells,
                        questions, &best)
                }
            }
        }
        return Array(best.values)
    }

    private func consider(
        _ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ cells: [Cell: [Int]], _ questions: [Question],
        _ best: inout [Int: Candidate]
    ) {
        let margin = reach / metersPerDegree * 1.01
        let marginEast = margin / max(1e-3, cos(min(89.9, max(a.y.magnitude, b.y.magnitude) + margin) * .pi / 180))
        let low = Cell(min(a.x, b.x) - marginEast, min(a.y, b.y) - margin)
        let high = Cell(max(a.x, b.x) + marginEast, max(a.y, b.y) + margin)
        for column in low.column...high.column {
            for row in low.row...high.row {
                for index in cells[Cell(column: column, row: row)] ?? [] {
                    let question = questions[index]
                    let cosine = max(1e-6, cos(question.latitude * .pi / 180))
                    // Nearest point of the segment, with the point asked about as origin.
                    let (ax, ay) = ((a.x - question.longitude) * cosine, a.y - question.latitude)
                    let (dx, dy) = ((b.x - a.x) * cosine, b.y - a.y)
                    let t = min(1, max(0, -(ax * dx + ay * dy) / max(1e-30, dx * dx + dy * dy)))
                    let (nx, ny) = (ax + t * dx, ay + t * dy)
                    let square = nx * nx + ny * ny
                    guard square <= margin * margin, square < best[index]?.square ?? .infinity else { continue }
                    best[index] = Candidate(
                        question: index, square: square, x: question.longitude + nx / cosine, y: question.latitude + ny)
                }
            }
        }
    }
}
