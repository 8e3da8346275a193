import FixedRandom
import Hereabouts
import Testing

@testable import AtlasBuilder

/// Fragments of regions, and to whom they go.
@Suite struct FragmentTests {
    private static let level = 11

    /// Cells of level 11 (about 4.5 km wide) by column and row, each with some residents, all promised.
    private struct Map {
        var parts = PartSet()
        /// Columns and rows in the order of the parts.
        var places: [SIMD2<Int>] = []

        init(_ residents: [SIMD2<Int>: Double]) {
            let size = 1 << (30 - level)
            func cell(_ place: SIMD2<Int>) -> CellID {
                CellID(
                    face: 0, i: UInt32((1_100 + place.x) * size), j: UInt32((1_200 + place.y) * size), level: level)
            }
            for place in residents.keys.sorted(by: { cell($0) < cell($1) }) {
                parts.append(cell(place), residents: residents[place]!)
                places.append(place)
            }
        }

        func group(_ isMember: (SIMD2<Int>) -> Bool) -> Group {
            Group(parts: places.indices.filter { isMember(places[$0]) }.map { Int32($0) }, in: parts)
        }

        func record(_ group: Group, _ limits: RegionLimits) -> RegionRecord? {
            guard group.reach <= limits.largestReach(isEmpty: false) else { return nil }
            let residents = group.parts.reduce(0) { $0 + parts.residents[Int($1)] }
            return RegionRecord(
                country: 1, centerCell: CellID(rawValue: parts.cell[Int(group.site.part)]), latitudeE5: 0,
                longitudeE5: 0, accuracy: Int32(max(limits.smallestAccuracy, group.reach + limits.steadiness)),
                centerPosition: group.site.position,
                people: Population.People(residents: residents, promised: group.population), density: 0,
                area: group.area, isEmpty: false, members: [])
        }

        /// The regions after all transfers, as sets of places.
        func transferred(_ groups: [Group], _ limits: RegionLimits) throws -> [Set<SIMD2<Int>>] {
            var transfer = FragmentTransfer(
                parts: parts, limits: limits, regions: groups.map { ($0, record($0, limits)!) },
                isAllowed: { _, _ in true }
            ) { record($0, limits) }
            try transfer.run()
            for region in transfer.regions {
                let sum = region.group.parts.reduce(0) { $0 + parts.population[Int($1)] }
                #expect(abs(sum - region.group.population) < 1e-6)
            }
            return transfer.regions.map { Set($0.group.parts.map { places[Int($0)] }) }
        }
    }

    private static var limits: RegionLimits {
        var limits = RegionLimits()
        limits.anonymity = 6_000
        return limits
    }

    private static let outlier = SIMD2(5, 1)

    /// Seven columns of three rows: nine cells in the west are one region, and eleven in the east, of as many residents as
    /// said, another; the cell in the middle of the east belongs to the west.
    private static func map(west: Double, outlier residents: Double, east: Double) -> (map: Map, groups: [Group]) {
        var people: [SIMD2<Int>: Double] = [:]
        for x in 0..<7 { for y in 0..<3 { people[SIMD2(x, y)] = x < 3 ? west / 9 : east / 11 } }
        people[outlier] = residents
        let map = Map(people)
        let isWest = { (place: SIMD2<Int>) in place.x < 3 || place == outlier }
        return (map, [map.group(isWest), map.group { !isWest($0) }])
    }

