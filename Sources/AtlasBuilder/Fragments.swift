import Hereabouts

/// The fragments of a country's regions: what of a region hangs together, and which regions touch it.
///
/// A fragment is a set of cells of one region, each within 2 km of another of them and none within 2 km of the region's
/// other cells. A cell that borders cut counts as a whole.
final class Fragments {
    let parts: PartSet
    /// What touches each part, as far as it was asked for.
    private var known: [Int32: [Int32]] = [:]

    /// Cells farther apart than this, in meters, do not hang together.
    private static let gapMeters = 2_000.0

    /// A cell's outline, Earth-centered: straight lines between corners, which run below the ground by at most 36 m at
    /// level 8 and change distances of 2 km by centimeters.
    private struct Outline {
        let cell: CellID
        let center: SIMD3<Double>
        /// From the center to the nearest side, and to the farthest corner.
        let inner: Double, outer: Double

        init(_ cell: CellID, corners: some Collection<SIMD3<Double>>) {
            let center = corners.reduce(SIMD3<Double>(), +) / 4
            (self.cell, self.center) = (cell, center)
            inner = Self.distance(from: center, to: corners)
            outer = corners.reduce(0) { max($0, $1.distance(to: center)) }
        }

        /// Whether the discs within both cells are so near: enough to tell it of neighbors of like size.
        func isSurelyWithin(_ limit: Double, of other: Outline) -> Bool {
            let d = center - other.center, reach = limit + inner + other.inner
            return (d * d).sum() <= reach * reach
        }

        func isWithin(_ limit: Double, of other: Outline) -> Bool {
            if center.distance(to: other.center) > limit + outer + other.outer { return false }
            // Cells do not overlap, so a corner of one of the two is nearest to the other.
            let mine = CellShape(cell).corners, theirs = CellShape(other.cell).corners
            return mine.contains { Self.distance(from: $0, to: theirs) <= limit }
                || theirs.contains { Self.distance(from: $0, to: mine) <= limit }
        }

        /// From a point to the nearest side.
        private static func distance(
            from point: SIMD3<Double>, to corners: some Collection<SIMD3<Double>>
        ) -> Double {
            var least = Double.infinity, start = corners.first!
            for end in corners.dropFirst() { least = min(least, distance(from: point, to: &start, end)) }
            return min(least, distance(from: point, to: &start, corners.first!))
        }

        /// From a point to a side, and on to the next.
        private static func distance(
            from point: SIMD3<Double>, to start: inout SIMD3<Double>, _ end: SIMD3<Double>
        ) -> Double {
            defer { start = end }
            let side = end - start
            let along = ((point - start) * side).sum() / (side * side).sum()
            return point.distance(to: start + side * min(1, max(0, along)))
        }
    }

    private func outline(_ part: Int) -> Outline {
        let cell = CellID(rawValue: parts.cell[part])
        // What is open is whole.
        return parts.isOpen[part]
            ? Outline(cell, corners: parts.hull[parts.corners(part)]) : Outline(cell, corners: CellShape(cell).corners)
    }

    /// The fragments of a region, the one with most residents first.
    func fragments(of region: [Int32]) -> [[Int32]] {
        let outlines = region.map { outline(Int($0)) }
        var rest = Array(region.indices)
        var found: [[Int32]] = []
        while let first = rest.popLast() {
            var fragment = [first], next = 0, exact = 0
            /// Moves those that are near one of the fragment from the rest to it.
            func take(_ isNear: (Outline) -> Bool) {
                rest.removeAll { other in
                    guard isNear(outlines[other]) else { return false }
                    fragment.append(other)
                    return true
                }
            }
            // What costs little first: most regions hang together by it.
            while exact < fragment.count, !rest.isEmpty {
                while next < fragment.count {
                    let outline = outlines[fragment[next]]
                    take { outline.isSurelyWithin(Self.gapMeters, of: $0) }
                    next += 1
                }
                let outline = outlines[fragment[exact]]
                take { outline.isWithin(Self.gapMeters, of: $0) }
                exact += 1
            }
            found.append(fragment.map { region[$0] }.sorted())
        }
        guard found.count > 1 else { return found }
        let ranked = found.map { (residents: residents(of: $0), fragment: $0) }
        return ranked.sorted { ($0.residents, $1.fragment[0]) > ($1.residents, $0.fragment[0]) }.map(\.fragment)
    }

