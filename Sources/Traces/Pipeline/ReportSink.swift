import Hereabouts

/// A reduced location of a device, as it is published.
struct Report {
    var device: UInt32
    var region: Region
    /// Nil where the fixes have no times.
    var time: Timestamp?
}

/// Writes reports in one format.
protocol ReportSink: ~Copyable {
    /// Whether reports are kept until the end.
    var holdsReports: Bool { get }

    /// Names the device column. To be called before the first device.
    mutating func setKeyName(_ name: [UInt8])

    /// Adds the next device: its key, or nil to number it from 1.
    mutating func addDevice(key: [UInt8]?, kind: ReportKind)

    /// Writes a report, or holds it.
    mutating func write(_ report: Report, to out: inout ByteBuffer)

    /// Writes a record without reduced location; false in a format that has no blank records.
    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) -> Bool

    /// Writes what is held, and the end.
    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError)
}

extension ReportSink where Self: ~Copyable {
    func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) -> Bool { false }
}

/// What a sink writes for each device, rendered once.
struct DeviceLabels: ~Copyable {
    /// The labels one after the other, padded for `append(short:)`, and where each starts.
    private var text = ByteBuffer(capacity: 1 << 12)
    private var starts = [0]

    /// Adds the label of the next device, numbered from 1.
    mutating func add(_ render: (_ number: Int, _ label: inout ByteBuffer) -> Void) {
        render(starts.count, &text)
        starts.append(text.count)
        text.reserve(ByteBuffer.shortStep)
    }

    /// Appends the label of a device, from 0.
    @inline(__always)
    func append(_ device: Int, to out: inout ByteBuffer) {
        let start = starts[device], length = starts[device + 1] - start
        // SAFETY: labels lie within the padded buffer.
        unsafe text.withBytes { bytes in unsafe out.append(short: bytes.baseAddress! + start, count: length) }
    }
}
