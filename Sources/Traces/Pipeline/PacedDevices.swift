import Hereabouts

/// The devices of a run with their pacers, and where their reports go.
struct PacedDevices: ~Copyable {
    private struct Device {
        var pacer: Pacer
        var reports = ReportRule.Memory()
        /// Fixes without time so far, and the tick that stood for the last of them.
        var untimed: Int64 = 0
        var untimedTick: Timestamp?
        /// By how much its clock is moved in the output, in nanoseconds.
        var shift: Int64 = 0
        /// The number of what stands for it in the output; nil before its first report, where it has one name after the other.
        var output: Int?
    }

    /// What decides about the names of a device that has one after the other.
    private struct Naming {
        var key: [UInt8]
        var offset: Int64
        /// The period of its name.
        var period: Int64?
    }

    private let atlas: Atlas
    private let interval: Duration
    private let rule: ReportRule
    private let withheld: WithheldRegions?
    private let disguise: Disguise
    private let changesTimes: Bool
    private var devices: [Device] = []
    /// Of each device; empty where each has one name.
    private var namings: [Naming] = []
    /// How many devices the output has.
    private var outputs = 0
    private var spans: NameSpans?
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
        rule = ReportRule(emission, interval: interval)
        self.withheld = withheld
        if disguise.renaming != nil || disguise.dateShift != nil { spans = NameSpans() }
    }

    /// How many names have reports over more than `NameSpans.mostDays`, where keys or dates are changed.
    var longNames: Int { spans?.longNames ?? 0 }

    /// Adds the next device, and returns its number: its key, or nil to number it.
    ///
    /// - Parameter clock: whose clock it has.
    mutating func add(key: [UInt8]?, kind: ReportKind, clock: Disguise.Clock) -> Int {
        devices.append(Device(pacer: Pacer(interval: interval)))
        steps.add()
        if disguise.period != nil, let key {
            namings.append(Naming(key: key, offset: disguise.periodOffset(ofKey: key)))
        } else {
            devices[devices.count - 1].shift = disguise.shift(of: clock)
            devices[devices.count - 1].output = addOutput(key.map { disguise.name(ofKey: $0) }, kind, clock)
        }
        return devices.count - 1
    }

    private mutating func addOutput(_ name: [UInt8]?, _ kind: ReportKind, _ clock: Disguise.Clock) -> Int {
        sink.addDevice(key: name, kind: kind)
        spans?.add(clock)
        outputs += 1
        return outputs - 1
    }

    /// Has a device be in the period of a tick, in which it has another name and nothing of what was reported before is known.
    ///
    /// - Returns: whether the tick may have a report; none of the silence may.
    private mutating func enterPeriod(of device: Int, at tick: Timestamp) -> Bool {
        guard !namings.isEmpty else { return true }
        let (number, isSilent) = disguise.period(at: tick, offset: namings[device].offset)
        if namings[device].period != number {
            namings[device].period = number
            devices[device].output = nil
            devices[device].reports = ReportRule.Memory()
            devices[device].shift = disguise.shift(of: .device(namings[device].key), period: number)
        }
        return !isSilent
    }

    /// What stands for a device in the output.
    @inline(__always)
    private mutating func output(of device: Int) -> Int {
        if let output = devices[device].output { return output }
        let naming = namings[device]
        let name = disguise.name(ofKey: naming.key, period: naming.period)
        let output = addOutput(name, .track, .device(naming.key))
        devices[device].output = output
        return output
    }

    /// Has a device go on where the one of a record left off. If it left off near a zone where answers are withheld, its
    /// last report is not known, and the next answer is reported whether or not it equals that one.
    mutating func restore(_ record: PaceRecord, as device: Int) {
        let pacer = Pacer(interval: interval, state: record.state, inValid: atlas)
        devices[device].pacer = pacer
        if enterPeriod(of: device, at: record.state.tick) { devices[device].reports = memory(record, pacer) }
    }

    /// What of a record's answers decides which ones are reported.
    func memory(_ record: PaceRecord?, _ pacer: Pacer) -> ReportRule.Memory {
        let region = pacer.region.flatMap(withheld.published)
        let reported = record?.lastReport.flatMap { atlas.region($0) }.flatMap(withheld.published)
        return ReportRule.Memory(
            reported: rule.emission == .stays ? reported : region, region: region, tick: pacer.lastTick)
    }

    /// The region of a device's last report, where it is not that of the last answer by the rule itself.
    func lastReport(_ memory: ReportRule.Memory) -> RegionID? {
        guard rule.emission == .stays, memory.reported != .invalid else { return nil }
        return try? atlas.identifier(of: memory.reported)
    }

    /// What to keep of a device over a restart; nil of one that was not answered.
    func record(of device: Int, key: [UInt8]?, isReported: Bool) -> PaceRecord? {
        guard let state = devices[device].pacer.state(in: atlas) else { return nil }
        return PaceRecord(
            key: key, state: state, isReported: isReported, lastReport: lastReport(devices[device].reports))
    }

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
        if rule.emission == .fixes { isAnswered = writeFix(at: time, of: device, to: &out) || isAnswered }
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
        let region = published(answer.region)
        if rule.reports(region, at: tick, &devices[device].reports) || rule.emission == .fixes, let region {
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
        var region = published(answer.region)
        if region != nil, !enterPeriod(of: device, at: answer.tick) { region = nil }
        guard rule.reports(region, at: answer.tick, &devices[device].reports), let region else { return }
        write(region, at: answer.tick, of: device, to: &out)
    }

    /// Writes the report of an answer as it was when it was given.
    mutating func report(_ state: Pacer.State, of device: Int, to out: inout ByteBuffer) {
        guard let region = state.region.flatMap({ atlas.region($0) }).flatMap(withheld.published) else { return }
        _ = enterPeriod(of: device, at: state.tick)
        write(region, at: state.tick, of: device, to: &out)
    }

    /// Writes a report; or, without a region, a blank record, where the format has such.
    @inline(__always)
    mutating func write(_ region: Region?, at time: Timestamp?, of device: Int, to out: inout ByteBuffer) {
        // A record without a time and a region is a bad one, of which nothing is known.
        guard let region else { return writeBlank(device: time == nil ? nil : device, at: time, to: &out) }
        written += 1
        let output = output(of: device)
        spans?.note(time, of: output)
        let time = self.written(time, of: device)
        statistics?.add(region, at: time)
        sink.write(Report(device: UInt32(output), region: region, time: time), to: &out)
    }

    /// Writes a record without reduced location, where the format has such.
    mutating func writeBlank(device: Int?, at time: Timestamp?, to out: inout ByteBuffer) {
        var output: Int?
        if let device { output = self.output(of: device) }
        if sink.writeBlank(device: output, at: device.flatMap { written(time, of: $0) }, to: &out) { written += 1 }
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
