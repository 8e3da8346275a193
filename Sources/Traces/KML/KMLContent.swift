import CLibXML2
import Hereabouts
import TextCoding

/// KML 2.0 to 2.3, with Google's extensions: the positions of Points, LineStrings and `gx:Track`s in Placemarks, at any
/// depth of MultiGeometries and MultiTracks, and their times.
///
/// The Points of a document are waypoints. The LineStrings of a Placemark are a route, as nothing says when each position
/// was; its Tracks are a track. A TimeStamp is the time of all the Placemark's positions. A TimeSpan has two ends: a Point
/// was at both, a line began and ended with them.
@safe struct KMLContent: XMLContent, ~Copyable {
    static let formatName = "KML"
    /// Positions of a Placemark, or of a Track, that wait for their times, and times that wait for positions, at most.
    static let maximumHeld = 1 << 21

    var document: XMLDocument
    private let names: Names
    private let bounds: TimeBounds
    /// That of times without an offset; nil for UTC.
    private let zone: TimeZoneRules?
    private var fixes = FixBatch()
    /// Tracks and routes so far.
    private(set) var tracks: UInt32
    /// The depth of an element whose content has other positions than traces have; 0 outside any.
    private var skippedDepth = 0
    /// The depth of the current Placemark; 0 outside any.
    private var placemarkDepth = 0
    /// The current geometry or time of the Placemark, and its depth.
    private var element: (kind: Element, depth: Int)?
    /// What the text of the current child of it is.
    private var captured: Captured?
    private var text = XMLText()
    private var tuples = TupleScanner()

    // Of the current Placemark.
    private var held = Column<Held>()
    private var time = Placemark.Time()
    private var route: UInt32?
    private var track: UInt32?
    private var pairs = TrackPairs()

    private enum Element {
        case point, line, track, timeStamp, timeSpan
    }

    private enum Captured {
        case coordinates, trackWhen, trackPosition, when, begin, end
    }

    /// A position that waits for its Placemark's time.
    private struct Held {
        var position: Tuple
        var line: Int32
        /// The number of its route; nil of a waypoint.
        var route: UInt32?
    }

    private enum Placemark {
        /// What says when a Placemark was.
        struct Time {
            var begin = ElementTime.none
            var end = ElementTime.none
            /// Whether it is one moment, which `begin` has.
            var isMoment = true
        }
    }

    private let maximumHeld: Int

    /// - Parameter tracksBefore: those of the documents before.
    init(
        _ document: XMLDocument, bounds: TimeBounds, zone: TimeZoneRules? = nil, tracksBefore: UInt32 = 0,
        maximumHeld: Int = Self.maximumHeld
    ) {
        self.document = document
        self.bounds = bounds
        self.zone = zone
        self.maximumHeld = maximumHeld
        tracks = tracksBefore
        names = Names(document)
    }

    static func handler() -> xmlSAXHandler {
        unsafe XMLDocument.handler(
            start: { user, name, prefix, namespace, _, _, count, _, attributes in
                unsafe KMLContent.at(user).pointee.enter(XMLTag(name, prefix: prefix, namespace, attributes, count))
            },
            end: { user, _, _, _ in unsafe KMLContent.at(user).pointee.leave() },
            characters: { user, bytes, count in
                unsafe KMLContent.at(user).pointee.characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
            },
            documentType: { user, _, _, _ in unsafe KMLContent.at(user).pointee.refuseDocumentType() })
    }

    var rootName: UnsafePointer<xmlChar>? { unsafe names.kml }

    mutating func takeFixes(_ fixes: inout FixBatch) { swap(&fixes, &self.fixes) }

    // MARK: Elements

    mutating func start(_ tag: XMLTag) {
        guard skippedDepth == 0 else { return }
        guard isKML(tag), !names.isSkipped(tag) else {
            skippedDepth = document.depth
            return
        }
        if let kind = names.geometry(tag) {
            guard placemarkDepth > 0, element == nil else {
                fixes.append(.invalid, nil, line: document.line, .pointOutOfPlace, Track(number: 0, kind: .waypoint))
                return
            }
            begin(kind)
        } else if let element {
            guard document.depth == element.depth + 1 else { return }
            captured = names.captured(tag, of: element.kind)
            text.removeAll()
            tuples.removeAll()
        } else if placemarkDepth == 0 {
            if unsafe tag.name == names.placemark { placemarkDepth = document.depth }
        } else if document.depth == placemarkDepth + 1, let kind = names.time(tag) {
            element = (kind, document.depth)
            time.isMoment = kind == .timeStamp
        }
    }

    /// Whether an element is in the namespace of the root or of Google's extensions, or in none, as where a prefix is not
    /// declared.
    private func isKML(_ tag: XMLTag) -> Bool {
        unsafe tag.namespace == document.rootNamespace || tag.namespace == nil || tag.namespace == names.extensions
    }

