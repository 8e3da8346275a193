/// Takes integers and bytes off the front of a slice; nil where too few are left.
package struct ByteReader {
    private var rest: ArraySlice<UInt8>

    /// A reader of these bytes from the first.
    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes were taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The next bytes.
    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// The next integer, little-endian.
    package mutating func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        take(Number.bitWidth / 8)?.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
