import AtlasFormat
import ParallelMap

/// C7: no small fragment that a region around it could take.
extension VerifiedAtlas {
    /// A fragment besides the main one is small if it has fewer residents than this, or than K.
    private static let smallResidents = 1_000.0
    /// How far from its limit a quantity must be for the builder to have seen it on the same side: a resident (see
    /// `tolerance`), ten meters (a builder adds two for the bulge of sides), a fifth of a square kilometer (it asks for
    /// 2 % more than the least area).
    private static let resident = 1.0, meters = 10.0, squareKilometers = 0.2

    /// Why a small fragment stays in its region.
    private enum Exception: String, CaseIterable {
        case noNeighbor = "touch no other region of their country"
        case noResidents = "touch only regions without residents"
        case tooFar = "are too far from the center of any region that they touch"
        case fewer =
            "touch only regions that would promise fewer residents than theirs does, and are not told apart by them"
        case small = "touch only small fragments of other regions"
        case anonymity = "are needed for their region's K residents, and are not told apart"
        case area = "are needed for their region's area"
        case center = "hold their region's center"
    }

    private enum Finding {
        case exception(Exception)
        case offender(taker: Int)
    }

    func verifyFragments(_ count: ResidentCount.Count?, _ clause: inout Clause) throws {
        guard let count, let fragments = count.fragments else {
            clause.skipped.append("fragments of regions: give the population to count their residents from")
            return
        }
        let small = fragments.ranges.keys.sorted().flatMap { region -> [Int] in
            let range = fragments.ranges[region]!
            let most = range.map { count.byFragment[$0].residents }.max()!
            return range.filter {
                let residents = count.byFragment[$0].residents
                return residents >= Self.resident && residents + Self.resident < min(most, leastResidents)
            }
        }
        let findings = try parallelMap(count: small.count) { index in
            let tellers = try regionsTellingApart(small[index], fragments, count)
            return (
                reason: try finding(small[index], fragments, count, tellers), isToldApart: !tellers.isEmpty
            )
        }
        var exceptions: [Exception: (fragments: Int, people: Double)] = [:]
        var toldApart: (fragments: Int, people: Double) = (0, 0)
        for (index, finding) in zip(small, findings) {
            let region = fragments.fragments[index].region, residents = count.byFragment[index].residents
            switch finding.reason {
            case .exception(let exception):
                let sum = exceptions[exception] ?? (0, 0)
                exceptions[exception] = (sum.fragments + 1, sum.people + residents)
                if finding.isToldApart { toldApart = (toldApart.fragments + 1, toldApart.people + residents) }
            case .offender(let taker):
                clause.add([
                    offender(
                        region,
                        "\(Int(residents)) of its people live apart from the rest, and "
                            + "\(tables.identifier(taker)) around them could take them")
                ])
            }
        }
        let people = exceptions.values.reduce(0) { $0 + $1.people }
        clause.notes.append(
            "\(fragments.ranges.count) regions with residents are not in one piece; "
                + "\(exceptions.values.reduce(0) { $0 + $1.fragments }) of their fragments have fewer than "
                + "\(Int(leastResidents)) residents, \(Int(people)) in all:")
        for exception in Exception.allCases {
            guard let sum = exceptions[exception] else { continue }
            clause.notes.append("  \(sum.fragments) with \(Int(sum.people)) residents \(exception.rawValue)")
        }
        if toldApart.fragments > 0 {
            clause.notes.append(
                "  \(toldApart.fragments) of them, with \(Int(toldApart.people)) residents, are told apart by a region that "
                    + "touches nothing else of theirs")
        }
    }

    private var leastResidents: Double { min(Self.smallResidents, Double(tables.limits.anonymity)) }

