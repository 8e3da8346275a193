import Hereabouts

/// What an output file of `convert` is.
package enum ReportFormat: String, CaseIterable, Sendable {
    /// GPX 1.1.
    case gpx
    /// CSV with a header.
    case csv
    /// A GeoJSON FeatureCollection of points.
    case geojson
}

/// What a device's fixes were in the input, and its reports are in a GPX output.
enum ReportKind: UInt8 {
    case waypoint, route, track
}

/// A reduced location of a device, as it is published.
struct Report {
    var device: UInt32
    var region: Region
    /// Nil where the fixes have no times.
    var time: Timestamp?
}

/// Writes reports in one of the formats.
///
/// CSV and GeoJSON go out report by report. GPX wants its bounds first and each track in one piece, so its reports are
/// held until the end.
struct ReportWriter: ~Copyable {
    /// The namespace of our elements within a GPX point's `extensions`: `accuracy` (meters), `region`, `country`,
    /// `place`.
    static let gpxNamespace: StaticString = "urn:hereabouts:gpx:1"

    private let atlas: Atlas
    private let format: ReportFormat
    /// The name of the device column or property.
    private var keyName: [UInt8] = Array("track".utf8)
    private var text: RegionText
    private var extensions: RegionText
    /// Each device's key as it stands in the output, one after the other, and where each starts.
    private var labels = ByteBuffer(capacity: 1 << 12)
    private var labelStarts = [0]
    private var kinds: [ReportKind] = []
    private var held = HeldReports()
    private var hasStarted = false
    /// Reports written or held.
    private(set) var written = 0

    init(atlas: Atlas, format: ReportFormat) {
        self.atlas = atlas
        self.format = format
        let form: RegionForm =
            switch format {
            case .csv: .csv
            case .geojson: .geoJSON
            case .gpx: .gpxPosition
            }
        text = RegionText(RegionTexts(atlas: atlas, form: form))
        extensions = RegionText(RegionTexts(atlas: atlas, form: .gpxExtensions))
    }

    /// Whether reports are kept until the end.
    var holdsReports: Bool { format == .gpx }

    /// Names the device column. To be called before the first device.
    mutating func setKeyName(_ name: String) { keyName = Array(name.utf8) }

    /// Adds the next device: its key, or nil to number it.
    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        kinds.append(kind)
        let number = Array(String(kinds.count).utf8)
        switch format {
        case .csv:
            labels.append(csv: key ?? number)
            labels.append(UInt8(ascii: ","))
        case .geojson:
            labels.append(json: keyName)
            labels.append(UInt8(ascii: ":"))
            if let key { labels.append(json: key) } else { labels.append(text: String(kinds.count)) }
        case .gpx:
            labels.append(key == nil ? "<number>" : "<name>")
            labels.append(xml: key ?? number)
            labels.append(key == nil ? "</number>" : "</name>")
        }
        labelStarts.append(labels.count)
        labels.reserve(ByteBuffer.shortStep)
    }

    /// Writes a report, or holds it.
    @inline(__always)
    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        written += 1
        switch format {
        case .gpx: held.append(report)
        case .csv:
            if !hasStarted { start(&out) }
            appendLabel(Int(report.device), to: &out)
            report.time?.append(to: &out)
            out.append(UInt8(ascii: ","))
            text.append(report.region, to: &out)
        case .geojson:
            if hasStarted { out.append(",\n") } else { start(&out) }
            text.append(report.region, to: &out)
            appendLabel(Int(report.device), to: &out)
            out.append(",\"time\":")
            if let time = report.time {
                out.append(UInt8(ascii: "\""))
                time.append(to: &out)
                out.append("\"}}")
            } else {
                out.append("null}}")
            }
        }
    }

    /// Writes a record without reduced location, which only CSV has.
    mutating func writeBlank(device: Int?, to out: inout ByteBuffer) {
        precondition(format == .csv, "only a table has blank records")
        if !hasStarted { start(&out) }
        if let device { appendLabel(device, to: &out) } else { out.append(UInt8(ascii: ",")) }
        out.append(UInt8(ascii: ","))
        out.append(RegionForm.csvBlank)
        written += 1
    }

    /// Writes what is held, and the end.
    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        if !hasStarted { start(&out) }
        switch format {
        case .csv: break
        case .geojson: out.append(written > 0 ? "\n]}\n" : "]}\n")
        case .gpx: try writeHeld(&out, to: output)
        }
        try output.write(&out)
    }

    private mutating func start(_ out: inout ByteBuffer) {
        hasStarted = true
        switch format {
        case .csv:
            out.append(csv: keyName)
            out.append(",time,")
            out.append(RegionForm.csvHeader)
        case .geojson: out.append("{\"type\":\"FeatureCollection\",\"features\":[\n")
        case .gpx: appendGPXStart(&out)
        }
    }

    @inline(__always)
    private func appendLabel(_ device: Int, to out: inout ByteBuffer) {
        let start = labelStarts[device]
        let length = labelStarts[device + 1] - start
        // SAFETY: labels lie within the buffer, which is padded for `append(short:)`.
        unsafe labels.withBytes { bytes in
            unsafe out.append(short: bytes.baseAddress! + start, count: length)
        }
    }
}

extension ReportWriter {
    /// The document's start, with the bounds of what follows.
    private func appendGPXStart(_ out: inout ByteBuffer) {
        out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"hereabouts\"")
        out.append(" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:h=\"")
        out.append(Self.gpxNamespace)
        out.append("\">\n")
        guard held.count > 0 else { return }
        var (south, north) = (Double.infinity, -Double.infinity)
        var (west, east) = (Double.infinity, -Double.infinity)
        var last = Region.invalid
        for number in 0..<held.count {
            let region = held[number].region
            guard region != last else { continue }
            last = region
            let center = atlas.center(of: last)
            (south, north) = (min(south, center.latitude), max(north, center.latitude))
            (west, east) = (min(west, center.longitude), max(east, center.longitude))
        }
        out.append("<metadata><bounds minlat=\"")
        out.append(degrees: south)
        out.append("\" minlon=\"")
        out.append(degrees: west)
        out.append("\" maxlat=\"")
        out.append(degrees: north)
        out.append("\" maxlon=\"")
        out.append(degrees: east)
        out.append("\"/></metadata>\n")
    }

    /// The held reports by device: waypoints, then routes, then tracks, as the schema orders them.
    private mutating func writeHeld(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        let groups = held.groups(devices: kinds.count)
        for kind in [ReportKind.waypoint, .route, .track] {
            for device in kinds.indices where kinds[device] == kind {
                let range = groups.starts[device]..<groups.starts[device + 1]
                guard !range.isEmpty else { continue }
                appendOpening(of: device, kind: kind, to: &out)
                for place in range {
                    appendPoint(held[groups[place]], kind: kind, to: &out)
                    if out.count > 1 << 20 { try output.write(&out) }
                }
                appendClosing(kind: kind, to: &out)
            }
        }
        out.append("</gpx>\n")
    }

    private func appendOpening(of device: Int, kind: ReportKind, to out: inout ByteBuffer) {
        guard kind != .waypoint else { return }
        out.append(kind == .route ? "<rte>" : "<trk>")
        appendLabel(device, to: &out)
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
        text.append(report.region, to: &out)
        if let time = report.time {
            out.append("<time>")
            time.append(to: &out)
            out.append("</time>")
        }
        extensions.append(report.region, to: &out)
        out.append(kind == .waypoint ? "</wpt>\n" : kind == .route ? "</rtept>\n" : "</trkpt>\n")
    }
}
