import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the sentences RMC, GGA, GLL and ZDA of NMEA 0183, of any talker, and makes one fix of those of one time.
///
///     $GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
///
/// Whatever stands before a sentence's `$` in its line, or after its checksum, is not looked at. Sentences have times of
/// day. Their date is that of RMC and ZDA; from there it is carried on, and back to the fixes before the first one.
struct NMEAReader: LineReader {
    /// The longest sentence that is read, in bytes from its `$` on. The standard has 82 with the line end; receivers that
    /// print more digits take some more.
    static let maximumSentenceBytes = 160
    /// Fixes that wait for a date, at most: a day of one per second.
    static let maximumUndated = 86_400
    /// The most fields of a sentence that are looked at.
    private static let maximumFields = 16

    private let file: String
    private let bounds: TimeBounds
    /// What `--date` says.
    private let firstDay: Int64?
    private var fixes: [PlainFix] = []
    /// Whether a sentence before had a checksum, so that one without was cut off.
    private var hasChecksums = false
    private var epoch: Epoch?
    private var clock = DayClock()
    /// Whether the clock's days are days since 1970.
    private var isDated = false
    /// Fixes without a date, with the clock's moment.
    private var undated: [(fix: PlainFix, moment: Int64)] = []

    /// What the sentences of one time say.
    private struct Epoch {
        var timeOfDay: Int64
        /// Days since 1970.
        var day: Int64?
        /// The line of the first sentence with a position.
        var line = 0
        var coordinate: Coordinate?
        var horizontalAccuracy = Double.nan
        /// Whether one of them says that there is no fix.
        var isVoid = false
    }

    enum Kind { case rmc, gga, gll, zda }

    init(file: String, options: ConvertRun.Options) {
        self.file = file
        bounds = TimeBounds(options)
        firstDay = options.firstDay
    }

    mutating func takeFixes(_ take: (PlainFix) -> Void) {
        for fix in fixes { take(fix) }
        fixes.removeAll(keepingCapacity: true)
    }

    mutating func finish() throws(TraceError) {
        try endEpoch()
        try dateAll()
    }

    mutating func read(_ line: UnsafeBufferPointer<UInt8>, number: Int) throws(TraceError) {
        guard let base = line.baseAddress else { return }
        var at = 0
        // SAFETY: offsets are at most the line's count.
        while at < line.count, let found = unsafe memchr(base + at, Int32(UInt8(ascii: "$")), line.count - at) {
            at = unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base + 1
            let rest = unsafe UnsafeBufferPointer(start: base + at, count: line.count - at)
            if let kind = unsafe Self.kind(rest) { unsafe try readSentence(rest, kind, number: number) }
        }
    }

    /// The kind of the sentence that begins here, after its `$`; nil for one that is not read, and those of one maker's own
    /// (`$P…`), of which `$PGRMC` is no RMC.
    @inline(__always)
    static func kind(_ text: UnsafeBufferPointer<UInt8>) -> Kind? {
        // SAFETY: the count is tested first.
        guard text.count > 5, unsafe text[5] == UInt8(ascii: ","), unsafe text[0] != UInt8(ascii: "P"),
            unsafe isUppercaseOrDigit(text[0]), unsafe isUppercaseOrDigit(text[1])
        else { return nil }
        switch unsafe (text[2], text[3], text[4]) {
        case (UInt8(ascii: "R"), UInt8(ascii: "M"), UInt8(ascii: "C")): return .rmc
        case (UInt8(ascii: "G"), UInt8(ascii: "G"), UInt8(ascii: "A")): return .gga
        case (UInt8(ascii: "G"), UInt8(ascii: "L"), UInt8(ascii: "L")): return .gll
        case (UInt8(ascii: "Z"), UInt8(ascii: "D"), UInt8(ascii: "A")): return .zda
        default: return nil
        }
    }

    @inline(__always)
    static func isUppercaseOrDigit(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 || byte &- 0x30 < 10 }

    /// Whether a sentence of any kind that begins here, after its `$`, has the right checksum.
    static func hasChecksum(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let fields = unsafe Fields(text)
        return fields.count > 1 && fields.checksum.isRight
    }

    // MARK: Sentences