    private mutating func begin(_ kind: Element) {
        element = (kind, document.depth)
        switch kind {
        case .line: route = route ?? newTrack()
        case .track: track = track ?? newTrack()
        case .point, .timeStamp, .timeSpan: break
        }
    }

    private mutating func newTrack() -> UInt32 {
        tracks += 1
        return tracks
    }

    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let captured, let element, document.depth == element.depth + 1 else { return }
        guard captured == .coordinates else { return unsafe text.append(bytes) }
        // The parser has counted the lines of these bytes.
        var line = unsafe document.line - bytes.count { $0 == 10 }
        var scanner = TupleScanner()
        swap(&scanner, &tuples)
        unsafe scanner.take(bytes, line: &line) { hold($0, line: $1) }
        swap(&scanner, &tuples)
    }

    mutating func end() {
        let depth = document.depth
        if skippedDepth > 0 {
            if depth == skippedDepth { skippedDepth = 0 }
        } else if let element, let captured, depth == element.depth + 1 {
            take(captured)
            self.captured = nil
        } else if let element, depth == element.depth {
            if element.kind == .track { endTrack() }
            self.element = nil
        } else if depth == placemarkDepth {
            endPlacemark()
            placemarkDepth = 0
        }
    }

    /// Takes the text of a child.
    private mutating func take(_ captured: Captured) {
        switch captured {
        case .coordinates:
            let line = document.line
            if let tuple = tuples.finish() { hold(tuple, line: line) }
        case .trackPosition:
            pairs.append(unsafe text.withBytes { unsafe Tuple(blankSeparated: $0) }, line: document.line)
            pairTrack()
        case .trackWhen:
            pairs.append(elementTime())
            pairTrack()
        case .when, .begin: time.begin = elementTime()
        case .end: time.end = elementTime()
        }
    }

    private func elementTime() -> ElementTime { unsafe text.withBytes { unsafe ElementTime($0, zone) } }

    // MARK: Fixes

    private mutating func hold(_ position: Tuple, line: Int) {
        guard held.count < maximumHeld else {
            return document.fail(.placemarkTooLong(file: document.file, line: document.line))
        }
        held.append(
            Held(position: position, line: Int32(clamping: line), route: element?.kind == .line ? route : nil))
    }

    /// Appends the positions of a Track that have their times.
    private mutating func pairTrack() {
        guard pairs.count < maximumHeld else {
            return document.fail(.placemarkTooLong(file: document.file, line: document.line))
        }
        while let (position, line, time) = pairs.next() {
            append(position, at: time, line: line, Track(number: track ?? 0, kind: .track))
        }
    }

    /// Appends what is left of a Track: positions without times, where it has none at all; else times or positions that
    /// have nothing to belong to.
    private mutating func endTrack() {
        let track = Track(number: track ?? 0, kind: .track)
        while let (position, line) = pairs.nextPosition() {
            if pairs.hasTimes {
                fixes.append(.invalid, nil, line: line, .timeCount, track)
            } else {
                append(position, at: .none, line: line, track)
            }
        }
        for _ in 0..<pairs.timeCount { fixes.append(.invalid, nil, line: document.line, .timeCount, track) }
        pairs = TrackPairs()
    }

    private mutating func endPlacemark() {
        var ends: (first: Int, last: Int)?
        if route != nil {
            for index in 0..<held.count where held[index].route != nil { ends = (ends?.first ?? index, index) }
        }
        for index in 0..<held.count {
            let line = Int(held[index].line), position = held[index].position
            guard let route = held[index].route else {
                let waypoints = Track(number: 0, kind: .waypoint)
                append(position, at: time.begin.isNone ? time.end : time.begin, line: line, waypoints)
                if !time.isMoment, !time.begin.isNone, !time.end.isNone, time.begin != time.end {
                    append(position, at: time.end, line: line, waypoints)
                }
                continue
            }
            let isFirst = index == ends?.first, isLast = index == ends?.last
            let moment =
                time.isMoment || isFirst && !time.begin.isNone ? time.begin : isLast ? time.end : ElementTime.none
            append(position, at: moment, line: line, Track(number: route, kind: .route))
        }
        held.removeAll()
        (time, route, track) = (Placemark.Time(), nil, nil)
    }

    private mutating func append(_ position: Tuple, at time: ElementTime, line: Int, _ track: Track) {
        let problem = position.problem ?? time.problem(bounds)
        fixes.append(
            problem == nil ? position.coordinate : .invalid, problem == nil ? time.timestamp : nil, line: line, problem,
            track)
    }

    /// Names as the parser's own dictionary holds them: equal names have equal addresses.
    @safe private struct Names {
        let kml, placemark, point, lineString, track, timeStamp, timeSpan: UnsafePointer<xmlChar>?
        let coordinates, coord, when, begin, end, extensions: UnsafePointer<xmlChar>?
        let extendedData, metadata, photoOverlay: UnsafePointer<xmlChar>?

        init(_ document: XMLDocument) {
            func name(_ text: String) -> UnsafePointer<xmlChar>? { unsafe document.name(text) }
            unsafe (kml, placemark, point) = (name("kml"), name("Placemark"), name("Point"))
            unsafe (lineString, track) = (name("LineString"), name("Track"))
            unsafe (timeStamp, timeSpan) = (name("TimeStamp"), name("TimeSpan"))
            unsafe (coordinates, coord) = (name("coordinates"), name("coord"))
            unsafe (when, begin, end) = (name("when"), name("begin"), name("end"))
            unsafe extensions = name("http://www.google.com/kml/ext/2.2")
            unsafe (extendedData, metadata) = (name("ExtendedData"), name("Metadata"))
            unsafe photoOverlay = name("PhotoOverlay")
        }

        func isSkipped(_ tag: XMLTag) -> Bool {
            unsafe tag.name == extendedData || tag.name == metadata || tag.name == photoOverlay
        }

        func geometry(_ tag: XMLTag) -> Element? {
            unsafe tag.name == point ? .point : tag.name == lineString ? .line : tag.name == track ? .track : nil
        }

        func time(_ tag: XMLTag) -> Element? {
            unsafe tag.name == timeStamp ? .timeStamp : tag.name == timeSpan ? .timeSpan : nil
        }

        func captured(_ tag: XMLTag, of element: Element) -> Captured? {
            switch element {
            case .point, .line: unsafe tag.name == coordinates ? .coordinates : nil
            case .track: unsafe tag.name == when ? .trackWhen : tag.name == coord ? .trackPosition : nil
            case .timeStamp: unsafe tag.name == when ? .when : nil
            case .timeSpan: unsafe tag.name == begin ? .begin : tag.name == end ? .end : nil
            }
        }
    }
}

