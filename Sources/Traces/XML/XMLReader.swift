import CLibXML2
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What an XML document may have, at most. Each limit bounds memory, or work that is more than linear.
enum XMLLimits {
    /// Elements within elements.
    static let depth = 100
    /// The longest comment, processing instruction or CDATA section in bytes (rounded up to whole pieces).
    static let tokenBytes = 16 << 20
    /// The longest tag, likewise.
    static let tagBytes = 1 << 16
    /// Attributes of a tag: each is compared with every other.
    static let attributes = 256
    /// Namespaces in scope: a prefix is compared with each.
    static let namespaces = 256
    /// Different names of elements, attributes, prefixes and namespaces: beyond some thousands the parser looks for each
    /// in a longer and longer list.
    static let names = 10_000
    /// Bytes that the parser is given at a time.
    fileprivate static let pushBytes = 1 << 16
}

/// Reads a document with libxml2's SAX2 push parser, buffer by buffer: what all XML formats share. What the elements mean
/// is the content's matter. Text in a form that can mean one thing only may take a fast path of the content's: the parser
/// takes several times as long for it.
///
/// Nothing is loaded from outside: a document type declaration, without which there are no entities, ends the run. The
/// depth of elements, the length of what the parser must hold at once, and what it takes more than linear time for
/// (attributes of a tag, namespaces in scope, different names) are bounded by `XMLLimits`.
@safe struct XMLReader<Content: XMLContent & ~Copyable>: ~Copyable {
    private let file: String
    private let context: xmlParserCtxtPtr
    /// What the callbacks work on, at an address that stays.
    private let content: UnsafeMutablePointer<Content>
    /// How many bytes the parser is given at a time, at least.
    private var pushBytes = 0

    /// - Parameters:
    ///   - linesBefore: what is added to all line numbers.
    ///   - content: makes the content for a document.
    init(file: String, linesBefore: Int = 0, content makeContent: (XMLDocument) -> Content) {
        self.file = file
        // SAFETY: the parser copies the handler. It calls back only from within `parse` and `finish`, when the content is
        // alive; both are freed in deinit, the parser first.
        let messages = unsafe hereabouts_xml_silence()
        defer { unsafe hereabouts_xml_restore(messages) }
        var handler = unsafe Content.handler()
        guard let context = unsafe xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else {
            preconditionFailure("no memory for an XML parser")
        }
        unsafe self.context = context
        unsafe content = .allocate(capacity: 1)
        unsafe content.initialize(to: makeContent(XMLDocument(file: file, linesBefore: linesBefore, context: context)))
        unsafe context.pointee.userData = UnsafeMutableRawPointer(content)
        unsafe xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue))
    }

    deinit {
        unsafe xmlFreeParserCtxt(context)
        unsafe content.deinitialize(count: 1)
        unsafe content.deallocate()
    }

    /// Hands over the points parsed since the last time, in exchange for memory to gather the next in.
    mutating func takeFixes(_ fixes: inout FixBatch) {
        // The pointer alone: with the thread sanitizer, Swift 6.3 cannot compile an access through a noncopyable `self`.
        let content = unsafe content
        fixes.removeAll()
        unsafe content.pointee.takeFixes(&fixes)
    }

    /// Parses some more of the file; `takeFixes` has its points.
    mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        let messages = unsafe hereabouts_xml_silence()
        defer { unsafe hereabouts_xml_restore(messages) }
        // As in `takeFixes`.
        let content = unsafe content
        var rest = unsafe bytes
        while rest.count > 0 {
            let scanned = unsafe content.pointee.canScan ? content.pointee.scan(rest) : 0
            unsafe rest = UnsafeBufferPointer(rebasing: rest[scanned...])
            var piece = min(rest.count, 1)
            // What a conversion makes of wrong bytes depends on those given with them: so it gets them one by one.
            if unsafe !hereabouts_xml_may_convert(context) {
                // Where the fast path finds nothing, the parser gets more and more at a time.
                pushBytes = scanned > 0 ? 0 : min(2 * pushBytes + 64, XMLLimits.pushBytes)
                piece = unsafe pieceLength(rest)
            }
            try unsafe push(UnsafeBufferPointer(rebasing: rest[..<piece]))
            unsafe rest = UnsafeBufferPointer(rebasing: rest[piece...])
        }
    }

    /// How many bytes the parser is to be given: up to where a record ends, after which the fast path may go on.
    private func pieceLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        guard let endTag = Content.recordEndTag else { return min(bytes.count, XMLLimits.pushBytes) }
        let length = endTag.utf8CodeUnitCount
        var at = pushBytes
        // SAFETY: the bytes compared are among those there are.
        while at + length <= bytes.count, let found = unsafe memchr(start + at, 0x3c, bytes.count - length + 1 - at) {
            at = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(start)
            if unsafe memcmp(start + at, endTag.utf8Start, length) == 0 {
                return min(at + length, XMLLimits.pushBytes)
            }
            at += 1
        }
        return min(bytes.count, XMLLimits.pushBytes)
    }

    private func push(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        // SAFETY: the parser copies what it needs beyond the call. Chunks are far below 2 GiB.
        let result = unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
            unsafe xmlParseChunk(context, bytes.baseAddress, Int32(bytes.count), 0)
        }
        try check(result)
        let pending = unsafe hereabouts_xml_pending(context)
        if unsafe hereabouts_xml_is_in_tag(context) && pending > XMLLimits.tagBytes {
            throw .tagTooLong(file: file, line: line)
        }
        if pending > XMLLimits.tokenBytes { throw .tokenTooLong(file: file, line: line) }
        if unsafe xmlDictSize(context.pointee.dict) > XMLLimits.names { throw .tooManyNames(file: file, line: line) }
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
        if let failure = unsafe content.pointee.document.failure { throw failure }
        if result == XML_ERR_INVALID_ENCODING.rawValue { throw .wrongEncoding(file: file, line: line) }
        // A parser that has stopped does not always say that the document is at fault. Prefixes that are not declared
        // do not stop it.
        if unsafe context.pointee.wellFormed == 0 || context.pointee.disableSAX != 0 {
            throw .malformedXML(file: file, line: line)
        }
    }

    /// The parser's line, from 1 on in the first document.
    var line: Int { unsafe content.pointee.document.line }

    /// Whether a recording in the document says that somebody went on foot.
    var isOnFoot: Bool { unsafe content.pointee.document.isOnFoot }

    /// What `body` reads of the content.
    func withContent<Result>(_ body: (borrowing Content) -> Result) -> Result { unsafe body(content.pointee) }
}
