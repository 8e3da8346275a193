import AtlasFixture
import Hereabouts

private let small = AtlasFixture.small.file()

/// An atlas with some of its bytes changed and its checksums made to fit: refused, or sound wherever it is asked.
///
/// The input is a list of changes of eight bytes: what to change (a section, the header, the length) and the size of
/// the number in one byte, the offset there in three, the number in four.
func fuzzAtlas(_ input: [UInt8]) {
    var bytes = small.bytes
    var rest = input[...]
    while rest.count >= 8 && rest.startIndex < 8 * 64 {
        let change = Array(rest.prefix(8))
        rest = rest.dropFirst(8)
        let what = Int(change[0] & 15), size = Int(change[0] >> 4 & 3) + 1
        let place = Int(change[1]) | Int(change[2]) << 8 | Int(change[3]) << 16
        var number = 0
        for byte in change[4...].reversed() { number = number << 8 | Int(byte) }
        if what == 15 {
            bytes.removeLast(min(bytes.count, place))
            continue
        }
        let range = what < 8 ? small.layout.sections[what] : 0..<0xC0
        let offset = range.lowerBound + place % max(1, range.count)
        if offset + size <= bytes.count { bytes.replace(at: offset, number, size) }
    }
    // Bytes that no checksum covers any more would never be looked at.
    if input.count % 8 != 7 { AtlasFixture.seal(&bytes) }
    write(bytes, to: "atlas")
    do throws(AtlasFileError) {
        checkAnswers(of: try Atlas(contentsOf: "atlas"))
    } catch {
        check("\(error)".count > 5, "an error without a message")
    }
}

/// Looks up places in every part of the atlas.
private func checkAnswers(of atlas: Atlas) {
    var places: [(latitude: Double, longitude: Double)] = []
    for step in 0..<40 { places.append((Double(step) * 4 - 79.3, Double(step * 137 % 360 - 180))) }
    for (latitude, longitude) in AtlasFixture.places {
        // A level-7 cell is some 70 km wide: these lie all over it and beside it.
        for step in 0..<64 {
            let (north, east) = (Double(step % 8 - 4) * 0.09, Double(step / 8 - 4) * 0.09)
            places.append((latitude + north, longitude + east))
        }
    }
    for place in places {
        let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude)
        guard let region = try? atlas.region(at: coordinate), let location = try? atlas.reducedLocation(of: region)
        else {
            check(false, "a place without a region")
            return
        }
        check(abs(location.coordinate.latitude) <= 90, "a latitude out of range")
        check(abs(location.coordinate.longitude) <= 180, "a longitude out of range")
        check(location.horizontalAccuracy > 0, "no accuracy")
        check((location.place?.name.utf8.count ?? 0) <= 4 * 255, "a name too long")
        check((try? atlas.anonymity(of: region)).map { $0 >= 0 } == true, "people below zero")
        // A made-up center may lie in another region: which one is found is open, but not that it traps.
        _ = try? atlas.region(withID: location.region)
    }
    check((try? atlas.aboutJSON) != nil, "an atlas that was validated as a whole has its texts")
}
