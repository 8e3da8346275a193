import Hereabouts

extension TraceFormat {
    /// GeoJSON (RFC 7946): features with points or lines, in a collection or one after the other; written as a collection
    /// of points.
    package static let geojson = TraceFormat(
        name: "geojson", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try reader.kindOfJSON() == .geoJSON },
        open: { (reader, options) throws(TraceError) in try GeoJSONInput(reader, options: options) },
        openTable: { (reader, options) throws(TraceError) in
            let input = try GeoJSONInput(reader, options: options.ofFixes, keep: options.keep)
            return FixRows(input, members: input.keptFields)
        },
        rowForm: .geojson, makeSink: { GeoJSONSink(atlas: $0) })
}

extension RegionForm {
    /// A feature up to its last property of fixed name, with a comma.
    static let geoJSON = RegionForm { published, out in
        out.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.latitude)
        out.append("]},\"properties\":{")
        out.append(jsonMembersOf: published)
        out.append(UInt8(ascii: ","))
    }
}

extension RegionForm {
    /// The last properties of a feature whose others are there, and its geometry.
    static let geoJSONRow = RegionForm { published, out in
        out.append(jsonMembersOf: published)
        out.append("},\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.latitude)
        out.append("]}}")
    }

    /// What stands for them where there is no reduced location: an unlocated feature (RFC 7946, section 3.2).
    static let geoJSONRowBlank: StaticString = """
        "horizontal_accuracy":null,"region":null,"country":null,"place":null},"geometry":null}
        """
}

/// Writes reports as the features of a collection.
struct GeoJSONSink: ReportSink, ~Copyable {
    let holdsReports = false
    private var keyName = Array("track".utf8)
    private var labels = DeviceLabels()
    private var text: RegionTextWriter
    private var hasStarted = false
    private var hasFeatures = false

    private let atlas: Atlas

    init(atlas: Atlas) {
        self.atlas = atlas
        text = RegionTextWriter(RegionTextCache(atlas: atlas, form: .geoJSON))
    }

    mutating func setKeyName(_ name: [UInt8]) { keyName = name }

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        labels.add { number, label in
            label.append(json: keyName)
            label.append(UInt8(ascii: ":"))
            if let key { label.append(json: key) } else { label.append(text: String(number)) }
        }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        if hasFeatures { out.append(",\n") } else { start(&out) }
        hasFeatures = true
        text.append(report.region, to: &out)
        labels.append(Int(report.device), to: &out)
        out.append(",\"time\":")
        if let time = report.time {
            out.append(UInt8(ascii: "\""))
            time.append(to: &out)
            out.append("\"}}")
        } else {
            out.append("null}}")
        }
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        if !hasStarted { start(&out) }
        out.append(hasFeatures ? "\n]}\n" : "]}\n")
        try output.write(&out)
    }

    private mutating func start(_ out: inout ByteBuffer) {
        hasStarted = true
        out.append(collectionNaming: atlas)
        out.append(10)
    }
}
