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

    /// Writes `location` in this form. The output depends on nothing else (contract C2).
    func append(_ location: ReducedLocation, to out: inout ByteBuffer) {
        switch self {
        case .csv: appendCSV(location, to: &out)
        case .gpxPosition:
            out.append(" lat=\"")
            out.append(degrees: location.coordinate.latitude)
            out.append("\" lon=\"")
            out.append(degrees: location.coordinate.longitude)
            out.append("\">")
        case .gpxExtensions: appendExtensions(location, to: &out)
        case .geoJSON: appendFeature(location, to: &out)
        }
    }

    /// Meters, rounded up so that the circle still holds the region (contract C3).
    private func appendAccuracy(_ location: ReducedLocation, to out: inout ByteBuffer) {
        out.append(decimal: Int(location.horizontalAccuracy.rounded(.up)))
    }

    private func appendCSV(_ location: ReducedLocation, to out: inout ByteBuffer) {
        out.append(degrees: location.coordinate.latitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: location.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        appendAccuracy(location, to: &out)
        out.append(UInt8(ascii: ","))
        out.append(location.region)
        out.append(UInt8(ascii: ","))
        out.append(csv: location.country.code)
        out.append(UInt8(ascii: ","))
        if let place = location.place { out.append(csv: place) }
        out.append(10)
    }

    private func appendExtensions(_ location: ReducedLocation, to out: inout ByteBuffer) {
        out.append("<extensions><h:accuracy>")
        appendAccuracy(location, to: &out)
        out.append("</h:accuracy><h:region>")
        out.append(location.region)
        out.append("</h:region><h:country>")
        out.append(xml: Array(location.country.code.utf8))
        out.append("</h:country>")
        if let place = location.place {
            out.append("<h:place>")
            out.append(xml: Array(place.utf8))
            out.append("</h:place>")
        }
        out.append("</extensions>")
    }

    private func appendFeature(_ location: ReducedLocation, to out: inout ByteBuffer) {
        out.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        out.append(degrees: location.coordinate.longitude)
        out.append(UInt8(ascii: ","))
        out.append(degrees: location.coordinate.latitude)
        out.append("]},\"properties\":{\"horizontal_accuracy\":")
        appendAccuracy(location, to: &out)
        out.append(",\"region\":\"")
        out.append(location.region)
        out.append("\",\"country\":")
        out.append(json: Array(location.country.code.utf8))
        out.append(",\"place\":")
        if let place = location.place { out.append(json: Array(place.utf8)) } else { out.append("null") }
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
