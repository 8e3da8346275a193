import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the lines of an endless input are.
package enum LiveSource: String, CaseIterable, Sendable { case csv, ndjson, nmea, gpsd, owntracks }

/// What the lines of reports are.
package enum LiveTarget: String, CaseIterable, Sendable { case csv, ndjson, gpsd, owntracks }

/// A record of an endless input.
package struct LiveRecord {
    /// The line that it begins on, from 1.
    package var line: Int
    /// Degrees, as the record has them: their range is not validated.
    package var coordinate: Coordinate
    /// Nil where the record has none.
    package var time: Timestamp?
    /// Meters; nil where unknown.
    package var horizontalAccuracy: Double?
    /// What is wrong with the record; its position is of no use then.
    package var problem: RecordProblem.Reason?
}

/// A table, or the sentences of a receiver, read as its lines come.
///
/// Each record is a line. One whose last quote is left open is a bad record, and does not swallow those that follow.
package final class LiveTable {
    /// The name of the column with the devices' keys; nil where the input is one device's.
    package let keyName: String?
    /// Whether the name was found, and may be that of the records' numbers.
    package let mayCountRecords: Bool
    /// What there is to say of columns.
    package let notices: [Notice]

    private let input: any TraceInput
    private let reader: (any RecordReader)?
    private let lines: Lines
    private let acceptsNullIsland: Bool
    private var piece = Piece(readBytes: LiveTable.readBytes)
    private var line: Int
    private static let readBytes = 1 << 16
    /// A moment that no clock shows: whether a time lies in the future is for those to say who have a clock.
    private static let farFuture = Timestamp(nanosecondsSince1970: 9_183_110_400_000_000_000)

    /// Waits for the first lines.
    ///
    /// - Parameters:
    ///   - format: CSV, NDJSON or NMEA.
    ///   - more: waits for lines, and gives those that came, whole; none at the end. Its lines are shorter than 1 MiB.
    /// - Throws: `TraceError`: an input without the columns that are needed.
    package init(
        _ format: TraceFormat, label: String, options: ConvertRun.Options, more: @escaping () -> [UInt8]
    ) throws(TraceError) {
        var options = options
        options.inputFormat = format
        options.now = Self.farFuture
        options.recordsAreLines = true
        options.acceptsUntimed = true
        let lines = Lines(more, isTable: format.name == TraceFormat.csv.name)
        self.lines = lines
        acceptsNullIsland = options.acceptsNullIsland
        input = try TraceFormat.open(
            InputReader(ByteSource(label: label) { lines.next() }, readBytes: Self.readBytes), options: options)
        try input.requireReference(options.csv.reference)
        lines.begin(delimiter: (input as? CSVInput)?.layout.delimiter)
        if case .keyed(let name) = input.identity, !options.isOneDevice { keyName = name } else { keyName = nil }
        mayCountRecords =
            options.keyColumn == nil && keyName.map { CSVHeader(names: [$0]).hasGeneralKeyName(0) } ?? false
        notices = input.notices
        reader = input.makeReader(hash: KeyHash())
        line = input.firstLine
    }

    /// How many keys are known before their records are taken.
    package static let groupSize = 32

    /// Waits for records, and gives those that came; false at the end.
    ///
    /// - Parameters:
    ///   - ahead: called with the keys of the next records, `groupSize` at most, before these are given.
    ///   - take: called with each record and the bytes of its device's key, which it must not keep; nil in inputs
    ///     without keys, and of bad records.
    /// - Throws: `TraceError`, after the records before the failure were given.
    package func next(
        ahead: (UnsafeBufferPointer<UInt8>) -> Void, _ take: (LiveRecord, UnsafeBufferPointer<UInt8>?) -> Void
    ) throws(TraceError) -> Bool {
        _ = piece.take(from: input)
        // At the end the buffer still has what came before.
        if let reader, !piece.isAtEnd { piece.read(reader) }
        _ = input.follow(piece.batch)
        if !acceptsNullIsland { piece.batch.refuseNullIsland() }
        var nextProblem = 0
        for index in 0..<piece.batch.count {
            if index % Self.groupSize == 0, keyName != nil {
                unsafe giveKeys(index..<min(index + Self.groupSize, piece.batch.count), nextProblem, ahead)
            }
            var record = LiveRecord(
                line: line + piece.batch.lines[index], coordinate: piece.batch.positions[index],
                time: piece.batch.times[index], horizontalAccuracy: piece.batch.horizontalAccuracy(index))
            if nextProblem < piece.batch.problems.count, piece.batch.problems[nextProblem].index == index {
                record.problem = piece.batch.problems[nextProblem].reason
                nextProblem += 1
            }
            // SAFETY: the piece stays as it is during the call.
            unsafe take(record, keyName != nil && record.problem == nil ? piece.key(index) : nil)
        }
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: input.file, line: line + overlong)
        }
        if let broken = piece.batch.brokenLine { throw .malformedJSON(file: input.file, line: line + broken) }
        if let late = piece.batch.lateKey {
            throw .lateKey(file: input.file, line: line + late.line, name: late.name)
        }
        if let failure = piece.failure { throw failure.at(line: line) }
        line += piece.batch.lineCount
        return !piece.isAtEnd
    }

    /// - Parameter nextProblem: the first problem of these records or later ones.
    private func giveKeys(
        _ records: Range<Int>, _ nextProblem: Int, _ ahead: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var nextProblem = nextProblem
        for index in records {
            if nextProblem < piece.batch.problems.count, piece.batch.problems[nextProblem].index == index {
                nextProblem += 1
            } else {
                // SAFETY: the piece stays as it is during the call.
                unsafe ahead(piece.key(index))
            }
        }
    }

    /// How many lines with an open quote came since the last call.
    package func takeOpenQuotes() -> Int {
        defer { lines.openQuotes = 0 }
        return lines.openQuotes
    }

    /// The lines of the input, those with an open quote left blank.
    private final class Lines {
        /// The separator of a table's fields; nil of other inputs.
        private var delimiter: UInt8?
        /// Whether the header of a table is being read, before which nobody knows what separates fields.
        private var isBeginning: Bool
        /// What came with the header.
        private var rest: ArraySlice<UInt8> = []
        var openQuotes = 0
        private let more: () -> [UInt8]

        init(_ more: @escaping () -> [UInt8], isTable: Bool) { (self.more, isBeginning) = (more, isTable) }

        func begin(delimiter: UInt8?) { (self.delimiter, isBeginning) = (delimiter, false) }

        func next() -> [UInt8] {
            if rest.isEmpty { rest = more()[...] }
            let end = isBeginning ? rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex : rest.endIndex
            var bytes = Array(rest[..<end])
            rest = rest[end...]
            if isBeginning || delimiter != nil { Self.replaceLoneReturns(&bytes) }
            guard let delimiter, Self.firstIndex(of: CSVQuote.byte, in: bytes, from: 0) != nil else { return bytes }
            var kept: [UInt8] = []
            kept.reserveCapacity(bytes.count)
            var start = 0
            while start < bytes.count {
                let end = Self.firstIndex(of: 10, in: bytes, from: start).map { $0 + 1 } ?? bytes.count
                if Self.isClosed(bytes[start..<end], delimiter) {
                    kept += bytes[start..<end]
                } else {
                    openQuotes += 1
                    kept.append(10)
                }
                start = end
            }
            return kept
        }

        private static func firstIndex(of byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
            unsafe bytes.withUnsafeBufferPointer { bytes in
                guard start < bytes.count, let base = bytes.baseAddress else { return nil }
                // SAFETY: from `start` on there are `bytes.count - start` bytes.
                guard let found = unsafe memchr(base + start, Int32(byte), bytes.count - start) else { return nil }
                return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
            }
        }

        /// Puts blanks for carriage returns within lines: a table in a file may end its records with them, a line that comes
        /// is one record.
        private static func replaceLoneReturns(_ bytes: inout [UInt8]) {
            var from = 0
            while let place = firstIndex(of: 13, in: bytes, from: from) {
                from = place + 1
                if from == bytes.count || bytes[from] != 10 { bytes[place] = 0x20 }
            }
        }

        private static func isClosed(_ line: ArraySlice<UInt8>, _ delimiter: UInt8) -> Bool {
            guard line.contains(CSVQuote.byte) else { return true }
            var framing = CSVFraming(delimiter: delimiter, holdsComments: false)
            return unsafe line.withUnsafeBufferPointer { unsafe framing.lastRecordEnd($0) == line.count }
        }
    }
}

