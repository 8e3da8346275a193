import Hereabouts

/// A form in which a region's reduced location is written.
enum RegionForm {
    /// `latitude,longitude,horizontal_accuracy,region,country,place` and a line feed.
    case csv
    /// ` lat="…" lon="…">`, the end of a GPX point's start tag.
    case gpxPosition
    /// A GPX point's extensions.
    case gpxExtensions
    /// A GeoJSON feature up to its last fixed property, with a comma.
    case geoJSON

    /// The names of the CSV columns.
    static let csvHeader: StaticString = "latitude,longitude,horizontal_accuracy,region,country,place\n"
    /// What stands for them where there is no reduced location.
    static let csvBlank: StaticString = ",,,,,\n"

    /// Writes a region of an atlas in this form. The output depends on nothing else (contract C2).
    func append(_ region: Region, of atlas: Atlas, to out: inout ByteBuffer) {
        atlas.withPublished(region) { append($0, to: &out) }
    }

    /// Writes what is published for a region in this form.
    func append(_ published: Atlas.Published, to out: inout ByteBuffer) {
        switch self {
        case .csv: appendCSV(published, to: &out)
        case .gpxPosition:
            out.append(" lat=\"")
            out.append(degrees: published.coordinate.latitude)
            out.append("\" lon=\"")
            out.append(degrees: published.coordinate.longitude)
            out.append("\">")
        case .gpxExtensions: appendExtensions(published, to: &out)
        case .geoJSON: appendFeature(published, to: &out)
        }
    }

    /// Meters, rounded up so that the circle still holds the region (contract C3).
    private func appendAccuracy(_ published: Atlas.Published, to out: inout ByteBuffer) {
        out.append(decimal: Int(published.horizontalAccuracy.rounded(.up)))
    }

    /// What comes before a place's name.
    private func prefix(_ published: Atlas.Published) -> StaticString { published.isNear ? "near " : "" }

    private func appendCSV(_ published: Atlas.Published, to out: inout ByteBuffer) {
        out.append(degrees: published.coordinate.latitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        appendAccuracy(published, to: &out)
        out.append(UInt8(ascii: ","))
        out.append(published.region)
        out.append(UInt8(ascii: ","))
        // SAFETY: here and below: the atlas keeps the texts while it calls.
        unsafe out.append(csv: published.country)
        out.append(UInt8(ascii: ","))
        if let place = unsafe published.place { unsafe out.append(csv: place, after: prefix(published)) }
        out.append(10)
    }

    private func appendExtensions(_ published: Atlas.Published, to out: inout ByteBuffer) {
        out.append("<extensions><h:accuracy>")
        appendAccuracy(published, to: &out)
        out.append("</h:accuracy><h:region>")
        out.append(published.region)
        out.append("</h:region><h:country>")
        unsafe out.append(xml: published.country)
        out.append("</h:country>")
        if let place = unsafe published.place {
            out.append("<h:place>")
            out.append(prefix(published))
            unsafe out.append(xml: place)
            out.append("</h:place>")
        }
        out.append("</extensions>")
    }

    private func appendFeature(_ published: Atlas.Published, to out: inout ByteBuffer) {
        out.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        out.append(degrees: published.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: published.coordinate.latitude)
        out.append("]},\"properties\":{\"horizontal_accuracy\":")
        appendAccuracy(published, to: &out)
        out.append(",\"region\":\"")
        out.append(published.region)
        out.append("\",\"country\":")
        unsafe out.append(json: published.country)
        out.append(",\"place\":")
        if let place = unsafe published.place {
            unsafe out.append(json: place, after: prefix(published))
        } else {
            out.append("null")
        }
        out.append(UInt8(ascii: ","))
    }
}

extension ByteBuffer {
    /// Appends a region's identifier: the hexadecimal digits of its cell, without the zeros at the end.
    fileprivate mutating func append(_ region: RegionID) {
        var digits = region.cell.rawValue
        while digits != 0 {
            let digit = UInt8(truncatingIfNeeded: digits >> 60)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            digits <<= 4
        }
    }
}
