import FixedRandom
import Hereabouts
import Testing

@testable import AtlasBuilder

/// Whose people live where, on a plane: x and y in meters.
@Suite struct PlaceExtentsTests {
    private func place(_ name: String, _ residents: Double, _ x: Double, _ y: Double) -> PlaceIndex.Entry {
        PlaceIndex.Entry(
            name: name, residents: residents, residentsAround: 0, country: 1, home: 1,
            leaf: FaceIJ(face: 0, i: 0, j: 0), isAshore: true, position: SIMD3(x, y, 0))
    }

    /// Points every 500 m, of a number of residents each, a part for every square kilometer.
    private func land(_ side: Int, residents: Double, isEmpty: (Double, Double) -> Bool = { _, _ in false })
        -> [PlaceExtents.Point]
    {
        (0..<4 * side * side).compactMap { index in
            let column = index / (2 * side), row = index % (2 * side)
            let x = 500 * (Double(column) + 0.5), y = 500 * (Double(row) + 0.5)
            guard !isEmpty(x, y) else { return nil }
            return PlaceExtents.Point(
                position: SIMD3(x, y, 0), part: Int32(column / 2 * side + row / 2), residents: residents)
        }
    }

    private func drawn(_ owners: [Int32], _ points: [PlaceExtents.Point], by place: Int) -> [Double] {
        zip(owners, points).filter { $0.0 == Int32(place) }.map { $0.1.position.distance(to: SIMD3(15_000, 15_000, 0)) }
    }

    @Test func `the residents nearest to a town belong to it, as many as it lists`() {
        // 25 on each point, 100 per km²: fewer than towns have, so that this one is as wide as it may be before it is full.
        let thin = land(30, residents: 25)
        let wide = drawn(PlaceExtents.owners([place("Town", 20_000, 15_000, 15_000)], thin), thin, by: 0)
        #expect(wide.count == thin.count { $0.position.distance(to: SIMD3(15_000, 15_000, 0)) <= 3 * 1_889.27 })
        // As many as on each point of a square in the middle of the land.
        let dense = land(30, residents: 400)
        let near = drawn(PlaceExtents.owners([place("Town", 20_000, 15_000, 15_000)], dense), dense, by: 0)
        #expect(near.count == 50)
        let distances = dense.map { $0.position.distance(to: SIMD3(15_000, 15_000, 0)) }.sorted()
        #expect(near.sorted() == Array(distances.prefix(50)))
    }

    @Test func `whoever lives within a town's radius belongs to it, though it lists fewer`() {
        let land = land(30, residents: 4_000)
        let people = drawn(PlaceExtents.owners([place("Town", 20_000, 15_000, 15_000)], land), land, by: 0)
        #expect(people.count == land.count { $0.position.distance(to: SIMD3(15_000, 15_000, 0)) <= 1_889.27 })
        #expect(people.count > 5)
    }

    @Test func `a village beside a city keeps its people`() {
        let land = land(30, residents: 200)
        let places = [place("City", 500_000, 15_000, 15_000), place("Village", 3_000, 24_000, 15_000)]
        let owners = PlaceExtents.owners(places, land)
        #expect(drawn(owners, land, by: 1).count == 15)
        // Those of them who live beyond the village are the city's too.
        #expect((2_485..<2_500).contains(drawn(owners, land, by: 0).count))
        #expect(drawn(PlaceExtents.owners([places[0]], land), land, by: 0).count == 2_500)
    }

    @Test func `a borough belongs to its city too`() {
        let land = land(30, residents: 400)
        let city = place("City", 400_000, 15_000, 15_000)
        let owners = PlaceExtents.owners([city, place("Borough", 40_000, 18_000, 15_000)], land)
        let alone = drawn(PlaceExtents.owners([city], land), land, by: 0)
        let borough = drawn(owners, land, by: 1)
        #expect(borough.count > 20)
        // Whoever lives there beyond the borough's middle counts for the city, so it has so many fewer elsewhere.
        let beyond = borough.count { $0 > 3_000 }
        #expect(drawn(owners, land, by: 0).count + beyond == alone.count)
        #expect(beyond > borough.count / 2)
    }

    @Test func `people across water belong to the city that has none nearer`() {
        // A strait of 4 km, and beyond it a suburb without a name.
        let land = land(30, residents: 400) { x, _ in (17_000..<21_000).contains(x) }
        let owners = PlaceExtents.owners([place("City", 400_000, 15_000, 15_000)], land)
        #expect(zip(owners, land).contains { $0.0 == 0 && $0.1.position.x > 21_000 })
    }

    @Test func `a region is named for the place of most of its people, if that has a quarter of them`() {
        let land = land(30, residents: 400)
        let places = [place("East", 8_000, 16_000, 15_000), place("West", 12_000, 14_000, 15_000)]
        let extents = PlaceExtents(places: places, points: land, partCount: 900)
        let owners = PlaceExtents.owners(places, land)
        func parts(_ columns: Range<Int>, _ rows: Range<Int>) -> [Int32] {
            columns.flatMap { column in rows.map { Int32(column * 30 + $0) } }
        }
        var random = SplitMix64(seed: 12)
        var names: Set<String?> = []
        for _ in 0..<500 {
            let column = Int.random(in: 9..<20, using: &random), row = Int.random(in: 9..<20, using: &random)
            let members = parts(
                column..<column + Int.random(in: 1...9, using: &random),
                row..<row + Int.random(in: 1...9, using: &random))
            let inside = Set(members)
            let people = land.indices.filter { inside.contains(land[$0].part) }
            let sums = [0, 1].map { place in people.count { owners[$0] == Int32(place) } }
            let name = extents.main(of: members)?.name
            names.insert(name)
            let enough = 4 * sums.max()! >= people.count && sums.max()! > 0
            #expect(name == (enough ? places[sums[0] >= sums[1] ? 0 : 1].name : nil))
        }
        #expect(names == ["East", "West", nil])
    }

    @Test func `where nobody lives no place has people`() {
        let extents = PlaceExtents(places: [place("Town", 5_000, 0, 0)], points: [], partCount: 3)
        #expect(extents.main(of: [0, 1, 2]) == nil)
    }
}
