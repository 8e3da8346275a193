import Benchmark
import Hereabouts
import PointSets

/// Snapping, center and accuracy in hand: an iteration is a million points, so that `--scale` gives the time of one.
let benchmarks: @Sendable () -> Void = {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput], timeUnits: .nanoseconds, warmupIterations: 1, scalingFactor: .mega,
        maxDuration: .seconds(4), maxIterations: 100)
    for set in PointSet.allCases {
        // Points are made in `setup`, as each benchmark runs in a process of its own.
        Benchmark("batch, \(set.title)", configuration: configuration) { benchmark, input in
            var reduction = Reduction(count: input.points.count)
            benchmark.startMeasurement()
            try reduction.reduce(input.points, in: input.atlas)
            benchmark.stopMeasurement()
            guard benchmark.currentIteration == 0 else { return }
            if !reduction.agreesWithSingleCalls(input.points, in: input.atlas) {
                benchmark.error("batch and single calls differ")
            }
        } setup: {
            try Input(set)
        }
        Benchmark("one call each, \(set.title)", configuration: configuration) { _, input in
            blackHole(try sumOfSingleCalls(input.points, in: input.atlas))
        } setup: {
            try Input(set)
        }
    }
}

/// What a benchmark is given.
private struct Input {
    var atlas: Atlas
    var points: [Coordinate]

    init(_ set: PointSet) throws {
        atlas = try Atlas(contentsOf: Project.atlasPath)
        points = PointMaker(atlas: atlas, count: 1_000_000).points(set)
    }
}
