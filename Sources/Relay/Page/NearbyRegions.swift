import AtlasFormat
import AtlasInspection
import Hereabouts
import Synchronization
import TextCoding

/// What the page's maps are drawn from: the outlines of a region and of those around it. All of it is public data of the
/// atlas; nothing of a request is kept.
package final class NearbyRegions: Sendable {
    /// Why there is no answer. No case carries anything of the request.
    package enum Failure: Error, Hashable, Sendable {
        /// The text is no region's id, or the atlas has no such region.
        case unknownRegion
        /// The atlas file cannot be read any more, or was replaced by another.
        case atlasUnavailable
    }

    private let atlas: Atlas
    private let atlasPath: String
    /// Read at the first request: as large as the atlas file.
    private let tables = Mutex<AtlasTables?>(nil)

    /// - Parameter atlas: that at `atlasPath`.
    package init(_ atlas: Atlas, atlasPath: String) { (self.atlas, self.atlasPath) = (atlas, atlasPath) }

    /// The answer to `GET /v1/regions?near=REGION`, a GeoJSON feature collection on one line.
    ///
    /// Its first feature is the region itself, then come those within 3 times its radius of its center, the nearest centers
    /// first and 256 at most: `region`, `country`, `place`, `center` and `horizontal_accuracy`. A last feature with
    /// `"border":true` has the lines where two countries meet; it is left out where none do. Outlines of other regions
    /// may end beyond those 3 radii, and none is cut at the antimeridian. Degrees have five decimals, and `attribution`
    /// says whom the atlas asks to be named.
    ///
    /// Takes 10 to 70 ms of a core, the first time also some 50 ms and the memory to read the atlas: call it on a thread
    /// where nothing waits. Answers have 7 to 140 KB.
    ///
    /// - Parameter id: of a region, from the request: any text.
    package func answer(near id: String) throws(Failure) -> [UInt8] {
        guard let id = RegionID(id), let region = atlas.region(id) else { throw .unknownRegion }
        do {
            return try text(of: RegionVicinity(of: region, in: atlas, readTables()))
        } catch {
            throw .atlasUnavailable
        }
    }

    private func readTables() throws -> AtlasTables {
        try tables.withLock { kept in
            if let kept { return kept }
            let read = try AtlasTables(path: atlasPath)
            guard read.fingerprint == atlas.fingerprint else { throw Failure.atlasUnavailable }
            kept = read
            return read
        }
    }

    // MARK: Text

    private func text(of vicinity: RegionVicinity) throws -> [UInt8] {
        var text = Text()
        text.append("{\"type\":\"FeatureCollection\",\"attribution\":")
        text.append(json: try atlas.attribution.map(\.text).joined(separator: " · "))
        text.append(",\"features\":[")
        try text.appendList(vicinity.outlines) { try append($1, &$0) }
        if !vicinity.borders.isEmpty {
            text.append(",{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiLineString\",\"coordinates\":[")
            text.appendList(vicinity.borders) { $0.append(positions: $1) }
            text.append("]},\"properties\":{\"border\":true}}")
        }
        text.append("]}")
        return text.bytes
    }

    private func append(_ outline: RegionVicinity.Outline, _ text: inout Text) throws {
        let location = try atlas.reducedLocation(of: outline.region)
        text.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiPolygon\",\"coordinates\":[")
        text.appendList(outline.polygons) { text, rings in
            text.append("[")
            text.appendList(rings) { $0.append(positions: $1) }
            text.append("]")
        }
        text.append("]},\"properties\":{\"region\":")
        text.append(json: location.region.description)
        text.append(",\"country\":")
        text.append(json: location.country.code)
        if let place = location.place {
            text.append(",\"place\":")
            text.append(json: place.description)
        }
        text.append(",\"center\":")
        text.append(position: location.coordinate.longitude, location.coordinate.latitude)
        text.append(",\"horizontal_accuracy\":\(Int(location.horizontalAccuracy.rounded(.up)))}}")
    }

    /// Compact JSON.
    private struct Text {
        var bytes: [UInt8] = []

        mutating func append(_ text: String) { bytes += text.utf8 }

        mutating func append(json text: String) {
            bytes.append(JSONString.quote)
            JSONString.escape(text.utf8) { bytes.append($0) }
            bytes.append(JSONString.quote)
        }

        /// Elements with commas between them.
        mutating func appendList<Element>(_ elements: [Element], _ body: (inout Text, Element) throws -> Void) rethrows
        {
            for (index, element) in elements.enumerated() {
                if index > 0 { append(",") }
                try body(&self, element)
            }
        }

        mutating func append(positions: [Double]) {
            append("[")
            appendList(Array(stride(from: 0, to: positions.count, by: 2))) {
                $0.append(position: positions[$1], positions[$1 + 1])
            }
            append("]")
        }

        mutating func append(position longitude: Double, _ latitude: Double) {
            append("[")
            append(degrees: longitude)
            append(",")
            append(degrees: latitude)
            append("]")
        }

        /// Five decimals, without trailing zeros.
        private mutating func append(degrees: Double) {
            let scaled = Int((degrees * 100_000).rounded())
            if scaled < 0 { append("-") }
            var (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 100_000)
            append(String(whole))
            guard fraction > 0 else { return }
            append(".")
            var unit: UInt = 10_000
            while fraction > 0 {
                append(String(fraction / unit))
                (fraction, unit) = (fraction % unit, unit / 10)
            }
        }
    }
}
