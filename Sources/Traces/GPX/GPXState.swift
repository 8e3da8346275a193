import CLibXML2
import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where `GPXReader` stands in a document, and what the parser's callbacks do there.
///
/// Not a class: a callback costs no reference counting and no check of exclusive access.
@safe struct GPXState: ~Copyable {
    private let file: String
    private let context: xmlParserCtxtPtr
    private let names: Names
    private let bounds: TimeBounds
    private var depth = 0
    private var rootNamespace: UnsafePointer<xmlChar>?
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
    private var text = ByteBuffer(capacity: 128)
    /// Why the parser was stopped, if it was.
    private(set) var failure: TraceError?
    /// The points since the reader last took them.
    var fixes = FixBatch()

    private enum Segment {
        case prefixed
        /// It has no prefix, so that elements without one are in the root's namespace in it as well.
        case unprefixed
    }

    init(file: String, context: xmlParserCtxtPtr, bounds: TimeBounds) {
        self.file = file
        self.bounds = bounds
        unsafe self.context = context
        unsafe names = Names(context)
    }

    // MARK: Callbacks

    /// The callbacks, for a parser whose `userData` points to a state.
    static func handler() -> xmlSAXHandler {
        // SAFETY: `GPXReader` keeps the state alive and in place while the parser runs, on one thread.
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = hereabouts_sax2_magic()
        unsafe handler.startElementNs = { user, name, prefix, namespace, _, _, count, _, attributes in
            unsafe gpxState(user).pointee.start(name, namespace, attributes, Int(count), hasPrefix: prefix != nil)
        }
        unsafe handler.endElementNs = { user, _, _, _ in unsafe gpxState(user).pointee.end() }
        unsafe handler.characters = { user, bytes, count in
            unsafe gpxState(user).pointee.characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        unsafe handler.internalSubset = { user, _, _, _ in unsafe gpxState(user).pointee.documentType() }
        // Without a handler of its own libxml2 would print the offending text.
        unsafe handler.serror = { _, _ in }
        return unsafe handler
    }

    private var line: Int { Int(unsafe hereabouts_xml_line(context)) }

    private mutating func fail(_ error: TraceError) {
        guard failure == nil else { return }
        failure = error
        unsafe xmlStopParser(context)
    }

    fileprivate mutating func documentType() { fail(.documentType(file: file, line: line)) }

    fileprivate mutating func start(
        _ name: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int, hasPrefix: Bool
    ) {
        depth += 1
        guard depth <= GPXReader.maximumDepth else { return fail(.nestedTooDeep(file: file, line: line)) }
        guard count <= GPXReader.maximumAttributes,
            unsafe hereabouts_xml_namespaces(context) <= GPXReader.maximumNamespaces
        else { return fail(.tagTooLong(file: file, line: line)) }
        if depth == 1 {
            unsafe rootNamespace = namespace
            if unsafe name != names.gpx { fail(.notGPX(file: file)) }
            return
        }
        guard unsafe namespace == rootNamespace else { return }
        if unsafe name == names.extensions && extensionsDepth == 0 { extensionsDepth = depth }
        if unsafe extensionsDepth == 0 && names.isPoint(name) && (pointDepth > 0 || pointKind(name) == nil) {
            fixes.append(
                GPXFix(
                    line: line, track: container == nil ? 0 : tracks, kind: container ?? .waypoint,
                    coordinate: Self.invalid, problem: .pointOutOfPlace))
        } else if pointDepth > 0 {
            guard depth == pointDepth + 1 else { return }
            captured = unsafe name == names.time ? .time : name == names.hdop ? .dilution : nil
            text.removeAll()
        } else if let kind = unsafe pointKind(name) {
            unsafe startPoint(kind, attributes, count)
        } else if depth == 2 {
            container = unsafe name == names.rte ? .route : name == names.trk ? .track : nil
            if container != nil { tracks += 1 }
        } else if depth == 3 {
            segment = unsafe container == .track && name == names.trkseg ? (hasPrefix ? .prefixed : .unprefixed) : nil
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

    private mutating func startPoint(
        _ kind: ReportKind, _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) {
        pointDepth = depth
        begin(kind, line: line)
        var hasLatitude = false
        var hasLongitude = false
        for index in 0..<count {
            // SAFETY: libxml2 passes five pointers per attribute: name, prefix, namespace, start and end of the value.
            guard let attribute = unsafe attributes.map({ unsafe $0 + index * 5 }), unsafe attribute[1] == nil,
                let start = unsafe attribute[3], let end = unsafe attribute[4]
            else { continue }
            let value = unsafe UnsafeBufferPointer(start: start, count: end - start)
            if unsafe attribute[0] == names.lat {
                hasLatitude = true
                point.coordinate.latitude = unsafe number(value, else: .latitudeUnreadable)
            } else if unsafe attribute[0] == names.lon {
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
        guard let start = value.baseAddress, let input = unsafe context.pointee.input?.pointee,
            let base = unsafe input.base, let end = unsafe input.end,
            unsafe start >= base, unsafe start + FixedPoint.reach <= end
        else { return nil }
        let number = unsafe FixedPoint.parse(start, count: value.count)
        return number.isNaN ? nil : number
    }

    fileprivate mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard captured != nil, text.count + bytes.count <= 100 else {
            // Longer than any time or number: cannot be read, whatever follows.
            if captured != nil && text.count <= 100 { text.append("x") }
            return
        }
        unsafe text.append(bytes)
    }

    fileprivate mutating func end() {
        if pointDepth > 0 && depth == pointDepth {
            fixes.append(point)
            pointDepth = 0
        } else if let captured, depth == pointDepth + 1 {
            var point = point
            unsafe text.withBytes { bytes in unsafe point.take(bytes, as: captured, bounds) }
            self.point = point
            self.captured = nil
        } else if depth == 2 {
            container = nil
        } else if depth == 3 {
            segment = nil
        }
        if depth == extensionsDepth { extensionsDepth = 0 }
        depth -= 1
    }

    // MARK: Fast path

    /// Whether points in canonical form that come next need no parser: there is no other element, entity or encoding
    /// that they could belong to.
    var canScanPoints: Bool {
        unsafe segment == .unprefixed && depth == 3 && failure == nil && hereabouts_xml_is_in_content(context)
    }

    /// Reads points in canonical form, up to the first other thing.
    ///
    /// - Returns: how many bytes they are, which the parser shall not see.
    mutating func scanPoints(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = unsafe TrackPointScanner(bytes)
        var taken = (bytes: 0, lines: 0)
        var isOutOfPlace = false
        let line = line
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
                    unsafe point.take(child.text, as: .time, bounds)
                } else if child.name != elevation {
                    if child.name == dilution { unsafe point.take(child.text, as: .dilution, bounds) }
                    if child.name == trackPoint || child.name == routePoint || child.name == waypoint {
                        isOutOfPlace = true
                    }
                }
            }
            guard !isOutOfPlace, scanner.endTag() else { break }
            fixes.append(point)
            taken = (scanner.offset, scanner.lines)
        }
        unsafe hereabouts_xml_skip_lines(context, Int32(taken.lines))
        return taken.bytes
    }

    /// Names as the parser's own dictionary holds them: equal names have equal addresses.
    @safe private struct Names {
        let gpx, wpt, rte, rtept, trk, trkseg, trkpt, lat, lon, time, hdop, extensions: UnsafePointer<xmlChar>?

        /// Whether an element of this name is a point.
        func isPoint(_ name: UnsafePointer<xmlChar>?) -> Bool {
            unsafe name == trkpt || name == wpt || name == rtept
        }

        init(_ context: xmlParserCtxtPtr) {
            // SAFETY: the dictionary lives as long as the context, which the reader owns.
            func name(_ text: String) -> UnsafePointer<xmlChar>? {
                unsafe xmlDictLookup(context.pointee.dict, text, -1)
            }
            unsafe (gpx, wpt, rte, rtept) = (name("gpx"), name("wpt"), name("rte"), name("rtept"))
            unsafe (trk, trkseg, trkpt) = (name("trk"), name("trkseg"), name("trkpt"))
            unsafe (lat, lon, time, hdop) = (name("lat"), name("lon"), name("time"), name("hdop"))
            unsafe extensions = name("extensions")
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
    mutating func take(_ text: UnsafeBufferPointer<UInt8>, as captured: Captured, _ bounds: TimeBounds) {
        switch captured {
        case .time:
            time = unsafe Timestamp(text, inTable: nil)
            if let time {
                if let reason = bounds.problem(time) { problem = problem ?? reason }
            } else if problem == nil, unsafe !text.allSatisfy({ $0 <= 0x20 }) {
                problem = .timeUnreadable
            }
        case .dilution:
            horizontalAccuracy = unsafe DecimalNumber.parse(text).map { $0 * GPXReader.metersPerDilution }
        }
    }
}

/// The state that a callback is for.
private func gpxState(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<GPXState> {
    // SAFETY: `GPXReader.init` put the state into `userData`.
    unsafe user!.assumingMemoryBound(to: GPXState.self)
}
