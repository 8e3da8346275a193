import Files
import GeoBridge
import Hereabouts
import TextCoding

/// A file of zones: GeoJSON, or rows of `latitude,longitude,radius`.
///
/// Unlike borders, what is not exactly a zone is refused and not repaired: nobody would notice that a home is unprotected.
package enum ZoneFile {
    package static let maximumBytes = 16 << 20
    package static let maximumZones = 1000

    /// Reads the zones of a file, or of a pipe.
    package static func read(_ path: String) throws(ZoneError) -> [Zone] {
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try readAll(path: path, limit: maximumBytes) } catch { throw .unreadable }
        guard let bytes else { throw .tooLarge }
        return try parse(bytes)
    }

    /// Reads the zones of a file's bytes.
    package static func parse(_ bytes: [UInt8]) throws(ZoneError) -> [Zone] {
        guard bytes.count <= maximumBytes else { throw .tooLarge }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D, 0x1E].contains($0) }
        let zones: [Zone]
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            var parser = ZoneGeoJSON(text)
            zones = try parser.parse()
        } else {
            zones = try rows(text)
        }
        guard !zones.isEmpty else { throw .empty }
        return zones
    }

    // MARK: Rows

    /// A longer line is no row.
    private static let maximumLineBytes = 1 << 12

    private static func rows(_ bytes: [UInt8]) throws(ZoneError) -> [Zone] {
        var zones: [Zone] = []
        var number = 0, hasHeader = false
        var start = 0
        while start < bytes.count {
            number += 1
            let end = bytes[start...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
            let line = bytes[start..<end]
            start = end + 1
            // A line end of two bytes is one.
            if end + 1 < bytes.count, bytes[end] == 13, bytes[end + 1] == 10 { start += 1 }
            guard line.contains(where: { $0 > 0x20 }), line.first != UInt8(ascii: "#") else { continue }
            guard line.count <= maximumLineBytes else { throw .bad(.line(number), .badRow) }
            if zones.isEmpty, !hasHeader, isHeader(line) {
                hasHeader = true
                continue
            }
            guard zones.count < maximumZones else { throw .tooMany }
            do throws(ZoneError.Problem) {
                zones.append(try row(line))
            } catch {
                throw .bad(.line(number), error)
            }
        }
        return zones
    }

    /// Whether a line is `lat,lon,…` or `latitude,longitude,…`: only that order is one of rows.
    private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        let names = fields(line).map { String(decoding: $0, as: UTF8.self).lowercased() }
        return names.count >= 3
            && [["lat", "lon"], ["lat", "lng"], ["latitude", "longitude"]].contains(Array(names[..<2]))
            && names[2].hasPrefix("radius")
    }

    /// Fields without blanks around them.
    private static func fields(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { field in
            let start = field.firstIndex { $0 > 0x20 } ?? field.endIndex
            let end = field.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
            return field[start..<end]
        }
    }

    private static func row(_ line: ArraySlice<UInt8>) throws(ZoneError.Problem) -> Zone {
        let fields = fields(line)
        guard fields.count == 3 else { throw .badRow }
        var numbers: [Double] = []
        for field in fields {
            guard let value = field.isEmpty ? Double.nan : number(field) else { throw .badRow }
            numbers.append(value)
        }
        guard !numbers[0].isNaN, !numbers[1].isNaN else { throw .badRow }
        let middle = try position(latitude: numbers[0], longitude: numbers[1])
        if numbers[2].isNaN { throw .noRadius }
        return Zone(middle: middle, reachMeters: try radius(numbers[2]))
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Double? {
        // SAFETY: the buffer lives through the call.
        unsafe Array(text).withUnsafeBufferPointer { unsafe DecimalNumber.parse($0) }
    }

    // MARK: Values

    static func position(latitude: Double, longitude: Double) throws(ZoneError.Problem) -> Coordinate {
        guard latitude.magnitude <= 90 else { throw .latitudeOutOfRange }
        guard longitude.magnitude <= 180 else { throw .longitudeOutOfRange }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    static func radius(_ meters: Double) throws(ZoneError.Problem) -> Double {
        guard (1...Zone.maximumReachMeters).contains(meters) else { throw .badRadius }
        return meters
    }
}

extension ZoneError.Problem: Error {}
