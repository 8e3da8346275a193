import Dialects
import Files
import Hereabouts
import HereaboutsLive
import Traces

/// How the filter works.
package struct LiveOptions {
    package var source = LiveSource.ndjson
    package var target = LiveTarget.ndjson
    /// Whether lines of JSON are padded to multiples of 256 bytes.
    package var isPadded = false
    /// The time between two ticks; at least a second.
    package var interval = Duration.seconds(900)
    /// Whether the clock is the newest time of the input.
    package var isReplay = false
    /// Whether a report is written of every answer, and not only of those that differ from the last.
    package var reportsEveryAnswer = false
    /// Devices that were answered last so long ago, and have sent nothing since, are forgotten.
    package var forgetAfter = Duration.seconds(86_400)
    package var maximumDevices = 1_000_000
    /// How columns are found and times are read.
    package var table = ConvertRun.Options()
    /// The input's name for messages.
    package var label = "standard input"

    package init() {}
}

/// What the filter tells while it runs. No case carries anything of the input but a line's number.
package enum LiveNotice: Equatable {
    /// The first bad line of a reason.
    case badLine(Int, reason: String)
    /// The first line beyond the limit of bytes.
    case overlongLine(limit: Int)
    /// The first device for which there is no room.
    case fullTable(limit: Int)
    /// The clock was set back, and is followed.
    case clockSetBack
    /// Something of the columns.
    case columns(Notice)
}

/// What a run did.
package struct LiveSummary: Equatable {
    /// Why it ended.
    package enum End: Equatable { case input, stopped, outputClosed }

    package var end = End.input
    /// Fixes and bad records that were read.
    package var records = 0
    /// Messages of the protocol that have no location.
    package var others = 0
    /// How many records were bad, by reason.
    package var bad: [String: Int] = [:]
    /// Fixes that came too late, or are not newer than the last one.
    package var late = 0
    /// Fixes that are ahead of the clock.
    package var future = 0
    /// Fixes of devices for which there was no room.
    package var refused = 0
    /// Devices that were forgotten.
    package var forgotten = 0
    /// Devices at the end.
    package var devices = 0
    /// Reports that were written.
    package var reports = 0

    package init() {}
}

/// Why a run ends.
package enum LiveFailure: Error {
    case trace(TraceError)
    case input(SystemError)
    case output(SystemError)
    case store(LiveStoreError)
    case atlas(AtlasError)
}

