import Hereabouts
import PointSets

/// Snaps one set of points again and again, by the batch form and one call each, center and accuracy in hand.
struct SnapPasses {
    let atlas: Atlas
    let points: [Coordinate]

    init(atlasPath: String, pointsPath: String) throws {
        atlas = try Atlas(contentsOf: atlasPath)
        points = try PointFile.read(pointsPath)
    }

    /// Prints nanoseconds per point of both forms for every pass, after one that only warms up.
    ///
    /// - Throws: `WrongResult` where the two forms differ in any point.
    func run(_ passes: Int) throws {
        var reduction = Reduction(count: points.count)
        try reduction.reduce(points, in: atlas)
        guard reduction.agreesWithSingleCalls(points, in: atlas) else {
            throw WrongResult("single calls and batch differ")
        }
        let expected = try sumOfSingleCalls(points, in: atlas)
        for _ in 0..<passes {
            let batch = try nanosecondsPerPoint { try reduction.reduce(points, in: atlas) }
            var sum = 0.0
            let single = try nanosecondsPerPoint { sum = try sumOfSingleCalls(points, in: atlas) }
            guard sum == expected else { throw WrongResult("two passes differ") }
            print(batch, single)
        }
    }

    private func nanosecondsPerPoint(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        let elapsed = (ContinuousClock.now - start).components
        return (Double(elapsed.seconds) * 1e9 + Double(elapsed.attoseconds) * 1e-9) / Double(points.count)
    }
}
