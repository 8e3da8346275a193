import Foundation
import Hereabouts

/// An undivided cell of a population surface in which somebody lives.
package struct SurfaceCell: Hashable, Sendable {
    /// The S2 cell's 64-bit id; level 0 … 15.
    package var id: UInt64
    /// Estimated residents.
    package var residents: Double
    /// Residents that can be promised: not more than the estimate.
    package var promised: Double
    /// What the estimate is multiplied by for what each source says; 0 where the source has nobody, or there is no such
    /// source.
    package var ratios: SIMD8<Float>
    /// Whether they are those of a settlement that a list adds: residents of their region, who make no land settled.
    package var isListed: Bool

    package init(
        id: UInt64, residents: Double, promised: Double, ratios: SIMD8<Float> = SIMD8(), isListed: Bool = false
    ) {
        (self.id, self.residents, self.promised, self.ratios) = (id, residents, promised, ratios)
        self.isListed = isListed
    }
}

/// Reads a population surface: residents of S2 cells, their certainty, and what single sources say (`data/SURFACE.md`).
///
/// The residents of an undivided cell lie at points: a cell of more than `residentsOfPoint` residents that is coarser
/// than `finestDividedLevel` is divided evenly into its four children; all residents of what is left are at the leaf
/// cell (i + n / 2, j + n / 2), (i, j) being the first leaf cell and n its side in leaf cells.
package struct SurfaceReader: Sendable {
    /// The file, as the user named it.
    package let path: String
    /// The sources that the surface can be compared with, at most eight.
    package let sources: [String]
    private let bytes: [UInt8]
    /// Promised residents per estimated resident, by class; 0 for a class that is not used.
    private let shares: [Double]
    private let streams: [Stream]

    private struct Stream: Sendable {
        var count: Int
        var packed: Range<Int>
    }

    /// A cell of more residents is divided into points.
    package static let residentsOfPoint = 400.0
    /// Cells of this level are not divided into points.
    package static let finestDividedLevel = 14
    package static let magic = Array("HBPEOPLE".utf8)

    static let version = 1
    static let finestLevel = 15
    static let sourceLevel = 11
    private static let headerSize = 88
    private static let nameSize = 16
    private static let maximumSources = 8
    /// A file is read as a whole.
    private static let maximumFileSize = 1 << 28
    /// No more bytes come out of one stream: five times the world's cells.
    private static let maximumStreamSize = 1 << 27

    /// Whether a file is a surface, by its first bytes; false for what is no regular file.
    /// - Throws: `InputError.unreadable`.
    package static func recognizes(_ path: String) throws(InputError) -> Bool {
        let file = try InputFile(path: path)
        guard file.regularSize != nil else { return false }
        var start = [UInt8](repeating: 0, count: magic.count), filled = 0
        while filled < start.count {
            let count = try file.read(into: &start, at: filled)
            if count == 0 { return false }
            filled += count
        }
        return start == magic
    }

    /// Reads a file and validates all of it but the content of its streams.
    /// - Throws: `InputError.unreadable`, `InputError.badSurface`.
    package init(path: String) throws(InputError) {
        let bytes = try InputFile.contents(of: path, limit: Self.maximumFileSize)
        do throws(SurfaceProblem) {
            guard let bytes else { throw .tooLarge }
            try self.init(bytes, path: path)
        } catch {
            throw .badSurface(file: path, error)
        }
    }

    private init(_ bytes: [UInt8], path: String) throws(SurfaceProblem) {
        guard bytes.starts(with: Self.magic) else { throw .notASurface }
        var header = Fields(bytes: bytes, offset: Self.magic.count)
        guard try header.number(4) == Self.version else { throw .version }
        guard try header.number(4) == Self.finestLevel, try header.number(4) == Self.sourceLevel else {
            throw .levels
        }
        let count = try header.number(4)
        guard count <= Self.maximumSources else { throw .sources }
        var shares: [Double] = []
        for _ in 0..<16 {
            let share = Double(Float(bitPattern: UInt32(try header.number(4))))
            guard share >= 0, share <= 1 else { throw .share }
            shares.append(share)
        }
        var names: [String] = []
        for _ in 0..<count { names.append(try header.name(Self.nameSize)) }
        guard Set(names).count == names.count else { throw .sources }
        let checksum = try header.number(8)
        let start = header.offset
        // SAFETY: the slice ends with the array.
        let sum = unsafe bytes.withUnsafeBytes { bytes in
            unsafe XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        guard Int(truncatingIfNeeded: sum) == checksum else { throw .checksum }
        var streams: [Stream] = []
        for _ in 0..<2 + count {
            let count = try header.number(8), packed = try header.number(8)
            guard count >= 0, count <= Self.maximumStreamSize, packed >= 0, packed <= bytes.count - header.offset
            else { throw .lengths }
            streams.append(Stream(count: count, packed: header.offset..<header.offset + packed))
            header.offset += packed
        }
        guard header.offset == bytes.count else { throw .lengths }
        (self.path, self.bytes, self.shares, self.sources, self.streams) = (path, bytes, shares, names, streams)
    }

    /// Hands the inhabited cells to `body`, at most 65,536 at a time, in the order of their ids, which do not overlap.
    /// Memory does not grow with the file. O(n).
    /// - Throws: `InputError.badSurface`, perhaps after some chunks; what `body` throws.
    package func forEachChunk(_ body: ([SurfaceCell]) throws(InputError) -> Void) throws(InputError) {
        var walk = SurfaceWalk(
            cells: inflated(0), classes: inflated(1), ratios: streams.indices.dropFirst(2).map(inflated),
            shares: shares)
        var chunk: [SurfaceCell] = []
        chunk.reserveCapacity(1 << 16)
        while true {
            do throws(SurfaceProblem) {
                while chunk.count < 1 << 16, let cell = try walk.next() { chunk.append(cell) }
            } catch {
                throw .badSurface(file: path, error)
            }
            if chunk.isEmpty { return }
            try body(chunk)
            chunk.removeAll(keepingCapacity: true)
        }
    }

    private func inflated(_ stream: Int) -> InflatedStream {
        InflatedStream(bytes, packed: streams[stream].packed, count: streams[stream].count)
    }
}

/// Fixed fields of a header, one after another.
private struct Fields {
    let bytes: [UInt8]
    var offset: Int

    /// An unsigned number of `size` bytes, the lowest first; one of eight bytes may be negative.
    mutating func number(_ size: Int) throws(SurfaceProblem) -> Int {
        guard bytes.count - offset >= size else { throw .lengths }
        defer { offset += size }
        return (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// Printable ASCII, padded with zeros.
    mutating func name(_ size: Int) throws(SurfaceProblem) -> String {
        guard bytes.count - offset >= size else { throw .lengths }
        let field = bytes[offset..<offset + size], text = field.prefix { $0 != 0 }
        guard !text.isEmpty, text.allSatisfy({ 0x21...0x7E ~= $0 }), field.dropFirst(text.count).allSatisfy({ $0 == 0 })
        else { throw .sources }
        offset += size
        return String(decoding: text, as: UTF8.self)
    }
}
