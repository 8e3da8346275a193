/// A region's published identifier: the S2 cell of level 18 that holds the region's center. Unique within an atlas; it
/// reveals nothing beyond the published center.
///
/// Its text is the letter `r` and the cell's token, such as `r86e75a4bc1`. The bare token is accepted as well, but never
/// written: 3.6 % of the tokens are all digits, and others read as floating-point infinity (`4793e18373`).
public struct RegionID: RawRepresentable, Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The level-18 cell that holds the center.
    public let cell: CellID

    package init(cell: CellID) { self.cell = cell }

    /// Takes the number of a cell; nil unless it is a valid one of level 18.
    public init?(rawValue: UInt64) {
        let cell = CellID(rawValue: rawValue)
        guard cell.isValid, cell.level == Self.level else { return nil }
        self.cell = cell
    }

    /// The number of the cell, for stores that keep integers.
    public var rawValue: UInt64 { cell.rawValue }

    /// Parses an identifier, with or without the letter `r`; nil unless the rest is the token of a level-18 cell.
    public init?(_ description: String) {
        let isMarked = description.utf8.first == UInt8(ascii: "r") || description.utf8.first == UInt8(ascii: "R")
        guard let cell = CellID(token: Substring(description.utf8.dropFirst(isMarked ? 1 : 0))), cell.isValid,
            cell.level == Self.level
        else { return nil }
        self.cell = cell
    }

    /// The letter `r` and the token in lower-case hexadecimal.
    public var description: String { "r" + cell.token }

    /// Whether the left identifier comes first along the Hilbert curve; identifiers sort as their texts do.
    public static func < (left: RegionID, right: RegionID) -> Bool { left.cell < right.cell }

    /// Calls with each byte of `description` in turn, without making a string.
    package func forEachByte(_ body: (UInt8) -> Void) {
        body(UInt8(ascii: "r"))
        var digits = rawValue
        while digits != 0 {
            body(UInt8(truncatingIfNeeded: digits >> 60).asHexadecimalDigit)
            digits <<= 4
        }
    }

    package static let level = 18
}
