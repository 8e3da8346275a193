import Hereabouts

/// Reads the B records of flight recorders' files (FAI, "Technical specification for IGC-approved flight recorders").
///
///     HFDTE160701
///     I033638FXA3941ENL4246LAD…
///     B1101355206343N00006198WA0058700558
///      hhmmssDDMMmmmNDDDMMmmmEVpppppggggg
///
/// Read of an I record are FXA, the accuracy in meters, and LAD and LOD, further digits of the minutes. The date is that of
/// the last HFDTE record; over midnight the next day follows. Each A record begins a flight, which is a track.
struct IGCReader: LineReader {
    /// A whole position, and what it is good for.
    private static let shortest = 25

    private let file: String
    private let bounds: TimeBounds
    /// What `--date` says.
    private let firstDay: Int64?
    private var fixes: [PlainFix] = []
    private var track: UInt32 = 0
    /// Nanoseconds since 1970; without a moment until there is a date.
    private var clock = DayClock()
    /// The date of the next B record, as days since 1970.
    private var day: Int64?
    /// The date that the flight's last header had.
    private var header: Int64?
    private var accuracy, latitudeDigits, longitudeDigits: Range<Int>?

    init(file: String, options: ConvertRun.Options) {
        self.file = file
        bounds = TimeBounds(options)
        firstDay = options.firstDay
    }

    mutating func takeFixes(_ take: (PlainFix) -> Void) {
        for fix in fixes { take(fix) }
        fixes.removeAll(keepingCapacity: true)
    }

    mutating func finish() {}

    mutating func read(_ line: UnsafeBufferPointer<UInt8>, number: Int) throws(TraceError) {
        var count = line.count
        // SAFETY: indices are below the count.
        while count > 0, unsafe line[count - 1] <= 0x20 { count -= 1 }
        let line = unsafe UnsafeBufferPointer(rebasing: line[..<count])
        switch unsafe line.first {
        case UInt8(ascii: "B"): unsafe try readFix(line, number: number)
        case UInt8(ascii: "A"):
            track += 1
            (clock, day, header) = (DayClock(), nil, nil)
            (accuracy, latitudeDigits, longitudeDigits) = (nil, nil, nil)
        case UInt8(ascii: "H"):
            guard let start = unsafe Self.dateStart(line) else { return }
            guard let date = unsafe FixedText.date(line, at: start) else {
                return fixes.append(PlainFix(line: number, problem: .timeUnreadable, track: max(track, 1)))
            }
            // The header may be repeated, after midnight too.
            if date != header { day = date }
            header = date
        case UInt8(ascii: "I"): unsafe readExtensions(line)
        default: return
        }
    }

    /// Where the date of a header record begins; nil for another record. It is `HFDTE` and six digits, or since 2016
    /// `HFDTEDATE:` before them.
    static func dateStart(_ line: UnsafeBufferPointer<UInt8>) -> Int? {
        guard unsafe hasPrefix(line, "H", at: 0), unsafe hasPrefix(line, "DTE", at: 2) else { return nil }
        var start = 5
        if unsafe hasPrefix(line, "DATE", at: start) { start += 4 }
        while start < line.count, unsafe line[start] == UInt8(ascii: ":") || line[start] == 0x20 { start += 1 }
        return start
    }

    private static func hasPrefix(_ line: UnsafeBufferPointer<UInt8>, _ text: StaticString, at start: Int) -> Bool {
        guard start + text.utf8CodeUnitCount <= line.count else { return false }
        for at in 0..<text.utf8CodeUnitCount where unsafe line[start + at] != text.utf8Start[at] { return false }
        return true
    }

    /// Reads where the extensions of B records stand: how many, and of each its first and last byte, from 1, and its name.
    private mutating func readExtensions(_ line: UnsafeBufferPointer<UInt8>) {
        (accuracy, latitudeDigits, longitudeDigits) = (nil, nil, nil)
        guard let count = unsafe FixedText.digits(line, at: 1, count: 2) else { return }
        for number in 0..<Int(count) {
            let at = 3 + 7 * number
            guard at + 7 <= line.count, let first = unsafe FixedText.digits(line, at: at, count: 2),
                let last = unsafe FixedText.digits(line, at: at + 2, count: 2), first > Self.shortest, first <= last
            else { return }
            let range = Int(first) - 1..<Int(last)
            if unsafe Self.hasPrefix(line, "FXA", at: at + 4) { accuracy = range }
            if unsafe Self.hasPrefix(line, "LAD", at: at + 4) { latitudeDigits = range }
            if unsafe Self.hasPrefix(line, "LOD", at: at + 4) { longitudeDigits = range }
        }
    }

