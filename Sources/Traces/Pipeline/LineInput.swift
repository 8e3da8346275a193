import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the lines of one input in order: what a line means depends on those before it.
protocol LineReader {
    /// Takes the next line, without its line feed.
    ///
    /// - Parameter number: of the line, from 1.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>, number: Int) throws(TraceError)

    /// Takes note that no line follows. What is left comes with the next `takeFixes`.
    mutating func finish() throws(TraceError)

    /// Hands over the fixes since the last time.
    mutating func takeFixes(_ take: (PlainFix) -> Void)
}

/// A fix or a bad record of one person's recording.
struct PlainFix {
    /// The line that it begins on, from 1; of an input without lines the number of its entry.
    var line: Int
    var coordinate = Coordinate(latitude: .nan, longitude: .nan)
    var time: Timestamp?
    /// Meters; not a number where unknown.
    var horizontalAccuracy = Double.nan
    var problem: RecordProblem.Reason?
    /// Of the input, from 1; 0 in an input without tracks.
    var track: UInt32 = 0
}

extension FixBatch {
    /// - Parameter line: that of the fix, from 0 at the first line of the piece.
    @inline(__always)
    mutating func append(_ fix: PlainFix, line: Int) {
        if let problem = fix.problem { problems.append((count, problem)) }
        positions.append(fix.coordinate)
        lines.append(line)
        times.append(fix.time)
        accuracies.append(fix.horizontalAccuracy)
        tracks.append(Track(number: fix.track, kind: .track))
    }
}

/// An input of lines that are read in order. Lines are at most `InputBuffer.maximumRecordBytes` long, and none but the
/// current one is held.
final class LineInput<Reader: LineReader>: TraceInput {
    let file: String
    let identity = DeviceIdentity.person
    let firstLine = 1
    let notices: [Notice] = []
    let usedOptions: InputOptions
    private var reader: InputReader
    private var framing = LineFraming()
    private var lines: Reader
    /// Lines of the pieces before.
    private var lineCount = 0
    private var isFinished = false

    var bytesRead: Int { reader.bytesRead }

    /// - Parameter makeLines: given the file's name.
    init(
        _ source: consuming InputReader, using options: InputOptions = [], _ makeLines: (String) -> Reader
    ) throws(TraceError) {
        reader = source
        usedOptions = options
        file = reader.label
        lines = makeLines(file)
        // Finds out how lines end.
        unsafe _ = try reader.firstLine()
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        let before = lineCount
        // What was read before a failure counts.
        defer { lines.takeFixes { batch.append($0, line: $0.line - before - 1) } }
        do throws(TraceError) {
            if try reader.nextRecords(into: &buffer, framing: &framing) {
                unsafe try read(buffer.bytes)
                batch.lineCount = lineCount - before
                return true
            }
        } catch {
            if !isFinished { try? lines.finish() }
            isFinished = true
            throw error
        }
        if !isFinished { try lines.finish() }
        isFinished = true
        return false
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        guard let base = bytes.baseAddress else { return }
        var start = 0
        // SAFETY: a buffer of records ends with a line feed, and offsets stay within it.
        while start < bytes.count, let feed = unsafe memchr(base + start, 10, bytes.count - start) {
            let end = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
            guard end - start <= InputBuffer.maximumRecordBytes else {
                throw .recordTooLong(file: file, line: lineCount + 1)
            }
            lineCount += 1
            unsafe try lines.read(UnsafeBufferPointer(start: base + start, count: end - start), number: lineCount)
            start = end + 1
        }
    }

    /// Lines are read in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}

/// Moments of a clock that shows times of day alone, from one to the next: over midnight the next day follows.
struct DayClock {
    static let nanosecondsPerDay: Int64 = 86_400_000_000_000
    /// How far a time may be behind the one before it and still be of the same day: sentences of one moment are not always
    /// in order. Any other step back is one over midnight.
    static let largestStepBack: Int64 = 60_000_000_000

    /// The moment shown last: nanoseconds since the start of a day that need not be known.
    private(set) var moment: Int64?

    /// Goes on to a time of day, in nanoseconds since midnight.
    mutating func advance(to timeOfDay: Int64) -> Int64 {
        guard let last = moment else {
            moment = timeOfDay
            return timeOfDay
        }
        // `last` may be before its day.
        var step = (timeOfDay - last) % Self.nanosecondsPerDay
        if step < 0 { step += Self.nanosecondsPerDay }
        if step > Self.nanosecondsPerDay - Self.largestStepBack { step -= Self.nanosecondsPerDay }
        // A clock that has run 292 years shows 1970, before which or in which no fix is accepted.
        let (next, overflow) = last.addingReportingOverflow(step)
        moment = overflow ? timeOfDay : next
        return moment ?? timeOfDay
    }

    /// Goes to a moment.
    mutating func set(_ moment: Int64) { self.moment = moment }
}

extension Timestamp {
    /// The days from 1970 to a date `2026-03-01`; nil for any other text, and before 1980.
    package static func day(_ text: String) -> Int64? {
        var text = text
        // SAFETY: the bytes are the string's, for the time of the call.
        return text.withUTF8 { bytes in
            guard unsafe bytes.count == 10 && bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-"),
                let year = unsafe FixedText.digits(bytes, at: 0, count: 4),
                let month = unsafe FixedText.digits(bytes, at: 5, count: 2),
                let day = unsafe FixedText.digits(bytes, at: 8, count: 2)
            else { return nil }
            return FixedText.date(year: year, month: month, day: day)
        }
    }
}

/// Texts of digits and letters in fixed places.
enum FixedText {
    /// The number that so many digits from an offset on are; nil where there are others.
    @inline(__always)
    static func digits(_ text: UnsafeBufferPointer<UInt8>, at start: Int, count: Int) -> Int64? {
        guard start + count <= text.count else { return nil }
        var value: Int64 = 0
        for at in start..<start + count {
            // SAFETY: tested against the count.
            let digit = unsafe text[at] &- 48
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
        }
        return value
    }

    /// `hhmmss` at an offset as nanoseconds since midnight. A leap second (60) is the first of the next minute.
    @inline(__always)
    static func timeOfDay(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Int64? {
        guard let hour = unsafe digits(text, at: start, count: 2), hour < 24,
            let minute = unsafe digits(text, at: start + 2, count: 2), minute < 60,
            let second = unsafe digits(text, at: start + 4, count: 2), second <= 60
        else { return nil }
        return (hour * 3600 + minute * 60 + second) * 1_000_000_000
    }

    /// `ddmmyy` at an offset as days since 1970. Years from 80 on are of the 1900s: GPS began in 1980.
    static func date(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Int64? {
        guard let day = unsafe digits(text, at: start, count: 2),
            let month = unsafe digits(text, at: start + 2, count: 2),
            let year = unsafe digits(text, at: start + 4, count: 2)
        else { return nil }
        return date(year: year + (year < 80 ? 2000 : 1900), month: month, day: day)
    }

    /// A date as days since 1970; nil where the calendar has none.
    static func date(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...12).contains(month), (1980...2261).contains(year),
            (1...Timestamp.length(ofMonth: month, year: year)).contains(day)
        else { return nil }
        return Timestamp.days(year: year, month: month, day: day)
    }
}
