import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
        out.append(text: location.region.description)
        out.append(UInt8(ascii: ","))
        out.append(csv: Array(location.country.code.utf8))
        out.append(UInt8(ascii: ","))
        if let place = location.place { out.append(csv: Array(place.utf8)) }
        out.append(10)
    }

    private func appendExtensions(_ location: ReducedLocation, to out: inout ByteBuffer) {
        out.append("<extensions><h:accuracy>")
        appendAccuracy(location, to: &out)
        out.append("</h:accuracy><h:region>")
        out.append(text: location.region.description)
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
        out.append(text: location.region.description)
        out.append("\",\"country\":")
        out.append(json: Array(location.country.code.utf8))
        out.append(",\"place\":")
        if let place = location.place { out.append(json: Array(place.utf8)) } else { out.append("null") }
        out.append(UInt8(ascii: ","))
    }
}

/// A region's output in one form, rendered when the region first comes up and copied from then on.
///
/// Memory: eight bytes per region of the atlas, touched only where regions are, and the text of those that came up
/// (about 60 bytes each).
@safe struct RegionText: ~Copyable {
    private let atlas: Atlas
    private let form: RegionForm
    /// Per region, where its text starts (40 bits) and how long it is (24 bits); 0 where not rendered yet.
    private let places: UnsafeMutablePointer<UInt64>
    private let count: Int
    private var text: ByteBuffer

    init(atlas: Atlas, form: RegionForm) {
        self.atlas = atlas
        self.form = form
        count = atlas.regionCount
        // SAFETY: calloc gives zeros, which is "not rendered" for all; freed in deinit. Untouched pages cost nothing.
        guard let zeros = unsafe calloc(max(count, 1), MemoryLayout<UInt64>.stride) else {
            preconditionFailure("no memory for the table of rendered regions")
        }
        unsafe places = zeros.bindMemory(to: UInt64.self, capacity: max(count, 1))
        text = ByteBuffer(capacity: 1 << 16)
    }

    deinit {
        unsafe free(places)
    }

    /// Appends the region's text. O(length); allocates only when a region first comes up.
    @inline(__always)
    mutating func append(_ region: Region, to out: inout ByteBuffer) {
        let index = Int(region.index)
        precondition(index < count, "not a region of this atlas")
        // SAFETY: `index` was tested; a place always lies within `text`, which only grows, and is padded for
        // `append(short:)`.
        var place = unsafe places[index]
        if place == 0 { place = render(region) }
        unsafe text.withBytes { bytes in
            unsafe out.append(short: bytes.baseAddress! + Int(place &>> 24), count: Int(place & 0xff_ffff))
        }
    }

    @inline(never)
    private mutating func render(_ region: Region) -> UInt64 {
        let start = text.count
        form.append(atlas.reducedLocation(of: region), to: &text)
        let length = text.count - start
        precondition(length < 1 << 24, "a region's text is over 16 MiB")
        text.reserve(ByteBuffer.shortStep)
        let place = UInt64(start) << 24 | UInt64(length)
        // SAFETY: the caller tested the index.
        unsafe places[Int(region.index)] = place
        return place
    }
}
