import Hereabouts

/// Residents as weighted points, sorted by cell: what a cell holds is a difference of two prefix sums.
struct Population: Sendable {
    /// Leaf cell ids, ascending.
    private(set) var cells: [UInt64] = []
    /// The country each point's residents belong to; `anyCountry` where the source does not say.
    private(set) var countries: [UInt16] = []
    /// Residents of all points before, in units of 1/1024 person; one more than there are points.
    private(set) var sums: [Int64] = [0]

    static let anyCountry: UInt16 = .max
    private static let unit = 1024.0

    init(_ points: [PopulationPoint]) {
        let sorted = points.sorted {
            $0.cell != $1.cell ? $0.cell < $1.cell : ($0.country, $0.residents) < ($1.country, $1.residents)
        }
        cells = sorted.map(\.cell)
        countries = sorted.map(\.country)
        sums.reserveCapacity(sorted.count + 1)
        var sum: Int64 = 0
        for point in sorted {
            sum += Int64((Double(point.residents) * Self.unit).rounded())
            sums.append(sum)
        }
    }

    /// Positions of the points in a cell. Logarithmic.
    func range(of cell: CellID) -> Range<Int> { cells.range(of: cell) }

    func residents(_ range: Range<Int>) -> Double {
        Double(sums[range.upperBound] - sums[range.lowerBound]) / Self.unit
    }

    /// Residents of one country among the points of a range. Where the source does not say whose a point's residents
    /// are, `holds` tells whether its leaf cell is the country's.
    func residents(_ range: Range<Int>, of country: Int, holds: (UInt64) -> Bool) -> Double {
        var sum: Int64 = 0
        for k in range
        where Int(countries[k]) == country || countries[k] == Self.anyCountry && holds(cells[k]) {
            sum += sums[k + 1] - sums[k]
        }
        return Double(sum) / Self.unit
    }
}

/// Some residents at one point.
struct PopulationPoint: Sendable {
    var cell: UInt64
    var residents: Float
    var country: UInt16
}
