import Hereabouts

/// Holds all reports, and hands them on device by device, in the order of the names that are written. Where each device's
/// clock is moved by a constant of its own, the order in which their fixes came would tell how these differ.
struct SortedSink: ReportSink, ~Copyable {
    let holdsReports = true
    private var sink: any ReportSink & ~Copyable
    /// The devices, and one before them for records that are of none.
    private var devices: [(key: [UInt8]?, kind: ReportKind)] = [(nil, .track)]
    /// The region of a blank record is `invalid`.
    private var held = HeldReports()
    private let hasBlankRecords: Bool

    /// - Parameter hasBlankRecords: whether the sink writes such.
    init(_ sink: consuming any ReportSink & ~Copyable, hasBlankRecords: Bool) {
        self.sink = sink
        self.hasBlankRecords = hasBlankRecords
    }

    mutating func setKeyName(_ name: [UInt8]) { sink.setKeyName(name) }

    mutating func addDevice(key: [UInt8]?, kind: ReportKind) { devices.append((key, kind)) }

    mutating func write(_ report: Report, to out: inout ByteBuffer) {
        held.append(Report(device: report.device + 1, region: report.region, time: report.time))
    }

    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) -> Bool {
        guard hasBlankRecords else { return false }
        held.append(Report(device: UInt32(device.map { $0 + 1 } ?? 0), region: .invalid, time: time))
        return true
    }

    mutating func finish(_ out: inout ByteBuffer, to output: borrowing OutputFile) throws(TraceError) {
        let groups = held.groups(devices: devices.count)
        let order = devices.indices.dropFirst().sorted { first, second in
            switch (devices[first].key, devices[second].key) {
            case (let first?, let second?): first.lexicographicallyPrecedes(second)
            default: first < second
            }
        }
        for number in order { sink.addDevice(key: devices[number].key, kind: devices[number].kind) }
        for (place, number) in ([0] + order).enumerated() {
            for report in groups.starts[number]..<groups.starts[number + 1] {
                let report = held[groups[report]]
                if report.region == .invalid {
                    _ = sink.writeBlank(device: place == 0 ? nil : place - 1, at: report.time, to: &out)
                } else {
                    sink.write(
                        Report(device: UInt32(place - 1), region: report.region, time: report.time), to: &out)
                }
                if out.count > 1 << 20, !sink.holdsReports { try output.write(&out) }
            }
        }
        try sink.finish(&out, to: output)
    }
}
