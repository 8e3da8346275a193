import Hereabouts

extension TraceFormat {
    /// Tables with a header, and lines of two numbers; separated by comma, semicolon or tab.
    package static let csv = TraceFormat(
        name: "csv", hasBlankRecords: true, recognizes: nil,
        open: { (reader, options) throws(TraceError) in try CSVInput(reader, options: options) },
        openTable: { (reader, options) throws(TraceError) in try CSVInput(reader, options: options) },
        rowForm: .csv, makeSink: { CSVSink(atlas: $0) })
}

extension RegionForm {
    /// `latitude,longitude,horizontal_accuracy,region,country,place` and a line feed.
    static let csv = RegionForm { published, out in
        out.append(degrees: published.coordinate.latitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(accuracyOf: published)
        out.append(UInt8(ascii: ","))
        out.append(published.region)
        out.append(UInt8(ascii: ","))
        // SAFETY: the atlas keeps the texts while it calls.
        unsafe out.append(csv: published.country)
        out.append(UInt8(ascii: ","))
        if let place = unsafe published.place { unsafe out.append(csv: place, after: published.placePrefix) }
        out.append(10)
    }

    /// The names of the columns.
    static let csvHeader: StaticString = "latitude,longitude,horizontal_accuracy,region,country,place\n"
    /// The same, one by one.
    static let csvNames = Set("\(csvHeader)".dropLast().split(separator: ",").map(String.init))
    /// What stands for them where there is no reduced location.
    static let csvBlank: StaticString = ",,,,,\n"
}

/// Writes reports as the rows of a table: key, time and the reduced location.
struct CSVSink: ReportSink, ~Copyable {
    let holdsReports = false
    private var keyName = Array("track".utf8)
    private var labels = DeviceLabels()
    private var text: RegionTextWriter
    private var hasHeader = false

    init(atlas: Atlas) { text = RegionTextWriter(RegionTextCache(atlas: atlas, form: .csv)) }

    mutating func setKeyName(_ name: [UInt8]) { keyName = name }

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) {
        labels.add { number, label in
            label.append(csv: key ?? Array(String(number).utf8))
            label.append(UInt8(ascii: ","))
        }
    }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        if !hasHeader { writeHeader(&out) }
        labels.append(Int(report.device), to: &out)
        report.time?.append(to: &out)
        out.append(UInt8(ascii: ","))
        text.append(report.region, to: &out)
    }

    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) -> Bool {
        if !hasHeader { writeHeader(&out) }
        if let device { labels.append(device, to: &out) } else { out.append(UInt8(ascii: ",")) }
        time?.append(to: &out)
        out.append(UInt8(ascii: ","))
        out.append(RegionForm.csvBlank)
        return true
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        if !hasHeader { writeHeader(&out) }
        try output.write(&out)
    }

    private mutating func writeHeader(_ out: inout ByteBuffer) {
        hasHeader = true
        out.append(csv: keyName)
        out.append(",time,")
        out.append(RegionForm.csvHeader)
    }
}
