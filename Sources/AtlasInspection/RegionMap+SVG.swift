import Foundation

extension RegionMap {
    /// The map as an SVG document. Its coordinates are tenths of a pixel.
    ///
    /// - Parameter showsCircles: whether each region's published circle is drawn.
    package func svg(showsCircles: Bool = false) -> String {
        let footer = attribution.isEmpty ? 560 : 760
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(frame.width / 10)" \
            height="\((frame.height + footer) / 10)" \
            viewBox="0 0 \(frame.width) \(frame.height + footer)" font-family="Helvetica,Arial,sans-serif">
            """,
            "<title>Regions and the accuracy of what is published for each</title>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            "<clipPath id=\"frame\"><rect width=\"\(frame.width)\" height=\"\(frame.height)\"/></clipPath>",
            "<g clip-path=\"url(#frame)\">",
        ]
        lines += regionPaths() + countryCodes() + borderPaths()
        if showsCircles { lines += circles() }
        lines += dotsAndNames()
        lines += ["</g>", "<rect width=\"\(frame.width)\" height=\"\(frame.height)\" \(Self.frameLine)/>"]
        lines += legend(showsCircles)
        lines.append("</svg>\n")
        return lines.joined(separator: "\n")
    }

    // MARK: Regions and borders

    /// Fill by accuracy: up to this many kilometers, a color.
    private static let classes: [(kilometers: Double, fill: String)] = [
        (2.5, "#f6b48f"), (4, "#f9cfa6"), (7, "#fbe6bf"), (11, "#f1efce"), (16, "#dfe9d3"), (.infinity, "#d6e3ea"),
    ]
    private static let border = "#a5342b"
    private static let frameLine = "fill=\"none\" stroke=\"#777\" stroke-width=\"10\""

    private func regionPaths() -> [String] {
        let classes = Self.classes.indices
        var paths = [String](repeating: "", count: classes.count)
        for area in areas {
            let kilometers = area.location.horizontalAccuracy / 1_000
            let index = classes.first { kilometers <= Self.classes[$0].kilometers } ?? classes.upperBound - 1
            paths[index] += area.polygons.joined().map { Self.path($0, isClosed: true) }.joined()
        }
        return ["<g stroke=\"#8d8a7c\" stroke-width=\"6\" stroke-linejoin=\"round\">"]
            + classes.filter { !paths[$0].isEmpty }.map {
                "<path fill=\"\(Self.classes[$0].fill)\" d=\"\(paths[$0])\"/>"
            }
            + ["</g>"]
    }

    private func borderPaths() -> [String] {
        guard !borders.isEmpty else { return [] }
        let data = borders.map { Self.path($0, isClosed: false) }.joined()
        return [
            """
            <g fill="none" stroke-linejoin="round" stroke-linecap="round">\
            <path id="border" stroke="\(Self.border)" stroke-width="24" d="\(data)"/></g>
            """
        ]
    }

    /// Large, pale, each in its part of the map.
    private func countryCodes() -> [String] {
        guard countryPlaces.count > 1 else { return [] }
        return ["<g font-size=\"900\" font-weight=\"bold\" text-anchor=\"middle\" fill=\"#5d5a4c\" opacity=\".13\">"]
            + countryPlaces.sorted { $0.key < $1.key }.map { code, place in
                "<text x=\"\(Int(place.x))\" y=\"\(Int(place.y) + 320)\">\(Self.escaped(code))</text>"
            } + ["</g>"]
    }

    // MARK: Centers

    private func circles() -> [String] {
        ["<g fill=\"none\" stroke=\"#3b6a8c\" stroke-opacity=\".5\" stroke-width=\"6\">"]
            + areas.map { area in
                let center = frame.point(area.location.coordinate)
                let axes = frame.halfAxes(
                    ofCircleAt: area.location.coordinate, radiusMeters: area.location.horizontalAccuracy)
                return """
                    <ellipse cx="\(Int(center.x))" cy="\(Int(center.y))" rx="\(Int(axes.x))" ry="\(Int(axes.y))"/>
                    """
            } + ["</g>"]
    }

    private static let dotRadius = 19.0
    /// Residents of all regions named for a place from which on its name is written large.
    private static let cityResidents = 250_000

    private func dotsAndNames() -> [String] {
        let seen = areas.filter { frame.holds(frame.point($0.location.coordinate)) }
        let dots = seen.map { frame.point($0.location.coordinate) }
        let labels = MapLabels(
            labelRequests(seen), obstacles: dots + borders.flatMap(Self.steps), dotRadius: Self.dotRadius,
            width: Double(frame.width), height: Double(frame.height))
        return ["<g fill=\"#333\">"]
            + dots.map { "<circle cx=\"\(Int($0.x))\" cy=\"\(Int($0.y))\" r=\"\(Int(Self.dotRadius))\"/>" }
            + [
                "</g>",
                "<g fill=\"#222\" stroke=\"#fff\" stroke-width=\"30\" stroke-opacity=\".85\" paint-order=\"stroke\">",
            ]
            + labels.placements.map {
                """
                <text x="\(Int($0.origin.x))" y="\(Int($0.origin.y))" font-size="\(Int($0.fontSize))"\
                \($0.isCity ? " font-weight=\"bold\"" : "")>\(Self.escaped($0.text))</text>
                """
            } + ["</g>"]
    }

    /// Points along a line, no farther apart than a small name is high.
    private static func steps(_ line: [Double]) -> [SIMD2<Double>] {
        stride(from: 2, to: line.count, by: 2).flatMap { k in
            let start = SIMD2(line[k - 2], line[k - 1]), way = SIMD2(line[k], line[k + 1]) - start
            let count = Int((way * way).sum().squareRoot() / 60) + 1
            return (0..<count).map { start + way * Double($0) / Double(count) }
        }
    }

    /// The names, those of most people first, each once for all the regions of its place. Regions named for a neighbor
    /// have none here: it would be taken for the place itself.
    private func labelRequests(_ areas: [Area]) -> [MapLabels.Request] {
        var residents: [String: Int] = [:]
        for area in areas {
            guard let place = area.location.place else { continue }
            residents[place.name, default: 0] += area.anonymity
        }
        let named = areas.compactMap { area in
            area.location.place.flatMap {
                $0.isInside ? (name: $0.name, area: area, all: residents[$0.name] ?? 0) : nil
            }
        }
        var isWritten: Set<[String]> = []
        return named.sorted {
            ($0.all, $0.area.anonymity, $1.area.region.index) > ($1.all, $1.area.anonymity, $0.area.region.index)
        }.filter { isWritten.insert([$0.name, $0.area.location.country.code]).inserted }.map { name, area, all in
            MapLabels.Request(
                text: name, point: frame.point(area.location.coordinate), isCity: all >= Self.cityResidents)
        }
    }

    // MARK: Legend

    private func legend(_ showsCircles: Bool) -> [String] {
        let top = frame.height
        var lines = ["<g font-size=\"120\" fill=\"#333\">"]
        lines.append("<text x=\"20\" y=\"\(top + 210)\">Accuracy of the answer, km:</text>")
        var x = 1_980
        for (index, step) in Self.classes.enumerated() {
            let least = index == 0 ? nil : Self.classes[index - 1].kilometers
            let text = Self.range(least, step.kilometers)
            lines.append(
                """
                <rect x="\(x)" y="\(top + 100)" width="220" height="140" fill="\(step.fill)" stroke="#8d8a7c" \
                stroke-width="6"/><text x="\(x + 270)" y="\(top + 210)">\(text)</text>
                """)
            x += 1_000
        }
        lines.append(
            """
            <circle cx="45" cy="\(top + 420)" r="\(Int(Self.dotRadius))"/>\
            <text x="120" y="\(top + 460)">center, as published</text>\
            <path d="M1980 \(top + 420)h220" stroke="\(Self.border)" stroke-width="24"/>\
            <text x="2260" y="\(top + 460)">border between countries</text>
            """)
        if showsCircles {
            lines.append(
                """
                <circle cx="4330" cy="\(top + 420)" r="75" fill="none" stroke="#3b6a8c" stroke-width="6"/>\
                <text x="4460" y="\(top + 460)">circle, as published</text>
                """)
        }
        lines.append(scaleBar(top: top + 370))
        if !attribution.isEmpty {
            lines.append(
                "<text x=\"20\" y=\"\(top + 690)\" font-size=\"95\" fill=\"#777\">\(Self.escaped(attribution))</text>")
        }
        return lines + ["</g>"]
    }

    /// A bar of 1, 2 or 5 times a power of ten, as near to a fifth of the map's width as that allows.
    private func scaleBar(top: Int) -> String {
        let fifth = Double(frame.width) / 5 * frame.metersPerUnit
        let lengths = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000]
        let meters = lengths.last { Double($0) <= fifth } ?? 100
        let length = Int((Double(meters) / frame.metersPerUnit).rounded())
        let text = meters >= 1_000 ? "\(meters / 1_000) km" : "\(meters) m"
        let left = frame.width - 20 - length
        return """
            <path d="M\(left) \(top)v100h\(length)v-100" fill="none" stroke="#333" stroke-width="12"/>\
            <text x="\(left - 60)" y="\(top + 100)" text-anchor="end">\(text)</text>
            """
    }

    private static func range(_ least: Double?, _ most: Double) -> String {
        guard let least else { return "up to \(short(most))" }
        return most.isFinite ? "\(short(least))–\(short(most))" : "over \(short(least))"
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }

    // MARK: Paths

    /// Path data in relative coordinates, which are short.
    private static func path(_ line: [Double], isClosed: Bool) -> String {
        var at = SIMD2(line[0], line[1])
        var data = "M\(Int(at.x)) \(Int(at.y))l"
        var isFirst = true
        // The last position of a ring is the first again, which `z` stands for.
        for k in stride(from: 2, to: line.count - (isClosed ? 2 : 0), by: 2) {
            let point = SIMD2(line[k], line[k + 1]), step = point - at
            at = point
            data += (isFirst || step.x < 0 ? "" : " ") + "\(Int(step.x))" + (step.y < 0 ? "" : " ") + "\(Int(step.y))"
            isFirst = false
        }
        return data + (isClosed ? "z" : "")
    }
}
