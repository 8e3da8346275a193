import TextCoding

/// Reads borders from GeoJSON (RFC 7946): one FeatureCollection, or features one after another, with or without the
/// record separators of RFC 8142, or any mixture. Geometry is Polygon or MultiPolygon in WGS 84, heights ignored.
/// Properties: a code, perhaps a `name`, and perhaps a whole number `rank` (0 without) that settles overlaps.
///
/// Repairs (each a warning): a ring that is not closed is closed; a polygon that crosses itself becomes what its rings
/// enclose an odd number of times; a polygon without area is left out. All else that is wrong stops the reading.
package struct BordersReader {
    /// The file, as the user named it.
    package let path: String
    /// The property that holds the code; nil for the first of `defaultCodeProperties` that the first feature has.
    package let codeProperty: String?

    /// Where codes are looked for, in this order and whatever the case of letters; `id` is also the feature's own.
    package static let defaultCodeProperties = ["code", "ISO3166-1-Alpha-2", "iso_a2", "id", "name"]

    /// Prepares to read a file.
    package init(path: String, codeProperty: String? = nil) {
        self.path = path
        self.codeProperty = codeProperty
    }

    /// Reads the file. O(n log n) time, memory for the file and 16 bytes a vertex. The check for crossings uses
    /// `workers` threads; the result does not depend on how many.
    /// - Throws: `InputError.unreadable`, `.badJSON`, `.badFeature`.
    package func read(workers: Int = 2) throws(InputError) -> Borders {
        let bytes = try InputFile.contents(of: path)
        var parser = BordersParser(bytes, codeProperty: codeProperty)
        do throws(JSONScanner.Failure) {
            try parser.parse()
        } catch {
            let line = 1 + bytes[..<min(error.offset, bytes.count)].count { $0 == UInt8(ascii: "\n") }
            throw .badJSON(file: path, line: line, byte: error.offset, error.problem)
        }
        if let (index, feature) = parser.features.enumerated().first(where: { $0.element.problem != nil }),
            let problem = feature.problem
        {
            throw .badFeature(file: path, index: index + 1, code: feature.code, problem)
        }
        return try BordersRepair(path: path, features: parser.features).run(workers: workers)
    }
}
