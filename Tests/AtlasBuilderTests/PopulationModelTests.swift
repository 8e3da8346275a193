import Hereabouts
import Testing

@testable import AtlasBuilder

/// The population model on two countries that are rectangles, all land.
@Suite struct PopulationModelTests {
    /// Country 1 from 10° to 12° east, country 2 from 12° to 14°, both from 1° to 3° north.
    private static let roots: [CellRoot] = {
        var builder = CellMapBuilder()
        for (west, country) in [(10.0, UInt16(1)), (12.0, 2)] {
            builder.add(
                line: [west, 1, west + 2, 1, west + 2, 3, west, 3, west, 1], code: country | Label.landBit)
        }
        return builder.map(references: [Label](repeating: Label(country: 0, isLand: false), count: 6))
            .roots(level: CellRoot.level)
    }()

    private typealias ModelPlace = PopulationModel.ModelPlace

    /// Residents of each country, and how far their points are from a place at most, degrees.
    private func residents(_ places: [ModelPlace], totals: [Double]) throws -> [Double] {
        let population = try PopulationModel(roots: Self.roots, places: places, totals: totals).build { _ in }
        var sums = [Double](repeating: 0, count: totals.count)
        for root in population {
            for (index, country) in root.countries.enumerated() {
                sums[Int(country)] += root.residents(index..<index + 1)
                let point = CellID(rawValue: root.cells[index]).center
                let west = Double(8 + 2 * Int(country))
                #expect((west...west + 2).contains(point.longitude) && (1...3).contains(point.latitude))
                // 30 km, and half a level-9 cell's diagonal.
                #expect(
                    places.contains {
                        let east = $0.longitude - point.longitude, north = $0.latitude - point.latitude
                        return (east * east + north * north).squareRoot() * 111.3 < 30 + 15
                    })
            }
        }
        return sums
    }

    @Test func `all of a country's people live somewhere in it`() throws {
        let places = [
            ModelPlace(latitude: 2, longitude: 11, residents: 50_000, country: 1),
            // Its disc crosses the border: its people stay on this side.
            ModelPlace(latitude: 2.5, longitude: 11.999, residents: 200_000, country: 1),
            ModelPlace(latitude: 1.5, longitude: 13, residents: 3_000, country: 2),
        ]
        // Every cell has between 8 and 400 scattered residents, so that none is left out or divided.
        let totals = [0.0, 258_000, 7_000]
        let sums = try residents(places, totals: totals)
        // Points are rounded to 1/1024 of a resident.
        #expect(sums[0] == 0)
        #expect(abs(sums[1] - totals[1]) < 2 && abs(sums[2] - totals[2]) < 2, "\(sums)")
    }

    @Test func `places are scaled down where they hold more than nine tenths`() throws {
        let places = [
            ModelPlace(latitude: 2, longitude: 11, residents: 60_000, country: 1),
            ModelPlace(latitude: 2.01, longitude: 11.01, residents: 60_000, country: 1),
        ]
        let sums = try residents(places, totals: [0, 100_000, 0])
        // Of the scattered tenth, cells of fewer than 8 count as uninhabited.
        #expect(sums[1] <= 100_001 && sums[1] >= 99_000, "\(sums)")
        let unknown = try residents(places, totals: [0, 0, 0])
        #expect(abs(unknown[1] - 120_000) < 2)
    }

    @Test func `a place outside its country's land keeps its own point only there`() throws {
        // At sea, by a degree: nobody is invented in another country.
        let lost = ModelPlace(latitude: 0, longitude: 11, residents: 5_000, country: 1)
        let kept = ModelPlace(latitude: 2, longitude: 11, residents: 5_000, country: 1)
        let foreign = ModelPlace(latitude: 2, longitude: 13, residents: 5_000, country: 1)
        let sums = try residents([lost, kept, foreign], totals: [0, 0, 0])
        #expect(abs(sums[1] - 5_000) < 2 && sums[2] == 0)
        // Without a country, a place is its land's.
        let sumsOfUnknown = try residents(
            [ModelPlace(latitude: 2, longitude: 13, residents: 5_000, country: 0)], totals: [0, 0, 0])
        #expect(abs(sumsOfUnknown[2] - 5_000) < 2 && sumsOfUnknown[1] == 0)
    }
}
