internal import CSimdjson
import Hereabouts
import TextCoding

/// Reads the entries of Google's exports. An entry may have several positions, and one without any is no record.
struct TakeoutReader {
    private let bounds: TimeBounds
    private let parser = JSONParser(paths: Field.paths)
    /// Of the points of an entry's path.
    private let points = JSONParser(paths: PointField.paths)
    private var entry = 0

    init(bounds: TimeBounds) { self.bounds = bounds }

    /// Fields of an entry, by number.
    private enum Field: Int, CaseIterable {
        // A location.
        case latitude, longitude, timestamp, timestampMs, accuracy
        // A month's activity: from where to where.
        case startLatitude, startLongitude, endLatitude, endLongitude
        case activityStart, activityStartMs, activityEnd, activityEndMs, activityPoints
        case parkingLatitude, parkingLongitude, parkingTime, parkingTimeMs
        // A month's visit of a place.
        case placeLatitude, placeLongitude, visitStart, visitStartMs, visitEnd, visitEndMs, visitPoints
        // A phone's segment. Positions are texts, on Android in objects.
        case segmentStart, segmentEnd, path
        case place, placeText, start, startText, end, endText, parkingText, parkingStart
        // A phone's raw signal, and that of an edit of the timeline.
        case signal, signalText, signalAccuracy, signalTime
        case editLatitude, editLongitude, editAccuracyMm, editTime

        private var path: String {
            switch self {
            case .latitude: "latitudeE7"
            case .longitude: "longitudeE7"
            case .timestamp: "timestamp"
            case .timestampMs: "timestampMs"
            case .accuracy: "accuracy"
            case .startLatitude: "activitySegment/startLocation/latitudeE7"
            case .startLongitude: "activitySegment/startLocation/longitudeE7"
            case .endLatitude: "activitySegment/endLocation/latitudeE7"
            case .endLongitude: "activitySegment/endLocation/longitudeE7"
            case .activityStart: "activitySegment/duration/startTimestamp"
            case .activityStartMs: "activitySegment/duration/startTimestampMs"
            case .activityEnd: "activitySegment/duration/endTimestamp"
            case .activityEndMs: "activitySegment/duration/endTimestampMs"
            case .activityPoints: "activitySegment/simplifiedRawPath/points"
            case .parkingLatitude: "activitySegment/parkingEvent/location/latitudeE7"
            case .parkingLongitude: "activitySegment/parkingEvent/location/longitudeE7"
            case .parkingTime: "activitySegment/parkingEvent/timestamp"
            case .parkingTimeMs: "activitySegment/parkingEvent/timestampMs"
            case .placeLatitude: "placeVisit/location/latitudeE7"
            case .placeLongitude: "placeVisit/location/longitudeE7"
            case .visitStart: "placeVisit/duration/startTimestamp"
            case .visitStartMs: "placeVisit/duration/startTimestampMs"
            case .visitEnd: "placeVisit/duration/endTimestamp"
            case .visitEndMs: "placeVisit/duration/endTimestampMs"
            case .visitPoints: "placeVisit/simplifiedRawPath/points"
            case .segmentStart: "startTime"
            case .segmentEnd: "endTime"
            case .path: "timelinePath"
            case .place: "visit/topCandidate/placeLocation"
            case .placeText: "visit/topCandidate/placeLocation/latLng"
            case .start: "activity/start"
            case .startText: "activity/start/latLng"
            case .end: "activity/end"
            case .endText: "activity/end/latLng"
            case .parkingText: "activity/parking/location/latLng"
            case .parkingStart: "activity/parking/startTime"
            case .signal: "position"
            case .signalText: "position/LatLng"
            case .signalAccuracy: "position/accuracyMeters"
            case .signalTime: "position/timestamp"
            case .editLatitude: "rawSignal/signal/position/point/latE7"
            case .editLongitude: "rawSignal/signal/position/point/lngE7"
            case .editAccuracyMm: "rawSignal/signal/position/accuracyMm"
            case .editTime: "rawSignal/signal/position/timestamp"
            }
        }

