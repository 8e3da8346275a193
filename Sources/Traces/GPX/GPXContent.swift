import CLibXML2
import Hereabouts
import TextCoding

/// A point of a GPX file: what there is in it for us, and whose it is.
struct GPXFix {
    /// Meters of accuracy (two times in three) per unit of horizontal dilution: a receiver's usual range error.
    static let metersPerDilution = 5.0

    /// Where the point's start tag ends.
    var line: Int
    /// Number of its route or track in the file, from 1; 0 for the waypoints.
    var track: Int
    var kind: ReportKind
    var coordinate: Coordinate
    var time: Timestamp?
    /// Meters, from the dilution of precision.
    var horizontalAccuracy: Double?
    var problem: RecordProblem.Reason?
}

extension FixBatch {
    @inline(__always)
    mutating func append(_ fix: GPXFix) {
        if let problem = fix.problem { problems.append((count, problem)) }
        positions.append(fix.coordinate)
        lines.append(fix.line)
        times.append(fix.time)
        accuracies.append(fix.horizontalAccuracy ?? .nan)
        tracks.append(Track(number: UInt32(truncatingIfNeeded: fix.track), kind: fix.kind))
    }
}

/// GPX 1.0 and 1.1. Track points in canonical form, whose text has one meaning only, take a fast path
/// (`TrackPointScanner`): the parser takes several times as long for them.
///
/// Only what is needed is looked at: the positions, times and dilutions of waypoints, route points and track points of
/// the root's namespace, and whether a track's type is on foot. Everything else (names, links, extensions, comments) never gets beyond the parser.
@safe struct GPXContent: XMLContent, ~Copyable {
    static let formatName = "GPX"
    static let recordEndTag: StaticString? = "</trkpt>"

    var document: XMLDocument
    private let names: Names
    private let bounds: TimeBounds
    /// That of times without an offset; nil for UTC.
    private let zone: TimeZoneRules?
    private var tracks = 0
    /// The kind of the current child of the root, if it holds points.
    private var container: ReportKind?
    /// The current track segment, if there is one.
    private var segment: Segment?
    /// The depth of the current point; 0 outside points.
    private var pointDepth = 0
    /// The depth of the element that holds what is no GPX; 0 outside any.
    private var extensionsDepth = 0
    private var point = GPXFix(line: 0, track: 0, kind: .waypoint, coordinate: invalid)
    private static let invalid = Coordinate(latitude: .nan, longitude: .nan)
    private var captured: GPXFix.Captured?
    /// Whether the current element says what a track or route is.
    private var capturesType = false
    private var text = XMLText()
    private var fixes = FixBatch()

    private enum Segment {
        case prefixed
        /// It has no prefix, so that elements without one are in the root's namespace in it as well.
        case unprefixed
    }

    init(_ document: XMLDocument, bounds: TimeBounds, zone: TimeZoneRules? = nil) {
        self.document = document
        self.bounds = bounds
        self.zone = zone
        names = Names(document)
    }

    static func handler() -> xmlSAXHandler {
        unsafe XMLDocument.handler(
            start: { user, name, prefix, namespace, _, _, count, _, attributes in
                unsafe GPXContent.at(user).pointee.enter(XMLTag(name, prefix: prefix, namespace, attributes, count))
            },
            end: { user, _, _, _ in unsafe GPXContent.at(user).pointee.leave() },
            characters: { user, bytes, count in
                unsafe GPXContent.at(user).pointee.characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
            },
            documentType: { user, _, _, _ in unsafe GPXContent.at(user).pointee.refuseDocumentType() })
    }

    var rootName: UnsafePointer<xmlChar>? { unsafe names.gpx }
    private var depth: Int { document.depth }

    mutating func takeFixes(_ fixes: inout FixBatch) { swap(&fixes, &self.fixes) }

    // MARK: Elements

