import Hereabouts

/// Which of a device's fixes give a report.
package enum Emission: String, CaseIterable, Sendable {
    /// Those that change the answer (contract C10).
    case changes
    /// Those for which the answer was computed anew, changed or not.
    case recomputations
    /// All of them, each with its own time and the answer that stands.
    case fixes
}

/// Paces the fixes of many devices and writes their reports.
struct FixReducer: ~Copyable {
    private struct Device {
        var pacer: Pacer
        /// Whether a fix with a time has come. Until then the device is untimed.
        var isTimed = false
        /// Fixes without time so far.
        var untimed: Int64 = 0
        /// The last answer.
        var standing: Region?
    }

    private let atlas: Atlas
    private let interval: Duration
    private let intervalNanoseconds: Int64
    private let emission: Emission
    private var devices: [Device] = []
    var writer: ReportWriter
    /// Fixes that were answered, paced ones included.
    private(set) var fixes = 0

    /// How many devices there are.
    var deviceCount: Int { devices.count }

    init(atlas: Atlas, format: ReportFormat, interval: Duration, emission: Emission) {
        self.atlas = atlas
        self.interval = interval
        self.emission = emission
        intervalNanoseconds = interval.components.seconds * 1_000_000_000
        writer = ReportWriter(atlas: atlas, format: format)
    }

    /// Adds the next device, and returns its number: its key, or nil to number it.
    mutating func addDevice(key: [UInt8]?, kind: ReportKind) -> Int {
        devices.append(Device(pacer: Pacer(interval: interval)))
        writer.addDevice(key: key, kind: kind)
        return devices.count - 1
    }

    /// How a fix was taken.
    enum Outcome {
        case taken
        /// Taken; and it is the device's second without a time, so that the order of its regions comes out.
        case takenUntimed
        case bad(RecordProblem.Reason)
    }

    /// Takes a device's next fix, and writes the report it gives, if it gives one.
    @inline(__always)
    mutating func take(
        _ coordinate: Coordinate, at time: Instant?, horizontalAccuracy: Double?, of device: Int,
        to out: inout ByteBuffer
    ) -> Outcome {
        guard let time else {
            return takeUntimed(coordinate, horizontalAccuracy: horizontalAccuracy, of: device, to: &out)
        }
        if !devices[device].isTimed {
            devices[device].isTimed = true
            devices[device].pacer = Pacer(interval: interval)
        }
        let fix = Fix(coordinate: coordinate, time: time, horizontalAccuracy: horizontalAccuracy)
        return report(fix, published: time, of: device, to: &out) ?? .taken
    }

    /// A fix without a time is answered as if an interval had passed: there is nothing to pace by, but the answer is
    /// as steady at a region's edge as any (contract C11).
    @inline(never)
    private mutating func takeUntimed(
        _ coordinate: Coordinate, horizontalAccuracy: Double?, of device: Int, to out: inout ByteBuffer
    ) -> Outcome {
        guard !devices[device].isTimed else { return .bad(.timeMissing) }
        let (nanoseconds, overflow) = devices[device].untimed.multipliedReportingOverflow(by: intervalNanoseconds)
        if overflow {
            // More fixes than intervals between 1970 and 2262: begin anew.
            devices[device].untimed = 0
            devices[device].pacer = Pacer(interval: interval)
        }
        let fix = Fix(
            coordinate: coordinate, time: Instant(nanosecondsSince1970: overflow ? 0 : nanoseconds),
            horizontalAccuracy: horizontalAccuracy)
        if let problem = report(fix, published: nil, of: device, to: &out) { return problem }
        devices[device].untimed += 1
        return devices[device].untimed == 2 ? .takenUntimed : .taken
    }

    /// Nil where all went well.
    @inline(__always)
    private mutating func report(
        _ fix: Fix, published time: Instant?, of device: Int, to out: inout ByteBuffer
    ) -> Outcome? {
        let decision: Pacer.Decision
        do throws(CoordinateError) {
            decision = try devices[device].pacer.report(fix, in: atlas)
        } catch {
            return .bad(error == .latitudeOutOfRange ? .latitudeOutOfRange : .longitudeNotFinite)
        }
        fixes += 1
        let last = devices[device].standing
        switch decision {
        case .new(let region), .unchanged(let region):
            devices[device].standing = region
            if emission == .changes && region == last { return nil }
        case .paced:
            if emission != .fixes { return nil }
        }
        guard let region = devices[device].standing else { return nil }
        writer.write(Report(device: UInt32(device), region: region, time: time), to: &out)
        return nil
    }
}
