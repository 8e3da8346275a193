/// A datum on which positions are up to hundreds of meters from where WGS 84 has them, enough for another region.
package struct Datum: Hashable, Sendable {
    /// The EPSG code of its geographic system; nil where there is none.
    let code: Int?

    /// Names of a column that says which datum positions are on, without what is no letter.
    private static let columnNames: Set = [
        "datum", "geodeticdatum", "horizontaldatum", "gpsdatum", "gpsmapdatum", "mapdatum", "coordinatedatum",
    ]

    /// Names of datums, without what is neither letter nor digit, and the codes of their systems.
    private static let codes = [
        "nad27": 4267, "nad1927": 4267, "northamericandatum1927": 4267, "northamerican1927": 4267,
        "ed50": 4230, "ed1950": 4230, "europeandatum1950": 4230, "european1950": 4230,
        "tokyo": 4301, "tokyodatum": 4301, "osgb36": 4277, "osgb1936": 4277, "pulkovo1942": 4284, "sk42": 4284,
        "agd66": 4202, "agd1966": 4202, "australiangeodetic1966": 4202, "agd84": 4203, "agd1984": 4203,
        "psad56": 4248, "sad69": 4618, "arc1950": 4209, "arc1960": 4210, "cape": 4222, "nzgd49": 4272,
        "ch1903": 4149, "amersfoort": 4289, "ntf": 4275, "mgi": 4312, "dhdn": 4314, "hongkong1980": 4611,
    ]
    /// Names of those that no system of EPSG is on.
    private static let uncoded: Set = ["gcj02", "bd09"]

    private static func characters(_ text: some Sequence<UInt8>, digits: Bool) -> String {
        let kept = text.lazy.map { (65...90).contains($0) ? $0 + 32 : $0 }.filter {
            (97...122).contains($0) || digits && (48...57).contains($0)
        }
        return String(decoding: Array(kept), as: UTF8.self)
    }

    /// The datum that a text names, by itself or by its system (`EPSG:4267`); nil of WGS 84 and those that nearly are, and
    /// of what says nothing.
    private static func named(_ text: UnsafeBufferPointer<UInt8>) -> Datum? {
        guard text.count <= 64 else { return nil }
        let name = unsafe characters(text, digits: true)
        if uncoded.contains(name) { return Datum(code: nil) }
        let number = name.hasPrefix("epsg") ? Int(name.dropFirst(4)) : nil
        guard let code = codes[name] ?? number, codes.values.contains(code) else { return nil }
        return Datum(code: code)
    }

    /// - Parameter reference: the system that options name: then what records say does not matter.
    /// - Throws: `otherDatum` where one of the first records says another datum than WGS 84.
    static func requireWGS84(
        _ header: CSVHeader, _ sample: (any RecordSample)?, reference: CoordinateReference?, file: String
    ) throws(TraceError) {
        guard let sample, reference == nil else { return }
        for column in header.names.indices {
            let letters = characters(JSONMembers.lastName(header.names[column]).utf8, digits: false)
            guard columnNames.contains(letters) else { continue }
            for record in 0..<sample.count {
                let datum: Datum? = unsafe sample.withField(record, column) { unsafe named($0) }
                if let datum { throw .otherDatum(file: file, name: header.names[column], datum) }
            }
        }
    }
}
