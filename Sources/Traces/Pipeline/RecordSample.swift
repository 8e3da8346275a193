import Hereabouts
import TextCoding

/// The first records of a table or of JSON, as fields: what is guessed of an input is guessed from these.
protocol RecordSample {
    /// The most records of a sample, `RecordSamples.most`, and no more than 16 MiB.
    var count: Int { get }

    /// Calls `body` with what a field says, quotes around it aside; with nothing where the record has no such field.
    func withField<Result>(_ record: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result

    /// How many different values a column has that are not empty; nil where they are more than `most`.
    func distinct(_ column: Int, most: Int) -> Int?
}

enum RecordSamples {
    static let most = 10_000
}

extension RecordSample {
    func text(_ record: Int, _ column: Int) -> [UInt8] {
        unsafe withField(record, column) { unsafe Array($0.trimmedOfBlanks) }
    }

    /// The time of a record, as the columns say it.
    func time(_ record: Int, _ columns: CSVFixColumns, _ style: TimeStyle) -> Timestamp? {
        guard let column = columns.time else { return nil }
        return unsafe withField(record, column) { text in
            if let date = columns.date {
                let joined: Timestamp? = unsafe withField(record, date) {
                    unsafe Timestamp(date: $0, time: text, style) ?? Timestamp(repeating: text, in: $0, style)
                }
                if let joined { return joined }
            }
            return unsafe Timestamp(text, as: style)
        }
    }

    /// The position of a record in degrees; nil where it has none that is simple to read.
    func position(_ record: Int, _ position: PositionColumns, _ unit: AngleUnit) -> Coordinate? {
        let coordinate: Coordinate?
        if let order = position.pairOrder {
            coordinate = unsafe withField(record, position.latitude) { unsafe PairText.parse($0, order, .any) }
        } else {
            func value(_ column: Int, _ axis: TraceError.Axis) -> Double? {
                unsafe withField(record, column) { unsafe DecimalNumber.parse($0) ?? AngleText.parse($0, axis) }
            }
            guard let latitude = value(position.latitude, .latitude),
                let longitude = value(position.longitude, .longitude)
            else { return nil }
            coordinate = Coordinate(latitude: latitude, longitude: longitude)
        }
        guard var coordinate else { return nil }
        coordinate.latitude *= unit.degreesPerUnit
        coordinate.longitude *= unit.degreesPerUnit
        return (try? coordinate.validate()) == nil ? nil : coordinate
    }

    // Two of 10,000 values have one hash of 64 bits with a probability below 1e-11.
    func distinct(_ column: Int, most: Int) -> Int? {
        let hash = KeyHash()
        var values = Set<UInt64>(minimumCapacity: Swift.min(count, 1024)), last: UInt64?
        for record in 0..<count {
            let value: UInt64? = unsafe withField(record, column) { field in
                let text = unsafe field.trimmedOfBlanks
                return unsafe text.isEmpty ? nil : hash(text)
            }
            // Values mostly follow each other.
            guard let value, value != last else { continue }
            last = value
            values.insert(value)
            if values.count > most { return nil }
        }
        return values.count
    }

    func distinct(_ column: Int) -> Int? { distinct(column, most: .max) }

    /// The columns whose values repeat, so that each could be a device's.
    ///
    /// - Parameter used: those that have another meaning.
    func keyCandidates(_ header: CSVHeader, besides used: Set<Int>) -> [KeyCandidate] {
        guard count >= 2 else { return [] }
        return header.names.indices.prefix(KeyCandidate.mostColumns).compactMap { column in
            guard !used.contains(column), !header.names[column].isEmpty else { return nil }
            var numbers: [[UInt8]: UInt16] = [:]
            var values: [UInt16] = []
            for record in 0..<count {
                let value = text(record, column)
                guard let number = numbers[value] ?? (2 * numbers.count < count ? UInt16(numbers.count) : nil) else {
                    return nil
                }
                numbers[value] = number
                values.append(number)
            }
            return 2 * numbers.count <= count ? KeyCandidate(name: header.names[column], values: values) : nil
        }
    }