    private mutating func readFix(_ line: UnsafeBufferPointer<UInt8>, number: Int) throws(TraceError) {
        var fix = PlainFix(line: number, track: max(track, 1))
        let position = unsafe position(line)
        let time = unsafe FixedText.timeOfDay(line, at: 1)
        fix.problem = position.problem ?? (time == nil ? .timeUnreadable : nil)
        guard let coordinate = position.coordinate, let time, fix.problem == nil else {
            if fix.problem != nil { fixes.append(fix) }
            return
        }
        if let date = day ?? (clock.moment == nil ? firstDay : nil) {
            clock.set(date * DayClock.nanosecondsPerDay + time)
            day = nil
        } else if clock.moment == nil {
            throw .noDate(file: file)
        }
        let moment = Timestamp(nanosecondsSince1970: clock.advance(to: time))
        fix.coordinate = coordinate
        fix.time = moment
        fix.problem = bounds.problem(moment)
        if let accuracy, let meters = unsafe digits(line, accuracy), meters.value > 0 {
            fix.horizontalAccuracy = Double(meters.value)
        }
        fixes.append(fix)
    }

    /// The position of a B record; neither it nor a problem where the recorder had none.
    private func position(
        _ line: UnsafeBufferPointer<UInt8>
    ) -> (coordinate: Coordinate?, problem: RecordProblem.Reason?) {
        guard line.count >= Self.shortest else { return (nil, .recordTooShort) }
        guard let north = unsafe angle(line, at: 7, degreeDigits: 2, latitudeDigits) else {
            return (nil, .latitudeUnreadable)
        }
        guard let east = unsafe angle(line, at: 15, degreeDigits: 3, longitudeDigits) else {
            return (nil, .longitudeUnreadable)
        }
        let (northLetter, eastLetter) = unsafe (line[14], line[23])
        guard northLetter == UInt8(ascii: "N") || northLetter == UInt8(ascii: "S"),
            eastLetter == UInt8(ascii: "E") || eastLetter == UInt8(ascii: "W")
        else { return (nil, .hemisphereUnreadable) }
        // A position without altitude (2D) is V, and so is none at all, which is written as zeros.
        let isThreeDimensional = unsafe line[24] == UInt8(ascii: "A")
        guard unsafe isThreeDimensional || line[24] == UInt8(ascii: "V") else { return (nil, .fixValidityUnreadable) }
        if !isThreeDimensional && north == 0 && east == 0 { return (nil, nil) }
        let coordinate = Coordinate(
            latitude: northLetter == UInt8(ascii: "S") ? -north : north,
            longitude: eastLetter == UInt8(ascii: "W") ? -east : east)
        return (coordinate, nil)
    }

    /// Degrees, and minutes in thousandths, with the digits that an extension adds to them.
    private func angle(
        _ line: UnsafeBufferPointer<UInt8>, at start: Int, degreeDigits: Int, _ further: Range<Int>?
    ) -> Double? {
        guard let degrees = unsafe FixedText.digits(line, at: start, count: degreeDigits),
            let minutes = unsafe FixedText.digits(line, at: start + degreeDigits, count: 5), minutes < 60_000
        else { return nil }
        var thousandths = Double(minutes)
        if let further, let digits = unsafe digits(line, further) { thousandths += Double(digits.value) / digits.unit }
        return Double(degrees) + thousandths / 60_000
    }

    /// An extension's number of up to nine digits, and ten to the power of how many there are; nil where it has others.
    private func digits(_ line: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> (value: Int64, unit: Double)? {
        guard range.count <= 9, let value = unsafe FixedText.digits(line, at: range.lowerBound, count: range.count)
        else {
            return nil
        }
        return (value, range.reduce(1.0) { unit, _ in unit * 10 })
    }
}