        static let paths = allCases.map { $0.path.split(separator: "/").map { Array($0.utf8) } }
    }

    /// Fields of a path's point.
    private enum PointField: Int, CaseIterable {
        case latitude, longitude, timestamp, timestampMs, accuracy, point, time, minutes

        private var name: String {
            switch self {
            case .latitude: "latE7"
            case .longitude: "lngE7"
            case .timestamp: "timestamp"
            case .timestampMs: "timestampMs"
            case .accuracy: "accuracyMeters"
            case .point: "point"
            case .time: "time"
            case .minutes: "durationMinutesOffsetFromStartTime"
            }
        }

        static let paths = allCases.map { [Array($0.name.utf8)] }
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>
    private typealias Moment = (time: Timestamp?, problem: RecordProblem.Reason?)
    private typealias Position = (coordinate: Coordinate, problem: RecordProblem.Reason?)

    /// Appends what an entry has. `InputBuffer.padding` readable bytes follow its text.
    mutating func read(_ text: UnsafeBufferPointer<UInt8>, into batch: inout FixBatch) {
        entry += 1
        guard let base = text.baseAddress else { return }
        var token = 0
        var status = unsafe parser.tokenize(text)
        if status == json_ok { status = parser.read(&token, limit: text.count, isAlone: true) }
        if let reason = RecordProblem.Reason(status) {
            return batch.append(PlainFix(line: entry, problem: reason), line: entry)
        }
        func bytes(_ field: Field) -> Bytes { unsafe parser[field.rawValue].bytes(base) }
        func has(_ fields: Field...) -> Bool { fields.contains { parser[$0.rawValue].end > 0 } }
        if has(.latitude, .longitude, .timestamp, .timestampMs) {
            append(
                unsafe Self.position(bytes(.latitude), bytes(.longitude)),
                unsafe moment(bytes(.timestamp), bytes(.timestampMs)), unsafe Self.meters(bytes(.accuracy)), &batch)
        }
        if has(.segmentStart, .segmentEnd) { unsafe readSegment(bytes, has, &batch) }
        unsafe readMonth(bytes, has, &batch)
        if has(.signal) {
            append(
                unsafe Self.position(bytes(.signalText)), unsafe moment(bytes(.signalTime)),
                unsafe Self.meters(bytes(.signalAccuracy)), &batch)
        }
        if has(.editLatitude, .editLongitude, .editTime) {
            append(
                unsafe Self.position(bytes(.editLatitude), bytes(.editLongitude)), unsafe moment(bytes(.editTime)),
                unsafe Self.meters(bytes(.editAccuracyMm)) / 1000, &batch)
        }
    }

    /// Reads a segment of a phone's timeline.
    private func readSegment(_ bytes: (Field) -> Bytes, _ has: (Field...) -> Bool, _ batch: inout FixBatch) {
        let (start, end) = (unsafe moment(bytes(.segmentStart)), unsafe moment(bytes(.segmentEnd)))
        func text(_ whole: Field, _ member: Field) -> Bytes { unsafe has(member) ? bytes(member) : bytes(whole) }
        if has(.place) {
            let place = unsafe Self.position(text(.place, .placeText))
            append(place, start, .nan, &batch)
            append(place, end, .nan, &batch)
        }
        if has(.start) { append(unsafe Self.position(text(.start, .startText)), start, .nan, &batch) }
        unsafe readPoints(bytes(.path), from: start, &batch)
        if has(.parkingText) {
            append(unsafe Self.position(bytes(.parkingText)), unsafe moment(bytes(.parkingStart)), .nan, &batch)
        }
        if has(.end) { append(unsafe Self.position(text(.end, .endText)), end, .nan, &batch) }
    }

