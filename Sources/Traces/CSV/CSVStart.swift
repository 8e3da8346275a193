import TextCoding

/// How a table starts: what comes before its records.
struct CSVStart {
    /// Nil for lines of two numbers, or nothing at all.
    var table: (header: CSVHeader, delimiter: UInt8)?
    /// The line after the header; of an input without one, that of its first line that is neither blank nor a comment.
    var firstLine: Int

    /// The most lines before a header, and between it and the records: what goes on longer is no preamble.
    private static let maximumLines = 1000

    /// The separators that are inferred, the first where several are as likely.
    private static let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";"), 9, UInt8(ascii: "|")]

    /// Reads what comes before the records: a line `sep=;`, blank lines, comments and the header, all of which are consumed.
    static func read(_ reader: inout InputReader, options: CSVOptions) throws(TraceError) -> CSVStart {
        var line = 1
        var said: UInt8?
        while true {
            let text: UnsafeBufferPointer<UInt8>
            do throws(TraceError) { unsafe text = try reader.firstLine() } catch { throw error.at(line: line) }
            if unsafe text.isEmpty && reader.isEmpty || BareLine.matches(text) {
                return CSVStart(table: nil, firstLine: line)
            }
            if line == 1, let separator = unsafe separator(saidBy: text) {
                said = separator
            } else if unsafe line > maximumLines || !isBlank(text) {
                let delimiter = unsafe options.delimiter ?? said ?? delimiter(of: text, options: options)
                if unsafe line > maximumLines || !isComment(text) || CSVHeader(text, delimiter).hasPosition(options) {
                    let header = unsafe try CSVHeader(text, delimiter, file: reader.label, line: line)
                    reader.dropFirstLine()
                    return CSVStart(table: (header, delimiter), firstLine: line + 1)
                }
            }
            reader.dropFirstLine()
            line += 1
        }
    }

    /// Consumes what may stand between the header and the records: comments, and a line of units.
    ///
    /// - Parameters:
    ///   - columns: how many the header has.
    ///   - degreeColumns: those of the coordinates; nil where one has both.
    /// - Returns: how many lines that were, and the unit that one of them says.
    static func skipUnits(
        _ reader: inout InputReader, _ delimiter: UInt8?, _ columns: Int, _ degreeColumns: [Int]?
    ) throws(TraceError) -> (lines: Int, unit: AngleUnit?) {
        guard let delimiter else { return (0, nil) }
        var lines = 0
        var unit: AngleUnit?
        while lines < maximumLines {
            let text = unsafe try reader.firstLine()
            // What has a field for each column is a record, whatever it begins with.
            let isComment = unsafe isComment(text) && text.count { $0 == delimiter } + 1 < columns
            if !isComment {
                guard unit == nil, let said = unsafe Self.unit(saidBy: text, delimiter, columns, degreeColumns) else {
                    return (lines, unit)
                }
                unit = said
            }
            reader.dropFirstLine()
            lines += 1
        }
        return (lines, unit)
    }

    // MARK: Lines

    /// The separator that a spreadsheet's first line says: `sep=;`.
    private static func separator(saidBy line: UnsafeBufferPointer<UInt8>) -> UInt8? {
        guard line.count <= 16 else { return nil }
        var text = unsafe Array(line)
        if text.last == 13 { text.removeLast() }
        if text.count >= 2, text.first == CSVQuote.byte, text.last == CSVQuote.byte {
            text = Array(text[1..<(text.count - 1)])
        }
        guard text.count == 5, text.prefix(4).elementsEqual("sep=".utf8, by: { $0 | 0x20 == $1 | 0x20 }) else {
            return nil
        }
        return text[4] == CSVQuote.byte || text[4] == 13 ? nil : text[4]
    }

    /// Whether a line has nothing but blanks and separators, as a spreadsheet's empty rows do.
    static func isBlank(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe line.allSatisfy {
            DecimalNumber.isBlank($0) || $0 == 13 || $0 == CSVQuote.byte || delimiters.contains($0)
        }
    }

    /// Whether a line begins as comments do: with `#`, `%` or `//`.
    static func isComment(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe line.first == UInt8(ascii: "#") || line.first == UInt8(ascii: "%") || line.starts(with: Array("//".utf8))
    }

    /// The separator of a header: the most frequent of those with which it names a position, else the most frequent.
    private static func delimiter(of line: UnsafeBufferPointer<UInt8>, options: CSVOptions) -> UInt8 {
        let counts = delimiters.map { delimiter in unsafe line.count { $0 == delimiter } }
        let ranked = delimiters.indices.sorted { (counts[$0], $1) > (counts[$1], $0) }.map { delimiters[$0] }
        let present = ranked.filter { delimiter in unsafe line.contains(delimiter) }
        return present.first { unsafe CSVHeader(line, $0).hasPosition(options) } ?? ranked[0]
    }

    /// What a line of units has for degrees.
    private static let degrees: Set = [
        "deg", "degs", "degree", "degrees", "degreesnorth", "degreeseast", "degreenorth", "degreeeast", "degn", "dege",
        "decimaldegrees", "decimaldegree", "decdeg", "dd", "°", "º", "wgs", "°n", "°e",
    ]

    /// The unit of positions that a line of units says; nil for any other line.
    private static func unit(
        saidBy line: UnsafeBufferPointer<UInt8>, _ delimiter: UInt8, _ columns: Int, _ degreeColumns: [Int]?
    ) -> AngleUnit? {
        // A line of units is short.
        guard line.count <= 4096, let degreeColumns else { return nil }
        let fields = unsafe CSVHeader(line, delimiter).names
        // A line with a number is a record, though it may have degree signs.
        guard fields.count == columns, fields.allSatisfy({ !isValue($0) }) else { return nil }
        let units = degreeColumns.map { AngleUnit(saidBy: fields[$0], isName: false) }
        if let unit = units[0] { return units.allSatisfy { $0 == unit } ? unit : nil }
        let areDegrees = degreeColumns.allSatisfy { column in
            let word = CSVHeader.lowercase(fields[column]).unicodeScalars.filter {
                $0.properties.isAlphabetic || $0 == "°"
            }
            return Self.degrees.contains(String(String.UnicodeScalarView(word)))
        }
        return areDegrees ? .degrees : nil
    }

    /// Whether a field reads as a number, an angle or a position.
    private static func isValue(_ field: String) -> Bool {
        var field = field
        return field.withUTF8 { text in
            if unsafe DecimalNumber.parse(text) != nil || AngleText.decimalComma(text) != nil { return true }
            return unsafe AngleText.parse(text, .latitude) != nil || AngleText.parse(text, .longitude) != nil
                || PairText.parse(text, .latitudeFirst, .any) != nil
        }
    }
}
