import Hereabouts
import TextCoding

/// Reads a trajectory of Geolife: six lines of header, then
///
///     latitude,longitude,0,altitude in feet,days since 1899-12-30,date,time
///     39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04
///
/// The times are GMT, and each is there twice (Geolife's user guide, version 1.3): a record whose two are half a day apart is
/// bad. Where another header follows, files were joined.
struct GeolifeReader: LineReader {
    private static let headerLines = 6
    private static let fieldCount = 7
    /// 1899-12-30 in days since 1970.
    private static let epochDays = -25_569.0

    private let bounds: TimeBounds
    private var headerLinesLeft = Self.headerLines
    private var fixes: [PlainFix] = []

    init(options: ConvertRun.Options) { bounds = TimeBounds(options) }

    mutating func read(_ line: UnsafeBufferPointer<UInt8>, number: Int) {
        if unsafe GeolifeStart.isLine(line[...], GeolifeStart.title) { headerLinesLeft = Self.headerLines }
        if headerLinesLeft > 0 {
            headerLinesLeft -= 1
            return
        }
        guard unsafe line.contains(where: { $0 > 0x20 }) else { return }
        fixes.append(unsafe fix(line, number: number))
    }

    mutating func finish() {}

    mutating func takeFixes(_ take: (PlainFix) -> Void) {
        fixes.forEach(take)
        fixes.removeAll(keepingCapacity: true)
    }

    private func fix(_ line: UnsafeBufferPointer<UInt8>, number: Int) -> PlainFix {
        var fix = PlainFix(line: number)
        let fields = unsafe line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            unsafe UnsafeBufferPointer(rebasing: $0)
        }
        guard unsafe fields.count == Self.fieldCount else {
            fix.problem = unsafe .columnCount(expected: Self.fieldCount, found: fields.count)
            return fix
        }
        guard let latitude = unsafe DecimalNumber.parse(fields[0]) else {
            fix.problem = .latitudeUnreadable
            return fix
        }
        guard let longitude = unsafe DecimalNumber.parse(fields[1]) else {
            fix.problem = .longitudeUnreadable
            return fix
        }
        fix.coordinate = Coordinate(latitude: latitude, longitude: longitude)
        guard let days = unsafe DecimalNumber.parse(fields[4]),
            let time = unsafe Timestamp(date: fields[5], time: fields[6], TimeStyle()),
            (Double(time.nanosecondsSince1970) / 86_400e9 - Self.epochDays - days).magnitude < 0.5
        else {
            fix.problem = .timeUnreadable
            return fix
        }
        fix.time = time
        fix.problem = bounds.problem(time)
        return fix
    }
}
