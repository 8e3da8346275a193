/// Residents as they are printed: to two significant digits, since an estimate says no more.
package enum PrintedResidents {
    /// An estimate, rounded to the nearest.
    package static func estimate(_ residents: Int) -> Int {
        let unit = unit(of: residents)
        return (residents + unit / 2) / unit * unit
    }

    /// A lower bound, rounded down.
    package static func lowerBound(_ residents: Int) -> Int { residents / unit(of: residents) * unit(of: residents) }

    /// What the second digit of a number is in units of.
    private static func unit(of residents: Int) -> Int {
        var unit = 1
        while residents / unit >= 100 { unit *= 10 }
        return unit
    }
}
