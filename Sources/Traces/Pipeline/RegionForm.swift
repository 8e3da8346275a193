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

    /// Appends the text of a region's identifier.
    mutating func append(_ region: RegionID) { region.forEachByte { append($0) } }
}
