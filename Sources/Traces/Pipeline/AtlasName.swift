import Hereabouts

extension Atlas {
    /// What outputs call it: its fingerprint. Outputs of two atlases, side by side, say more than either.
    package var name: String {
        let digits = String(fingerprint, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ByteBuffer {
    /// Appends an XML comment on a line of its own.
    mutating func append(commentNaming atlas: Atlas) {
        append("<!-- atlas ")
        append(text: atlas.name)
        append(" -->\n")
    }

    /// Appends the beginning of a GeoJSON collection, up to its features.
    mutating func append(collectionNaming atlas: Atlas) {
        append("{\"type\":\"FeatureCollection\",\"atlas\":\"")
        append(text: atlas.name)
        append("\",\"features\":[")
    }
}
