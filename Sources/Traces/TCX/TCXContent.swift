import CLibXML2
import Hereabouts
import TextCoding

/// Garmin's Training Center XML, versions 1 and 2: the times and positions of Trackpoints and of the points of courses.
///
/// The laps of an activity are one track; a course is a route, and its points are waypoints. A Trackpoint without a
/// Position, as a strap sends heart beats indoors, is no fix.
@safe struct TCXContent: XMLContent, ~Copyable {
    static let formatName = "TCX"

    var document: XMLDocument
    private let names: Names
    private let bounds: TimeBounds
    /// That of times without an offset; nil for UTC.
    private let zone: TimeZoneRules?
    private var fixes = FixBatch()
    private var tracks: UInt32 = 0
    /// What the current point would be: by the activity or course that it is in.
    private var container: (track: Track, depth: Int)?
    /// The depths of the current elements; 0 outside of them.
    private var pointDepth = 0, positionDepth = 0, skippedDepth = 0
    private var captured: Captured?
    private var text = XMLText()

    // Of the current point.
    private var isCoursePoint = false
    private var line = 0
    private var hasPosition = false
    private var time = ElementTime.none
    private var latitude = Axis(), longitude = Axis()

    private enum Captured {
        case time, latitude, longitude
    }

    private struct Axis {
        var isThere = false
        var degrees = Double.nan
    }

    init(_ document: XMLDocument, bounds: TimeBounds, zone: TimeZoneRules?) {
        self.document = document
        self.bounds = bounds
        self.zone = zone
        names = Names(document)
    }

    static func handler() -> xmlSAXHandler {
        unsafe XMLDocument.handler(
            start: { user, name, prefix, namespace, _, _, count, _, attributes in
                unsafe TCXContent.at(user).pointee.enter(XMLTag(name, prefix: prefix, namespace, attributes, count))
            },
            end: { user, _, _, _ in unsafe TCXContent.at(user).pointee.leave() },
            characters: { user, bytes, count in
                unsafe TCXContent.at(user).pointee.characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
            },
            documentType: { user, _, _, _ in unsafe TCXContent.at(user).pointee.refuseDocumentType() })
    }

    var rootName: UnsafePointer<xmlChar>? { unsafe names.root }

    mutating func takeFixes(_ fixes: inout FixBatch) { swap(&fixes, &self.fixes) }

    // MARK: Elements

    mutating func start(_ tag: XMLTag) {
        guard skippedDepth == 0 else { return }
        let depth = document.depth
        guard unsafe tag.namespace == document.rootNamespace, unsafe tag.name != names.extensions else {
            skippedDepth = depth
            return
        }
        if unsafe tag.name == names.trackpoint || tag.name == names.coursePoint {
            startPoint(tag)
        } else if positionDepth > 0 {
            guard depth == positionDepth + 1 else { return }
            capture(unsafe tag.name == names.latitude ? .latitude : tag.name == names.longitude ? .longitude : nil)
        } else if pointDepth > 0 {
            guard depth == pointDepth + 1 else { return }
            if unsafe tag.name == names.position {
                (positionDepth, hasPosition) = (depth, true)
            } else {
                capture(unsafe tag.name == names.time ? .time : nil)
            }
        } else if container == nil, let kind = names.container(tag) {
            tracks += 1
            for index in 0..<tag.count {
                guard let (name, value) = unsafe tag.attribute(index), unsafe name == names.sport else { continue }
                unsafe document.takeActivity(value)
            }
            container = (Track(number: tracks, kind: kind), depth)
        }
    }

    private mutating func capture(_ captured: Captured?) {
        self.captured = captured
        text.removeAll()
    }

    private mutating func startPoint(_ tag: XMLTag) {
        guard pointDepth == 0, container != nil else {
            fixes.append(.invalid, nil, line: document.line, .pointOutOfPlace, Track(number: 0, kind: .waypoint))
            return
        }
        (pointDepth, line, hasPosition, time) = (document.depth, document.line, false, .none)
        isCoursePoint = unsafe tag.name == names.coursePoint
        (latitude, longitude) = (Axis(), Axis())
    }

    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard captured != nil, skippedDepth == 0 else { return }
        unsafe text.append(bytes)
    }

    mutating func end() {
        let depth = document.depth
        if skippedDepth > 0 {
            if depth == skippedDepth { skippedDepth = 0 }
        } else if let captured, depth == max(pointDepth, positionDepth) + 1 {
            take(captured)
            self.captured = nil
        } else if positionDepth > 0, depth == positionDepth {
            positionDepth = 0
        } else if pointDepth > 0, depth == pointDepth {
            endPoint()
            pointDepth = 0
        } else if depth == container?.depth {
            container = nil
        }
    }

    /// Takes the text of an element.
    private mutating func take(_ captured: Captured) {
        switch captured {
        case .time: time = unsafe text.withBytes { unsafe ElementTime($0, zone) }
        case .latitude: latitude = axis()
        case .longitude: longitude = axis()
        }
    }

    private func axis() -> Axis {
        unsafe text.withBytes { text in
            unsafe Axis(
                isThere: !text.allSatisfy { $0 <= 0x20 },
                degrees: DecimalNumber.parse(text) ?? .nan)
        }
    }

    private mutating func endPoint() {
        guard hasPosition else { return }
        var problem = time.problem(bounds)
        if longitude.degrees.isNaN { problem = longitude.isThere ? .longitudeUnreadable : .longitudeMissing }
        if latitude.degrees.isNaN { problem = latitude.isThere ? .latitudeUnreadable : .latitudeMissing }
        let track = isCoursePoint ? Track(number: 0, kind: .waypoint) : container?.track ?? .only
        fixes.append(
            Coordinate(latitude: latitude.degrees, longitude: longitude.degrees), time.timestamp, line: line, problem,
            track)
    }

    /// Names as the parser's own dictionary holds them: equal names have equal addresses.
    @safe private struct Names {
        let root, activity, course, history, trackpoint, coursePoint, time, position: UnsafePointer<xmlChar>?
        let latitude, longitude, sport, extensions: UnsafePointer<xmlChar>?

        init(_ document: XMLDocument) {
            func name(_ text: String) -> UnsafePointer<xmlChar>? { unsafe document.name(text) }
            unsafe root = name("TrainingCenterDatabase")
            unsafe (activity, course, history) = (name("Activity"), name("Course"), name("Run"))
            unsafe (trackpoint, coursePoint) = (name("Trackpoint"), name("CoursePoint"))
            unsafe (time, position) = (name("Time"), name("Position"))
            unsafe (latitude, longitude) = (name("LatitudeDegrees"), name("LongitudeDegrees"))
            unsafe (sport, extensions) = (name("Sport"), name("Extensions"))
        }

        /// What an element's trackpoints are; nil of an element that holds none. Version 1 has runs in its history.
        func container(_ tag: XMLTag) -> ReportKind? {
            unsafe tag.name == activity || tag.name == history ? .track : tag.name == course ? .route : nil
        }
    }
}
