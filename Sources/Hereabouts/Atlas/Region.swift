/// A region of one atlas: a handle for further lookups, of four bytes. To publish or store a region, use its `RegionID`.
///
/// ```text
///  31      23 22                    0
/// ┌──────────┬───────────────────────┐
/// │ mark     │ index                 │
/// └──────────┴───────────────────────┘
/// ```
///
/// - index: the region's position in the atlas, below `Atlas.regionCount`;
/// - mark: 1 … 510, from the atlas's checksum. A lookup refuses a handle of another atlas with
///   `LookupError.foreignRegion`, unless the two marks are equal, which one pair of atlases in 510 has. Identifiers have
///   no such limit.
///
/// Code inside the package that opened its atlas itself uses handles without a mark (mark 0); only public functions mark
/// the handles they return.
public struct Region: BitwiseCopyable, Hashable, Sendable {
    @usableFromInline let bits: UInt32

    /// The index of no region: an atlas has at most 2²³ - 1. What a lookup gives where it found damage.
    @usableFromInline static let noIndex: UInt32 = 0x7f_ffff

    @inlinable
    init(bits: UInt32) { self.bits = bits }

    /// A handle without a mark.
    @inlinable
    package init(index: UInt32) { bits = index }

    /// The position in the atlas; 2²³ - 1 where there is no region.
    @inlinable
    package var index: UInt32 { bits & Self.noIndex }

    /// The mark in its place; 0 for a handle without one.
    var mark: UInt32 { bits & ~Self.noIndex }

    /// What a batch gives for an invalid coordinate.
    @inlinable
    public static var invalid: Region { Region(bits: .max) }
}
