import Hereabouts
import TextCoding

/// How a table or JSON was read: which columns or members as what, in names, units and counts alone. It shows its owner what
/// was guessed.
package struct InputReading: Hashable, Sendable {
    /// A column with what it was taken for.
    struct Column: Hashable, Sendable {
        var role: String
        /// As messages may have it.
        var name: String
        /// The unit, and the like.
        var detail: String?
        /// How many values it has, of how many records.
        var count: Count?
    }

    struct Count: Hashable, Sendable {
        var values, records: Int
    }

    private(set) var columns: [Column] = []
    /// The names of the first columns that reach no output and are of no use, and how many there are.
    package private(set) var dropped: [String] = []
    package private(set) var droppedCount = 0

    /// The description: `latitude lat, longitude lon, time ts (Unix seconds, UTC), device car_id (3 devices in the first
    /// 10,000 records); dropped: speed, power`.
    package var text: String { text(withCounts: true) }

    /// The same without counts: inputs of one kind have one.
    package var kind: String { text(withCounts: false) }

    private func text(withCounts: Bool) -> String {
        var text = columns.map { column in
            var details = [column.detail].compactMap(\.self)
            if withCounts, let count = column.count {
                let noun = column.role == "key" ? "key" : "device"
                let records = count.records == 1 ? "record" : "\(Self.decimal(count.records)) records"
                details.append("\(count.values) \(noun)\(count.values == 1 ? "" : "s") in the first \(records)")
            }
            return "\(column.role) \(column.name)" + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
        }.joined(separator: ", ")
        if !dropped.isEmpty {
            let more = droppedCount > dropped.count ? " and \(droppedCount - dropped.count) more" : ""
            text += "; dropped: \(dropped.joined(separator: ", "))\(more)"
        }
        return text
    }

    /// A number with commas between thousands.
    private static func decimal(_ number: Int) -> String {
        number < 1000 ? "\(number)" : decimal(number / 1000) + "," + "\(1000 + number % 1000)".dropFirst()
    }
}

extension InputReading {
    /// How an input of `convert` or `live` was read.
    ///
    /// - Parameters:
    ///   - position: whether its positions are in columns.
    ///   - sample: its first records; nil where it is not to be waited for.
    ///   - dropped: the columns that are not used.
    init(
        _ header: CSVHeader, _ fix: CSVFixColumns, position: Bool = true, unit: AngleUnit, options: ConvertRun.Options,
        sample: (any RecordSample)?, dropped: [Int]
    ) {
        if position {
            add(fix.position, header, unit)
        } else {
            columns.append(Column(role: "position", name: "geometry"))
        }
        if let time = fix.time { add("time", time, header, Self.words(ofTimes: sample, fix, options.timeStyle)) }
        if let date = fix.date { add("date", date, header) }
        if let (column, _) = fix.offsets { add("offset", column, header) }
        if let accuracy = fix.accuracy { add("accuracy", accuracy, header, fix.metersPerAccuracy == 1 ? nil : "HDOP") }
        for (column, _) in fix.validity { add("validity", column, header) }
        if let key = fix.key, !options.isOneDevice { add("device", key, header, count: Self.count(key, sample)) }
        drop(dropped, header)
    }

    /// How an input of `snap` was read.
    ///
    /// - Parameter kept: the columns that are copied, and what they are.
    init(
        _ header: CSVHeader, _ position: PositionColumns, unit: AngleUnit, kept: CSVHeader.Kept,
        validity: [(column: Int, validity: FixValidity)], sample: (any RecordSample)?, dropped: [Int]
    ) {
        add(position, header, unit)
        for (column, field) in zip(kept.columns, kept.fields) {
            switch field.content {
            case .key: add(field.isWritten ? "key" : "device", column, header, count: Self.count(column, sample))
            case .time: add("time", column, header)
            case .other: add("copied", column, header)
            }
        }
        for (column, _) in validity where !kept.columns.contains(column) { add("validity", column, header) }
        drop(dropped, header)
    }

    private mutating func add(_ position: PositionColumns, _ header: CSVHeader, _ unit: AngleUnit) {
        let words: [AngleUnit: String] = [
            .radians: "radians", .gradians: "gradians", .degreesE7: "1e-7 degrees", .semicircles: "semicircles",
        ]
        if position.pairOrder != nil {
            add("position", position.latitude, header, words[unit])
            return
        }
        add("latitude", position.latitude, header, words[unit])
        add("longitude", position.longitude, header, words[unit])
        for column in [position.latitudeHemisphere, position.longitudeHemisphere].compactMap(\.self) {
            add("hemisphere", column, header)
        }
    }

    private mutating func add(
        _ role: String, _ column: Int, _ header: CSVHeader, _ detail: String? = nil, count: Count? = nil
    ) {
        columns.append(Column(role: role, name: header.label(column), detail: detail, count: count))
    }

    private mutating func drop(_ columns: [Int], _ header: CSVHeader) {
        // Separators at the end of the header make no columns.
        let columns = columns.filter { $0 < header.namedCount }
        (dropped, droppedCount) = (columns.prefix(CSVHeader.labelCount).map(header.label), columns.count)
    }

    private static func count(_ column: Int, _ sample: (any RecordSample)?) -> Count? {
        guard let sample, sample.count > 0, let values = sample.distinct(column) else { return nil }
        return Count(values: values, records: sample.count)
    }

    /// What the times are, by options or by the first of them.
    private static func words(
        ofTimes sample: (any RecordSample)?, _ fix: CSVFixColumns, _ style: TimeStyle
    ) -> String? {
        let named: [TimeFormat: String] = [
            .unix: "Unix seconds, UTC", .unixMilliseconds: "Unix milliseconds, UTC",
            .unixMicroseconds: "Unix microseconds, UTC", .unixNanoseconds: "Unix nanoseconds, UTC",
            .gps: "GPS seconds", .cocoa: "seconds since 2001, UTC",
        ]
        if let format = style.format, let words = named[format] { return words }
        let zone = style.zone?.description ?? "UTC"
        if style.format == .excel { return "spreadsheet days, \(zone)" }
        guard let column = fix.time, let sample else { return style.zone?.description }
        for record in 0..<sample.count {
            let words: String? = unsafe sample.withField(record, column) { text in
                if let number = unsafe DecimalNumber.parse(text) {
                    return named[style.unixFormat(of: number)]
                }
                if unsafe Timestamp.isLocal(text, style) { return fix.offsets == nil ? "text, \(zone)" : "text" }
                if unsafe text.allSatisfy(DecimalNumber.isBlank) { return nil }
                return unsafe Timestamp(text, as: style) == nil ? "text" : "text with an offset"
            }
            if let words { return words }
        }
        return nil
    }
}

extension TimeStyle {
    /// The unit that a number of no named format is read in.
    fileprivate func unixFormat(of number: Double) -> TimeFormat {
        switch secondsPerUnit(of: number) {
        case 1e-9: .unixNanoseconds
        case 1e-6: .unixMicroseconds
        case 1e-3: .unixMilliseconds
        default: .unix
        }
    }
}
