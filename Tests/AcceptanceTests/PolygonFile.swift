import Foundation
import Testing

/// One polygon of a source, with what settles overlaps.
struct SourcePolygon: Sendable {
    var code: CountryCode
    var rank: Int
    /// Closed rings of flat longitude, latitude pairs in degrees, the outer one first.
    var rings: [[Double]]
    var minX = Double.infinity, minY = Double.infinity, maxX = -Double.infinity, maxY = -Double.infinity

    init(code: CountryCode, rank: Int, rings: [[Double]]) {
        (self.code, self.rank, self.rings) = (code, rank, rings)
        let shell = rings[0]
        for k in stride(from: 0, to: shell.count, by: 2) {
            (minX, maxX) = (min(minX, shell[k]), max(maxX, shell[k]))
            (minY, maxY) = (min(minY, shell[k + 1]), max(maxY, shell[k + 1]))
        }
    }
}

/// Reads the sources' GeoJSON, one feature a line, without the builder's reader: numbers by the C library's `strtod`.
enum PolygonFile {
    static func read(_ file: SourceFile) throws -> [SourcePolygon] {
        let data = try Data(contentsOf: URL(fileURLWithPath: file.path), options: .alwaysMapped)
        let lines = lineRanges(data)
        let parts = 64
        let found = try onAllCores(parts) { part in
            try lines[lines.count * part / parts..<lines.count * (part + 1) / parts].flatMap { line in
                try unsafe data.withUnsafeBytes { bytes in try unsafe polygons(ofLine: bytes[line]) }
            }
        }
        return found.flatMap { $0 }
    }

    private static func lineRanges(_ data: Data) -> [Range<Int>] {
        unsafe data.withUnsafeBytes { bytes in
            // SAFETY: every search stays within what is left of the mapped file.
            var ranges: [Range<Int>] = []
            var start = 0
            while start < bytes.count {
                let base = unsafe bytes.baseAddress! + start
                let end = unsafe memchr(base, 0x0a, bytes.count - start).map { unsafe UnsafeRawPointer($0) - base }
                let length = end ?? bytes.count - start
                if length > 1 { ranges.append(start..<start + length) }
                start += length + 1
            }
            return ranges
        }
    }

    private struct Feature: Decodable {
        struct Properties: Decodable {
            var code: String?
            var rank: Int?
        }
        var properties: Properties
    }

    private static func polygons(ofLine line: Slice<UnsafeRawBufferPointer>) throws -> [SourcePolygon] {
        // The first bracket opens the coordinates: the sources' properties have none.
        // SAFETY: the search and the coordinates stay within the line.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: line)
        let bracket = unsafe memchr(bytes.baseAddress!, Int32(UInt8(ascii: "[")), bytes.count)
        let start = unsafe UnsafeRawPointer(try #require(bracket)) - bytes.baseAddress!
        let head = unsafe String(decoding: bytes[..<start], as: UTF8.self) + "[]}}"
        let properties = try JSONDecoder().decode(Feature.self, from: Data(head.utf8)).properties
        let polygons = unsafe rings(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        return polygons.map {
            SourcePolygon(code: CountryCode(properties.code ?? ""), rank: properties.rank ?? 0, rings: $0)
        }
    }

    /// The polygons of a Polygon's or a MultiPolygon's coordinates.
    private static func rings(_ bytes: UnsafeRawBufferPointer) -> [[[Double]]] {
        // SAFETY: the text is well-formed JSON, so that a bracket ends every number and the last bracket the loop.
        var next = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
        var polygons: [[[Double]]] = []
        var polygon: [[Double]] = []
        var ring: [Double] = []
        // Brackets open; and how many there are about a number.
        var depth = 0
        var deepest = 0
        repeat {
            switch unsafe UInt8(bitPattern: next.pointee) {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"):
                depth -= 1
                if depth == deepest - 2 {
                    polygon.append(ring)
                    ring = []
                } else if depth == deepest - 3 {
                    polygons.append(polygon)
                    polygon = []
                }
            case UInt8(ascii: ","), UInt8(ascii: " "): break
            default:
                deepest = depth
                var end: UnsafeMutablePointer<CChar>?
                ring.append(unsafe strtod(next, &end))
                unsafe next = UnsafePointer(end!) - 1
            }
            unsafe next += 1
        } while depth > 0
        return polygons
    }
}