    @Test func `a small fragment goes to the region around it`() throws {
        let (map, groups) = Self.map(west: 9_000, outlier: 50, east: 11_000)
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[0] == Set(map.places.filter { $0.x < 3 }) && regions[1].contains(Self.outlier))
    }

    @Test func `a fragment with people enough stays`() throws {
        let (map, groups) = Self.map(west: 9_000, outlier: 1_000, east: 11_000)
        #expect(try map.transferred(groups, Self.limits)[0].contains(Self.outlier))
    }

    @Test func `who gives a fragment that K needs gets other people for it`() throws {
        let (map, groups) = Self.map(west: 5_980, outlier: 50, east: 11_000)
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[1].contains(Self.outlier))
        // One cell of the border column.
        #expect(regions[0].count == 10 && regions[0].filter { $0.x == 3 }.count == 1)
    }

    @Test func `who is too small without a fragment gets other parts for it`() throws {
        var (map, _) = Self.map(west: 9_000, outlier: 50, east: 11_000)
        for (part, place) in map.places.enumerated() where place.x < 3 { map.parts.area[part] = 0.5 }
        let isWest = { (place: SIMD2<Int>) in place.x < 3 || place == Self.outlier }
        let regions = try map.transferred([map.group(isWest), map.group { !isWest($0) }], Self.limits)
        #expect(regions[1].contains(Self.outlier))
        #expect(regions[0].count == 10 && regions[0].filter { $0.x == 3 }.count == 1)
    }

    @Test func `a fragment that nobody can take is connected with the rest of its region`() throws {
        // The east promises fewer than K, so that it must not take people, and keeps K/2.
        let (map, groups) = Self.map(west: 9_000, outlier: 50, east: 5_000)
        let regions = try map.transferred(groups, Self.limits)
        let west = map.group { regions[0].contains($0) }
        #expect(regions[0].contains(Self.outlier) && regions[0].count == 12)
        #expect(Fragments(parts: map.parts).fragments(of: west.parts).count == 1)
    }

    @Test func `nobody who would fall short of K or K half gives parts to connect others`() throws {
        // The east has hardly more than K, or than half of it.
        for (west, east) in [(5_980.0, 6_050.0), (9_000, 3_100)] {
            let (map, groups) = Self.map(west: west, outlier: 50, east: east)
            let regions = try map.transferred(groups, Self.limits)
            #expect(regions[0] == Set(map.places.filter { $0.x < 3 || $0 == Self.outlier }))
        }
    }

    @Test func `who falls short by a fragment's transfer gets people from the next one`() throws {
        var people: [SIMD2<Int>: Double] = [:]
        for x in 0..<10 { for y in 0..<3 { people[SIMD2(x, y)] = x < 3 ? 5_980 / 9 : x < 7 ? 6_050 / 11 : 1_000 } }
        people[Self.outlier] = 50
        let map = Map(people)
        let isWest = { (place: SIMD2<Int>) in place.x < 3 || place == Self.outlier }
        let regions = try map.transferred(
            [map.group(isWest), map.group { !isWest($0) && $0.x < 7 }, map.group { $0.x >= 7 }], Self.limits)
        #expect(regions[1].contains(Self.outlier))
        #expect(regions[0].contains { $0.x == 3 } && regions[1].contains { $0.x == 7 })
        for region in regions { #expect(region.reduce(0) { $0 + people[$1]! } >= Self.limits.anonymity) }
    }

    @Test func `a fragment that nobody can take or connect gets people from those around it`() throws {
        // Of the two regions in the east neither promises enough to take it, and the nearer one has hardly more than K/2.
        var people: [SIMD2<Int>: Double] = [:]
        for x in 0..<7 { for y in 0..<3 { people[SIMD2(x, y)] = x < 3 ? 1_000 : x < 5 ? 3_050 / 6 : 3_900 / 5 } }
        people[Self.outlier] = 900
        let map = Map(people)
        let isWest = { (place: SIMD2<Int>) in place.x < 3 || place == Self.outlier }
        let groups = [map.group(isWest), map.group { !isWest($0) && $0.x < 5 }, map.group { !isWest($0) && $0.x >= 5 }]
        let regions = try map.transferred(groups, Self.limits).map { region in map.group { region.contains($0) } }
        let fragments = Fragments(parts: map.parts)
        let residents = fragments.fragments(of: regions[0].parts).map { fragments.residents(of: $0) }
        #expect(residents.count == 2 && residents[0] == 9_000 && residents[1] >= 1_000)
        for region in regions { #expect(region.population >= Self.limits.anonymity / 2) }
    }

    /// Regions by number, each cell with as many residents as said.
    private static func map(
        columns: Range<Int>, rows: Range<Int>, _ region: (SIMD2<Int>) -> (index: Int, residents: Double)?
    ) -> (map: Map, groups: [Group]) {
        let places = columns.flatMap { x in rows.map { SIMD2(x, $0) } }
        let map = Map(
            Dictionary(
                uniqueKeysWithValues: places.compactMap { place in region(place).map { (place, $0.residents) } }))
        let count = 1 + places.compactMap { region($0)?.index }.max()!
        return (map, (0..<count).map { index in map.group { region($0)!.index == index } })
    }

    @Test func `a fragment goes to several regions where no circle holds all of it`() throws {
        // One region in the north and one in the south, each as wide as a circle allows; the fragment is the middle of their eastern edge.
        let fragment: Set = [SIMD2(8, 2), SIMD2(8, 3)]
        let (map, groups) = Self.map(columns: 4..<12, rows: 0..<6) { place in
            if fragment.contains(place) { return (0, 50) }
            if place.x > 9 { return (1..<5).contains(place.y) ? (0, 1_000) : nil }
            return place.x == 9 ? nil : (place.y < 3 ? 1 : 2, 1_000)
        }
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[0].isDisjoint(with: fragment))
        #expect(regions[1].contains(SIMD2(8, 2)) && regions[2].contains(SIMD2(8, 3)))
    }

    @Test func `a region moves its circle to take a fragment, and gives up others of its parts`() throws {
        // From west to east: one with room, one as wide as a circle allows, the fragment beyond its eastern edge, and its region.
        let fragment = SIMD2(9, 0)
        let (map, groups) = Self.map(columns: 1..<13, rows: 0..<3) { place in
            if place == fragment { return (0, 50) }
            if place.x > 10 { return (0, 1_500) }
            return place.x > 8 ? nil : (place.x < 4 ? 1 : 2, 1_000)
        }
        let regions = try map.transferred(groups, Self.limits)
        #expect(!regions[0].contains(fragment) && regions[2].contains(fragment))
        #expect(regions[1].count > 9 && regions[1].allSatisfy { $0.x <= 4 })
    }

    /// The west, and an outlier of it in the east, which has hardly more than K/2, so that it gives no parts for a way; between the two
    /// a column of cells with so many residents each, so that the east touches nothing else of the west, or none.
    private static func toldApart(west: Double, between: Double?) -> (map: Map, groups: [Group]) {
        map(columns: 0..<7, rows: 0..<3) { place in
            if place == Self.outlier { return (0, 50) }
            if place.x < 3 { return (0, west / 9) }
            if place.x == 3, let between { return (2, between) }
            return (1, 3_050 / (between != nil ? 8 : 11))
        }
    }

    @Test func `a fragment that is told apart goes to a region that promises less`() throws {
        // The west has hardly more than K, so that it compensates nobody for a way.
        for isBetween in [true, false] {
            let (map, groups) = Self.toldApart(west: 6_060, between: isBetween ? 1_050 : nil)
            let regions = try map.transferred(groups, Self.limits)
            #expect(regions[0].contains(Self.outlier) != isBetween && regions[1].contains(Self.outlier) == isBetween)
        }
    }

    @Test func `a fragment that is told apart goes even if its region falls short of K by it`() throws {
        let (map, groups) = Self.toldApart(west: 5_980, between: 1_050)
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[0] == Set(map.places.filter { $0.x < 3 }) && regions[1].contains(Self.outlier))
    }

    @Test func `who tells a fragment apart comes to touch the rest of its region too`() throws {
        let (map, groups) = Self.toldApart(west: 9_000, between: 3_000)
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[0].contains(Self.outlier) && regions[0].intersection(regions[1]).isEmpty)
        let parts = regions.map { region in
            map.places.indices.filter { region.contains(map.places[$0]) }.map { Int32($0) }
        }
        let fragments = Fragments(parts: map.parts)
        let main = fragments.fragments(of: parts[0])[0]
        #expect(!Set(fragments.touching(main)).isDisjoint(with: parts[1]))
        // One cell of the column, whichever of the two has it.
        #expect(regions[2].count == 2)
    }

    @Test func `a fragment that no circle reaches stays`() throws {
        let (map, groups) = Self.map(west: 9_000, outlier: 50, east: 11_000)
        var regions = groups.map { ($0, map.record($0, Self.limits)!) }
        var limits = Self.limits
        limits.largestAccuracy = 5_000
        regions[1].1.centerPosition = map.parts.center[map.places.firstIndex(of: SIMD2(0, 0))!]
        var transfer = FragmentTransfer(
            parts: map.parts, limits: limits, regions: regions, isAllowed: { _, _ in true }
        ) { _ in nil }
        try transfer.run()
        #expect(transfer.changed.isEmpty)
    }

    @Test func `a fragment that is told apart gets people from who may lack a few`() throws {
        // The fragment touches only the edge of a region as wide as a circle allows. Of that edge it gets what it needs, if that region
        // then lacks at most a twentieth of K, or if it never had nearly as many.
        for (edge, east, isMade) in [(75.0, 6_020.0, true), (170, 6_020, false), (75, 5_800, false), (75, 5_600, true)]
        {
            let (map, groups) = Self.map(columns: 3..<11, rows: 0..<3) { place in
                if place == Self.outlier { return (0, 790) }
                if place.x == 3 { return (0, 2_100) }
                return place.x < 6 ? nil : (1, place.x == 6 ? edge : (east - 3 * edge) / 12)
            }
            let regions = try map.transferred(groups, Self.limits)
            let west = map.group { regions[0].contains($0) }, after = map.group { regions[1].contains($0) }
            let fragments = Fragments(parts: map.parts)
            let small = fragments.fragments(of: west.parts).filter { fragments.residents(of: $0) < 1_000 }
            #expect(small.isEmpty == isMade && regions[0].contains(Self.outlier))
            #expect(after.population >= 0.95 * min(east, Self.limits.anonymity))
        }
    }

    @Test func `what a way cuts off goes along`() throws {
        // The fragment is at a border. The way to it takes the only cell between one in the corner and the rest of the east.
        let outlier = SIMD2(4, 1), corner = SIMD2(3, 0)
        var (map, groups) = Self.map(columns: 0..<7, rows: 0..<3) { place in
            if place == outlier { return (0, 50) }
            if place.x < 3 { return (0, 5_980 / 9) }
            return place == SIMD2(4, 0) ? nil : (1, place == corner ? 160 : place == SIMD2(3, 1) ? 120 : 2_760 / 8)
        }
        let piece = map.places.firstIndex(of: outlier)!
        map.parts.hull[Int(map.parts.hullStart[piece])] = map.parts.center[piece]
        let regions = try map.transferred(groups, Self.limits)
        #expect(regions[0] == Set(map.places.filter { $0.x < 3 } + [corner, SIMD2(3, 1), outlier]))
    }

    @Test func `an island touches nobody and stays`() throws {
        var people: [SIMD2<Int>: Double] = [SIMD2(4, 0): 50]
        for x in [0, 1, 6, 7] { people[SIMD2(x, 0)] = 4_000 }
        let map = Map(people)
        let groups = [map.group { $0.x < 5 }, map.group { $0.x > 5 }]
        let fragments = Fragments(parts: map.parts).fragments(of: groups[0].parts)
        #expect(fragments.map(\.count) == [2, 1])
        #expect(Fragments(parts: map.parts).touching(fragments[1]).isEmpty)
        #expect(try map.transferred(groups, Self.limits)[0].contains(SIMD2(4, 0)))
    }

    @Test func `cells touch across sizes and faces`() {
        var random = SplitMix64(seed: 71)
        for _ in 0..<2_000 {
            let level = Int.random(in: 2...15, using: &random), size = UInt32(1) << UInt32(30 - level)
            // Often at an edge of the face.
            func step() -> UInt32 {
                let last = UInt32(1 << level) - 1
                return [0, last, .random(in: 0...last, using: &random)].randomElement(using: &random)!
            }
            let cell = CellID(
                face: .random(in: 0..<6, using: &random), i: step() * size, j: step() * size, level: level)
            let around = Set(cell.surroundings), corners = CellShape(cell).corners
            let isAtCorner =
                [0, (1 << 30) - size].contains(cell.lowerLeft.i)
                && [0, (1 << 30) - size].contains(cell.lowerLeft.j)
            #expect(around.count == (isAtCorner ? 7 : 8) && !around.contains(cell))
            for neighbor in around {
                #expect(neighbor.level == level && neighbor.surroundings.contains(cell))
                let shared = CellShape(neighbor).corners.filter { a in corners.contains { a.distance(to: $0) < 0.01 } }
                #expect([1, 2].contains(shared.count))
            }
        }
    }
}
