/// Finds room for the names on a map: each beside its point, none over another, and only a city's over a point.
struct MapLabels {
    /// A name and the dot it belongs to. In units.
    struct Request {
        var text: String
        var point: SIMD2<Double>
        /// Written larger, and over obstacles where there is no room beside them.
        var isCity: Bool

        var fontSize: Double { isCity ? 155 : 115 }
    }

    /// Where a name begins, on its base line.
    struct Placement {
        var text: String
        var origin: SIMD2<Double>
        var fontSize: Double
        var isCity: Bool
    }

    private struct Box {
        var low: SIMD2<Double>, high: SIMD2<Double>

        func meets(_ other: Box) -> Bool {
            low.x < other.high.x && other.low.x < high.x && low.y < other.high.y && other.low.y < high.y
        }
    }

    /// Names that found room.
    let placements: [Placement]

    /// - Parameters:
    ///   - requests: in order of importance: the first is placed first.
    ///   - obstacles: points to keep free: dots, and points along lines.
    ///   - dotRadius: theirs, in units.
    init(_ requests: [Request], obstacles: [SIMD2<Double>], dotRadius: Double, width: Double, height: Double) {
        var placements: [Placement] = []
        var taken: [Box] = []
        let blocked = obstacles.map { Box(low: $0 - dotRadius, high: $0 + dotRadius) }
        for request in requests {
            let boxes = Self.candidates(for: request, dotRadius: dotRadius).filter { box in
                box.low.x > 0 && box.low.y > 0 && box.high.x < width && box.high.y < height
                    && !taken.contains(where: box.meets)
            }
            let free = boxes.first { box in !blocked.contains(where: box.meets) }
            guard let box = free ?? (request.isCity ? boxes.first : nil) else { continue }
            taken.append(box)
            let origin = SIMD2(box.low.x.rounded(), (box.low.y + request.fontSize * 0.82).rounded())
            placements.append(
                Placement(text: request.text, origin: origin, fontSize: request.fontSize, isCity: request.isCity))
        }
        self.placements = placements
    }

    /// Boxes around a dot: right, left, above, below, then the four corners.
    private static func candidates(for request: Request, dotRadius: Double) -> [Box] {
        let size = SIMD2(width(of: request.text, fontSize: request.fontSize), request.fontSize)
        let gap = dotRadius + request.fontSize * 0.25
        return [
            SIMD2(gap, -size.y / 2), SIMD2(-gap - size.x, -size.y / 2), SIMD2(-size.x / 2, -gap - size.y),
            SIMD2(-size.x / 2, gap), SIMD2(dotRadius, -gap - size.y), SIMD2(dotRadius, gap),
            SIMD2(-dotRadius - size.x, -gap - size.y), SIMD2(-dotRadius - size.x, gap),
        ].map { Box(low: request.point + $0, high: request.point + $0 + size) }
    }

    /// About how wide a text is in a sans-serif face: on the wide side, since the reader's face is not known.
    static func width(of text: String, fontSize: Double) -> Double { Double(text.count) * fontSize * 0.6 }
}
