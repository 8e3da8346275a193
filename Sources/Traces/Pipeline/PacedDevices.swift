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

/// The devices of a run with their pacers, and where their reports go.
struct PacedDevices: ~Copyable {
    private struct Device {
        var pacer: Pacer
        /// Fixes without time so far; negative once one with a time has come.
        var untimed: Int64 = 0
        /// The region of the last report.
        var published = Region.invalid
    }

    private let atlas: Atlas
    private let interval: Duration
    let intervalNanoseconds: Int64
    private let emission: Emission
    private var devices: [Device] = []
    var sink: any ReportSink & ~Copyable
    /// Reports written or held.
    private(set) var written = 0

    /// How many devices there are.
    var count: Int { devices.count }

    init(atlas: Atlas, sink: consuming any ReportSink & ~Copyable, interval: Duration, emission: Emission) {
        self.atlas = atlas
        self.sink = sink
        self.interval = interval
        self.emission = emission
        intervalNanoseconds = Pacer.nanoseconds(in: interval)
    }

    /// Adds the next device, and returns its number: its key, or nil to number it.
    mutating func add(key: [UInt8]?, kind: ReportKind) -> Int {
        devices.append(Device(pacer: Pacer(interval: interval)))
        sink.addDevice(key: key, kind: kind)
        return devices.count - 1
    }

    /// Has a new device go on where the one with this state left off.
    mutating func restore(_ state: Pacer.State, as device: Int) {
        devices[device].untimed = -1
        devices[device].pacer = Pacer(interval: interval, state: state, inValid: atlas)
        devices[device].published = devices[device].pacer.region ?? .invalid
    }

    /// What to keep of a device over a restart; nil of one without times, which has no pace.
    func state(of device: Int) -> Pacer.State? {
        devices[device].untimed < 0 ? devices[device].pacer.state(in: atlas) : nil
    }

    /// Writes the report of an answer as it was when it was given.
    mutating func report(_ state: Pacer.State, of device: Int, to out: inout ByteBuffer) {
        guard let region = state.region.flatMap({ atlas.region($0) }) else { return }
        devices[device].published = region
        write(Report(device: UInt32(device), region: region, time: state.lastRecomputation), to: &out)
    }

    @inline(__always)
    private mutating func write(_ report: Report, to out: inout ByteBuffer) {
        written += 1
        sink.write(report, to: &out)
    }

    /// Writes a record without reduced location.
    mutating func writeBlank(device: Int?, to out: inout ByteBuffer) {
        written += 1
        sink.writeBlank(device: device, to: &out)
    }

    /// The answer that stands for a device.
    func region(of device: Int) -> Region? { devices[device].pacer.region }

    /// What became of a fix.
    enum Outcome {
        /// Taken; the answer was computed anew, or not.
        case taken(recomputed: Bool)
        /// Taken; and it is the device's second without a time, so that the order of its regions comes out.
        case takenUntimed
        case bad(RecordProblem.Reason)
    }

    /// Takes a device's next fix, and writes the report it gives, if it gives one.
    ///
    /// - Parameter earlier: where this is the device's first fix with a time, the device whose pace it keeps and whose
    ///   answer stands until its own comes.
    @inline(__always)
    mutating func take(
        _ coordinate: Coordinate, at time: Timestamp?, horizontalAccuracy: Double?, of device: Int,
        after earlier: Int? = nil, to out: inout ByteBuffer
    ) -> Outcome {
        guard let time else {
            return takeUntimed(coordinate, horizontalAccuracy: horizontalAccuracy, of: device, to: &out)
        }
        if devices[device].untimed >= 0 {
            devices[device].untimed = -1
            devices[device].pacer = Pacer(interval: interval)
            if let earlier { devices[device].pacer = devices[earlier].pacer }
        }
        let fix = Fix(coordinate: coordinate, time: time, horizontalAccuracy: horizontalAccuracy)
        return report(fix, published: time, of: device, to: &out)
    }

    /// Takes a fix that is to be answered, at the pace of `earlier`, if there is one.
    mutating func takeAnew(_ fix: Fix, of device: Int, after earlier: Int?, to out: inout ByteBuffer) -> Outcome {
        devices[device].untimed = -1
        devices[device].pacer = earlier.map { devices[$0].pacer } ?? Pacer(interval: interval)
        return report(fix, published: fix.time, of: device, to: &out)
    }

    /// Takes a fix for which an answer stands that was another device's, or none at all.
    mutating func take(
        _ coordinate: Coordinate, standing region: Region?, at time: Timestamp, of device: Int, to out: inout ByteBuffer
    ) -> Outcome {
        do throws(CoordinateError) { _ = try atlas.snap(coordinate) } catch { return .bad(RecordProblem.Reason(error)) }
        if let region { publish(region, at: time, of: device, recomputed: false, to: &out) }
        return .taken(recomputed: false)
    }

    /// A fix without a time is answered as if an interval had passed: there is nothing to pace by, but the answer is
    /// as steady at a region's edge as any (contract C11).
    @inline(never)
    private mutating func takeUntimed(
        _ coordinate: Coordinate, horizontalAccuracy: Double?, of device: Int, to out: inout ByteBuffer
    ) -> Outcome {
        guard devices[device].untimed >= 0 else { return .bad(.timeMissing) }
        let (nanoseconds, overflow) = devices[device].untimed.multipliedReportingOverflow(by: intervalNanoseconds)
        if overflow {
            // More fixes than intervals between 1970 and 2262: begin anew.
            devices[device].untimed = 0
            devices[device].pacer = Pacer(interval: interval)
        }
        let fix = Fix(
            coordinate: coordinate, time: Timestamp(nanosecondsSince1970: overflow ? 0 : nanoseconds),
            horizontalAccuracy: horizontalAccuracy)
        let outcome = report(fix, published: nil, of: device, to: &out)
        if case .bad = outcome { return outcome }
        devices[device].untimed += 1
        return devices[device].untimed == 2 ? .takenUntimed : outcome
    }

    @inline(__always)
    private mutating func report(
        _ fix: Fix, published time: Timestamp?, of device: Int, to out: inout ByteBuffer
    ) -> Outcome {
        let decision: Pacer.Decision
        do throws(CoordinateError) {
            decision = try devices[device].pacer.report(fix, inValid: atlas)
        } catch {
            return .bad(RecordProblem.Reason(error))
        }
        var recomputed = true
        if case .paced = decision { recomputed = false }
        if let region = devices[device].pacer.region {
            publish(region, at: time, of: device, recomputed: recomputed, to: &out)
        }
        return .taken(recomputed: recomputed)
    }

    /// Writes the report of a device's fix for which `region` is the answer, if it is to give one.
    @inline(__always)
    mutating func publish(
        _ region: Region, at time: Timestamp?, of device: Int, recomputed: Bool, to out: inout ByteBuffer
    ) {
        switch emission {
        case .changes: if region == devices[device].published { return }
        case .recomputations: if !recomputed { return }
        case .fixes: break
        }
        devices[device].published = region
        write(Report(device: UInt32(device), region: region, time: time), to: &out)
    }
}

extension RecordProblem.Reason {
    init(_ error: CoordinateError) {
        self = error == .latitudeOutOfRange ? .latitudeOutOfRange : .longitudeNotFinite
    }
}
