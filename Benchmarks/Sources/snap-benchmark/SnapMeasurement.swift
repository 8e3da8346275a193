import Hereabouts

/// Nanoseconds per snap of one point set: one call per point, and the batch form.
struct SnapMeasurement {
    let set: PointSet
    let single: Measurement
    let batch: Measurement
    /// How many distinct regions the points meet: tells a set that stays in the cache from one that does not.
    let regionCount: Int

    /// - Throws: `WrongResult` where two runs or the two forms differ.
    init(_ set: PointSet, atlas: Atlas, runs: Int) throws {
        self.set = set
        var regions = [Region](repeating: .none, count: set.coordinates.count)
        var sums: Set<UInt64> = []
        single = try Measurement(runs: runs) { sums.insert(try Self.sumOfSingles(set.coordinates, atlas)) }
        batch = Measurement(runs: runs) { Self.batch(set.coordinates, &regions, atlas) }
        sums.insert(regions.reduce(0) { $0 &+ UInt64($1.index) })
        guard sums.count == 1, !regions.contains(.none) else {
            throw WrongResult(description: "\(set.name): single calls and batch give different regions")
        }
        regionCount = Set(regions).count
    }

    @inline(never)
    private static func sumOfSingles(_ coordinates: [Coordinate], _ atlas: Atlas) throws -> UInt64 {
        var sum: UInt64 = 0
        for coordinate in coordinates {
            sum &+= UInt64(try atlas.snap(latitude: coordinate.latitude, longitude: coordinate.longitude).index)
        }
        return sum
    }

    @inline(never)
    private static func batch(_ coordinates: [Coordinate], _ regions: inout [Region], _ atlas: Atlas) {
        // SAFETY: both buffers live for the call and have one length.
        unsafe coordinates.withUnsafeBufferPointer { input in
            unsafe regions.withUnsafeMutableBufferPointer { output in unsafe atlas.snap(input, into: output) }
        }
    }
}
