import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private let places: [(Double, Double)] = [
    (48.208234, 16.373721), (47.559612, 7.588634), (31.761934, -106.485021), (-33.92, 18.42), (51.5, -0.12),
]

/// Fixes of a few devices in order of time, some late.
private func fixes(_ count: Int, seed: UInt64, keyed: Bool = true) -> [String] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { number in
        let second = number * 40 - (Int.random(in: 0...9, using: &random) == 0 ? 500 : 0)
        let place = places.randomElement(using: &random)!
        let key = ["a", "b", "\"c, \"\"d\"\"\"", ""].randomElement(using: &random)!
        return (keyed ? key + "," : "") + "\(1_772_323_200 + second),\(place.0),\(place.1)\n"
    }
}

private func table(_ rows: some Collection<String>, keyed: Bool = true) -> [UInt8] {
    Array(((keyed ? "id," : "") + "time,lat,lon\n" + rows.joined()).utf8)
}

/// One run after the other over one state file.
private struct Series {
    let scratch = Scratch()
    var options = ConvertRun.Options()

    init(_ emission: Emission = .changes) {
        options.format = .csv
        options.emission = emission
        options.state = scratch.path("state")
    }

    func run(_ inputs: [UInt8]...) -> Outcome {
        let files = inputs.enumerated().map { InputName.file(scratch.write($1, as: "input\($0)")) }
        _ = try? FileManager.default.removeItem(atPath: scratch.path("out"))
        var outcome = observed(scratch) { output, observer throws(TraceError) in
            try ConvertRun.run(files, to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        outcome.forget(scratch)
        return outcome
    }

    var state: [UInt8] {
        get { scratch.read("state") ?? [] }
        nonmutating set { _ = scratch.write(newValue, as: "state") }
    }

    /// Why the state file is refused, if it is.
    var problem: TraceError.StateProblem? {
        do throws(TraceError) {
            _ = try PaceJournal(path: options.state!, fingerprint: fingerprint, interval: options.interval)
        } catch {
            if case .badState(_, let problem) = error { return problem }
        }
        return nil
    }
}

private let fingerprint = worldAtlas.fingerprint

/// 32-bit FNV-1a, over words of another make than the code's.
private func fnv(_ bytes: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 2_166_136_261
    for byte in bytes { hash = ((hash ^ UInt64(byte)) * 16_777_619) % (1 << 32) }
    return (0..<4).map { UInt8(hash >> (8 * $0) & 255) }
}

@Suite struct StateTests {
    /// Contract C12: however often a stream is stopped and started, its reports are those of one run.
    @Test(arguments: Emission.allCases, [true, false])
    func restartsChangeNothing(_ emission: Emission, _ keyed: Bool) {
        var random = SplitMix64(seed: 41)
        for seed in 1...2 as ClosedRange<UInt64> {
            let rows = fixes(400, seed: seed, keyed: keyed)
            let whole = Series(emission).run(table(rows, keyed: keyed)).rows.dropFirst()
            let parts = Series(emission)
            var found: [String] = []
            var start = 0
            while start < rows.count {
                let end = min(rows.count, start + Int.random(in: 1...160, using: &random))
                let outcome = parts.run(table(rows[start..<end], keyed: keyed))
                #expect(outcome.error == nil)
                found += outcome.rows.dropFirst()
                start = end
            }
            #expect(found == Array(whole) && whole.count > 10)
        }
    }

    @Test func aFailedRunThatPublishedNothingKeepsTheOldPace() {
        let series = Series()
        #expect(series.run(table(["a,0,48.2,16.3\n"])).rows.count == 2)
        var failing = series
        failing.options.onError = .stop
        let failed = failing.run(table(["a,1000,47.5,7.5\n", "a,north,1,1\n"]))
        #expect(failed.error == .stopped && failed.output.isEmpty)
        #expect(series.run(table(["a,1000,47.5,7.5\n"])).rows.count == 2)
    }

    /// What goes to a pipe is published at once, whether the run then fails or not.
    @Test func aFailedRunThatPublishedKeepsItsAnswers() {
        let series = Series()
        var failing = series.options
        failing.onError = .stop
        failing.chunkBytes = 16
        let input = InputName.file(series.scratch.write(table(["a,0,48.2,16.3\n", "a,north,1,1\n"]), as: "stream"))
        let observer = RunObserver()
        #expect(throws: TraceError.stopped) {
            let output = try OutputFile.file("/dev/null", inputs: [])
            _ = try ConvertRun.run([input], to: output, atlas: worldAtlas, options: failing, observer: observer)
        }
        #expect(series.run(table(["a,899,47.5,7.5\n"])).rows.count == 1)
        #expect(series.run(table(["a,900,47.5,7.5\n"])).rows.count == 2)
    }

    /// Contract C2, for the file as for the reports: the region counts, not where in it a device was.
    @Test func theStateTellsNothingOfThePlaceWithinARegion() throws {
        let (here, there) = ((48.208234, 16.373721), (48.207611, 16.372943))
        let regions = try [here, there].map { try worldAtlas.snap(latitude: $0.0, longitude: $0.1) }
        try #require(regions[0] == regions[1])
        let states = [here, there].map { place in
            let series = Series()
            _ = series.run(table(["a,0,\(place.0),\(place.1)\n", "a,900,\(place.0),\(place.1)\n"]))
            return series.state
        }
        #expect(states[0].count > 32 && states[0] == states[1])
    }

    @Test func fixesWithoutTimesLeaveNoState() {
        let series = Series()
        #expect(series.run(table(["a,,48.2,16.3\n", "a,,47.5,7.5\n"])).rows.count == 3)
        #expect(series.state.count == 32)
    }

    @Test func filesOfOtherRunsAreRefused() {
        let series = Series()
        _ = series.run(table(fixes(50, seed: 1)))
        let good = series.state
        #expect(series.problem == nil)

        var other = series
        other.options.interval = .seconds(600)
        #expect(other.problem == .otherInterval)
        func mended(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = good
            change(&bytes)
            bytes.replaceSubrange(12..<16, with: fnv(Array(bytes[..<12] + bytes[16..<32])))
            return bytes
        }
        series.state = mended { $0[20] ^= 1 }
        #expect(series.problem == .otherAtlas)
        series.state = mended { $0[8] = 2 }
        #expect(series.problem == .version)
        series.state = Array("id,time,lat,lon\n1,2,3,4\n and something longer".utf8)
        #expect(series.problem == .notAState)
        #expect(String(decoding: series.state, as: UTF8.self).hasPrefix("id,time"))  // and left alone
    }

    @Test func damageIsNoticedAndARecordThatBreaksOffIsDropped() {
        let series = Series()
        _ = series.run(table(fixes(50, seed: 2)))
        #expect(series.problem == nil)  // written anew: a record per device
        let good = series.state
        var silent = 0
        for at in good.indices {
            var bytes = good
            bytes[at] ^= 0x10
            series.state = bytes
            // A changed length can make the last record one that breaks off.
            if series.problem == nil { silent += 1 }
        }
        #expect(silent <= 8)
        for length in 1..<good.count {
            series.state = Array(good[..<length])
            let problem = series.problem
            #expect(problem == (length < 32 ? .notAState : nil))
        }
    }

    @Test func twoRunsDoNotShareAState() throws {
        let series = Series()
        let path = series.scratch.path("state")
        let first = try PaceJournal(path: path, fingerprint: fingerprint, interval: .seconds(900))
        #expect(series.problem == .inUse)
        #expect(series.run(table([])).error == .badState(file: path, .inUse))
        _ = consume first
        #expect(series.problem == nil)
    }

    @Test func onlyTablesHaveAState() {
        let series = Series()
        #expect(series.run(Array("<gpx/>".utf8)).error == .stateNeedsTable(file: "input0"))
        let bare = table(["0,1,2\n"], keyed: false)
        #expect(series.run(bare, bare).error == .stateNeedsTable(file: "input1"))
        var same = series
        same.options.state = same.scratch.path("input0")
        #expect(same.run(bare).error == .outputIsInput(file: same.options.state!))
    }
}
