import Hereabouts

/// A point that may be a region's center.
struct Site: Sendable {
    /// The part it lies in.
    var part: Int32
    /// Leaf coordinates on the part's face.
    var leaf: SIMD2<UInt32>
    /// Where the center would be published, Earth-centered.
    var position: SIMD3<Double>
}

/// The parts of one country and kind (inhabited land, empty land or sea) that regions are grown from.
///
/// Positions are Earth-centered WGS 84 coordinates in meters. Straight-line distances between them fall short of the
/// geodesic by at most s³/24R²: 5 mm at 16 km and 0.3 m at 60 km, which the limits leave room for.
struct PartSet: Sendable {
    /// Where each part's corners begin in `hull`; one more than there are parts.
    var hullStart: [Int32] = [0]
    /// The corners of the parts. A part lies within their convex hull.
    var hull: [SIMD3<Double>] = []
    /// Mean of a part's corners.
    var center: [SIMD3<Double>] = []
    /// Distance from `center` to a part's farthest corner, meters.
    var radius: [Double] = []
    /// A point of each part that may be a region's center: on land if the part holds any.
    var sites: [Site] = []
    /// Whether any point of the part would do.
    var isOpen: [Bool] = []
    /// Whether a part holds land.
    var isLand: [Bool] = []
    /// Residents that are promised: what counts towards K.
    var population: [Double] = []
    /// Estimated residents.
    var residents: [Double] = []
    /// Whether a part is settled land: a region that holds any keeps to the limits of regions with residents.
    var isSettled: [Bool] = []
    /// Square kilometers.
    var area: [Double] = []
    /// The cell a part is, or is a piece of; ascending.
    var cell: [UInt64] = []

    var count: Int { population.count }

    mutating func append(
        corners: [SIMD3<Double>], site: SIMD2<UInt32>, isOpen: Bool, isLand: Bool, isSettled: Bool,
        people: Population.People, area: Double, cell: CellID
    ) {
        precondition(!corners.isEmpty)
        let middle = corners.reduce(SIMD3<Double>(), +) / Double(corners.count)
        hull.append(contentsOf: corners)
        hullStart.append(Int32(hull.count))
        center.append(middle)
        radius.append(corners.map { $0.distance(to: middle) }.max()!)
        sites.append(Self.middle(of: site, part: Int32(count), in: cell))
        self.isOpen.append(isOpen)
        self.isLand.append(isLand)
        self.isSettled.append(isSettled)
        population.append(people.promised)
        residents.append(people.residents)
        self.area.append(area)
        self.cell.append(cell.rawValue)
    }

    func corners(_ part: Int) -> Range<Int> { Int(hullStart[part])..<Int(hullStart[part + 1]) }

    /// Whether borders cut a part out of its cell.
    func isPiece(_ part: Int) -> Bool {
        !hull[corners(part)].elementsEqual(CellShape(CellID(rawValue: cell[part])).corners)
    }

    /// Distance from a point to the farthest corner of a part, meters.
    func reach(from point: SIMD3<Double>, to part: Int) -> Double {
        var squared = 0.0
        for k in corners(part) {
            let d = hull[k] - point
            squared = max(squared, (d * d).sum())
        }
        return squared.squareRoot()
    }

    /// Whether a circle about the point contains the part. Usually decided without looking at corners.
    @inline(__always)
    func isWithin(_ limit: Double, of point: SIMD3<Double>, part: Int) -> Bool {
        let d = point.distance(to: center[part])
        if d + radius[part] <= limit { return true }
        if d > limit { return false }
        return reach(from: point, to: part) <= limit
    }

    /// Distance from a point to the farthest corner of several parts, meters.
    func reach(from point: SIMD3<Double>, to parts: [Int32]) -> Double {
        var farthest = 0.0
        for part in parts where point.distance(to: center[Int(part)]) + radius[Int(part)] > farthest {
            farthest = max(farthest, reach(from: point, to: Int(part)))
        }
        return farthest
    }

