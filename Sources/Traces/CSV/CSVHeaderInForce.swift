import Synchronization
import TextCoding

/// The header by which records are read, until another one stands among them. Two are the same if they are one object.
final class CSVHeaderInForce: Sendable {
    let layout: CSVLayout
    init(_ layout: CSVLayout) { self.layout = layout }
}

/// The header in force of an input that several threads read.
final class SharedCSVHeader: Sendable {
    private let header: Mutex<CSVHeaderInForce>

    init(_ layout: CSVLayout) { header = Mutex(CSVHeaderInForce(layout)) }

    var current: CSVHeaderInForce { header.withLock { $0 } }

    /// See `TraceInput.follow`.
    func follow(_ batch: borrowing FixBatch) -> Bool {
        guard let read = batch.header else { return true }
        return header.withLock { header in
            guard read.before === header else { return false }
            if let after = read.after { header = after }
            return true
        }
    }
}

/// The names of a table's header, for recognizing another header among its records: what `cat` makes of two tables, and
/// streams whose columns change.
struct CSVHeaderNames: Sendable {
    /// What a line is.
    enum Line {
        /// Of this header's names, in the order of the given columns' numbers among the line's fields.
        case same([String])
        /// A header of other names.
        case other
    }

    private let delimiter: UInt8
    /// The names as they are, in lower case, as bytes; empty ones left out.
    private let bytes: Set<[UInt8]>
    private let sorted: [String]
    /// Whether records have a field before the first named one.
    private let hasRowNames: Bool
    /// A header is no longer than this, in bytes.
    private static let longest = 1 << 16
    /// Names of coordinates, keys and times, which make a line a header even where this one has others.
    private static let known = Set(CSVHeader.knownAxisNames.union(CSVFixColumns.knownNames).map { Array($0.utf8) })

    init(_ names: [String], delimiter: UInt8, hasRowNames: Bool) {
        self.delimiter = delimiter
        self.hasRowNames = hasRowNames
        sorted = Self.sorted(names)
        bytes = Set(sorted.map { Array($0.utf8) })
    }

    private static func sorted(_ names: [String]) -> [String] {
        names.filter { !$0.isEmpty }.map { CSVHeader.lowercase($0) }.sorted()
    }

    private func isName(_ field: [UInt8]) -> Bool {
        let name = Self.lowercase(field)
        return bytes.contains(name) || Self.known.contains(name)
    }

    private static func lowercase(_ field: [UInt8]) -> [UInt8] { field.map { (65...90).contains($0) ? $0 + 32 : $0 } }

    /// What a line is, if it is a header; nil for a record.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - latitude, longitude: the columns of the coordinates, by the header in force.
    func header(_ line: UnsafeBufferPointer<UInt8>, latitude: Int, longitude: Int) -> Line? {
        guard line.count <= Self.longest, unsafe mayBeHeader(line, latitude: latitude) else { return nil }
        var names = unsafe CSVHeader(line, delimiter).names
        // Of a file that was appended to another.
        if let first = names.first, first.hasPrefix("\u{feff}") { names[0] = String(first.unicodeScalars.dropFirst()) }
        if hasRowNames, names.first != "" { names.insert("", at: 0) }
        let given = names.filter { !$0.isEmpty }
        guard !given.isEmpty else { return nil }
        let isSame = Self.sorted(names) == sorted
        func isName(at column: Int) -> Bool { column < names.count && self.isName(Array(names[column].utf8)) }
        let areOwn = given.allSatisfy { bytes.contains(Self.lowercase(Array($0.utf8))) }
        guard isSame || areOwn || isName(at: latitude) && isName(at: longitude) else { return nil }
        return isSame ? .same(names) : .other
    }

    /// Whether the first field with something in it, or that of the latitude, is a name: a header has one or the other, and
    /// a record mostly neither.
    private func mayBeHeader(_ line: UnsafeBufferPointer<UInt8>, latitude: Int) -> Bool {
        var at = 0, column = hasRowNames ? 1 : 0, isFirst = true
        // SAFETY: `at` is at most the count.
        while at <= line.count, isFirst || column <= latitude {
            let end = unsafe line[at...].firstIndex(of: delimiter) ?? line.count
            let name = unsafe Self.name(line[at..<end])
            if !name.isEmpty {
                if isFirst || column == latitude, isName(name) { return true }
                isFirst = false
            }
            (at, column) = (end + 1, column + 1)
        }
        return false
    }

    /// A field without blanks, quotes and a byte-order mark around it.
    private static func name(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        let isBlank = { (byte: UInt8) in DecimalNumber.isBlank(byte) || byte == 13 || byte == CSVQuote.byte }
        var name = unsafe Array(field.prefix(256).drop { isBlank($0) || [0xef, 0xbb, 0xbf].contains($0) })
        while let last = name.last, isBlank(last) { name.removeLast() }
        return name
    }

    /// Whether a line may stand before a header: a comment, or nothing but blanks and separators.
    static func mayPrecede(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe CSVStart.isComment(line) || CSVStart.isBlank(line)
    }
}

extension CSVLayout {
    /// The same for records whose columns stand in another order.
    ///
    /// - Parameter names: those of the header, all of this one's.
    func reordered(as names: [String]) -> CSVLayout {
        var layout = self
        var left = columnNames.enumerated().map { (column: $0, name: CSVHeader.lowercase($1)) }
        layout.roles = []
        layout.slots = []
        for name in names {
            let found = left.firstIndex { $0.name == CSVHeader.lowercase(name) }
            let column = found.map { left.remove(at: $0).column }
            layout.roles.append(column.map { roles[$0] } ?? .dropped)
            layout.slots.append(column.map { slots[$0] } ?? -1)
        }
        layout.columnNames = names
        layout.requiredFields = layout.fewestFields
        return layout
    }
}
