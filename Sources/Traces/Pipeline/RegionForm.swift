import Hereabouts

/// A form in which a region's reduced location is written. Each format has its own.
struct RegionForm: Sendable {
    /// Writes what is published for a region. The output depends on nothing else (contract C2).
    let append: @Sendable (_ published: Atlas.Published, _ out: inout ByteBuffer) -> Void

    /// Writes a region of an atlas in this form.
    func append(_ region: Region, of atlas: Atlas, to out: inout ByteBuffer) {
        atlas.withPublished(region) { append($0, &out) }
    }
}

extension Atlas.Published {
    /// What comes before the place's name.
    var placePrefix: StaticString { isNear ? "near " : "" }
}

extension ByteBuffer {
    /// Appends a horizontal accuracy in whole meters, rounded up so that the circle still holds the region (contract C3).
    mutating func append(accuracyOf published: Atlas.Published) {
        append(decimal: Int(published.horizontalAccuracy.rounded(.up)))
    }

    /// Appends a region's identifier: `r` and the hexadecimal digits of its cell, without the zeros at the end. The letter
    /// keeps it from being read as a number.
    mutating func append(_ region: RegionID) {
        append(UInt8(ascii: "r"))
        var digits = region.cell.rawValue
        while digits != 0 {
            let digit = UInt8(truncatingIfNeeded: digits >> 60)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            digits <<= 4
        }
    }
}
