/// Why an atlas could not be built from inputs that were read without error. Never names a coordinate.
package enum BuildError: Error, Hashable, Sendable {
    /// No point of a region could be its center; the index of its country.
    case noCenter(country: Int)
    /// More regions, countries or names than the format can count.
    case tooMany(what: String)
    /// More than four countries meet in one of the smallest cells.
    case tooManyCountriesInOneCell
    /// A cell's borders are too intricate for a cut record.
    case tooManyEdgesInOneCell
    /// The blocks or cuts outgrow the offsets of the format.
    case tooLarge
    /// A part of the Earth belongs to no region: a fault of the builder.
    case uncovered
}

extension BuildError: CustomStringConvertible {
    /// A sentence for people.
    package var description: String {
        switch self {
        case .noCenter: "a region has no point that could be its center"
        case .tooMany(let what): "more \(what) than an atlas can hold"
        case .tooManyCountriesInOneCell: "more than four countries meet within a hundred meters"
        case .tooManyEdgesInOneCell: "borders are too intricate within a hundred meters"
        case .tooLarge: "the regions need a larger file than the format allows"
        case .uncovered: "part of the Earth was left without a region"
        }
    }
}