    mutating func start(_ tag: XMLTag) {
        guard unsafe tag.namespace == document.rootNamespace else { return }
        let name = unsafe tag.name
        if unsafe name == names.extensions && extensionsDepth == 0 { extensionsDepth = depth }
        if unsafe extensionsDepth == 0 && names.isPoint(name) && (pointDepth > 0 || pointKind(name) == nil) {
            fixes.append(
                GPXFix(
                    line: document.line, track: container == nil ? 0 : tracks, kind: container ?? .waypoint,
                    coordinate: Self.invalid, problem: .pointOutOfPlace))
        } else if pointDepth > 0 {
            guard depth == pointDepth + 1 else { return }
            captured = unsafe name == names.time ? .time : name == names.hdop ? .dilution : nil
            text.removeAll()
        } else if let kind = unsafe pointKind(name) {
            startPoint(kind, tag)
        } else if depth == 2 {
            container = unsafe name == names.rte ? .route : name == names.trk ? .track : nil
            if container != nil { tracks += 1 }
        } else if depth == 3 {
            capturesType = unsafe container != nil && name == names.type
            if capturesType { text.removeAll() }
            segment =
                unsafe container == .track && name == names.trkseg ? (tag.hasPrefix ? .prefixed : .unprefixed) : nil
        }
    }

    /// What kind of point an element of this name is, standing where it stands; nil for no point.
    private func pointKind(_ name: UnsafePointer<xmlChar>?) -> ReportKind? {
        switch depth {
        case 2: unsafe name == names.wpt ? .waypoint : nil
        case 3: unsafe container == .route && name == names.rtept ? .route : nil
        case 4: unsafe segment != nil && name == names.trkpt ? .track : nil
        default: nil
        }
    }

    private mutating func begin(_ kind: ReportKind, line: Int) {
        point = GPXFix(
            line: line, track: kind == .waypoint ? 0 : tracks, kind: kind, coordinate: Self.invalid)
    }

    private mutating func startPoint(_ kind: ReportKind, _ tag: XMLTag) {
        pointDepth = depth
        begin(kind, line: document.line)
        var hasLatitude = false
        var hasLongitude = false
        for index in 0..<tag.count {
            guard let (name, value) = unsafe tag.attribute(index) else { continue }
            if unsafe name == names.lat {
                hasLatitude = true
                point.coordinate.latitude = unsafe number(value, else: .latitudeUnreadable)
            } else if unsafe name == names.lon {
                hasLongitude = true
                point.coordinate.longitude = unsafe number(value, else: .longitudeUnreadable)
            }
        }
        if !hasLongitude { point.problem = .longitudeMissing }
        if !hasLatitude { point.problem = .latitudeMissing }
    }

    /// The number that is the whole of `value`; where there is none, the point gets `problem`.
    private mutating func number(_ value: UnsafeBufferPointer<UInt8>, else problem: RecordProblem.Reason) -> Double {
        if let number = unsafe fixedPoint(value) ?? DecimalNumber.parse(value) { return number }
        if point.problem == nil { point.problem = problem }
        return .nan
    }

