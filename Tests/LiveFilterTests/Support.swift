import AtlasFixture
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import LiveFilter
import LiveState
import Testing
import Traces

@testable import Files

/// An atlas with regions of 72 km along the first parallel, one in each second degree of longitude.
enum World {
    static let count = 14
    static let atlas: Atlas = {
        do { return try Atlas(bytes: fixture.bytes) } catch { fatalError("the fixture is no atlas: \(error)") }
    }()

    private static let fixture: AtlasFixture = {
        var fixture = AtlasFixture.small
        fixture.countries = ["XZ", "AA", "BB"]
        for place in 0..<count {
            fixture.top[AtlasFixture.cell((1, Double(2 + 2 * place)))] = .value(.region(fixture.regions.count))
            fixture.regions.append(
                AtlasFixture.Region(
                    latitude: 100_000, longitude: (2 + 2 * place) * 100_000, accuracy: 60_000,
                    country: place < count / 2 ? 1 : 2))
        }
        return fixture
    }()

    /// A position within 5 km of a region's center: far from all edges.
    static func position(_ place: Int, _ random: inout SplitMix64) -> (latitude: Double, longitude: Double) {
        (1 + random.uniform(-0.04, 0.04), Double(2 + 2 * place) + random.uniform(-0.04, 0.04))
    }
}

/// 2026-09-21 14:15:00 UTC, a tick of 900 s.
let start: Int64 = 1_790_000_100

func moment(_ seconds: Double) -> Timestamp {
    Timestamp(nanosecondsSince1970: start * 1_000_000_000 + Int64((seconds * 1e9).rounded()))
}

/// A world whose clock goes from one arrival of bytes to the next, and stands still otherwise.
final class TestWorld: LiveWorld {
    /// What comes, and when, in seconds after `start`.
    enum Arrival {
        case line(Double, String)
        case bytes(Double, [UInt8])
        case stop(Double)
        case end(Double)
        /// The clock is set: from here on it shows so many seconds more than has passed since `start`.
        case clock(Double, shift: Double)
    }

    private var arrivals: [Arrival]
    private var time = moment(0)
    private var shift: Int64 = 0
    /// What was written, and when.
    private(set) var writes: [(time: Timestamp, text: String)] = []
    /// After so many writes nobody reads the output.
    var closesAfter = Int.max

    init(_ arrivals: [Arrival]) { self.arrivals = arrivals.reversed() }

    var output: String { writes.map(\.text).joined() }

    func now() -> Timestamp { Timestamp(nanosecondsSince1970: time.nanosecondsSince1970 + shift) }

    func wait(until moment: Timestamp?) -> LiveEvent {
        guard let next = arrivals.last else { return .stopped }
        let due = Self.time(next)
        if let moment, moment.nanosecondsSince1970 - shift < due.nanosecondsSince1970 {
            time = max(time, Timestamp(nanosecondsSince1970: moment.nanosecondsSince1970 - shift))
            return .nothing
        }
        time = max(time, due)
        arrivals.removeLast()
        switch next {
        case .line(_, let text): return .bytes(Array((text + "\n").utf8))
        case .bytes(_, let bytes): return .bytes(bytes)
        case .stop: return .stopped
        case .end: return .end
        case .clock(_, let seconds):
            shift = Int64((seconds * 1e9).rounded())
            return .nothing
        }
    }

    private static func time(_ arrival: Arrival) -> Timestamp {
        switch arrival {
        case .line(let seconds, _), .bytes(let seconds, _), .stop(let seconds), .end(let seconds),
            .clock(let seconds, _):
            moment(seconds)
        }
    }

    func write(_ bytes: [UInt8]) throws(SystemError) {
        guard writes.count < closesAfter else { throw SystemError(number: 32) }
        writes.append((now(), String(decoding: bytes, as: UTF8.self)))
    }
}

/// A folder that is removed with the value.
final class Folder {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("live-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

/// A fix as a line of JSON.
func json(_ key: String, _ place: Int, _ seconds: Double, _ random: inout SplitMix64) -> String {
    let (latitude, longitude) = World.position(place, &random)
    return "{\"id\":\"\(key)\",\"time\":\(start + Int64(seconds)),\"latitude\":\(latitude),\"longitude\":\(longitude)}"
}

func options(_ change: (inout LiveOptions) -> Void = { _ in }) -> LiveOptions {
    var options = LiveOptions()
    change(&options)
    return options
}