    /// Reads an activity or a visit of a month.
    private func readMonth(_ bytes: (Field) -> Bytes, _ has: (Field...) -> Bool, _ batch: inout FixBatch) {
        func append(_ latitude: Field, _ longitude: Field, _ time: Field, _ milliseconds: Field) {
            guard has(latitude, longitude) else { return }
            self.append(
                unsafe Self.position(bytes(latitude), bytes(longitude)),
                unsafe moment(bytes(time), bytes(milliseconds)), .nan, &batch)
        }
        append(.startLatitude, .startLongitude, .activityStart, .activityStartMs)
        unsafe readPoints(bytes(.activityPoints), from: (nil, .timeMissing), &batch)
        append(.parkingLatitude, .parkingLongitude, .parkingTime, .parkingTimeMs)
        append(.endLatitude, .endLongitude, .activityEnd, .activityEndMs)
        append(.placeLatitude, .placeLongitude, .visitStart, .visitStartMs)
        unsafe readPoints(bytes(.visitPoints), from: (nil, .timeMissing), &batch)
        append(.placeLatitude, .placeLongitude, .visitEnd, .visitEndMs)
    }

    /// Reads the points of a path, each with its own time or minutes after a start.
    private func readPoints(_ list: Bytes, from start: Moment, _ batch: inout FixBatch) {
        guard let base = list.baseAddress, unsafe list.first == UInt8(ascii: "["),
            unsafe points.tokenize(list) == json_ok
        else { return }
        func bytes(_ field: PointField) -> Bytes { unsafe points[field.rawValue].bytes(base) }
        // The list is well-formed, as part of an entry that is: a value, and a comma or the last bracket.
        var token = 1
        while points.token(token) < list.count, unsafe base[points.token(token)] != UInt8(ascii: "]") {
            let status = points.read(&token, limit: list.count, isAlone: false)
            token += 1
            if let reason = RecordProblem.Reason(status) {
                batch.append(PlainFix(line: entry, problem: reason), line: entry)
                continue
            }
            let hasText = points[PointField.point.rawValue].end > 0
            let position =
                unsafe hasText ? Self.position(bytes(.point)) : Self.position(bytes(.latitude), bytes(.longitude))
            let time: Moment
            if points[PointField.minutes.rawValue].end > 0 {
                time = unsafe moment(start, minutesLater: bytes(.minutes))
            } else if hasText {
                time = unsafe moment(bytes(.time))
            } else {
                time = unsafe moment(bytes(.timestamp), bytes(.timestampMs))
            }
            append(position, time, unsafe Self.meters(bytes(.accuracy)), &batch)
        }
    }

    private func append(_ position: Position, _ time: Moment, _ accuracy: Double, _ batch: inout FixBatch) {
        batch.append(
            PlainFix(
                line: entry, coordinate: position.coordinate, time: time.time, horizontalAccuracy: accuracy,
                problem: position.problem ?? time.problem), line: entry)
    }

    // MARK: Values

    private static let nowhere = Coordinate(latitude: .nan, longitude: .nan)

    /// A value that is there: none, and no null.
    private static func isThere(_ value: Bytes) -> Bool { unsafe !value.isEmpty && value[0] != UInt8(ascii: "n") }

    /// Degrees in units of 10⁻⁷.
    private static func position(_ latitude: Bytes, _ longitude: Bytes) -> Position {
        guard unsafe isThere(latitude) else { return (nowhere, .latitudeMissing) }
        guard unsafe isThere(longitude) else { return (nowhere, .longitudeMissing) }
        guard let north = unsafe degrees(latitude, largest: 90) else { return (nowhere, .latitudeUnreadable) }
        guard let east = unsafe degrees(longitude, largest: 180) else { return (nowhere, .longitudeUnreadable) }
        return (Coordinate(latitude: north, longitude: east), nil)
    }

    /// Some exports have angles below zero without their sign: 2³² too much.
    private static func degrees(_ value: Bytes, largest: Double) -> Double? {
        guard let units = unsafe DecimalNumber.parse(JSONString.inside(value)) else { return nil }
        let signed = units - 4_294_967_296
        return (units > largest * 1e7 && signed >= -largest * 1e7 ? signed : units) / 1e7
    }

