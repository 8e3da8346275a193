import FixedRandom
import Testing

@testable import Hereabouts

/// Cut records against the formulas of `data/FORMAT.md` in 128-bit integers, with the largest operands a valid record
/// can have: a 32-bit product would overflow in nearly all of them.
@Suite struct CutReaderTests {
    private struct Record {
        var level: Int
        var closings: [(x: Int, code: UInt8)]
        /// x and y of each vertex.
        var chains: [(code: UInt8, vertices: [(x: Int, y: Int)])]

        var isFine: Bool { level >= 11 }

        var bytes: [UInt8] {
            var bytes: [UInt8] = [UInt8(level), 3, UInt8(closings.count), UInt8(chains.count)]
            bytes += [UInt8](repeating: 0, count: 4 * 8)
            func coordinate(_ value: Int) -> [UInt8] {
                isFine ? [UInt8(value)] : [UInt8(value & 0xff), UInt8(value >> 8)]
            }
            for closing in closings { bytes += coordinate(closing.x) + [closing.code] }
            for chain in chains {
                bytes += [UInt8(chain.vertices.count), chain.code]
                for vertex in chain.vertices { bytes += coordinate(vertex.x) + coordinate(vertex.y) }
            }
            return bytes
        }

        /// The code of a leaf by the document's rules; the largest product that came up.
        func code(column: UInt32, row: UInt32, largest: inout Int128) -> UInt8 {
            let size = Int128(1) << (30 - level)
            let (m, u): (Int128, Int128) = isFine ? (255, 2 * size) : (1, 2 * size / 4096)
            let x = (2 * Int128(column) + 1) * m, y = (2 * Int128(row) + 1) * m
            var code: UInt8 = 0
            for closing in closings where Int128(closing.x) * u < x { code ^= closing.code }
            for chain in chains {
                for (start, end) in zip(chain.vertices, chain.vertices.dropFirst()) {
                    let (x0, y0) = (Int128(start.x) * u, Int128(start.y) * u)
                    let (x1, y1) = (Int128(end.x) * u, Int128(end.y) * u)
                    guard (x0 < x) != (x1 < x) else { continue }
                    // Divided by u, which does not change the sign, the products are those of the reader.
                    let (one, two) = ((x1 - x0) * (y - y0), (y1 - y0) * (x - x0))
                    largest = max(largest, one.magnitudeAsSigned / u, two.magnitudeAsSigned / u)
                    if x1 > x0 ? one - two >= 0 : one - two <= 0 { code ^= chain.code }
                }
            }
            return code
        }
    }

    private func engineCode(_ record: Record, column: UInt32, row: UInt32) -> UInt8 {
        // The reader loads whole words, up to six bytes past the end.
        let bytes = record.bytes + [UInt8](repeating: 0xa5, count: 16)
        let (end, code) = unsafe bytes.withUnsafeBytes { bytes in
            let section = unsafe AtlasBytes(start: bytes.baseAddress!, count: bytes.count)
            let reader = CutReader(bytes: section, offset: 0)
            return (reader.validatedEnd(), reader.code(of: FaceIJ(face: 0, i: column, j: row)))
        }
        #expect(end == bytes.count - 16)
        return code
    }

    @Test(arguments: 7...15) func `codes are those of the document's formulas`(level: Int) {
        var random = SplitMix64(seed: 900 + UInt64(level))
        let last = UInt32(1) << UInt32(30 - level) - 1
        // Two-byte coordinates are not limited to the grid: a valid record may hold any.
        let extremes =
            level >= 11 ? [0, 1, 127, 128, 254, 255] : [0, 1, 2047, 4095, 4096, 4097, 32_768, 65_534, 65_535]
        let ends: [UInt32] = [0, 1, last / 2, last / 2 + 1, last - 1, last]
        var largest: Int128 = 0
        for _ in 0..<60 {
            func coordinate() -> Int {
                Bool.random(using: &random)
                    ? extremes.randomElement(using: &random)! : Int.random(in: 0...extremes.last!, using: &random)
            }
            func code() -> UInt8 { UInt8.random(in: 1...7, using: &random) }
            let record = Record(
                level: level, closings: (0..<Int.random(in: 0...5, using: &random)).map { _ in (coordinate(), code()) },
                chains: (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    (code(), (0..<Int.random(in: 2...40, using: &random)).map { _ in (coordinate(), coordinate()) })
                })
            for column in ends + [UInt32.random(in: 0...last, using: &random)] {
                for row in ends + [UInt32.random(in: 0...last, using: &random)] {
                    let expected = record.code(column: column, row: row, largest: &largest)
                    #expect(engineCode(record, column: column, row: row) == expected)
                }
            }
        }
        #expect(largest > Int128(Int32.max))
    }

    /// The largest product of all: the longest edge of a level-7 cell, seen from the far corner.
    @Test func `the largest operands`() {
        let last = UInt32(1) << 23 - 1
        for vertices in [[(0, 65_535), (65_535, 0)], [(65_535, 65_535), (0, 0)], [(0, 0), (65_535, 65_535)]] {
            let record = Record(level: 7, closings: [], chains: [(5, vertices.map { (x: $0.0, y: $0.1) })])
            for (column, row) in [(0, 0), (0, last), (last, 0), (last, last), (last - 1, last)] {
                var largest: Int128 = 0
                let expected = record.code(column: column, row: row, largest: &largest)
                #expect(engineCode(record, column: column, row: row) == expected)
            }
        }
    }
}

extension Int128 {
    fileprivate var magnitudeAsSigned: Int128 { self < 0 ? -self : self }
}
