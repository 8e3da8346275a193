import Testing

@testable import AtlasInspection

@Suite struct PrintedResidentsTests {
    @Test(arguments: [
        (0, 0, 0), (9, 9, 9), (99, 99, 99), (100, 100, 100), (104, 100, 100), (105, 110, 100), (994, 990, 990),
        (995, 1_000, 990), (19_999, 20_000, 19_000), (20_885, 21_000, 20_000), (85_248, 85_000, 85_000),
        (1_250_000, 1_300_000, 1_200_000),
    ])
    func `two digits, and no bound is rounded up`(residents: Int, estimate: Int, bound: Int) {
        #expect(PrintedResidents.estimate(residents) == estimate)
        #expect(PrintedResidents.lowerBound(residents) == bound)
    }
}
