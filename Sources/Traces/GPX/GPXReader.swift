import CLibXML2
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A point of a GPX file: what there is in it for us, and whose it is.
struct GPXFix {
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

/// Reads GPX 1.0 and 1.1 with libxml2's push parser, buffer by buffer. Track points in canonical form, whose
/// text has one meaning only, take a fast path (`TrackPointScanner`): the parser takes several times as long for them.
///
/// Only what is needed is looked at: the positions, times and dilutions of waypoints, route points and track points of
/// the root's namespace. Everything else (names, links, extensions, comments) never gets beyond the parser.
///
/// Nothing is loaded from outside: a document type declaration, without which there are no entities, ends the run. The
/// depth of elements, the length of what the parser must hold at once, and what it takes more than linear time for
/// (attributes of a tag, namespaces in scope, different names) are bounded.
@safe struct GPXReader: ~Copyable {
    /// Elements within elements, at most.
    static let maximumDepth = 100
    /// The longest comment, processing instruction or CDATA section in bytes, at most (rounded up to whole pieces).
    static let maximumTokenBytes = 16 << 20
    /// The longest tag, likewise.
    static let maximumTagBytes = 1 << 16
    /// Attributes of a tag, at most: each is compared with every other.
    static let maximumAttributes = 256
    /// Namespaces in scope, at most: a prefix is compared with each.
    static let maximumNamespaces = 256
    /// Different names of elements, attributes, prefixes and namespaces, at most: beyond some thousands the parser looks
    /// for each in a longer and longer list.
    static let maximumNames = 10_000
    /// Bytes that the parser is given at a time, at most.
    private static let maximumPushBytes = 1 << 16
    /// Meters of accuracy (two times in three) per unit of horizontal dilution: a receiver's usual range error.
    static let metersPerDilution = 5.0

    private let file: String
    private let context: xmlParserCtxtPtr
    /// What the callbacks work on, at an address that stays.
    private let state: UnsafeMutablePointer<GPXState>
    /// How many bytes the parser is given at a time, at least.
    private var pushBytes = 0

    init(file: String, bounds: TimeBounds) {
        self.file = file
        // SAFETY: the parser copies the handler. It calls back only from within `parse` and `finish`, when the state is
        // alive; both are freed in deinit, the parser first.
        let messages = unsafe hereabouts_xml_silence()
        defer { unsafe hereabouts_xml_restore(messages) }
        var handler = unsafe GPXState.handler()
        guard let context = unsafe xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else {
            preconditionFailure("no memory for an XML parser")
        }
        unsafe self.context = context
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: GPXState(file: file, context: context, bounds: bounds))
        unsafe context.pointee.userData = UnsafeMutableRawPointer(state)
        unsafe xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue))
    }

    deinit {
        unsafe xmlFreeParserCtxt(context)
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// Hands over the points parsed since the last time, in exchange for memory to gather the next in.
    mutating func takeFixes(_ fixes: inout FixBatch) {
        // The pointer alone: with the thread sanitizer, Swift 6.3 cannot compile an access through a noncopyable `self`.
        let state = unsafe state
        fixes.removeAll()
        unsafe swap(&fixes, &state.pointee.fixes)
    }

    /// Parses some more of the file; `takeFixes` has its points.
    mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        let messages = unsafe hereabouts_xml_silence()
        defer { unsafe hereabouts_xml_restore(messages) }
        // As in `takeFixes`.
        let state = unsafe state
        var rest = unsafe bytes
        while rest.count > 0 {
            let scanned = unsafe state.pointee.canScanPoints ? state.pointee.scanPoints(rest) : 0
            unsafe rest = UnsafeBufferPointer(rebasing: rest[scanned...])
            var piece = min(rest.count, 1)
            // What a conversion makes of wrong bytes depends on those given with them: so it gets them one by one.
            if unsafe !hereabouts_xml_may_convert(context) {
                // Where the fast path finds nothing, the parser gets more and more at a time.
                pushBytes = scanned > 0 ? 0 : min(2 * pushBytes + 64, Self.maximumPushBytes)
                piece = unsafe pieceLength(rest)
            }
            try unsafe push(UnsafeBufferPointer(rebasing: rest[..<piece]))
            unsafe rest = UnsafeBufferPointer(rebasing: rest[piece...])
        }
    }

    /// How many bytes the parser is to be given: up to where a track point ends, after which the fast path may go on.
    private func pieceLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let endTag: StaticString = "</trkpt>"
        let length = endTag.utf8CodeUnitCount
        guard let start = bytes.baseAddress else { return 0 }
        var at = pushBytes
        // SAFETY: the bytes compared are among those there are.
        while at + length <= bytes.count, let found = unsafe memchr(start + at, 0x3c, bytes.count - length + 1 - at) {
            at = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(start)
            if unsafe memcmp(start + at, endTag.utf8Start, length) == 0 {
                return min(at + length, Self.maximumPushBytes)
            }
            at += 1
        }
        return min(bytes.count, Self.maximumPushBytes)
    }

    private func push(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        // SAFETY: the parser copies what it needs beyond the call. Chunks are far below 2 GiB.
        let result = unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
            unsafe xmlParseChunk(context, bytes.baseAddress, Int32(bytes.count), 0)
        }
        try check(result)
        let pending = unsafe hereabouts_xml_pending(context)
        if unsafe hereabouts_xml_is_in_tag(context) && pending > Self.maximumTagBytes {
            throw .tagTooLong(file: file, line: line)
        }
        if pending > Self.maximumTokenBytes { throw .tokenTooLong(file: file, line: line) }
        if unsafe xmlDictSize(context.pointee.dict) > Self.maximumNames { throw .tooManyNames(file: file, line: line) }
    }

    /// Ends the file: throws where the document is not complete.
    mutating func finish() throws(TraceError) {
        let messages = unsafe hereabouts_xml_silence()
        defer { unsafe hereabouts_xml_restore(messages) }
        let undecoded = unsafe hereabouts_xml_undecoded(context)
        try check(unsafe xmlParseChunk(context, nil, 0, 1))
        if undecoded > 0 { throw .wrongEncoding(file: file, line: line) }
    }

    /// - Parameter result: the parser's, of its last call.
    private func check(_ result: Int32) throws(TraceError) {
        if let failure = unsafe state.pointee.failure { throw failure }
        if result == XML_ERR_INVALID_ENCODING.rawValue { throw .wrongEncoding(file: file, line: line) }
        // A parser that has stopped does not always say that the document is at fault. Prefixes that are not declared
        // do not stop it.
        if unsafe context.pointee.wellFormed == 0 || context.pointee.disableSAX != 0 {
            throw .malformedXML(file: file, line: line)
        }
    }

    private var line: Int { Int(unsafe hereabouts_xml_line(context)) }
}