    /// The center of the smallest circle around the parts. The corner farthest from the circle joins those that it rests on, until
    /// none is outside.
    func enclosingCenter(of parts: [Int32]) -> SIMD3<Double> {
        var circle = EnclosingCircle(center: center[Int(parts[0])])
        for _ in 0..<Self.mostTurns {
            var farthest = circle.radius + 0.01, corner: SIMD3<Double>?
            for part in parts {
                let p = Int(part)
                guard circle.center.distance(to: center[p]) + radius[p] > farthest else { continue }
                for k in corners(p) {
                    let d = hull[k].distance(to: circle.center)
                    if d > farthest { (farthest, corner) = (d, hull[k]) }
                }
            }
            guard let corner else { break }
            circle.grow(to: corner)
        }
        return circle.center
    }

    /// A few corners are enough nearly always; this many only where rounding makes them take turns.
    private static let mostTurns = 100

    /// Whether the middles of parts lie farther apart than a width, in a direction of any length.
    func isWider(_ parts: [Int32], than width: Double, along direction: SIMD3<Double>) -> Bool {
        let length = (direction * direction).sum().squareRoot()
        guard length > 0 else { return false }
        var least = Double.infinity, most = -Double.infinity
        for part in parts {
            let t = (center[Int(part)] * direction).sum() / length
            least = min(least, t)
            most = max(most, t)
        }
        return most - least > width
    }

    /// Whether a site is on land, or none of the parts is.
    func mayBeCenter(_ site: Site, of parts: [Int32]) -> Bool {
        isLand[Int(site.part)] || !parts.contains { isLand[Int($0)] }
    }

    /// Some parts about the best of their sites or a given one or, where no circle about those is small enough, about any point that is
    /// allowed; nil where there is none.
    func group(
        of members: [Int32], site: Site? = nil, within limit: Double,
        isAllowed: (_ site: Site, _ hasLand: Bool) -> Bool
    ) -> Group? {
        let group = Group(parts: members, in: self, site: site)
        if group.reach <= limit { return group }
        let hasLand = members.contains { isLand[Int($0)] }
        return self.site(within: limit, of: members, isAllowed: { isAllowed($0, hasLand) })
            .map { Group(parts: members, in: self, site: $0) }
    }

    /// The site among the parts' own, on land if any is, that makes the smallest circle around all of them: the nearest
    /// few to the enclosing circle's center are tried.
    func bestSite(of parts: [Int32]) -> (site: Site, reach: Double) {
        let ideal = enclosingCenter(of: parts)
        let hasLand = parts.contains { isLand[Int($0)] }
        var nearest: [(distance: Double, part: Int32)] = []
        let tries = 12
        for part in parts where isLand[Int(part)] == hasLand {
            let d = distance(of: Int(part), from: ideal)
            if nearest.count == tries, d >= nearest[tries - 1].distance { continue }
            let at = nearest.firstIndex { $0.distance > d } ?? nearest.count
            nearest.insert((d, part), at: at)
            if nearest.count > tries { nearest.removeLast() }
        }
        // No site does better than the enclosing circle, but for the breadth of the cells that centers lie in.
        let enough = reach(from: ideal, to: parts) + 30
        var best = (site: sites[Int(nearest[0].part)], reach: Double.infinity)
        for (distance, part) in nearest where distance < best.reach && best.reach > enough {
            let site = site(of: Int(part), nearest: ideal)
            let r = reach(from: site.position, to: parts)
            if r < best.reach { best = (site, r) }
        }
        return best
    }

    /// A site whose circle of the limit holds all the parts, if there is any. What a part's own site cannot tell, whether
    /// another point of it may be a center, `isAllowed` says.
    func site(within limit: Double, of parts: [Int32], isAllowed: (Site) -> Bool) -> Site? {
        let ideal = enclosingCenter(of: parts)
        let least = reach(from: ideal, to: parts)
        if least > limit { return nil }
        // A center at distance d from that of the smallest circle, of radius r, is √(r² + d²) from some corner at least.
        let farthest = (limit * limit - least * least).squareRoot() + 100
        let hasLand = parts.contains { isLand[Int($0)] }
        for part in parts where isLand[Int(part)] == hasLand {
            let p = Int(part)
            guard center[p].distance(to: ideal) - radius[p] <= farthest else { continue }
            for site in [sites[p]] + freeSites(of: p, around: ideal) {
                guard site.position.distance(to: ideal) <= farthest, reach(from: site.position, to: parts) <= limit
                else { continue }
                if site.leaf == sites[p].leaf || isOpen[p] || isAllowed(site) { return site }
            }
        }
        return nil
    }

