/// What is published for a fix: the region that holds it, and nothing of where in the region it lies (contract C2).
public struct ReducedLocation: Hashable, Sendable {
    /// The region's center, to 1e-5 degrees.
    public var coordinate: Coordinate
    /// Radius in meters of a circle about `coordinate` that contains the whole region, and everything within
    /// `Atlas.steadinessMeters` of it (contract C3).
    public var horizontalAccuracy: Double
    /// The region's name for machines: the S2 cell of level 18 that holds the center.
    public var region: RegionID
    /// The country the region lies in.
    public var country: Country
    /// The name for people, if the region has one: "El Paso", or "near Marfa" when the place lies outside the region.
    public var place: String?
}

/// A region's published identifier: the letter `r` and the token of the level-18 S2 cell that holds the region's center,
/// such as `r86e75a4bc1`. The letter keeps identifiers from being read as numbers. Unique within an atlas; it reveals
/// nothing beyond the published center.
public struct RegionID: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The level-18 cell that holds the center.
    public let cell: CellID

    package init(cell: CellID) { self.cell = cell }

    /// Parses an identifier, with or without its letter; nil where the text is not the token of a level-18 cell.
    public init?(_ description: String) {
        let token = description.hasPrefix("r") ? String(description.dropFirst()) : description
        guard let cell = CellID(token: token), cell.isValid, cell.level == Self.level else { return nil }
        self.cell = cell
    }

    /// The letter `r` and the token, in lower-case hexadecimal.
    public var description: String { "r" + cell.token }

    package static let level = 18
}

/// ISO 3166-1 alpha-2 code, `XK` for Kosovo, `XZ` for the high seas; or the code property of custom borders.
public struct Country: Hashable, Sendable, CustomStringConvertible {
    /// The code as text.
    public let code: String
    package init(code: String) { self.code = code }
    /// The code as text.
    public var description: String { code }
}

/// A region of one atlas, by its position in it: a handle for lookups, not for publishing (see `RegionID`).
public struct Region: Hashable, Sendable {
    /// The index, below `Atlas.regionCount`; `UInt32.max` for `Region.invalid`.
    public let index: UInt32

    @inlinable
    package init(index: UInt32) { self.index = index }

    /// What a batch answers for an invalid coordinate.
    public static var invalid: Region { Region(index: .max) }
}