    /// A fixed-point number; nil for any other, and where too little memory is known to be readable after it.
    private func fixedPoint(_ value: UnsafeBufferPointer<UInt8>) -> Double? {
        // SAFETY: the parser holds the document from `base` to `end`.
        guard let start = value.baseAddress, let input = unsafe document.context.pointee.input?.pointee,
            let base = unsafe input.base, let end = unsafe input.end,
            unsafe start >= base, unsafe start + FixedPoint.reach <= end
        else { return nil }
        let number = unsafe FixedPoint.parse(start, count: value.count)
        return number.isNaN ? nil : number
    }

    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        if captured != nil || capturesType { unsafe text.append(bytes) }
    }

    mutating func end() {
        if pointDepth > 0 && depth == pointDepth {
            fixes.append(point)
            pointDepth = 0
        } else if let captured, depth == pointDepth + 1 {
            var point = point
            unsafe text.withBytes { bytes in unsafe point.take(bytes, as: captured, bounds, zone) }
            self.point = point
            self.captured = nil
        } else if depth == 2 {
            container = nil
        } else if depth == 3 {
            if capturesType { takeType() }
            segment = nil
        }
        if depth == extensionsDepth { extensionsDepth = 0 }
    }

    private mutating func takeType() {
        var document = document
        unsafe text.withBytes { unsafe document.takeActivity($0) }
        self.document = document
        capturesType = false
    }

    // MARK: Fast path

    /// Whether points in canonical form that come next need no parser: there is no other element, entity or encoding
    /// that they could belong to.
    var canScan: Bool {
        unsafe segment == .unprefixed && depth == 3 && document.failure == nil
            && hereabouts_xml_is_in_content(document.context)
    }

    /// Reads points in canonical form, up to the first other thing.
    ///
    /// - Returns: how many bytes they are, which the parser shall not see.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = unsafe TrackPointScanner(bytes)
        var taken = (bytes: 0, lines: 0)
        var isOutOfPlace = false
        let line = document.line
        // Held by the call, rather than retained for each point.
        let zone = zone
        // Most children are these two.
        let (time, elevation) = (TrackPointScanner.name("time"), TrackPointScanner.name("ele"))
        let dilution = TrackPointScanner.name("hdop")
        let (trackPoint, routePoint) = (TrackPointScanner.name("trkpt"), TrackPointScanner.name("rtept"))
        let waypoint = TrackPointScanner.name("wpt")
        while let coordinate = scanner.startTag() {
            begin(.track, line: line + scanner.lines)
            point.coordinate = coordinate
            while let child = scanner.child() {
                if child.name == time {
                    unsafe point.take(child.text, as: .time, bounds, zone)
                } else if child.name != elevation {
                    if child.name == dilution { unsafe point.take(child.text, as: .dilution, bounds, zone) }
                    if child.name == trackPoint || child.name == routePoint || child.name == waypoint {
                        isOutOfPlace = true
                    }
                }
            }
            guard !isOutOfPlace, scanner.endTag() else { break }
            fixes.append(point)
            taken = (scanner.offset, scanner.lines)
        }
        unsafe hereabouts_xml_skip_lines(document.context, Int32(taken.lines))
        return taken.bytes
    }

    /// Names as the parser's own dictionary holds them: equal names have equal addresses.
    @safe private struct Names {
        let gpx, wpt, rte, rtept, trk, trkseg, trkpt, lat, lon, time, hdop, type, extensions: UnsafePointer<xmlChar>?

        /// Whether an element of this name is a point.
        func isPoint(_ name: UnsafePointer<xmlChar>?) -> Bool {
            unsafe name == trkpt || name == wpt || name == rtept
        }

        init(_ document: XMLDocument) {
            func name(_ text: String) -> UnsafePointer<xmlChar>? { unsafe document.name(text) }
            unsafe (gpx, wpt, rte, rtept) = (name("gpx"), name("wpt"), name("rte"), name("rtept"))
            unsafe (trk, trkseg, trkpt) = (name("trk"), name("trkseg"), name("trkpt"))
            unsafe (lat, lon, time, hdop) = (name("lat"), name("lon"), name("time"), name("hdop"))
            unsafe (type, extensions) = (name("type"), name("extensions"))
        }
    }
}

extension GPXFix {
    /// Children of a point whose text is read.
    enum Captured {
        case time, dilution
    }

    /// Takes over the text of a child.
    @inline(__always)
    mutating func take(
        _ text: UnsafeBufferPointer<UInt8>, as captured: Captured, _ bounds: TimeBounds, _ zone: TimeZoneRules?
    ) {
        switch captured {
        case .time:
            time = unsafe Timestamp(text, inTable: nil, zone: zone)
            if let time {
                if let reason = bounds.problem(time) { problem = problem ?? reason }
            } else if problem == nil, unsafe !text.allSatisfy({ $0 <= 0x20 }) {
                problem = .timeUnreadable
            }
        case .dilution:
            horizontalAccuracy = unsafe DecimalNumber.parse(text).map { $0 * GPXFix.metersPerDilution }
        }
    }
}
