import Hereabouts

extension TraceFormat {
    /// GPX 1.0 and 1.1; written as 1.1.
    package static let gpx = TraceFormat(
        name: "gpx", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            guard try reader.startsLikeXML() else { return false }
            // Its reader says what is wrong with any other document.
            return switch try reader.kind() {
            case .kml, .tcx, .html: false
            default: true
            }
        },
        open: { (reader, options) throws(TraceError) in
            XMLInput(reader) { GPXContent($0, bounds: TimeBounds(options), zone: options.timeStyle.zone) }
        },
        makeSink: { GPXSink(atlas: $0) })
}

extension RegionForm {
    /// ` lat="…" lon="…">`, the end of a point's start tag.
    static let gpxPosition = RegionForm { published, out in
        out.append(" lat=\"")
        out.append(degrees: published.coordinate.latitude)
        out.append("\" lon=\"")
        out.append(degrees: published.coordinate.longitude)
        out.append("\">")
    }

    /// A point's extensions.
    static let gpxExtensions = RegionForm { published, out in
        out.append("<extensions><h:accuracy>")
        out.append(accuracyOf: published)
        out.append("</h:accuracy><h:region>")
        out.append(published.region)
        out.append("</h:region><h:country>")
        // SAFETY: the atlas keeps the texts while it calls.
        unsafe out.append(xml: published.country)
        out.append("</h:country>")
        if let place = unsafe published.place {
            out.append("<h:place>")
            out.append(published.placePrefix)
            unsafe out.append(xml: place)
            out.append("</h:place>")
        }
        out.append("</extensions>")
    }
}

/// Writes reports as waypoints, routes and tracks. GPX wants its bounds first and each track in one piece, so that reports
/// are held until the end (see `SpilledReports`).
struct GPXSink: ReportSink, ~Copyable {
    /// The namespace of our elements within a point's `extensions`: `accuracy` (meters), `region`, `country`, `place`.
    static let namespace: StaticString = "urn:hereabouts:gpx:1"

    let holdsReports = true
    private let atlas: Atlas
    private var labels = DeviceLabels()
    private var kinds: [ReportKind] = []
    private let held = SpilledReports()
    private var bounds = Bounds()
    private var position, extensions: RegionTextWriter

    init(atlas: Atlas) {
        self.atlas = atlas
        position = RegionTextWriter(RegionTextCache(atlas: atlas, form: .gpxPosition))
        extensions = RegionTextWriter(RegionTextCache(atlas: atlas, form: .gpxExtensions))
    }

    /// Tracks are named by their keys alone.
    func setKeyName(_ name: [UInt8]) {}

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        kinds.append(kind)
        labels.add { number, label in
            label.append(key == nil ? "<number>" : "<name>")
            label.append(xml: key ?? Array(String(number).utf8))
            label.append(key == nil ? "</number>" : "</name>")
        }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        bounds.add(report.region, in: atlas)
        held.append(report)
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        appendStart(&out)
        try writeHeld(&out, to: output)
        try output.write(&out)
    }

    /// The document's start, with the bounds of what follows.
    private func appendStart(_ out: inout ByteBuffer) {
        out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        out.append(commentNaming: atlas)
        out.append("<gpx version=\"1.1\" creator=\"hereabouts\"")
        out.append(" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:h=\"")
        out.append(Self.namespace)
        out.append("\">\n")
        guard !held.isEmpty else { return }
        out.append("<metadata><bounds minlat=\"")
        out.append(degrees: bounds.south)
        out.append("\" minlon=\"")
        out.append(degrees: bounds.west)
        out.append("\" maxlat=\"")
        out.append(degrees: bounds.north)
        out.append("\" maxlon=\"")
        out.append(degrees: bounds.east)
        out.append("\"/></metadata>\n")
    }

    /// The held reports by device: waypoints, then routes, then tracks, as the schema orders them.
    private mutating func writeHeld(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        for kind in [ReportKind.waypoint, .route, .track] where kinds.contains(kind) {
            var open: UInt32?
            try held.forEach(where: { kinds[$0] == kind }) { report throws(TraceError) in
                if open != report.device {
                    if open != nil { appendClosing(kind: kind, to: &out) }
                    appendOpening(of: Int(report.device), kind: kind, to: &out)
                    open = report.device
                }
                appendPoint(report, kind: kind, to: &out)
                if out.count > 1 << 20 { try output.write(&out) }
            }
            if open != nil { appendClosing(kind: kind, to: &out) }
        }
        out.append("</gpx>\n")
    }

    private func appendOpening(of device: Int, kind: ReportKind, to out: inout ByteBuffer) {
        guard kind != .waypoint else { return }
        out.append(kind == .route ? "<rte>" : "<trk>")
        labels.append(device, to: &out)
        out.append(kind == .route ? "\n" : "<trkseg>\n")
    }

    private func appendClosing(kind: ReportKind, to out: inout ByteBuffer) {
        switch kind {
        case .waypoint: break
        case .route: out.append("</rte>\n")
        case .track: out.append("</trkseg></trk>\n")
        }
    }

    private mutating func appendPoint(_ report: Report, kind: ReportKind, to out: inout ByteBuffer) {
        out.append(kind == .waypoint ? "<wpt" : kind == .route ? "<rtept" : "<trkpt")
        position.append(report.region, to: &out)
        if let time = report.time {
            out.append("<time>")
            time.append(to: &out)
            out.append("</time>")
        }
        extensions.append(report.region, to: &out)
        out.append(kind == .waypoint ? "</wpt>\n" : kind == .route ? "</rtept>\n" : "</trkpt>\n")
    }

    /// What the centers of all regions lie within, in degrees.
    private struct Bounds {
        private(set) var south = Double.infinity, north = -Double.infinity
        private(set) var west = Double.infinity, east = -Double.infinity
        private var last = Region.invalid

        mutating func add(_ region: Region, in atlas: Atlas) {
            guard region != last else { return }
            last = region
            let center = atlas.center(of: region)
            (south, north) = (min(south, center.latitude), max(north, center.latitude))
            (west, east) = (min(west, center.longitude), max(east, center.longitude))
        }
    }
}
