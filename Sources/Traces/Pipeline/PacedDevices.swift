import Hereabouts

/// What is reported of a device (contract C10).
package enum Emission: String, CaseIterable, Sendable {
    /// The answers that differ from the last, each with its tick.
    case changes
    /// The answer of every tick that had a fix.
    case recomputations
    /// Every fix, with its own time and the answer that stood then.
    case fixes
}

/// The devices of a run with their pacers, and where their reports go.
struct PacedDevices: ~Copyable {
    private struct Device {
        var pacer: Pacer
        /// The region of the last report.
        var published = Region.invalid
        /// Fixes without time so far, and the tick that stood for the last of them.
        var untimed: Int64 = 0
        var untimedTick: Timestamp?
        /// By how much its clock is moved in the output, in nanoseconds.
        var shift: Int64 = 0
    }

    private let atlas: Atlas
    private let interval: Duration
    private let emission: Emission
    private let withheld: WithheldRegions?
    private let disguise: Disguise
    private let changesTimes: Bool
    private var devices: [Device] = []
    /// Of each device, apart from what is long.
    private(set) var steps = DeviceSteps()
    var sink: any ReportSink & ~Copyable
    /// Reports written or held.
    private(set) var written = 0
    /// What the reports come to, if that is wanted.
    var statistics: ReportStatistics?

    /// How many devices there are.
    var count: Int { devices.count }

    init(
        atlas: Atlas, sink: consuming any ReportSink & ~Copyable, interval: Duration, emission: Emission,
        withheld: WithheldRegions?, disguise: Disguise
    ) {
        self.atlas = atlas
        self.disguise = disguise
        changesTimes = disguise.changesTimes
        self.sink = sink
        self.interval = interval
        self.emission = emission
        self.withheld = withheld
    }

    /// Adds the next device, and returns its number: its key, or nil to number it.
    ///
    /// - Parameter clock: whose clock it has.
    mutating func add(key: [UInt8]?, kind: ReportKind, clock: Disguise.Clock) -> Int {
        devices.append(Device(pacer: Pacer(interval: interval), shift: disguise.shift(of: clock)))
        steps.add()
        sink.addDevice(key: key.map(disguise.name(ofKey:)), kind: kind)
        return devices.count - 1
    }

    /// Has a device go on where the one with this state left off. If it left off near a zone where answers are withheld, its
    /// last report is not known, and the next answer is reported whether or not it equals that one.
    mutating func restore(_ state: Pacer.State, as device: Int) {
        devices[device].pacer = Pacer(interval: interval, state: state, inValid: atlas)
        devices[device].published = devices[device].pacer.region.flatMap(withheld.published) ?? .invalid
    }

    /// What to keep of a device over a restart; nil of one that was not answered.
    func state(of device: Int) -> Pacer.State? { devices[device].pacer.state(in: atlas) }

    // MARK: Fixes

    /// What became of a fix.
    enum Outcome {
        /// Kept for its tick; perhaps the one before it was answered.
        case kept(isAnswered: Bool)
        case late
        /// Answered without a time; and it is the device's second, so that the order of its regions comes out.
        case secondUntimed
        case bad(RecordProblem.Reason)
    }

    /// Takes a device's next fix, and writes the reports it gives.
    @inline(__always)
    mutating func take(
        _ coordinate: Coordinate, at time: Timestamp?, horizontalAccuracy: Double?, of device: Int,
        to out: inout ByteBuffer
    ) -> Outcome {
        guard let time else {
            return takeUntimed(coordinate, horizontalAccuracy: horizontalAccuracy, of: device, to: &out)
        }
        let reception: Pacer.Reception
        do throws(CoordinateError) {
            reception = try devices[device].pacer.report(
                Fix(coordinate: coordinate, time: time, horizontalAccuracy: horizontalAccuracy), inValid: atlas)
        } catch {
            return .bad(RecordProblem.Reason(error))
        }
        var isAnswered = false
        if case .kept(let answer) = reception {
            steps.count(to: coordinate, at: time, of: device)
            if let answer {
                publish(answer, of: device, to: &out)
                isAnswered = true
            }
        }
        if emission == .fixes { isAnswered = writeFix(at: time, of: device, to: &out) || isAnswered }
        return reception == .late ? .late : .kept(isAnswered: isAnswered)
    }

    /// Counts steps anew; from each device's last fix on.
    mutating func forgetSteps() { steps.forget() }

    /// Whether a fix that is late is one because of others of this run: its tick has passed by one of these.
    func isOutrun(_ device: Int, at time: Timestamp) -> Bool {
        let tick = Pacer.tick(for: time, intervalNanoseconds: Pacer.nanoseconds(in: interval))
        return tick.nanosecondsSince1970 < steps.newestTime(of: device)
    }

    /// Takes a device's newest fix of an interval, in order of time, where the records of its fixes are written later.
    ///
    /// - Returns: the answers that it gives, at most two; nil where it is late.
    mutating func takeSilently(_ fix: Fix, of device: Int) -> [Pacer.Answer]? {
        // The coordinate was validated.
        guard let reception = try? devices[device].pacer.report(fix, inValid: atlas), case .kept(let before) = reception
        else { return nil }
        steps.count(to: fix.coordinate, at: fix.time, of: device)
        var answers = before.map { [$0] } ?? []
        if devices[device].pacer.pendingTick == fix.time,
            let answer = devices[device].pacer.tick(fix.time, inValid: atlas)
        {
            answers.append(answer)
        }
        for answer in answers { _ = published(answer.region) }
        return answers
    }