    /// The fragments of a region that are not the main one and have fewer residents than this.
    func besides(_ region: [Int32], fewerThan least: Double) -> [[Int32]] {
        fragments(of: region).dropFirst().filter { residents(of: $0) < least }
    }

    /// Those of them that have any.
    func small(of region: [Int32], fewerThan least: Double) -> [[Int32]] {
        besides(region, fewerThan: least).filter { residents(of: $0) > 0 }
    }

    /// The fragment of a region that holds one of its parts.
    func fragment(of region: [Int32], at part: Int32) -> [Int32] {
        fragments(of: region).first { $0.contains(part) }!
    }

    func residents(of fragment: [Int32]) -> Double { fragment.reduce(0) { $0 + parts.residents[Int($1)] } }

    init(parts: PartSet) { self.parts = parts }

    /// The parts whose cells touch those of a fragment along a side or at a corner, ascending.
    func touching(_ fragment: [Int32]) -> [Int32] {
        var found: Set<Int32> = []
        for part in fragment { found.formUnion(touching(part)) }
        return found.subtracting(fragment).sorted()
    }

    /// The parts whose cells touch that of a part.
    private func touching(_ part: Int32) -> [Int32] {
        if let known = known[part] { return known }
        var found: Set<Int32> = []
        let cell = CellID(rawValue: parts.cell[Int(part)])
        for neighbor in cell.surroundings {
            let from = firstPart(from: neighbor.rangeMin)
            // One that is as large, or larger: it holds the neighbor.
            for index in [from - 1, from] where parts.cell.indices.contains(index) {
                if CellID(rawValue: parts.cell[index]).contains(neighbor) { found.insert(Int32(index)) }
            }
            // Smaller ones: the cell is one of their own neighbors.
            var index = from
            while index < parts.count, parts.cell[index] <= neighbor.rangeMax.rawValue {
                let other = CellID(rawValue: parts.cell[index])
                if other.surroundings.contains(where: { cell.contains($0) }) { found.insert(Int32(index)) }
                index += 1
            }
        }
        let sorted = found.sorted()
        known[part] = sorted
        return sorted
    }

    private func firstPart(from cell: CellID) -> Int {
        var low = 0, high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if parts.cell[middle] < cell.rawValue { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension CellID {
    /// The cells of the same level around a cell of level 27 or coarser; at a corner of the cube one of them twice.
    var surroundings: [CellID] {
        let corner = lowerLeft, size = Int64(size)
        // Beyond an edge of the face by half a leaf, along it by eight: the next face's rows bend away from this one's
        // by no more than the distance from the edge.
        func steps(_ low: UInt32) -> [Int64] {
            let low = Int64(low)
            return [
                low == 0 ? -1 : low - 8, low + size / 2, low + size == Self.leavesPerSide ? low + size : low + size + 7,
            ]
        }
        let columns = steps(corner.i), rows = steps(corner.j)
        return (0..<9).filter { $0 != 4 }.map { k in
            let i = columns[k / 3], j = rows[k % 3]
            let valid = 0..<Self.leavesPerSide
            if valid.contains(i), valid.contains(j) {
                return CellID(face: face, i: UInt32(i), j: UInt32(j), level: level)
            }
            let u = CubeProjection.stToUV((Double(i) + 0.5) * 0x1p-30)
            let v = CubeProjection.stToUV((Double(j) + 0.5) * 0x1p-30)
            let beyond = CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v))
            return CellID(rawValue: CellID.leaf(latitude: beyond.latitude, longitude: beyond.longitude))
                .parent(level: level)
        }
    }

    private static var leavesPerSide: Int64 { 1 << 30 }
}
