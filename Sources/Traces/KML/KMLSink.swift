import Hereabouts

extension TraceFormat {
    /// KML 2.0 to 2.3; written as 2.2.
    package static let kml = TraceFormat(
        name: "kml", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try reader.kind() == .kml },
        open: { (reader, options) throws(TraceError) in
            XMLInput(reader) { KMLContent($0, bounds: TimeBounds(options), zone: options.timeStyle.zone) }
        },
        makeSink: { KMLSink(atlas: $0, isPacked: false) })

    /// A zip archive of KML documents; written with one, `doc.kml`.
    package static let kmz = TraceFormat(
        name: "kmz", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try reader.startsLikeKMZ() },
        open: { (reader, options) throws(TraceError) in KMZInput(reader, options: options) },
        makeSink: { KMLSink(atlas: $0, isPacked: true) })
}

extension RegionForm {
    /// A Placemark up to its time.
    static let kmlStart = RegionForm { published, out in
        out.append("<Placemark><name>")
        if let place = unsafe published.place {
            out.append(published.placePrefix)
            // SAFETY: the atlas keeps the texts while it calls.
            unsafe out.append(xml: place)
        } else {
            out.append(published.region)
        }
        out.append("</name>")
    }

    /// A Placemark from behind its time on.
    static let kmlEnd = RegionForm { published, out in
        out.append("<ExtendedData><Data name=\"accuracy\"><value>")
        out.append(accuracyOf: published)
        out.append("</value></Data><Data name=\"region\"><value>")
        out.append(published.region)
        out.append("</value></Data><Data name=\"country\"><value>")
        // SAFETY: as above.
        unsafe out.append(xml: published.country)
        out.append("</value></Data>")
        if let place = unsafe published.place {
            out.append("<Data name=\"place\"><value>")
            out.append(published.placePrefix)
            unsafe out.append(xml: place)
            out.append("</value></Data>")
        }
        out.append("</ExtendedData><Point><coordinates>")
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.latitude)
        out.append("</coordinates></Point></Placemark>\n")
    }
}

/// Writes reports as Placemarks, those of a device, route or track in a Folder, which stands in one piece: so they are held
/// until the end (see `SpilledReports`).
struct KMLSink: ReportSink, ~Copyable {
    let holdsReports = true
    private let isPacked: Bool
    private let atlas: Atlas
    private var labels = DeviceLabels()
    private let held = SpilledReports()
    private var start, end: RegionTextWriter

    /// - Parameter isPacked: whether the document is written into an archive.
    init(atlas: Atlas, isPacked: Bool) {
        (self.isPacked, self.atlas) = (isPacked, atlas)
        start = RegionTextWriter(RegionTextCache(atlas: atlas, form: .kmlStart))
        end = RegionTextWriter(RegionTextCache(atlas: atlas, form: .kmlEnd))
    }

    /// Folders are named by their keys alone.
    func setKeyName(_ name: [UInt8]) {}

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        labels.add { number, label in
            label.append("<Folder><name>")
            if let key {
                label.append(xml: key)
            } else {
                switch kind {
                case .waypoint: label.append("waypoints")
                case .route: label.append("route ")
                case .track: label.append("track ")
                }
                if kind != .waypoint { label.append(text: String(number)) }
            }
            label.append("</name>\n")
        }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) { held.append(report) }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        guard isPacked else { return try writeDocument(&out) { (out) throws(TraceError) in try output.write(&out) } }
        let archive = ZipWriter(name: "doc.kml")
        try writeDocument(&out) { (out) throws(TraceError) in
            try archive.write(&out)
            try archive.takePacked { (packed) throws(TraceError) in try output.write(&packed) }
        }
        try archive.finish()
        try archive.takePacked { (packed) throws(TraceError) in try output.write(&packed) }
    }

    /// Hands the document over in parts, the last one included.
    private mutating func writeDocument(
        _ out: inout ByteBuffer, _ write: (inout ByteBuffer) throws(TraceError) -> Void
    ) throws(TraceError) {
        out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        out.append(commentNaming: atlas)
        out.append("<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n")
        var open: UInt32?
        try held.forEach { report throws(TraceError) in
            if open != report.device {
                if open != nil { out.append("</Folder>\n") }
                labels.append(Int(report.device), to: &out)
                open = report.device
            }
            append(report, to: &out)
            if out.count > 1 << 20 { try write(&out) }
        }
        if open != nil { out.append("</Folder>\n") }
        out.append("</Document>\n</kml>\n")
        try write(&out)
    }

    private mutating func append(_ report: Report, to out: inout ByteBuffer) {
        start.append(report.region, to: &out)
        if let time = report.time {
            out.append("<TimeStamp><when>")
            time.append(to: &out)
            out.append("</when></TimeStamp>")
        }
        end.append(report.region, to: &out)
    }
}
