import Benchmark
import Hereabouts
import PointSets

/// A million devices in one process. An iteration is a fix from each, so that `--scale` gives the time of one fix.
let benchmarks: @Sendable () -> Void = {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput, .peakMemoryResident], timeUnits: .nanoseconds, warmupIterations: 1,
        scalingFactor: .mega, maxDuration: .seconds(6), maxIterations: 60)
    // At one fix in 30 seconds a thirtieth of them is answered; at one in 15 minutes each is.
    for (title, seconds) in [("a fix each 30 s", Int64(30)), ("a fix each 15 min", 900)] {
        Benchmark("a million devices, \(title)", configuration: configuration) { benchmark, devices in
            var answers = 0
            benchmark.startMeasurement()
            try devices.reportAll(after: seconds, counting: &answers)
            benchmark.stopMeasurement()
            if answers == 0, seconds >= 900 { benchmark.error("no device was answered") }
        } setup: {
            try StandingDevices(count: 1_000_000)
        }
    }
}

/// Devices that stand still, each with a pacer of its own;.
private final class StandingDevices {
    private let atlas: Atlas
    private let places: [Coordinate]
    private var pacers: [Pacer]
    private var second: Int64 = 0

    init(count: Int) throws {
        atlas = try Atlas(contentsOf: Project.atlasPath)
        places = PointMaker(atlas: atlas, count: count).points(.mixed)
        pacers = Array(repeating: Pacer(), count: count)
        var answers = 0
        // A first answer for each.
        for index in pacers.indices { try report(index, at: Int64(index % 900), counting: &answers) }
        second = 900
        for index in pacers.indices { try report(index, at: second, counting: &answers) }
    }

    /// One fix of every device; `answers` rises by those that led to an answer.
    func reportAll(after seconds: Int64, counting answers: inout Int) throws {
        second += seconds
        for index in pacers.indices { try report(index, at: second, counting: &answers) }
    }

    private func report(_ index: Int, at second: Int64, counting answers: inout Int) throws {
        let time = Timestamp(nanosecondsSince1970: (1_778_284_800 + second) * 1_000_000_000)
        let reception = try pacers[index].report(Fix(coordinate: places[index], time: time), in: atlas)
        if case .kept(_?) = reception { answers += 1 }
    }
}