    /// The tick of a device's last answer and its region; nil before the first.
    func standing(of device: Int) -> (tick: Timestamp?, region: Region?) {
        (devices[device].pacer.lastTick, devices[device].pacer.region)
    }

    /// Writes the record of a fix: with the answer that stands at its time, or without one before the first answer. Which
    /// one stood before the last tick is not known any more, so that there is no record of a fix that late.
    ///
    /// - Returns: whether the fix is on its tick, which was answered then.
    @inline(never)
    private mutating func writeFix(at time: Timestamp, of device: Int, to out: inout ByteBuffer) -> Bool {
        let answer = devices[device].pacer.pendingTick == time ? answerTick(of: device, to: &out) : false
        if let last = devices[device].pacer.lastTick, time < last { return answer }
        writeFix(at: time, standing: devices[device].pacer.region, of: device, to: &out)
        return answer
    }

    /// Writes the record of a fix at whose time a region stands, or none yet.
    mutating func writeFix(at time: Timestamp, standing region: Region?, of device: Int, to out: inout ByteBuffer) {
        guard let region else { return writeBlank(device: device, at: time, to: &out) }
        // Without a record: a blank one would tell how long the device stayed.
        if let region = withheld.published(region) { write(region, at: time, of: device, to: &out) }
    }

    /// Answers the fix that waits for its tick, which has passed or is as good as passed.
    ///
    /// - Returns: whether there was one.
    mutating func answerTick(of device: Int, to out: inout ByteBuffer) -> Bool {
        guard let tick = devices[device].pacer.pendingTick,
            let answer = devices[device].pacer.tick(tick, inValid: atlas)
        else { return false }
        publish(answer, of: device, to: &out)
        return true
    }

    /// A fix without a time is answered as if it were on a tick of its own: there is nothing to pace by, but the answer is
    /// as steady at a region's edge as any (contract C11).
    @inline(never)
    private mutating func takeUntimed(
        _ coordinate: Coordinate, horizontalAccuracy: Double?, of device: Int, to out: inout ByteBuffer
    ) -> Outcome {
        // Beside times it would be an answer between ticks.
        guard devices[device].pacer.pendingTick == nil, devices[device].pacer.lastTick == devices[device].untimedTick
        else { return .bad(.timeMissing) }
        let (nanoseconds, overflow) = devices[device].untimed.multipliedReportingOverflow(
            by: Pacer.nanoseconds(in: interval))
        if overflow {
            // More fixes than intervals between 1970 and 2262: begin anew.
            devices[device].untimed = 0
            devices[device].pacer = Pacer(interval: interval)
        }
        let tick = Timestamp(nanosecondsSince1970: overflow ? 0 : nanoseconds)
        do throws(CoordinateError) {
            _ = try devices[device].pacer.report(
                Fix(coordinate: coordinate, time: tick, horizontalAccuracy: horizontalAccuracy), inValid: atlas)
        } catch {
            return .bad(RecordProblem.Reason(error))
        }
        guard let answer = devices[device].pacer.tick(tick, inValid: atlas) else { return .late }
        devices[device].untimedTick = tick
        if let region = published(answer.region),
            emission != .changes || region != devices[device].published
        {
            devices[device].published = region
            write(region, at: nil, of: device, to: &out)
        }
        devices[device].untimed += 1
        return devices[device].untimed == 2 ? .secondUntimed : .kept(isAnswered: false)
    }

    // MARK: Reports

    /// The region of an answer; nil where it is withheld.
    private mutating func published(_ region: Region) -> Region? {
        if let published = withheld.published(region) { return published }
        if withheld?.isTooFew(region) == true { statistics?.tooFew += 1 }
        return nil
    }

    /// Writes the report of an answer, if it is to give one.
    @inline(__always)
    private mutating func publish(_ answer: Pacer.Answer, of device: Int, to out: inout ByteBuffer) {
        guard let region = published(answer.region) else { return }
        switch emission {
        case .changes: if region == devices[device].published { return }
        case .recomputations: break
        case .fixes: return
        }
        devices[device].published = region
        write(region, at: answer.tick, of: device, to: &out)
    }

    /// Writes the report of an answer as it was when it was given.
    mutating func report(_ state: Pacer.State, of device: Int, to out: inout ByteBuffer) {
        guard let region = state.region.flatMap({ atlas.region($0) }).flatMap(withheld.published) else { return }
        devices[device].published = region
        write(region, at: state.tick, of: device, to: &out)
    }

    /// Writes a report; or, without a region, a blank record, where the format has such.
    @inline(__always)
    mutating func write(_ region: Region?, at time: Timestamp?, of device: Int, to out: inout ByteBuffer) {
        // A record without a time and a region is a bad one, of which nothing is known.
        guard let region else { return writeBlank(device: time == nil ? nil : device, at: time, to: &out) }
        written += 1
        let time = self.written(time, of: device)
        statistics?.add(region, at: time)
        sink.write(Report(device: UInt32(device), region: region, time: time), to: &out)
    }

    /// Writes a record without reduced location, where the format has such.
    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) {
        if sink.writeBlank(device: device, at: device.flatMap { written(time, of: $0) }, to: &out) { written += 1 }
    }

    /// A time as it is written.
    @inline(__always)
    private func written(_ time: Timestamp?, of device: Int) -> Timestamp? {
        guard changesTimes, let time else { return time }
        return disguise.written(time, shift: devices[device].shift)
    }
}

extension RecordProblem.Reason {
    package init(_ error: CoordinateError) {
        self = error == .latitudeOutOfRange ? .latitudeOutOfRange : .longitudeOutOfRange
    }
}
