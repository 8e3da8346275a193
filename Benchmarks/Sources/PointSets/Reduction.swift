import Hereabouts

/// What is published for points, in buffers that are made once: the regions, and centre and accuracy in hand.
package struct Reduction {
    private static let blockSize = 1_024

    package private(set) var regions: [Region]
    package private(set) var centers: [Coordinate]
    /// Meters.
    package private(set) var accuracies: [Double]

    package init(count: Int) {
        regions = Array(repeating: .none, count: count)
        centers = Array(repeating: Coordinate(latitude: 0, longitude: 0), count: count)
        accuracies = Array(repeating: 0, count: count)
    }

    /// Reduces as many points as there is room for, by the batch form.
    @inline(never)
    package mutating func reduce(_ points: [Coordinate], in atlas: Atlas) {
        precondition(points.count == regions.count)
        // SAFETY: the buffers live for the call and have one length.
        unsafe points.withUnsafeBufferPointer { input in
            unsafe regions.withUnsafeMutableBufferPointer { output in
                for start in stride(from: 0, to: input.count, by: Self.blockSize) {
                    let range = start..<min(start + Self.blockSize, input.count)
                    unsafe atlas.snap(
                        UnsafeBufferPointer(rebasing: input[range]),
                        into: UnsafeMutableBufferPointer(rebasing: output[range]))
                    for index in range {
                        let region = unsafe output[index]
                        centers[index] = atlas.center(of: region)
                        accuracies[index] = atlas.horizontalAccuracy(of: region)
                    }
                }
            }
        }
    }

    /// Whether all is what single calls give.
    package func agreesWithSingleCalls(_ points: [Coordinate], in atlas: Atlas) -> Bool {
        points.indices.allSatisfy { index in
            guard let region = try? atlas.snap(points[index]) else { return false }
            return regions[index] == region && centers[index] == atlas.center(of: region)
                && accuracies[index] == atlas.horizontalAccuracy(of: region)
        }
    }
}

/// The sum of what single calls give for points: centre and accuracy in hand, nothing stored.
@inline(never)
package func sumOfSingleCalls(_ points: [Coordinate], in atlas: Atlas) throws -> Double {
    var sum = 0.0
    for point in points {
        let region = try atlas.snap(latitude: point.latitude, longitude: point.longitude)
        let center = atlas.center(of: region)
        sum += center.latitude + center.longitude + atlas.horizontalAccuracy(of: region)
    }
    return sum
}
