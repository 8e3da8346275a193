import AtlasFixture
import Dialects
import Files
import Foundation
import Hereabouts
import HereaboutsLive
import LiveFilter
import Traces

/// A small atlas.
private let atlas: Atlas = {
    do { return try Atlas(bytes: AtlasFixture.small.bytes) } catch { fatalError("the atlas \(error)") }
}()

/// 2026-09-21 14:15:00 UTC, a tick of 900 s.
private let start: Int64 = 1_790_000_100_000_000_000

/// A world in which some bytes come at a time, the same number of seconds apart.
private final class SimulatedWorld: LiveWorld {
    private let input: [UInt8]
    private let step: Int
    private let seconds: Int64
    private var read = 0
    private var time = Timestamp(nanosecondsSince1970: start)
    private(set) var writes: [(time: Timestamp, bytes: [UInt8])] = []

    init(_ input: [UInt8], step: Int, seconds: Int64) { (self.input, self.step, self.seconds) = (input, step, seconds) }

    var output: [UInt8] { writes.flatMap(\.bytes) }

    func now() -> Timestamp { time }

    func wait(until moment: Timestamp?) -> LiveEvent {
        let next = time.nanosecondsSince1970 + seconds * 1_000_000_000
        if let moment, moment.nanosecondsSince1970 < next, moment > time {
            time = moment
            return .nothing
        }
        time = Timestamp(nanosecondsSince1970: next)
        guard read < input.count else { return .end }
        let end = min(read + step, input.count)
        defer { read = end }
        return .bytes(Array(input[read..<end]))
    }

    func write(_ bytes: [UInt8]) throws(SystemError) { writes.append((time, bytes)) }
}

/// What a run came to.
private struct LiveOutcome: Equatable {
    var output: [UInt8]
    /// Without lines, and in order of their words: a quote that was left open is told of, without its line, after the lines
    /// that came with it.
    var notices: [String]
    var summary: LiveSummary?
    var failure: String?

    init(_ world: SimulatedWorld, _ options: LiveOptions) {
        var notices: [LiveNotice] = []
        do throws(LiveFailure) {
            summary = try LiveFilter(atlas: atlas, options: options, world: world) { notices.append($0) }.run()
        } catch {
            failure = "\(error)"
        }
        output = world.output
        self.notices = notices.map { if case .badLine(_, let reason) = $0 { reason } else { "\($0)" } }.sorted()
    }
}

/// Any bytes as lines that come; the first byte says which, what is written, and what the clock is.
func fuzzLive(_ input: [UInt8]) {
    guard let first = input.first, input.count > 1 else { return }
    var options = LiveOptions()
    options.source = LiveSource.allCases[Int(first) % LiveSource.allCases.count]
    options.target = LiveTarget.allCases[Int(first >> 3) % LiveTarget.allCases.count]
    options.isReplay = first & 0x80 != 0
    options.reportsEveryAnswer = first & 0x40 != 0
    options.maximumDevices = 16
    let step = 1 + Int(input[1]), bytes = Array(input.dropFirst(2))
    // The clock stands still where the same is expected however the bytes come.
    let whole = SimulatedWorld(bytes, step: .max >> 1, seconds: options.isReplay ? 0 : 100)
    let parted = SimulatedWorld(bytes, step: step, seconds: options.isReplay ? 0 : 100)
    let expected = LiveOutcome(whole, options), outcome = LiveOutcome(parted, options)
    for said in [expected, outcome] {
        checkPrivacy("\(said.notices) \(said.failure ?? "") \(said.summary?.bad ?? [:])", input: bytes)
        checkOutput(said, options)
    }
    if options.isReplay {
        check(outcome == expected, "another outcome of the same bytes")
    } else {
        // Nothing comes out between two ticks.
        for write in parted.writes where options.target != .csv || write.time < parted.now() {
            let seconds = write.time.nanosecondsSince1970 / 1_000_000_000 % 900
            check(seconds < 100, "a report \(seconds) s after its tick")
        }
    }
}

/// As many lines as reports, and nothing twice.
private func checkOutput(_ outcome: LiveOutcome, _ options: LiveOptions) {
    guard let summary = outcome.summary else { return }
    let lines = outcome.output.split(separator: 10)
    if options.target != .csv {
        check(lines.count == summary.reports, "\(lines.count) lines of \(summary.reports) reports")
        for line in lines { check(JSONGrammar.isValue(Array(line)), "a report that is no JSON") }
    }
    check(summary.devices <= options.maximumDevices, "more devices than there may be")
    // OwnTracks' identity is two characters of a key, which several may share.
    if options.target == .ndjson { check(Set(lines).count == lines.count, "a report twice") }
}

/// Any bytes as a desk's snapshot, as they are and with the right checksum.
func fuzzDesk(_ input: [UInt8]) {
    restore(input)
    let checksum = XXH64.hash(input)
    restore(input + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> UInt64(8 * $0)) })
}

private func restore(_ snapshot: [UInt8]) {
    var configuration = Desk.Configuration()
    configuration.limits.devices = 64
    let now = Timestamp(nanosecondsSince1970: start)
    guard
        var desk = try? Desk(
            snapshot: snapshot, configuration: configuration, atlas: atlas, otherAtlas: .keepingPaces, now: now)
    else { return }
    check(desk.deviceCount <= 64, "more devices than there may be")
    let again = desk.snapshot()
    do throws(DeskSnapshotError) {
        let restored = try Desk(snapshot: again, configuration: configuration, atlas: atlas, now: desk.now)
        check(restored.snapshot() == again, "another snapshot of the same desk")
    } catch {
        check(false, "a snapshot that cannot be restored: \(error)")
    }
    // It is of use: a fix of each device is taken and answered.
    let time = desk.now
    for index in 0..<64 where desk.deviceID(index) != nil {
        let fix = Fix(coordinate: Coordinate(latitude: 1, longitude: 2), time: time, horizontalAccuracy: 5)
        _ = try? desk.report(fix, fromDevice: index, at: time)
    }
    let next = desk.nextEvent
    _ = try? desk.advance(to: next)
    check(desk.now >= next, "a desk that does not go on")
    _ = desk.takeDeliveries()
}
