import FixedRandom
import Foundation
import GeoBridge

/// A closed square ring with its lower left corner at x, y.
func square(_ x: Double, _ y: Double, side: Double = 1) -> [Double] {
    [x, y, x + side, y, x + side, y + side, x, y + side, x, y]
}

/// A star-shaped, hence simple, closed ring of `count` corners around x, y.
func star(_ x: Double, _ y: Double, radius: Double, corners count: Int, using random: inout SplitMix64) -> [Double] {
    var ring: [Double] = []
    for corner in 0..<count {
        let angle = 2 * Double.pi * Double(corner) / Double(count)
        let length = radius * Double.random(in: 0.4...1, using: &random)
        ring += [x + length * cos(angle), y + length * sin(angle)]
    }
    return ring + ring.prefix(2)
}

/// Twice the signed area of a closed ring by the shoelace rule, halved.
func shoelaceArea(_ ring: [Double]) -> Double {
    var sum = 0.0
    for i in stride(from: 0, to: ring.count - 2, by: 2) {
        sum += ring[i] * ring[i + 3] - ring[i + 2] * ring[i + 1]
    }
    return sum / 2
}

/// Whether a position lies in a closed ring, by counting edges to its right.
func isInside(_ x: Double, _ y: Double, _ ring: [Double]) -> Bool {
    var inside = false
    for i in stride(from: 0, to: ring.count - 2, by: 2) {
        let (x1, y1, x2, y2) = (ring[i], ring[i + 1], ring[i + 2], ring[i + 3])
        if (y1 > y) != (y2 > y), x < x1 + (y - y1) / (y2 - y1) * (x2 - x1) { inside.toggle() }
    }
    return inside
}

/// Memory of this process now in RAM, in MiB, as the kernel counts it; nil where there is no /proc.
func residentMebibytes() -> Double? {
    // A kernel file has no size, so it is read to its end.
    guard let file = FileHandle(forReadingAtPath: "/proc/self/statm") else { return nil }
    guard let data = try? file.readToEnd() else { return nil }
    let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}