    /// Whether there are positions, in degrees, and each has fewer than three decimals: a spreadsheet may have rounded them.
    func hasFewDecimals(_ position: PositionColumns, unit: AngleUnit, _ options: CSVOptions) -> Bool {
        guard options.reference == nil, unit == .degrees, position.pairOrder == nil, count >= 5 else { return false }
        return (0..<count).allSatisfy { record in
            [position.latitude, position.longitude].allSatisfy { column in
                unsafe withField(record, column) { text in
                    guard unsafe DecimalNumber.parse(text) != nil else { return false }
                    let point = unsafe text.firstIndex(of: UInt8(ascii: "."))
                    guard let point else { return true }
                    return unsafe text[(point + 1)...].count { $0 &- 48 < 10 } < 3
                }
            }
        }
    }
}

extension KeyCandidate {
    /// The most columns that are tried.
    static let mostColumns = 256
}

/// What the first records of an input say of it that its names do not.
struct SampleFindings {
    /// What would be untrue if the input were read as its names say.
    var refusal: TraceError?
    var notices: [Notice] = []

    init(
        _ sample: some RecordSample, _ header: CSVHeader, _ columns: CSVFixColumns, unit: AngleUnit,
        options: ConvertRun.Options, file: String
    ) {
        let checks = SampleChecks(sample: sample, header: header, columns: columns, unit: unit, options: options)
        do throws(TraceError) {
            try checks.checkOffsets(file)
            try checks.checkEpoch(file)
            try checks.checkKey(file)
        } catch {
            refusal = error
        }
        if sample.hasFewDecimals(columns.position, unit: unit, options.csv) { notices.append(.fewDecimals(file: file)) }
    }
}

/// The checks of one sample.
private struct SampleChecks<Sample: RecordSample> {
    let sample: Sample
    let header: CSVHeader
    let columns: CSVFixColumns
    let unit: AngleUnit
    let options: ConvertRun.Options

    private var records: Range<Int> { 0..<sample.count }

    // MARK: Offsets

    /// - Throws: `timeOffsets` where a time without an offset has none beside it that is readable.
    func checkOffsets(_ file: String) throws(TraceError) {
        guard let (column, offsets) = columns.offsets, let time = columns.time else { return }
        let isUnknown = records.contains { record in
            let isLocal: Bool = unsafe sample.withField(record, time) { text in
                unsafe Timestamp.isLocal(text, options.timeStyle)
            }
            guard isLocal, sample.time(record, columns, options.timeStyle) != nil else { return false }
            return unsafe sample.withField(record, column) { unsafe offsets.seconds($0) == nil }
        }
        if isUnknown { throw .timeOffsets(file: file, name: header.names[column]) }
    }

    // MARK: Epochs

    private static var year: Int64 { 31_557_600 }
    /// From 1970-01-01 to 2001-01-01.
    private static var cocoaEpoch: Int64 { 978_307_200 }
    /// Parts of a name that say what its numbers count.
    private static var units: Set<Substring> {
        [
            "s", "sec", "secs", "second", "seconds", "ms", "msec", "millis", "milliseconds", "us", "usec", "micros",
            "microseconds", "ns", "nsec", "nanos", "nanoseconds", "unix", "epoch", "posix",
        ]
    }

    /// - Throws: `epochUnknown` where the numbers of the times may count from another moment, or in another unit.
    func checkEpoch(_ file: String) throws(TraceError) {
        guard let column = columns.time, options.timeStyle.format == nil, sample.count > 0,
            !header.knownName(of: column).split(separator: "_").contains(where: Self.units.contains)
        else { return }
        if let first = records.lazy.compactMap({ number($0, column) }).first, isCocoa(first) {
            throw .epochUnknown(file: file, column: header.names[column], proposals: ["cocoa", "unix"])
        }
        if isCounter(column) {
            throw .epochUnknown(file: file, column: header.names[column], proposals: ["unix"])
        }
    }

    private func number(_ record: Int, _ column: Int) -> Double? {
        unsafe sample.withField(record, column) { unsafe DecimalNumber.parse($0) }
    }

    /// Whether a number is in the 1990s as seconds since 1970, and within three years of now as seconds since 2001.
    private func isCocoa(_ number: Double) -> Bool {
        let now = Double(options.now.nanosecondsSince1970) / 1e9
        return (631_152_000..<946_684_800).contains(number)
            && (number + Double(Self.cocoaEpoch) - now).magnitude < 3 * Double(Self.year)
    }

