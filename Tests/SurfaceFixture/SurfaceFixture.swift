import CZLib
import Foundation
import Hereabouts

/// Population surfaces made up for tests, written from data/SURFACE.md alone.
package struct SurfaceFixture {
    /// An undivided cell with residents.
    package struct Cell {
        package var id: CellID
        /// 1 … 254: 2^((v - 49) / 12) residents.
        package var value: UInt8
        package var certainty: UInt8
        /// One byte per source; those of the first cell with residents within a source cell are written.
        package var ratios: [UInt8]

        package init(_ id: CellID, value: UInt8, certainty: UInt8 = 0, ratios: [UInt8] = []) {
            (self.id, self.value, self.certainty, self.ratios) = (id, value, certainty, ratios)
        }

        /// A cell of about so many residents.
        package init(_ id: CellID, residents: Double, certainty: UInt8 = 0, ratios: [UInt8] = []) {
            let value = UInt8(min(254, max(1, (12 * log2(residents) + 49).rounded())))
            self.init(id, value: value, certainty: certainty, ratios: ratios)
        }

        /// The residents that the byte stands for.
        package var residents: Double { exp2((Double(value) - 49) / 12) }
    }

    package var shares: [Float] = [0.8] + [Float](repeating: 0, count: 15)
    package var sources: [String] = []
    /// In ascending order; none within another.
    package var cells: [Cell]

    package init(_ cells: [Cell], sources: [String] = []) {
        (self.cells, self.sources) = (cells.sorted { $0.id < $1.id }, sources)
    }

    /// The streams before they are packed: cells, classes, and one for each source.
    package var streams: [[UInt8]] {
        var streams = [[UInt8]](repeating: [], count: 2 + sources.count)
        var hasRatios = false
        func write(_ cell: CellID, _ range: Range<Int>) {
            if cell.level <= 11 { hasRatios = false }
            guard let first = range.first else { return streams[0].append(0) }
            guard cells[first].id != cell else {
                streams[0].append(cells[first].value)
                streams[1].append(cells[first].certainty)
                if !hasRatios {
                    for source in sources.indices { streams[2 + source].append(cells[first].ratios[source]) }
                    hasRatios = true
                }
                return
            }
            streams[0].append(255)
            var start = range.lowerBound
            for position in 0..<4 {
                let child = cell.child(position)
                let end = cells[start..<range.upperBound].firstIndex { !child.contains($0.id) } ?? range.upperBound
                write(child, start..<end)
                start = end
            }
        }
        var start = 0
        for face in 0..<6 {
            let cell = CellID(face: face, i: 0, j: 0, level: 0)
            let end = cells[start...].firstIndex { !cell.contains($0.id) } ?? cells.count
            write(cell, start..<end)
            start = end
        }
        return streams
    }

    /// The file.
    package var bytes: [UInt8] { Self.file(header: header, streams: streams) }

    /// The file's start, up to the checksum.
    package var header: [UInt8] {
        var header = Array("HBPEOPLE".utf8)
        for number in [1, 15, 11, UInt32(sources.count)] + shares.map(\.bitPattern) { header += Self.little(number) }
        for name in sources { header += Array((name + String(repeating: "\0", count: 16)).utf8.prefix(16)) }
        return header
    }

    /// A file of a start and some streams, whose lengths may be lies.
    package static func file(header: [UInt8], streams: [[UInt8]], lengths: [Int: UInt64] = [:]) -> [UInt8] {
        var body: [UInt8] = []
        for (index, stream) in streams.enumerated() {
            let packed = packed(stream)
            body += little(lengths[index] ?? UInt64(stream.count)) + little(UInt64(packed.count)) + packed
        }
        return header + little(XXH64.hash(body)) + body
    }

    /// A number, the lowest byte first.
    package static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }
    }

    /// Bytes as zlib writes them.
    package static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        // SAFETY: both arrays stay in place during the call, and `count` is the room in the second.
        let status = unsafe packed.withUnsafeMutableBufferPointer { packed in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe compress2(packed.baseAddress, &count, bytes.baseAddress, UInt(bytes.count), 9)
            }
        }
        precondition(status == Z_OK, "zlib has room and memory")
        return Array(packed.prefix(Int(count)))
    }
}