    /// `48.2082°, 16.3738°` or `geo:48.2082,16.3738`.
    private static func position(_ value: Bytes) -> Position {
        guard unsafe isThere(value) else { return (nowhere, .positionMissing) }
        guard unsafe value[0] == JSONString.quote else { return (nowhere, .positionUnreadable) }
        let text = unsafe JSONString.inside(value)
        if unsafe text.contains(UInt8(ascii: "\\")) {
            return unsafe JSONString.content(value).withUnsafeBufferPointer { unsafe position(text: $0) }
        }
        return unsafe position(text: text)
    }

    private static func position(text: Bytes) -> Position {
        let scheme = "geo:".utf8
        let start = unsafe text.starts(with: scheme) ? scheme.count : 0
        guard let comma = unsafe text.firstIndex(of: UInt8(ascii: ",")), comma >= start else {
            return (nowhere, text.isEmpty ? .positionMissing : .positionUnreadable)
        }
        // What follows in a geo URI (RFC 5870) is a height, an uncertainty or other parameters.
        let rest = unsafe text[(comma + 1)...]
        let end =
            unsafe start > 0 ? rest.firstIndex { $0 == 0x2c || $0 == 0x3b || $0 == 0x3f } ?? text.count : text.count
        guard let north = unsafe angle(text[start..<comma]), let east = unsafe angle(text[(comma + 1)..<end]) else {
            return (nowhere, .positionUnreadable)
        }
        return (Coordinate(latitude: north, longitude: east), nil)
    }

    /// A number of degrees, with their sign or without.
    private static func angle(_ text: Slice<Bytes>) -> Double? {
        var text = unsafe text
        while unsafe text.last == 0x20 { unsafe text.removeLast() }
        // U+00B0 in UTF-8.
        if unsafe text.count >= 2 && text[text.endIndex - 1] == 0xb0 && text[text.endIndex - 2] == 0xc2 {
            unsafe text.removeLast(2)
        }
        return unsafe DecimalNumber.parse(Bytes(rebasing: text))
    }

    private static func meters(_ value: Bytes) -> Double {
        guard unsafe isThere(value) else { return .nan }
        let meters = unsafe DecimalNumber.parse(JSONString.inside(value)) ?? .nan
        return meters > 0 ? meters : .nan
    }

    /// A time in ISO 8601, or in milliseconds since 1970.
    private func moment(_ value: Bytes, _ milliseconds: Bytes? = nil) -> Moment {
        if unsafe Self.isThere(value) {
            return checked(unsafe Timestamp(JSONString.inside(value), inTable: nil))
        }
        guard let milliseconds = unsafe milliseconds, unsafe Self.isThere(milliseconds) else {
            return (nil, .timeMissing)
        }
        let text = unsafe JSONString.inside(milliseconds)
        guard (1...15).contains(text.count), let count = unsafe FixedText.digits(text, at: 0, count: text.count) else {
            return (nil, .timeUnreadable)
        }
        let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
        return checked(overflow ? nil : Timestamp(nanosecondsSince1970: nanoseconds))
    }

    private func moment(_ start: Moment, minutesLater value: Bytes) -> Moment {
        guard let time = start.time else { return start }
        guard let minutes = unsafe DecimalNumber.parse(JSONString.inside(value)), abs(minutes) < 1e7 else {
            return (nil, .timeUnreadable)
        }
        let (sum, overflow) = time.nanosecondsSince1970.addingReportingOverflow(Int64(minutes * 60e9))
        return checked(overflow ? nil : Timestamp(nanosecondsSince1970: sum))
    }

    private func checked(_ time: Timestamp?) -> Moment {
        guard let time else { return (nil, .timeUnreadable) }
        return (time, bounds.problem(time))
    }
}