    /// The fields of a sentence, its address as number 0.
    @safe private struct Fields {
        // SAFETY: lives no longer than the line that it was made from; ends are within it.
        private let text: UnsafeBufferPointer<UInt8>
        private var ends = InlineArray<16, Int>(repeating: 0)
        private(set) var count = 0
        /// Offset of the asterisk, or where the sentence breaks off; nil of one that is too long.
        private(set) var end: Int?
        /// Of the bytes before the asterisk.
        private(set) var sum: UInt8 = 0

        init(_ text: UnsafeBufferPointer<UInt8>) {
            unsafe self.text = text
            var at = 0
            let limit = min(text.count, NMEAReader.maximumSentenceBytes)
            while at < limit {
                let byte = unsafe text[at]
                if byte == UInt8(ascii: "*") || byte == UInt8(ascii: "$") || byte == 13 { break }
                if byte == UInt8(ascii: ",") { close(at) }
                sum ^= byte
                at += 1
            }
            if at == limit && at < text.count { return }
            close(at)
            end = at
        }

        private mutating func close(_ at: Int) {
            guard count < NMEAReader.maximumFields else { return }
            ends[count] = at
            count += 1
        }

        /// A field by number, blanks at its end aside; empty where there is none.
        subscript(number: Int) -> UnsafeBufferPointer<UInt8> {
            guard number > 0, number < count else { return unsafe UnsafeBufferPointer(rebasing: text[0..<0]) }
            let start = ends[number - 1] + 1
            var end = ends[number]
            while end > start, unsafe text[end - 1] <= 0x20 { end -= 1 }
            return unsafe UnsafeBufferPointer(rebasing: text[start..<end])
        }

        /// The first byte of a field; 0 of an empty one.
        func letter(_ number: Int) -> UInt8 { unsafe self[number].first ?? 0 }

        /// Whether the sentence has a checksum, and the right one.
        var checksum: (isThere: Bool, isRight: Bool) {
            guard let end, unsafe end < text.count && text[end] == UInt8(ascii: "*") else { return (false, false) }
            guard unsafe end + 2 < text.count, let high = unsafe Self.hexadecimal(text[end + 1]),
                let low = unsafe Self.hexadecimal(text[end + 2])
            else { return (true, false) }
            return (true, high << 4 | low == sum)
        }