/// Turns the fixes of an endless input into reports: a `Desk` without consumers, whose answers are written as ticks bring
/// them.
///
/// - *Ticks alone.* What is written, and when, is a function of the regions at ticks and the clock. The reports of a tick
///   are in order of the devices' keys.
/// - *One thread.* Where the reader of a table waits for lines, the ticks that pass meanwhile are met.
/// - *Durable before published.* With a store, what a tick came to is committed before its reports are written. Those of
///   the last commit are written again after a run that may not have written them.
package final class LiveFilter {
    private let atlas: Atlas
    private let options: LiveOptions
    private let world: any LiveWorld
    private let store: (any LiveStore)?
    private let notice: (LiveNotice) -> Void
    private let interval: Int64
    private let forgetAfter: Int64

    /// Nil in a replay before its first time.
    private var desk: Desk?
    private var lines = LiveLines()
    private var writer: LiveReportWriter?
    private var out = ByteBuffer(capacity: 1 << 14)
    /// The moment that the lines being read came at; of a replay, just before the newest time.
    private var now = Timestamp(nanosecondsSince1970: .min)
    /// Fixes beyond this are bad: in a replay they would be the clock.
    private var latest = Timestamp(nanosecondsSince1970: .max)
    private var isKeyed = true
    /// The hashes of the next records' names, and how many of them were taken.
    private var ahead: [UInt64] = []
    private var taken = 0
    /// The hashes of the first records' names, while each has another; nil where they may not number the records.
    private var differing: Set<UInt64>?
    private static let mostDiffering = 1_000
    private var failure: LiveFailure?
    private var isEnding = false
    private var saidOverlong = false
    private var summary = LiveSummary()

    /// The key of the device of an input without keys.
    private static let onlyKey: StaticString = "1"
    /// The reports of a tick are written in pieces of so many bytes.
    private static let writeBytes = 1 << 20
    private static let day: Int64 = 86_400_000_000_000

    /// - Parameters:
    ///   - store: what is kept over a restart; nil where each run begins anew.
    ///   - notice: called for what is to be said while it runs.
    package init(
        atlas: Atlas, options: LiveOptions, world: any LiveWorld, store: (any LiveStore)? = nil,
        notice: @escaping (LiveNotice) -> Void = { _ in }
    ) {
        self.atlas = atlas
        self.options = options
        self.world = world
        self.store = store
        self.notice = notice
        interval = Int64(options.interval / .nanoseconds(1))
        forgetAfter = Int64(options.forgetAfter / .nanoseconds(1))
    }

    /// Runs until the input ends, somebody stops it, or nobody reads the output.
    package func run() throws(LiveFailure) -> LiveSummary {
        switch options.source {
        case .csv: try runTable(.csv)
        case .ndjson: try runTable(.ndjson)
        case .nmea: try runTable(.nmea)
        case .gpsd, .owntracks: try runMessages()
        }
        if let failure { throw failure }
        if summary.end == .input { try finish() }
        if lines.overlong > 0 { summary.bad["the line is too long", default: 0] += lines.overlong }
        summary.records += lines.overlong
        summary.devices = desk?.deviceCount ?? 0
        return summary
    }

    /// Answers what is due at the end of a replay. The clock on the wall is not waited for.
    private func finish() throws(LiveFailure) {
        if options.isReplay, let next = desk?.nextEvent {
            now = next
            try meetTicks()
        }
        if options.target == .csv, writer != nil {
            writer?.writeHeader(to: &out)
            try flush()
        }
    }

    // MARK: Input

    private func runTable(_ format: TraceFormat) throws(LiveFailure) {
        do throws(TraceError) {
            let table = try LiveTable(format, label: options.label, options: options.table) { [self] in nextLines() }
            for said in table.notices { notice(.columns(said)) }
            isKeyed = table.keyName != nil
            if table.mayCountRecords { differing = [] }
            do throws(LiveFailure) { try begin(keyName: table.keyName ?? "track") } catch { failure = error }
            var isAtEnd = false
            while failure == nil, !isAtEnd {
                isAtEnd = unsafe try !table.next(ahead: { [self] key in unsafe expect(key) }) { [self] record, key in
                    unsafe take(record, key)
                }
                for _ in 0..<table.takeOpenQuotes() { refuse(RecordProblem.Reason.quote.summary, line: nil) }
            }
        } catch {
            // What ended the input is the reason, not what the reader made of its end.
            if let failure { throw failure }
            if summary.end == .input { throw .trace(error) }
        }
    }

    private func runMessages() throws(LiveFailure) {
        let reader = LiveMessageReader(isGPSD: options.source == .gpsd)
        isKeyed = options.source == .owntracks
        try begin(keyName: isKeyed ? "device" : "track")
        var number = 0
        while failure == nil {
            let bytes = nextLines()
            guard !bytes.isEmpty else { return }
            var start = 0
            while start < bytes.count, failure == nil {
                let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
                number += 1
                take(bytes[start..<end], number, reader)
                start = end + 1
            }
        }
    }

    private func take(_ line: ArraySlice<UInt8>, _ number: Int, _ reader: LiveMessageReader) {
        guard line.contains(where: { $0 > 0x20 }) else { return }
        switch reader.message(line) {
        case .other: summary.others += 1
        case .bad(let reason):
            summary.records += 1
            refuse(reason, line: number)
        case .fix(let claimed, let key):
            summary.records += 1
            var name = key ?? ""
            name.withUTF8 { name in
                unsafe take(
                    claimed.coordinate, at: claimed.time, accuracy: claimed.horizontalAccuracy, name: name,
                    line: number)
            }
        }
    }

    /// Takes note of the key of a record that comes soon.
    private func expect(_ key: UnsafeBufferPointer<UInt8>) {
        if taken == ahead.count {
            ahead.removeAll(keepingCapacity: true)
            taken = 0
        }
        unsafe ahead.append(Desk.hash(ofUTF8: key))
    }

    /// The hash of the next record's key, if it was expected.
    private func takeHash() -> UInt64? {
        guard taken < ahead.count else { return nil }
        if taken == 0 { unsafe ahead.withUnsafeBufferPointer { unsafe desk?.prefetch($0) } }
        taken += 1
        return ahead[taken - 1]
    }

    private func take(_ record: LiveRecord, _ key: UnsafeBufferPointer<UInt8>?) {
        guard failure == nil else { return }
        summary.records += 1
        if let problem = record.problem { return refuse(problem.summary, line: record.line) }
        let hash = unsafe key == nil ? nil : takeHash()
        let key = unsafe key ?? UnsafeBufferPointer(start: nil, count: 0)
        if differing != nil { unsafe compare(hash ?? Desk.hash(ofUTF8: key)) }
        if unsafe key.allSatisfy({ $0 < 0x80 }) {
            unsafe take(
                record.coordinate, at: record.time, accuracy: record.horizontalAccuracy, name: key, hash: hash,
                line: record.line)
        } else {
            // Bytes that are no UTF-8 become U+FFFD.
            var name = unsafe String(decoding: key, as: UTF8.self)
            name.withUTF8 { name in
                unsafe take(
                    record.coordinate, at: record.time, accuracy: record.horizontalAccuracy, name: name,
                    line: record.line)
            }
        }
    }

    /// Says so, once, where each of the first records has another name.
    private func compare(_ hash: UInt64) {
        guard differing?.insert(hash).inserted == true else { return differing = nil }
        guard differing?.count == Self.mostDiffering else { return }
        differing = nil
        notice(
            .columns(
                .manyDevices(file: options.label, devices: Self.mostDiffering, records: Self.mostDiffering)))
    }

    /// Waits for lines, and meets the ticks that pass meanwhile. None come once the run is to end.
    private func nextLines() -> [UInt8] {
        while failure == nil, !isEnding {
            switch world.wait(until: options.isReplay ? nil : desk?.nextEvent) {
            case .bytes(let bytes):
                arrive()
                let whole = lines.take(bytes)
                if lines.overlong > 0, !saidOverlong {
                    saidOverlong = true
                    notice(.overlongLine(limit: LiveLines.limit))
                }
                if failure == nil, !whole.isEmpty { return whole }
            case .nothing: arrive()
            case .end:
                isEnding = true
                arrive()
                return failure == nil ? lines.finish() : []
            case .stopped: end(.stopped)
            case .outputClosed: end(.outputClosed)
            case .failed(let error): failure = .input(error)
            }
        }
        return []
    }

    private func end(_ reason: LiveSummary.End) {
        isEnding = true
        summary.end = reason
    }

    /// Takes note of the time, and meets the ticks that have passed.
    private func arrive() {
        let present = world.now()
        latest = present.advanced(by: Self.day)
        guard !options.isReplay else { return }
        let steps = desk?.clockStepCount
        // Small steps back are waited for.
        if let latest = desk?.now, present < latest { try? desk?.advance(to: present) }
        now = max(present, desk?.now ?? present)
        if desk?.clockStepCount != steps { notice(.clockSetBack) }
        meetTicksOrFail()
    }

    // MARK: Fixes

    /// - Parameters:
    ///   - name: of the device, in UTF-8; of no meaning in an input without keys.
    ///   - hash: the name's, where it is known.
    private func take(
        _ coordinate: Coordinate, at time: Timestamp?, accuracy: Double?, name: UnsafeBufferPointer<UInt8>,
        hash: UInt64? = nil, line: Int
    ) {
        do throws(CoordinateError) {
            try coordinate.validate()
        } catch {
            return refuse(RecordProblem.Reason(error).summary, line: line)
        }
        if options.isReplay {
            guard let time else { return refuse(RecordProblem.Reason.timeMissing.summary, line: line) }
            guard time <= latest else { return refuse(RecordProblem.Reason.timeInFuture.summary, line: line) }
            // A fix at the very tick counts for it, so that the clock stays just before.
            now = max(now, Timestamp(nanosecondsSince1970: time.nanosecondsSince1970 - 1))
            if desk == nil {
                do throws(LiveFailure) { try begin(at: now) } catch { failure = error }
            }
            meetTicksOrFail()
            guard failure == nil else { return }
        }
        // SAFETY: a literal's bytes are there for good.
        let only = unsafe UnsafeBufferPointer(start: Self.onlyKey.utf8Start, count: Self.onlyKey.utf8CodeUnitCount)
        do throws(DeskError) {
            guard
                let device = unsafe try desk?.deviceIndex(
                    addingUTF8: isKeyed ? name : only, hash: isKeyed ? hash : nil)
            else { return }
            let fix = Fix(coordinate: coordinate, time: time ?? now, horizontalAccuracy: accuracy)
            switch try desk?.report(fix, fromDevice: device, at: now) {
            case .kept, .paused, nil: break
            case .late: summary.late += 1
            case .future: summary.future += 1
            }
        } catch {
            switch error {
            case .limitExceeded:
                if summary.refused == 0 { notice(.fullTable(limit: options.maximumDevices)) }
                summary.refused += 1
            case .atlas(let damage): failure = .atlas(damage)
            default: refuse(name.isEmpty ? "no device key" : "the device key is too long", line: line)
            }
        }
    }

    /// Counts a bad record, and tells of the first of its reason.
    private func refuse(_ reason: String, line: Int?) {
        if line == nil { summary.records += 1 }
        let count = summary.bad[reason, default: 0]
        summary.bad[reason] = count + 1
        if count == 0 { notice(.badLine(line ?? 0, reason: reason)) }
    }

    // MARK: Ticks

    /// Begins, now that it is known what the keys are called. A replay's desk begins with its first time.
    private func begin(keyName: String) throws(LiveFailure) {
        writer = LiveReportWriter(
            isTable: options.target == .csv, isPadded: options.isPadded, keyName: keyName, atlas: atlas)
        guard !options.isReplay else { return }
        now = max(now, world.now())
        try begin(at: now)
    }

    private func begin(at moment: Timestamp) throws(LiveFailure) {
        var configuration = Desk.Configuration()
        configuration.interval = options.interval
        configuration.stale = max(configuration.stale, options.interval)
        configuration.spread = .zero
        configuration.limits.devices = options.maximumDevices
        var desk: Desk
        do throws(DeskError) {
            desk = try Desk(configuration: configuration, atlas: atlas, now: moment)
        } catch {
            preconditionFailure("an interval is at least a second: \(error)")
        }
        if let store {
            try stored { () throws(LiveStoreError) in try restore(&desk, from: store, at: moment) }
            try repeatReports(of: store)
        }
        self.desk = desk
    }

    /// Restores the devices of a store.
    private func restore(
        _ desk: inout Desk, from store: any LiveStore, at moment: Timestamp
    ) throws(LiveStoreError) {
        var isAhead = false, isOverLimit = false, isDamaged = false
        func look(_ state: DeviceState) { isAhead = isAhead || state.pacer.tick > moment.advanced(by: interval) }
        let numbers = try store.ticks()
        // Of a state that does not say it, all ticks are over up to those of its devices, which say them.
        if numbers == nil { try store.forEachDevice { _, state, _ in look(state) } }
        if numbers != nil || isAhead, !desk.restoreTicks(numbers) { throw .damaged }
        try store.forEachDevice { key, state, _ in
            look(state)
            switch Self.restore(state, of: key, in: &desk) {
            case nil: break
            case .limitExceeded?: isOverLimit = true
            default: isDamaged = true
            }
        }
        if isDamaged { throw .damaged }
        if isOverLimit { notice(.fullTable(limit: options.maximumDevices)) }
        // The clock of a replay is its input.
        if isAhead, !options.isReplay { notice(.clockSetBack) }
    }

    /// Writes the reports of the last commit, if they may not have come out.
    private func repeatReports(of store: any LiveStore) throws(LiveFailure) {
        guard let unpublished = try stored({ () throws(LiveStoreError) in try store.unpublishedTick() }) else { return }
        try stored { () throws(LiveStoreError) in
            try store.forEachDevice { key, state, isReported in
                guard isReported, state.pacer.tick == unpublished, failure == nil, summary.end != .outputClosed,
                    let region = state.pacer.region.flatMap({ atlas.region($0) })
                else { return }
                var key = key
                key.withUTF8 { unsafe write(region, of: $0, at: unpublished) }
                if out.count >= Self.writeBytes { flushOrFail() }
            }
        }
        if let failure { throw failure }
        try flush()
        if summary.end != .outputClosed { try stored { () throws(LiveStoreError) in try store.notePublished() } }
    }

    private static func restore(_ state: DeviceState, of key: String, in desk: inout Desk) -> DeskError? {
        do throws(DeskError) {
            let device = try desk.addDevice(DeviceID(key))
            // The store is of this atlas.
            try desk.restore(state, ofDevice: device, from: desk.atlas.fingerprint)
            return nil
        } catch { return error }
    }

    private func stored<Result>(_ body: () throws(LiveStoreError) -> Result) throws(LiveFailure) -> Result {
        do throws(LiveStoreError) { return try body() } catch { throw .store(error) }
    }

    private func meetTicksOrFail() {
        do throws(LiveFailure) { try meetTicks() } catch { failure = failure ?? error }
    }

    /// Answers what is due: commits it, and then writes its reports.
    private func meetTicks() throws(LiveFailure) {
        guard let next = desk?.nextEvent, next <= now else { return }
        // In place: a second owner of the desk would copy all of it.
        var due = DueReports(), tick = next
        do throws(DeskError) {
            try desk?.advance(to: now) {
                tick = $0.tick
                due.append($0)
            }
        } catch {
            if case .atlas(let damage) = error { throw .atlas(damage) }
        }
        try publishSorted(&due, at: tick)
        guard let cutoff = desk?.lastTick.advanced(by: -forgetAfter) else { return }
        let forgotten = desk?.forgetDevices(silentSince: cutoff) ?? 0
        summary.forgotten += forgotten
        if forgotten > 0, let store {
            try stored { () throws(LiveStoreError) in try store.forgetDevices(silentSince: cutoff) }
        }
    }

    private func publishSorted(_ due: inout DueReports, at tick: Timestamp) throws(LiveFailure) {
        guard due.count > 0, let desk else { return }
        // The order in which fixes came would tell something of them.
        due.sort(desk)
        try publish(due, at: tick, desk)
    }

    private func publish(_ due: DueReports, at tick: Timestamp, _ desk: Desk) throws(LiveFailure) {
        if let store { try commit(due, at: tick, desk, to: store) }
        for place in 0..<due.count where summary.end != .outputClosed {
            let answer = due[place]
            guard isReported(answer.isNew) else { continue }
            _ = unsafe desk.withDeviceName(answer.device) { unsafe write(answer.region, of: $0, at: tick) }
            if out.count >= Self.writeBytes { try flush() }
        }
        if let failure { throw failure }
        try flush()
        if let store, summary.end != .outputClosed {
            try stored { () throws(LiveStoreError) in try store.notePublished() }
        }
    }

    private func commit(
        _ due: DueReports, at tick: Timestamp, _ desk: Desk, to store: any LiveStore
    ) throws(LiveFailure) {
        try stored { () throws(LiveStoreError) in
            try store.commit(due.count, at: tick, ticks: desk.tickNumbers) { place in
                let answer = due[place]
                guard let state = desk.state(ofDevice: answer.device), let device = desk.deviceID(answer.device)
                else { return nil }
                return LiveAnswer(key: device.rawValue, state: state, isReported: isReported(answer.isNew))
            }
        }
    }

    private func isReported(_ isNew: Bool) -> Bool { isNew || options.reportsEveryAnswer }

    // MARK: Output

    /// - Parameter name: of the device, in UTF-8.
    private func write(_ region: Region, of name: UnsafeBufferPointer<UInt8>, at tick: Timestamp) {
        summary.reports += 1
        switch options.target {
        case .csv, .ndjson: unsafe writer?.write(region, of: isKeyed ? name : nil, at: tick, to: &out)
        case .gpsd:
            guard let location = location(region, tick) else { return }
            let device = isKeyed ? unsafe String(decoding: name, as: UTF8.self) : "hereabouts"
            out.append(bytes: GPSDMessage.position(location, device: device))
            out.append(10)
        case .owntracks:
            guard let location = location(region, tick) else { return }
            let name = unsafe String(decoding: name, as: UTF8.self)
            let identity = OwnTracksIdentity(tracker: String(name.suffix(2)))
            out.append(bytes: OwnTracksMessage.location(location, of: identity))
            out.append(10)
        }
    }

    private func location(_ region: Region, _ tick: Timestamp) -> OutgoingLocation? {
        do throws(LookupError) {
            return .reduced(try atlas.reducedLocation(of: region), tick: tick)
        } catch {
            if case .atlas(let damage) = error { failure = failure ?? .atlas(damage) }
            return nil
        }
    }

    private func flushOrFail() {
        do throws(LiveFailure) { try flush() } catch { failure = failure ?? error }
    }

    private func flush() throws(LiveFailure) {
        guard out.count > 0 else { return }
        defer { out.removeAll() }
        do throws(SystemError) {
            try world.write(out.array)
        } catch {
            guard error.isClosedPipe else { throw .output(error) }
            end(.outputClosed)
        }
    }
}