extension FixBatch {
    /// Appends a fix, or a bad record, of an XML document.
    mutating func append(
        _ coordinate: Coordinate, _ time: Timestamp?, line: Int, _ problem: RecordProblem.Reason?, _ track: Track
    ) {
        if let problem { problems.append((count, problem)) }
        positions.append(coordinate)
        lines.append(line)
        times.append(time)
        accuracies.append(.nan)
        tracks.append(track)
    }
}

extension Coordinate {
    /// That of a bad record.
    static let invalid = Coordinate(latitude: .nan, longitude: .nan)
}

/// The text of an element of a time: a time, none, or what is no time.
struct ElementTime: Equatable {
    private var nanoseconds: Int64

    static let none = ElementTime(nanoseconds: .min)
    private static let unreadable = ElementTime(nanoseconds: .min + 1)

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// - Parameter zone: that of a time without an offset; nil for UTC.
    init(_ text: UnsafeBufferPointer<UInt8>, _ zone: TimeZoneRules?) {
        if let time = unsafe Timestamp(text, inTable: nil, zone: zone) {
            nanoseconds = max(time.nanosecondsSince1970, .min + 2)
        } else {
            self = unsafe text.allSatisfy { $0 <= 0x20 } ? .none : .unreadable
        }
    }

    var isNone: Bool { self == .none }

    var timestamp: Timestamp? {
        nanoseconds > .min + 1 ? Timestamp(nanosecondsSince1970: nanoseconds) : nil
    }

    /// What is wrong with it; nil of a possible time, and of none.
    func problem(_ bounds: TimeBounds) -> RecordProblem.Reason? {
        self == .unreadable ? .timeUnreadable : timestamp.flatMap { bounds.problem($0) }
    }
}

/// The times and positions of a Track, each in an order of its own: the first time is that of the first position.
private struct TrackPairs {
    private var times: [ElementTime] = []
    private var positions: [(Tuple, Int32)] = []
    /// How many of them are taken.
    private var taken = (times: 0, positions: 0)
    /// Whether there were times.
    private(set) var hasTimes = false

    /// Times, or positions, that wait.
    var count: Int { max(timeCount, positions.count - taken.positions) }
    var timeCount: Int { times.count - taken.times }

    mutating func append(_ time: ElementTime) {
        hasTimes = true
        times.append(time)
    }

    mutating func append(_ position: Tuple, line: Int) { positions.append((position, Int32(clamping: line))) }

    /// The next position and its time, once both are there.
    mutating func next() -> (Tuple, line: Int, ElementTime)? {
        guard timeCount > 0, let (position, line) = nextPosition() else { return nil }
        let time = times[taken.times]
        taken.times += 1
        if timeCount == 0 {
            times.removeAll(keepingCapacity: true)
            taken.times = 0
        }
        return (position, line, time)
    }

    mutating func nextPosition() -> (Tuple, line: Int)? {
        guard taken.positions < positions.count else { return nil }
        let (position, line) = positions[taken.positions]
        taken.positions += 1
        if taken.positions == positions.count {
            positions.removeAll(keepingCapacity: true)
            taken.positions = 0
        }
        return (position, Int(line))
    }
}
