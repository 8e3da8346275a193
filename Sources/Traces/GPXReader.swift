import CLibXML2
import Hereabouts

/// A point of a GPX file: what there is in it for us, and whose it is.
struct GPXFix {
    /// Where the point's start tag ends.
    var line: Int
    /// Number of its route or track in the file, from 1; 0 for the waypoints.
    var track: Int
    var kind: ReportKind
    var coordinate: Coordinate
    var time: Instant?
    /// Meters, from the dilution of precision.
    var horizontalAccuracy: Double?
    var problem: RecordProblem.Reason?
}

/// Reads GPX 1.0 and 1.1 with libxml2's push parser, chunk by chunk.
///
/// Only what is needed is looked at: the positions, times and dilutions of waypoints, route points and track points of
/// the root's namespace. Everything else (names, links, extensions, comments) never gets beyond the parser.
///
/// Nothing is loaded from outside: a document type declaration, without which there are no entities, ends the run. The
/// depth of elements and the length of what the parser must hold at once are bounded.
///
/// A class, because the parser's callbacks need its address to stay.
@safe final class GPXReader {
    /// Elements within elements, at most.
    static let maximumDepth = 100
    /// The longest tag, comment or attribute in bytes, at most (rounded up to whole chunks).
    static let maximumTokenBytes = 16 << 20
    /// Meters of accuracy (two times in three) per unit of horizontal dilution: a receiver's usual range error.
    static let metersPerDilution = 5.0

    fileprivate let file: String
    private let context: xmlParserCtxtPtr
    private let names: Names
    private var depth = 0
    private var rootNamespace: UnsafePointer<xmlChar>?
    private var tracks = 0
    /// What the root's child at hand is, if it holds points.
    private var container: ReportKind?
    private var isInSegment = false
    /// The depth of the point at hand; 0 outside points.
    private var pointDepth = 0
    private var point = GPXFix(line: 0, track: 0, kind: .waypoint, coordinate: Coordinate(latitude: .nan, longitude: .nan))
    private var captured: Captured?
    private var text = ByteBuffer(capacity: 128)
    private var failure: TraceError?
    /// The points of the chunks parsed since the caller last emptied it.
    var fixes: [GPXFix] = []

    /// Children of a point whose text is wanted.
    private enum Captured {
        case time, dilution
    }