extension Piece {
    fileprivate mutating func read(_ reader: any RecordReader) {
        reader.begin(buffer)
        while reader.read(buffer, into: &batch, limit: .max) {}
    }
}

/// Writes the reports of devices as rows of a table, or as JSON objects on lines: key, time and the reduced location, as
/// `convert` does. It keeps nothing of a device.
package struct LiveReportWriter: ~Copyable {
    private let keyName: [UInt8]
    /// What a JSON object begins with: its first member's name.
    private let opening: [UInt8]
    private let isTable: Bool
    private let isPadded: Bool
    private var hasHeader: Bool
    private var text: RegionTextWriter

    /// - Parameters:
    ///   - isTable: whether rows are written; else JSON.
    ///   - isPadded: whether lines of JSON are padded.
    ///   - keyName: the name of the devices' keys.
    package init(isTable: Bool, isPadded: Bool = false, keyName: String, atlas: Atlas) {
        self.keyName = Array(keyName.utf8)
        var opening = ByteBuffer(capacity: 64)
        opening.append(UInt8(ascii: "{"))
        opening.append(json: self.keyName)
        opening.append(UInt8(ascii: ":"))
        self.opening = opening.array
        (self.isTable, self.isPadded) = (isTable, isPadded && !isTable)
        hasHeader = !isTable
        text = RegionTextWriter(RegionTextCache(atlas: atlas, form: isTable ? .csv : .ndjson))
    }

    /// Writes the header, unless it was.
    package mutating func writeHeader(to out: inout ByteBuffer) {
        guard !hasHeader else { return }
        hasHeader = true
        out.append(csv: keyName)
        out.append(",time,")
        out.append(RegionForm.csvHeader)
    }

    /// - Parameter key: nil for the one device of an input without keys.
    package mutating func write(
        _ region: Region, of key: UnsafeBufferPointer<UInt8>?, at time: Timestamp, to out: inout ByteBuffer
    ) {
        let start = out.count
        if isTable {
            writeHeader(to: &out)
            if let key = unsafe key { unsafe out.append(csv: key) } else { out.append(UInt8(ascii: "1")) }
            out.append(UInt8(ascii: ","))
            time.append(to: &out)
            out.append(UInt8(ascii: ","))
        } else {
            out.append(bytes: opening)
            if let key = unsafe key { unsafe out.append(json: key) } else { out.append(UInt8(ascii: "1")) }
            out.append(",\"time\":\"")
            time.append(to: &out)
            out.append("\",")
        }
        text.append(region, to: &out)
        if isPadded { out.padJSONLine(from: start) }
    }
}
