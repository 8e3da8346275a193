import CLibXML2

/// What the elements of a document mean in a format: the state that the parser's callbacks work on.
///
/// Not a class: a callback costs no reference counting and no check of exclusive access.
protocol XMLContent: ~Copyable {
    /// Where the parser stands.
    var document: XMLDocument { get set }
    /// The format, for messages.
    static var formatName: String { get }
    /// The name of the root element, from the parser's dictionary.
    var rootName: UnsafePointer<xmlChar>? { get }
    /// The end tag after which the fast path may go on; nil in a format that has none.
    static var recordEndTag: StaticString? { get }

    /// The callbacks, for a parser whose `userData` points to such a content. Each is one call: `enter`, `characters`,
    /// `leave`, `refuseDocumentType`.
    static func handler() -> xmlSAXHandler

    /// An element begins, which is not the root. `document.depth` counts it.
    mutating func start(_ tag: XMLTag)
    /// Some of the text of the current element.
    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>)
    /// The current element, which may be the root, ends. `document.depth` still counts it.
    mutating func end()

    /// Swaps the fixes since the last time for memory to gather the next in.
    mutating func takeFixes(_ fixes: inout FixBatch)

    /// Whether what comes next may be read by `scan`.
    var canScan: Bool { get }
    /// Reads records in canonical form, up to the first other thing.
    ///
    /// - Returns: how many bytes they are, which the parser shall not see.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Int
}

extension XMLContent where Self: ~Copyable {
    static var recordEndTag: StaticString? { nil }
    var canScan: Bool { false }
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Int { 0 }

    @inline(__always)
    mutating func enter(_ tag: XMLTag) {
        guard document.enter(tag) else { return }
        if document.depth > 1 { return start(tag) }
        if unsafe tag.name != rootName { document.fail(.otherRoot(file: document.file, format: Self.formatName)) }
    }

    @inline(__always)
    mutating func leave() {
        end()
        document.leave()
    }

    mutating func refuseDocumentType() { document.fail(.documentType(file: document.file, line: document.line)) }

    /// The content that a callback is for.
    ///
    /// - Parameter user: the `userData` of a parser that an `XMLReader` of this content made.
    @inline(__always)
    static func at(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Self> {
        // SAFETY: `XMLReader.init` put it there, and keeps it in place while the parser runs, on one thread.
        unsafe user!.assumingMemoryBound(to: Self.self)
    }
}

/// The start tag of an element.
@safe struct XMLTag {
    // SAFETY: names are in the parser's dictionary, where equal ones have equal addresses; the attributes are there while
    // the callback runs.
    let name, namespace: UnsafePointer<xmlChar>?
    let hasPrefix: Bool
    let attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    let count: Int

    @inline(__always)
    init(
        _ name: UnsafePointer<xmlChar>?, prefix: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int32
    ) {
        unsafe (self.name, self.namespace, self.attributes) = (name, namespace, attributes)
        unsafe hasPrefix = prefix != nil
        self.count = Int(count)
    }

    /// An attribute without a namespace, by its number; nil for one that has one.
    @inline(__always)
    func attribute(_ index: Int) -> (name: UnsafePointer<xmlChar>?, value: UnsafeBufferPointer<UInt8>)? {
        // SAFETY: libxml2 passes five pointers per attribute: name, prefix, namespace, start and end of the value.
        guard let attribute = unsafe attributes.map({ unsafe $0 + index * 5 }), unsafe attribute[1] == nil,
            let start = unsafe attribute[3], let end = unsafe attribute[4]
        else { return nil }
        return unsafe (attribute[0], UnsafeBufferPointer(start: start, count: end - start))
    }
}

/// Where a parser stands in a document, and why it was stopped.
@safe struct XMLDocument {
    // SAFETY: the context lives as long as the `XMLReader` that owns it and the content.
    let context: xmlParserCtxtPtr
    /// The name for messages.
    let file: String
    /// Elements within elements, the root included.
    private(set) var depth = 0
    /// The namespace of the root.
    private(set) var rootNamespace: UnsafePointer<xmlChar>?
    private(set) var failure: TraceError?
    /// Whether a recording in it says that somebody went on foot.
    private(set) var isOnFoot = false

    private let linesBefore: Int

    init(file: String, linesBefore: Int, context: xmlParserCtxtPtr) {
        self.file = file
        self.linesBefore = linesBefore
        unsafe self.context = context
    }

    /// The parser's line, from 1 on in the first document.
    @inline(__always)
    var line: Int { linesBefore + Int(unsafe hereabouts_xml_line(context)) }

    /// Takes what a recording says it is: `hiking`, `Running`, `trail_run`.
    mutating func takeActivity(_ text: UnsafeBufferPointer<UInt8>) {
        let letters = unsafe text.map { byte -> UInt8 in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) ? byte | 0x20 : 0
        }
        for word in letters.split(separator: 0) {
            if ["hik", "walk", "run"].contains(where: { word.starts(with: $0.utf8) }) { isOnFoot = true }
        }
    }

    /// Stops the parser.
    mutating func fail(_ error: TraceError) {
        guard failure == nil else { return }
        failure = error
        unsafe xmlStopParser(context)
    }

    /// Counts an element; false where a limit is exceeded.
    @inline(__always)
    fileprivate mutating func enter(_ tag: XMLTag) -> Bool {
        depth += 1
        guard depth <= XMLLimits.depth else {
            fail(.nestedTooDeep(file: file, line: line))
            return false
        }
        guard tag.count <= XMLLimits.attributes, unsafe hereabouts_xml_namespaces(context) <= XMLLimits.namespaces
        else {
            fail(.tagTooLong(file: file, line: line))
            return false
        }
        if depth == 1 { unsafe rootNamespace = tag.namespace }
        return true
    }

    @inline(__always)
    fileprivate mutating func leave() { depth -= 1 }

    /// A name as the parser's own dictionary holds it: equal names have equal addresses.
    func name(_ text: String) -> UnsafePointer<xmlChar>? { unsafe xmlDictLookup(context.pointee.dict, text, -1) }

    /// A SAX2 handler with these callbacks.
    static func handler(
        start: startElementNsSAX2Func, end: endElementNsSAX2Func, characters: charactersSAXFunc,
        documentType: internalSubsetSAXFunc
    ) -> xmlSAXHandler {
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = hereabouts_sax2_magic()
        unsafe handler.startElementNs = start
        unsafe handler.endElementNs = end
        unsafe handler.characters = characters
        unsafe handler.internalSubset = documentType
        // Without a handler of its own libxml2 would print the offending text.
        unsafe handler.serror = { _, _ in }
        return unsafe handler
    }
}

/// The text of an element that holds one short value.
struct XMLText: ~Copyable {
    /// The longest that is kept, in bytes: more than any time or number has.
    private static let maximumBytes = 100
    private var text = ByteBuffer(capacity: 128)

    mutating func removeAll() { text.removeAll() }

    /// Appends some of it. Where there is more than any value has, it cannot be read, whatever follows.
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard text.count + bytes.count <= Self.maximumBytes else {
            if text.count <= Self.maximumBytes { text.append("x") }
            return
        }
        unsafe text.append(bytes)
    }

    /// The bytes, for the time of the call.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result { unsafe text.withBytes(body) }
}