    init(file: String) {
        self.file = file
        // SAFETY: the parser copies the handler. It calls back only during `parse`, when `self` is alive.
        var handler = unsafe Self.handler()
        guard let context = unsafe xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else {
            preconditionFailure("no memory for an XML parser")
        }
        unsafe self.context = context
        unsafe names = Names(context)
        unsafe context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
        unsafe xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue))
    }

    deinit {
        unsafe xmlFreeParserCtxt(context)
    }

    /// Parses some more of the file; its points are then in `fixes`.
    func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        // SAFETY: the parser copies what it needs beyond the call. Chunks are far below 2 GiB.
        unsafe bytes.withMemoryRebound(to: CChar.self) { chunk in
            _ = unsafe xmlParseChunk(context, chunk.baseAddress, Int32(chunk.count), 0)
        }
        try check()
        if unsafe hereabouts_xml_pending(context) > Self.maximumTokenBytes {
            throw .tokenTooLong(file: file, line: line)
        }
    }

    /// Ends the file: throws where the document is not complete.
    func finish() throws(TraceError) {
        _ = unsafe xmlParseChunk(context, nil, 0, 1)
        try check()
    }

    private func check() throws(TraceError) {
        if let failure { throw failure }
        if unsafe context.pointee.wellFormed == 0 { throw .malformedXML(file: file, line: line) }
    }

    fileprivate var line: Int { Int(unsafe hereabouts_xml_line(context)) }

    fileprivate func fail(_ error: TraceError) {
        guard failure == nil else { return }
        failure = error
        unsafe xmlStopParser(context)
    }

    // MARK: Callbacks

    private static func handler() -> xmlSAXHandler {
        // SAFETY: each callback gets the reader that `init` put into `userData`; `parse` keeps it alive meanwhile.
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = hereabouts_sax2_magic()
        unsafe handler.startElementNs = { user, name, _, namespace, _, _, count, _, attributes in
            unsafe gpxReader(user).start(name, namespace, attributes, Int(count))
        }
        unsafe handler.endElementNs = { user, _, _, _ in unsafe gpxReader(user).end() }
        unsafe handler.characters = { user, bytes, count in
            unsafe gpxReader(user).characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        unsafe handler.internalSubset = { user, _, _, _ in
            let reader = unsafe gpxReader(user)
            reader.fail(.documentType(file: reader.file, line: reader.line))
        }
        // Without a handler of its own libxml2 would print the offending text.
        unsafe handler.serror = { _, _ in }
        return unsafe handler
    }

    fileprivate func start(
        _ name: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) {
        depth += 1
        guard depth <= Self.maximumDepth else { return fail(.nestedTooDeep(file: file, line: line)) }
        if depth == 1 {
            unsafe rootNamespace = namespace
            if unsafe name != names.gpx { fail(.notGPX(file: file)) }
            return
        }
        guard unsafe namespace == rootNamespace else { return }
        if pointDepth > 0 {
            guard depth == pointDepth + 1 else { return }
            captured = unsafe name == names.time ? .time : name == names.hdop ? .dilution : nil
            text.removeAll()
        } else if let kind = unsafe pointKind(name) {
            unsafe startPoint(kind, attributes, count)
        } else if depth == 2 {
            container = unsafe name == names.rte ? .route : name == names.trk ? .track : nil
            if container != nil { tracks += 1 }
        } else if depth == 3 {
            isInSegment = unsafe container == .track && name == names.trkseg
        }
    }

    /// What kind of point an element of this name is, standing where it stands; nil for no point.
    private func pointKind(_ name: UnsafePointer<xmlChar>?) -> ReportKind? {
        switch depth {
        case 2: unsafe name == names.wpt ? .waypoint : nil
        case 3: unsafe container == .route && name == names.rtept ? .route : nil
        case 4: unsafe isInSegment && name == names.trkpt ? .track : nil
        default: nil
        }
    }

    private func startPoint(
        _ kind: ReportKind, _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) {
        pointDepth = depth
        point = GPXFix(
            line: line, track: kind == .waypoint ? 0 : tracks, kind: kind,
            coordinate: Coordinate(latitude: .nan, longitude: .nan))
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
    private func number(_ value: UnsafeBufferPointer<UInt8>, else problem: RecordProblem.Reason) -> Double {
        if let number = unsafe Decimal.usual(value) ?? Decimal.parse(value) { return number }
        if point.problem == nil { point.problem = problem }
        return .nan
    }

    fileprivate func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard captured != nil, text.count + bytes.count <= 100 else {
            // Longer than any time or number: cannot be read, whatever follows.
            if captured != nil && text.count <= 100 { text.append("x") }
            return
        }
        unsafe text.append(bytes)
    }

    fileprivate func end() {
        if pointDepth > 0 && depth == pointDepth {
            fixes.append(point)
            pointDepth = 0
        } else if let captured, depth == pointDepth + 1 {
            unsafe text.withBytes { bytes in unsafe finish(captured, bytes) }
            self.captured = nil
        } else if depth == 2 {
            container = nil
        } else if depth == 3 {
            isInSegment = false
        }
        depth -= 1
    }

    /// Takes over the text of a point's child.
    private func finish(_ captured: Captured, _ bytes: UnsafeBufferPointer<UInt8>) {
        switch captured {
        case .time:
            point.time = unsafe Instant(bytes, allowingUnix: false)
            let isBlank = unsafe bytes.allSatisfy { $0 <= 0x20 }
            if point.time == nil && !isBlank && point.problem == nil { point.problem = .timeUnreadable }
        case .dilution:
            point.horizontalAccuracy = unsafe Decimal.parse(bytes).map { $0 * Self.metersPerDilution }
        }
    }

    /// The names of interest as the parser's own dictionary holds them: equal names have equal addresses.
    @safe private struct Names {
        let gpx, wpt, rte, rtept, trk, trkseg, trkpt, lat, lon, time, hdop: UnsafePointer<xmlChar>?

        init(_ context: xmlParserCtxtPtr) {
            // SAFETY: the dictionary lives as long as the context, which the reader owns.
            func name(_ text: String) -> UnsafePointer<xmlChar>? {
                unsafe xmlDictLookup(context.pointee.dict, text, -1)
            }
            unsafe (gpx, wpt, rte, rtept) = (name("gpx"), name("wpt"), name("rte"), name("rtept"))
            unsafe (trk, trkseg, trkpt) = (name("trk"), name("trkseg"), name("trkpt"))
            unsafe (lat, lon, time, hdop) = (name("lat"), name("lon"), name("time"), name("hdop"))
        }
    }
}

/// The reader that a callback is for.
private func gpxReader(_ user: UnsafeMutableRawPointer?) -> GPXReader {
    // SAFETY: `GPXReader.init` put the reader into `userData`, and the call of `parse` at hand keeps it alive.
    unsafe Unmanaged<GPXReader>.fromOpaque(user!).takeUnretainedValue()
}