        private static func hexadecimal(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x61 + 10
            default: nil
            }
        }
    }

    private mutating func readSentence(
        _ text: UnsafeBufferPointer<UInt8>, _ kind: Kind, number: Int
    ) throws(TraceError) {
        let fields = unsafe Fields(text)
        guard fields.end != nil else { return }
        let checksum = fields.checksum
        if checksum.isThere ? !checksum.isRight : hasChecksums {
            return refuse(checksum.isThere ? .checksumWrong : .checksumMissing, line: number)
        }
        if checksum.isThere { hasChecksums = true }
        switch kind {
        case .rmc:
            let isVoid = Self.isVoid(status: fields.letter(2), mode: fields.letter(12))
            try readPosition(fields, line: number, time: 1, latitude: 3, isVoid: isVoid, date: 9)
        case .gga:
            let quality = fields.letter(6)
            try readPosition(
                fields, line: number, time: 1, latitude: 2, isVoid: quality == 0 || quality == UInt8(ascii: "0"),
                dilution: 8)
        case .gll:
            // Before version 2 of the standard it had no status.
            let status = fields.count > 6 ? fields.letter(6) : UInt8(ascii: "A")
            let isVoid = Self.isVoid(status: status, mode: fields.letter(7))
            try readPosition(fields, line: number, time: 5, latitude: 1, isVoid: isVoid)
        case .zda: try readDate(fields, line: number)
        }
    }

    /// Whether there is no fix, by a status (A, or D of a corrected fix) and a mode (N for none).
    private static func isVoid(status: UInt8, mode: UInt8) -> Bool {
        status != UInt8(ascii: "A") && status != UInt8(ascii: "D") || mode == UInt8(ascii: "N")
    }

    /// - Parameters:
    ///   - time: the number of the field; likewise the others. A latitude's hemisphere, the longitude and its hemisphere
    ///     follow it.
    private mutating func readPosition(
        _ fields: Fields, line: Int, time: Int, latitude: Int, isVoid: Bool, date: Int? = nil, dilution: Int? = nil
    ) throws(TraceError) {
        let timeText = unsafe fields[time]
        guard let timeOfDay = unsafe Self.timeOfDay(timeText) else {
            // A receiver that has no fix need not know the time.
            if !isVoid { refuse(timeText.isEmpty ? .timeMissing : .timeUnreadable, line: line) }
            return
        }
        if isVoid {
            try begin(timeOfDay, day: nil)
            epoch?.isVoid = true
            return
        }
        var day: Int64?
        if let date, unsafe !fields[date].isEmpty {
            guard let read = unsafe fields[date].count == 6 ? FixedText.date(fields[date], at: 0) : nil else {
                return refuse(.timeUnreadable, line: line)
            }
            day = read
        }
        let north = unsafe Self.angle(fields[latitude], degreeDigits: 2, .latitude)
        let east = unsafe Self.angle(fields[latitude + 2], degreeDigits: 3, .longitude)
        let northSign = unsafe Self.sign(fields[latitude + 1], "N", "S")
        let eastSign = unsafe Self.sign(fields[latitude + 3], "E", "W")
        if let reason = north.problem ?? east.problem { return refuse(reason, line: line) }
        guard let northSign, let eastSign else { return refuse(.hemisphereUnreadable, line: line) }
        try begin(timeOfDay, day: day)
        if epoch?.coordinate == nil {
            epoch?.coordinate = Coordinate(latitude: north.degrees * northSign, longitude: east.degrees * eastSign)
            epoch?.line = line
        }
        if let dilution, let value = unsafe DecimalNumber.parse(fields[dilution]), value > 0 {
            epoch?.horizontalAccuracy = value * GPXFix.metersPerDilution
        }
    }

    /// Reads the date of a ZDA.
    private mutating func readDate(_ fields: Fields, line: Int) throws(TraceError) {
        let (time, day, month, year) = unsafe (fields[1], fields[2], fields[3], fields[4])
        // That of a receiver without a fix.
        if time.isEmpty || day.isEmpty || month.isEmpty || year.isEmpty { return }
        guard let timeOfDay = unsafe Self.timeOfDay(time), day.count == 2, month.count == 2, year.count == 4,
            let day = unsafe FixedText.digits(day, at: 0, count: 2),
            let month = unsafe FixedText.digits(month, at: 0, count: 2),
            let year = unsafe FixedText.digits(year, at: 0, count: 4),
            let date = FixedText.date(year: year, month: month, day: day)
        else { return refuse(.timeUnreadable, line: line) }
        try begin(timeOfDay, day: date)
    }

    private mutating func refuse(_ reason: RecordProblem.Reason, line: Int) {
        fixes.append(PlainFix(line: line, problem: reason))
    }

    // MARK: Fields

    /// `hhmmss`, with a fraction or without, as nanoseconds since midnight.
    private static func timeOfDay(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard var time = unsafe FixedText.timeOfDay(text, at: 0) else { return nil }
        guard text.count > 6 else { return time }
        guard unsafe text[6] == UInt8(ascii: ".") else { return nil }
        var unit: Int64 = 100_000_000
        for at in 7..<text.count {
            let digit = unsafe text[at] &- 48
            guard digit < 10 else { return nil }
            time += Int64(digit) * unit
            unit /= 10
        }
        return time
    }

    /// `ddmm.mmm`: degrees and two digits of minutes, with a fraction or without. Zeros before them may be missing, but not
    /// all: `48.2` would be degrees or minutes.
    private static func angle(
        _ text: UnsafeBufferPointer<UInt8>, degreeDigits: Int, _ axis: TraceError.Axis
    ) -> (degrees: Double, problem: RecordProblem.Reason?) {
        if text.isEmpty { return (.nan, axis == .latitude ? .latitudeMissing : .longitudeMissing) }
        var value: Int64 = 0, digits = 0, decimals = 0, at = 0
        var hasPoint = false, isNumber = text.count <= 24
        while at < text.count && isNumber {
            // SAFETY: tested against the count.
            let byte = unsafe text[at]
            if byte == UInt8(ascii: ".") && !hasPoint {
                hasPoint = true
            } else if byte &- 48 < 10 {
                if !hasPoint { digits += 1 }
                // Sixteen digits are below a nanometer, and within 64 bits.
                if !hasPoint || digits + decimals < 16 {
                    value = value &* 10 &+ Int64(byte &- 48)
                    if hasPoint { decimals += 1 }
                }
            } else {
                isNumber = false
            }
            if digits > degreeDigits + 2 { isNumber = false }
            at += 1
        }
        let unit = powersOfTen[decimals]
        let degrees = value / (100 * unit), minutes = value % (100 * unit)
        guard isNumber, digits >= 3, minutes < 60 * unit else {
            return (.nan, axis == .latitude ? .latitudeUnreadable : .longitudeUnreadable)
        }
        return (Double(degrees) + Double(minutes) / (60 * Double(unit)), nil)
    }

    /// 10⁰ to 10¹⁶.
    private static let powersOfTen: [Int64] = (0...16).map { (0..<$0).reduce(1) { value, _ in value * 10 } }

    private static func sign(_ text: UnsafeBufferPointer<UInt8>, _ plus: Unicode.Scalar, _ minus: Unicode.Scalar)
        -> Double?
    {
        guard text.count == 1 else { return nil }
        switch unsafe text[0] {
        case UInt8(ascii: plus): return 1
        case UInt8(ascii: minus): return -1
        default: return nil
        }
    }

    // MARK: Epochs

    /// Goes on in the epoch of a time, the current one or a new one.
    private mutating func begin(_ timeOfDay: Int64, day: Int64?) throws(TraceError) {
        if let current = epoch, current.timeOfDay == timeOfDay, current.day == nil || day == nil || current.day == day {
            if let day { epoch?.day = day }
            return
        }
        try endEpoch()
        epoch = Epoch(timeOfDay: timeOfDay, day: day)
    }

    /// Makes a fix of the current epoch, if it is one.
    private mutating func endEpoch() throws(TraceError) {
        guard let epoch else { return }
        self.epoch = nil
        // What a receiver without a fix says of the date may be wrong.
        if epoch.isVoid { return }
        if let day = epoch.day {
            let moment = day * DayClock.nanosecondsPerDay + epoch.timeOfDay
            if !isDated { date(from: clock.advance(to: epoch.timeOfDay), as: moment) }
            clock.set(moment)
        } else if epoch.coordinate != nil {
            _ = clock.advance(to: epoch.timeOfDay)
        }
        guard let coordinate = epoch.coordinate, let moment = clock.moment else { return }
        var fix = PlainFix(line: epoch.line, coordinate: coordinate, horizontalAccuracy: epoch.horizontalAccuracy)
        if isDated {
            date(&fix, moment)
            fixes.append(fix)
        } else {
            guard undated.count < Self.maximumUndated || firstDay != nil else { throw .noDate(file: file) }
            undated.append((fix, moment))
            if undated.count > Self.maximumUndated { try dateAll() }
        }
    }

    /// Dates the fixes that wait, now that a moment of the clock is known.
    private mutating func date(from moment: Int64, as known: Int64) {
        isDated = true
        let (shift, overflow) = known.subtractingReportingOverflow(moment)
        for (fix, moment) in undated {
            var fix = fix
            date(&fix, overflow ? .min : moment.addingReportingOverflow(shift).partialValue)
            fixes.append(fix)
        }
        undated = []
    }

    private func date(_ fix: inout PlainFix, _ moment: Int64) {
        let time = Timestamp(nanosecondsSince1970: moment)
        fix.time = time
        fix.problem = bounds.problem(time)
    }

    /// Dates the fixes for which no date will come.
    private mutating func dateAll() throws(TraceError) {
        guard !undated.isEmpty else { return }
        guard let firstDay else { throw .noDate(file: file) }
        let (first, last) = (undated[0].moment, clock.moment ?? 0)
        let start = firstDay * DayClock.nanosecondsPerDay + first % DayClock.nanosecondsPerDay
        date(from: first, as: start)
        clock.set(last.addingReportingOverflow(start - first).partialValue)
    }
}