    /// Whether the times are numbers whose steps are all one, two or five times one power of ten seconds, of at least a day
    /// and no whole number of hours, in which the device hardly moves: seconds of a finer unit, counted since a start.
    private func isCounter(_ column: Int) -> Bool {
        guard sample.count >= 5 else { return false }
        var times: [Timestamp] = []
        for record in records {
            guard number(record, column) != nil, let time = sample.time(record, columns, options.timeStyle)
            else { return false }
            times.append(time)
        }
        // Most have no step of a day at all.
        guard Self.seconds(from: times.min()!, to: times.max()!) >= Self.leastStep else { return false }
        var last: [[UInt8]: (time: Timestamp, place: Coordinate)] = [:]
        var step: Double?
        var meters = 0.0, seconds = 0.0
        for (record, time) in zip(records, times) {
            guard let place = sample.position(record, columns.position, unit) else { return false }
            let key = columns.key.map { sample.text(record, $0) } ?? []
            defer { last[key] = (time, place) }
            guard let before = last[key] else { continue }
            let difference = Self.seconds(from: before.time, to: time)
            if difference == 0 { continue }
            if let step {
                guard (difference - step).magnitude <= step / 100 else { return false }
            } else {
                guard let found = Self.roundStep(difference) else { return false }
                step = found
            }
            meters += JumpCount.meters(from: before.place, to: place)
            seconds += difference
        }
        return step != nil && meters < 0.1 * seconds
    }

    private static func seconds(from start: Timestamp, to end: Timestamp) -> Double {
        (Double(end.nanosecondsSince1970) - Double(start.nanosecondsSince1970)) / 1e9
    }

    /// A day, less a hundredth.
    private static var leastStep: Double { 86_400 * 0.99 }

    /// The one, two or five times a power of ten, of at least a day and no whole number of hours, that a number of seconds is
    /// to a hundredth; nil where it is none.
    private static func roundStep(_ seconds: Double) -> Double? {
        guard seconds >= leastStep, seconds < 1e12 else { return nil }
        var power = 1e4
        while power <= 1e12 {
            for step in [power, 2 * power, 5 * power]
            where (seconds - step).magnitude <= step / 100 && step >= 86_400
                && step.truncatingRemainder(dividingBy: 3600) != 0
            {
                return step
            }
            power *= 10
        }
        return nil
    }

    // MARK: Row numbers

    /// - Throws: `rowNumbers` where the key that was found by its name numbers the records.
    func checkKey(_ file: String) throws(TraceError) {
        guard let key = columns.key, options.keyColumn == nil, !options.isOneDevice, sample.count >= 5,
            header.hasGeneralKeyName(key), sample.distinct(key) == sample.count
        else { return }
        let others = header.names.indices.filter { $0 != key && isKeyName($0) }.compactMap { column in
            sample.distinct(column, most: sample.count / 2).flatMap { count in
                count > 0 ? TraceError.KeyProposal(column: shownName(header.names[column]) ?? "", devices: count) : nil
            }
        }
        guard !others.isEmpty || areCountedRows(key) else { return }
        throw .rowNumbers(file: file, column: header.names[key], proposals: others)
    }

    /// Whether a column's name is that of a key, a known one or `…_id`.
    private func isKeyName(_ column: Int) -> Bool {
        let name = header.knownName(of: column)
        guard name != "id" else { return false }
        return CSVFixColumns.keysNames.contains(name) || name.hasSuffix("_id")
            || header.names[column].hasSuffix("Id") || header.names[column].hasSuffix("ID") && name.count > 2
    }

    /// Whether times rise from each record to the next, keys rise by one or are UUIDs, and all records together make no jump.
    private func areCountedRows(_ key: Int) -> Bool {
        var last: (time: Timestamp, number: Int64?)?
        var jumps = JumpCount()
        for record in records {
            guard let time = sample.time(record, columns, options.timeStyle),
                let place = sample.position(record, columns.position, unit)
            else { return false }
            let text = sample.text(record, key)
            let number = unsafe text.withUnsafeBufferPointer { unsafe wholeNumber($0) }
            guard number != nil || Self.isUUID(text) else { return false }
            if let last {
                guard time > last.time, (number == nil) == (last.number == nil) else { return false }
                if let number, let before = last.number, number != before &+ 1 { return false }
            }
            jumps.take(place, at: time)
            last = (time, number)
        }
        return jumps.jumps == 0
    }

    private static func isUUID(_ text: [UInt8]) -> Bool {
        text.count == 36
            && text.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : byte &- 48 < 10 || (byte | 0x20) &- 97 < 6
            }
    }
}
