import FixedRandom
import Hereabouts
import Testing

@testable import AtlasBuilder

/// Leftovers between regions: to whom they go, or how they grow.
@Suite struct LeftoverTests {
    private static let level = 11

    /// A country of cells of level 11 (about 4.5 km wide), each with some residents, all promised.
    private struct Country {
        var parts = PartSet()
        /// Columns and rows in the order of the parts.
        var places: [SIMD2<Int>] = []
        let limits: RegionLimits

        init(_ residents: [SIMD2<Int>: Double], limits: RegionLimits = RegionLimits()) {
            self.limits = limits
            func cell(_ place: SIMD2<Int>) -> CellID { .lattice(place.x, place.y, level: level) }
            for place in residents.keys.sorted(by: { cell($0) < cell($1) }) {
                parts.append(cell(place), residents: residents[place]!, isOpen: true)
                places.append(place)
            }
        }

        func group(_ members: Set<SIMD2<Int>>) -> Group {
            Group(parts: places.indices.filter { members.contains(places[$0]) }.map { Int32($0) }, in: parts)
        }

        private func record(_ group: Group) -> RegionRecord {
            let center = CellID(face: 0, i: group.site.leaf.x, j: group.site.leaf.y, level: RegionID.level)
            let published = center.publishedCenter
            return RegionRecord(
                country: 1, centerCell: center, latitudeE5: Int32((published.latitude * 1e5).rounded()),
                longitudeE5: Int32((published.longitude * 1e5).rounded()),
                accuracy: Int32(limits.publishedAccuracy(ofReach: group.reach)), centerPosition: group.site.position,
                people: Population.People(residents: max(group.population, 1), promised: group.population), density: 0,
                area: group.area, isEmpty: group.isEmpty, members: [])
        }

        private func part(at place: Coordinate) -> Int32? {
            let leaf = CellID.leaf(latitude: place.latitude, longitude: place.longitude)
            return parts.cell.firstIndex { CellID(rawValue: $0).contains(CellID(rawValue: leaf)) }.map { Int32($0) }
        }

        private func repair(_ groups: [Group]) -> LeftoverRepair {
            LeftoverRepair(
                parts: parts, limits: limits, regions: groups.map { ($0, record($0)) }, isAllowed: { _, _ in true },
                part: part
            ) { group, limit in
                let record = record(group)
                return Double(record.accuracy) <= limit ? record : nil
            }
        }

        func repaired(_ groups: [Group]) throws -> [Group] {
            var repair = repair(groups)
            try repair.run()
            return repair.regions.compactMap { $0?.group }
        }

        func leftoverCount(_ groups: [Group]) -> Int { repair(groups).leftovers.count }

        func places(of group: Group) -> Set<SIMD2<Int>> { Set(group.parts.map { places[Int($0)] }) }
    }

    /// The cells of a rectangle.
    private static func box(_ columns: Range<Int>, _ rows: Range<Int>) -> Set<SIMD2<Int>> {
        Set(columns.flatMap { x in rows.map { SIMD2(x, $0) } })
    }

    private static let middle = SIMD2(3, 3)

    /// One cell in the middle of four regions that go around it like a pinwheel, each of twelve cells and so many residents.
    private static func pinwheel(
        _ population: Double, besides isGone: (SIMD2<Int>) -> Bool = { _ in false }
    ) -> (country: Country, groups: [Group]) {
        let arms = [box(0..<4, 0..<3), box(4..<7, 0..<4), box(3..<7, 4..<7), box(0..<3, 3..<7)]
            .map { $0.filter { !isGone($0) } }
        var people = [middle: 40.0]
        for arm in arms { for place in arm { people[place] = population / Double(arm.count) } }
        let country = Country(people)
        return (country, (arms + [[middle]]).map { country.group($0) })
    }

    @Test func `a leftover goes to the regions around it`() throws {
        let (country, groups) = Self.pinwheel(25_000)
        #expect(country.leftoverCount(groups) == 1)
        let repaired = try country.repaired(groups)
        #expect(repaired.count == 4 && repaired.map(\.parts.count).sorted() == [12, 12, 12, 13])
        #expect(repaired.allSatisfy { $0.reach <= country.limits.largestReach(isEmpty: false) })
    }

    @Test func `what lies at the edge of its country is no leftover`() throws {
        // The country ends where the ring around the middle is.
        let (country, groups) = Self.pinwheel(25_000) { $0.x > 3 && $0.y > 3 }
        #expect(country.leftoverCount(groups) == 0)
        let repaired = try country.repaired(groups)
        #expect(repaired.map { country.places(of: $0) } == groups.map { country.places(of: $0) })
    }

    private static func square(_ side: Int, _ x: Int, _ y: Int) -> Set<SIMD2<Int>> {
        box(side * x..<side * x + side, side * y..<side * y + side)
    }

    /// Squares of four or five cells a side, which nearly fill their circles; where four of them meet one cell is left.
    @Test func `in full circles leftovers are given parts, or fit a larger circle`() throws {
        var random = SplitMix64(seed: 0x1ef7)
        var before = 0, after = 0
        for _ in 0..<40 {
            let isPoor = Bool.random(using: &random), side = Int.random(in: 4...5, using: &random)
            var groups: [Set<SIMD2<Int>>] = []
            var holes: Set<SIMD2<Int>> = []
            for x in 0..<4 { for y in 0..<4 where x > 0 && y > 0 { holes.insert(SIMD2(side * x, side * y)) } }
            for x in 0..<4 {
                for y in 0..<4 { groups.append(Self.square(side, x, y).subtracting(holes)) }
            }
            var people: [SIMD2<Int>: Double] = [:]
            for group in groups {
                let each = random.uniform(isPoor ? 4_000 : 20_000, isPoor ? 19_000 : 60_000) / Double(group.count)
                for place in group { people[place] = each }
            }
            for hole in holes { people[hole] = random.uniform(1, 2_000) }
            let country = Country(people)
            let given = (groups + holes.map { [$0] }).map { country.group($0) }
            let repaired = try country.repaired(given)
            #expect(repaired.flatMap(\.parts).sorted() == country.places.indices.map { Int32($0) })
            for group in repaired {
                #expect(group.reach <= country.limits.reach(ofAccuracy: country.limits.largestLeftoverAccuracy))
                let sum = group.parts.reduce(0) { $0 + country.parts.population[Int($1)] }
                #expect(abs(sum - group.population) < 1e-6)
            }
            // Who had K, or half of it, has it still.
            for limit in [country.limits.anonymity, country.limits.anonymity / 2] {
                #expect(repaired.count { $0.population >= limit } >= given.count { $0.population >= limit })
            }
            (before, after) = (before + country.leftoverCount(given), after + country.leftoverCount(repaired))
        }
        #expect(before > 300 && after * 20 < before)
    }
}