    /// How near a part's site may come to a point, roughly.
    private func distance(of part: Int, from point: SIMD3<Double>) -> Double {
        guard isOpen[part] else { return sites[part].position.distance(to: point) }
        return max(0, center[part].distance(to: point) - 0.7 * radius[part])
    }

    /// The part's own site or, where any point would do, the nearest to a point.
    func site(of part: Int, nearest point: SIMD3<Double>) -> Site {
        isOpen[part] ? freeSite(of: part, nearest: point) : sites[part]
    }

    /// The point of the part's cell nearest to a point, whether or not it may be a center.
    private func freeSite(of part: Int, nearest point: SIMD3<Double>) -> Site {
        let cell = CellID(rawValue: cell[part])
        guard let uv = CellMapBuilder.faceUV(Ellipsoid.normal(at: point), cell.face) else { return sites[part] }
        func leaf(_ u: Double, _ low: UInt32) -> UInt32 {
            min(low + UInt32(cell.size) - 1, max(low, CubeProjection.stToIJ(CubeProjection.uvToST(u))))
        }
        let corner = cell.lowerLeft
        return freeSite(of: part, SIMD2(leaf(uv.u, corner.i), leaf(uv.v, corner.j)))
    }

    /// Points of the part's cell, whether or not they may be centers: the nearest to a point, and a lattice.
    private func freeSites(of part: Int, around point: SIMD3<Double>) -> [Site] {
        let nearest = freeSite(of: part, nearest: point)
        if isOpen[part] { return [nearest] }
        let corner = CellID(rawValue: cell[part]).lowerLeft, size = UInt32(CellID(rawValue: cell[part]).size)
        let n: UInt32 = 8
        return [nearest]
            + (0..<n * n).map {
                freeSite(of: part, SIMD2(corner.i + size / n * ($0 / n), corner.j + size / n * ($0 % n)))
            }
    }

    /// Other points of an open part that may be centers: the middles of its descendants of a level.
    func lattice(of part: Int, level: Int) -> [Site] {
        let cell = CellID(rawValue: cell[part])
        guard isOpen[part], cell.level < level else { return [] }
        let corner = cell.lowerLeft, n = UInt32(1) << UInt32(level - cell.level), step = UInt32(cell.size) / n
        return (0..<n * n).map {
            freeSite(of: part, SIMD2(corner.i + step * ($0 / n) + step / 2, corner.j + step * ($0 % n) + step / 2))
        }
    }

    /// The runs of a range that lie in one cell of a level each; a larger cell is a run of its own.
    func units(_ range: Range<Int>, level: Int) -> [Range<Int>] {
        var units: [Range<Int>] = [], last: CellID?
        for part in range {
            let cell = CellID(rawValue: cell[part]), unit = cell.level > level ? cell.parent(level: level) : cell
            if unit == last {
                units[units.count - 1] = units[units.count - 1].lowerBound..<part + 1
            } else {
                units.append(part..<part + 1)
            }
            last = unit
        }
        return units
    }

    /// The parts of the given indices, in their order.
    func subset(_ indices: [Int32]) -> PartSet {
        var set = PartSet()
        for index in indices {
            let part = Int(index)
            set.hull.append(contentsOf: hull[corners(part)])
            set.hullStart.append(Int32(set.hull.count))
            set.center.append(center[part])
            set.radius.append(radius[part])
            var site = sites[part]
            site.part = Int32(set.sites.count)
            set.sites.append(site)
            set.isOpen.append(isOpen[part])
            set.isLand.append(isLand[part])
            set.isSettled.append(isSettled[part])
            set.population.append(population[part])
            set.residents.append(residents[part])
            set.area.append(area[part])
            set.cell.append(cell[part])
        }
        return set
    }

    /// The site at the middle of a leaf's level-18 cell, which is within the part's.
    private func freeSite(of part: Int, _ leaf: SIMD2<UInt32>) -> Site {
        Self.middle(of: leaf & ~0xfff | 0x800, part: Int32(part), in: CellID(rawValue: cell[part]))
    }

    /// The site at the middle of a leaf's level-18 cell, where a center would be published.
    private static func middle(of leaf: SIMD2<UInt32>, part: Int32, in cell: CellID) -> Site {
        let center = CellID(face: cell.face, i: leaf.x, j: leaf.y, level: RegionID.level).center
        return Site(part: part, leaf: leaf, position: Ellipsoid.position(center))
    }
}