    /// What the rule says of a small fragment that some regions tell apart.
    private func finding(
        _ index: Int, _ fragments: RegionFragments, _ count: ResidentCount.Count, _ tellers: Set<Int>
    ) throws -> Finding {
        let fragment = fragments.fragments[index], region = fragment.region
        let needed = Double(tables.limits.anonymity), own = count.byFragment[index].promised
        var neighbors: [Int: Bool] = [:]
        for leaf in fragment.cells.flatMap(Self.leavesAround) {
            let other = try tables.region(at: leaf)
            guard other != region, tables.country(other) == tables.country(region), neighbors[other] != true
            else { continue }
            neighbors[other] = isLarge(fragments.fragment(of: other, at: leaf), of: other, fragments, count)
        }
        var left = neighbors.keys.sorted()
        if left.isEmpty { return .exception(.noNeighbor) }
        left.removeAll { count.residents[$0] < Self.resident }
        if left.isEmpty { return .exception(.noResidents) }
        let corners = corners(of: fragment)
        let limit = tables.limits.largestAccuracy - tables.limits.steadiness - 5 - Self.meters
        left.removeAll { other in
            let center = EarthCentered.position(tables.position(other))
            return corners.contains { $0.chord(to: center) > limit }
        }
        if left.isEmpty { return .exception(.tooFar) }
        // What its region promises is worth nothing to a fragment that others of its country tell apart, and what the fragment promises
        // nothing to the rest.
        let isToldApart = tellers.contains { tables.country($0) == tables.country(region) }
        if !isToldApart {
            left.removeAll {
                count.promised[$0] + own < min(needed, count.promised[region]) + Self.resident
            }
        }
        if left.isEmpty { return .exception(.fewer) }
        left.removeAll { neighbors[$0] != true || RegionFragments.isDoubtful($0, cover) }
        guard let taker = left.first else { return .exception(.small) }
        let promised = count.promised[region]
        if !isToldApart, promised + Self.resident >= needed, promised - own < needed + Self.resident {
            return .exception(.anonymity)
        }
        let area = fragment.cells.reduce(0) { $0 + Self.area($1) }
        if measures[region].area - area < AtlasVerifier.smallestArea * 1.02 + Self.squareKilometers {
            return .exception(.area)
        }
        let center = CubeGeometry.leaf(at: tables.position(region))
        return fragments.fragment(of: region, at: center) == index ? .exception(.center) : .offender(taker: taker)
    }

    /// The regions of any country that touch a fragment and none of its region's that are not small: who crosses to one of these
    /// has been in the fragment.
    private func regionsTellingApart(
        _ index: Int, _ fragments: RegionFragments, _ count: ResidentCount.Count
    ) throws -> Set<Int> {
        let region = fragments.fragments[index].region
        func neighbors(_ index: Int) throws -> Set<Int> {
            let leaves = fragments.fragments[index].cells.lazy.flatMap(Self.leavesAround)
            return Set(try leaves.map { try tables.region(at: $0) }).subtracting([region])
        }
        var left = try neighbors(index)
        for other in fragments.ranges[region]! where isLarge(other, of: region, fragments, count) {
            if left.isEmpty { break }
            left.subtract(try neighbors(other))
        }
        return left
    }

    /// Whether a fragment is its region's only or main one, or not small.
    private func isLarge(
        _ fragment: Int?, of region: Int, _ fragments: RegionFragments, _ count: ResidentCount.Count
    ) -> Bool {
        guard let fragment, let range = fragments.ranges[region] else { return true }
        let residents = count.byFragment[fragment].residents
        return residents >= leastResidents + Self.resident
            || range.allSatisfy { $0 == fragment || count.byFragment[$0].residents + Self.resident < residents }
    }

    /// Leaf cells just outside a cell: beside each cell of level 15 along its sides, and at its corners.
    static func leavesAround(_ cell: Quad) -> [Leaf] {
        let steps = cell.size >> 15, outside = 0.0001 / Double(steps)
        let along = (0..<steps).map { (Double($0) + 0.5) / Double(steps) }, ends = [-outside, 1 + outside]
        let points =
            ends.flatMap { end in along.flatMap { [(end, $0), ($0, end)] } + ends.map { (end, $0) } }
        return points.map { CubeGeometry.leaf(at: cell.position(x: $0, y: $1)) }
    }

    private func corners(of fragment: RegionFragments.Fragment) -> [SIMD3<Double>] {
        let cells = Set(fragment.cells)
        let pieces = cover.pieces(fragment.region).filter { cells.contains($0.cell) }
        let cut = Set(pieces.map(\.cell))
        let whole = fragment.cells.filter { !cut.contains($0) }.flatMap(\.corners)
        let ofPieces = pieces.flatMap { piece in
            let ring = piece.face.rings[0]
            return stride(from: 0, to: ring.count, by: 2).map { piece.position(x: ring[$0], y: ring[$0 + 1]) }
        }
        return (whole + ofPieces).map(EarthCentered.position)
    }

    /// Square kilometers of a cell, as of a flat quadrilateral.
    private static func area(_ cell: Quad) -> Double {
        let corners = cell.corners.map(EarthCentered.position)
        let a = corners[2] - corners[0], b = corners[3] - corners[1]
        let cross = SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        return cross.chord(to: SIMD3()) / 2 / 1e6
    }
}
