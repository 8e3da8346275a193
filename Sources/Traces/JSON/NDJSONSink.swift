import Hereabouts

extension RegionForm {
    /// The members of a reduced location, those of an object that was begun, to the line's end. Named as a table's columns.
    static let ndjson = RegionForm { published, out in
        out.append("\"latitude\":")
        out.append(degrees: published.coordinate.latitude)
        out.append(",\"longitude\":")
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(jsonMembersOf: published)
        out.append("}\n")
    }

    /// What stands for them where there is no reduced location.
    static let ndjsonBlank: StaticString = """
        "latitude":null,"longitude":null,"horizontal_accuracy":null,"region":null,"country":null,"place":null}

        """
}

extension ByteBuffer {
    /// Appends the members of a reduced location but its center, without braces.
    mutating func append(jsonMembersOf published: Atlas.Published) {
        append("\"horizontal_accuracy\":")
        append(accuracyOf: published)
        append(",\"region\":\"")
        append(published.region)
        append("\",\"country\":")
        // SAFETY: the atlas keeps the texts while it calls.
        unsafe append(json: published.country)
        append(",\"place\":")
        if let place = unsafe published.place {
            unsafe append(json: place, after: published.placePrefix)
        } else {
            append("null")
        }
    }

    /// Lines of JSON are padded to multiples of so many bytes, as lengths tell 2.3 to 3.4 bits of a region.
    mutating func padJSONLine(from start: Int) { padLine(from: start, to: 256) }
}

/// Writes reports as JSON objects, one on each line: key, time and the reduced location.
struct NDJSONSink: ReportSink, ~Copyable {
    let holdsReports = false
    private var keyName = Array("track".utf8)
    private var labels = DeviceLabels()
    private var text: RegionTextWriter

    private let isPadded: Bool

    init(atlas: Atlas, isPadded: Bool) {
        text = RegionTextWriter(RegionTextCache(atlas: atlas, form: .ndjson))
        self.isPadded = isPadded
    }

    mutating func setKeyName(_ name: [UInt8]) { keyName = name }

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        labels.add { number, label in
            label.append(UInt8(ascii: "{"))
            label.append(json: keyName)
            label.append(UInt8(ascii: ":"))
            if let key { label.append(json: key) } else { label.append(text: String(number)) }
        }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        let start = out.count
        labels.append(Int(report.device), to: &out)
        Self.append(report.time, to: &out)
        text.append(report.region, to: &out)
        if isPadded { out.padJSONLine(from: start) }
    }

    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) -> Bool {
        let start = out.count
        if let device {
            labels.append(device, to: &out)
        } else {
            out.append(UInt8(ascii: "{"))
            out.append(json: keyName)
            out.append(":null")
        }
        Self.append(time, to: &out)
        out.append(RegionForm.ndjsonBlank)
        if isPadded { out.padJSONLine(from: start) }
        return true
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        try output.write(&out)
    }

    private static func append(_ time: Timestamp?, to out: inout ByteBuffer) {
        out.append(",\"time\":")
        if let time {
            out.append(UInt8(ascii: "\""))
            time.append(to: &out)
            out.append("\",")
        } else {
            out.append("null,")
        }
    }
}
