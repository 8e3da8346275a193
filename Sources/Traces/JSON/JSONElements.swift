internal import CSimdjson

/// Looks at what stands around the elements of lists.
protocol JSONSurroundings: AnyObject {
    /// A list begins.
    ///
    /// - Parameters:
    ///   - head: its object so far, up to the list's bracket.
    ///   - isFirst: whether there was no element before.
    func listBegins(behind head: [UInt8], isFirst: Bool) throws(TraceError)

    /// Bytes that are of no element.
    ///
    /// - Parameter isAtEnd: whether they end the object.
    func passed(_ bytes: UnsafeBufferPointer<UInt8>, line: Int, isAtEnd: Bool) throws(TraceError)
}

/// Cuts a document of any size into the elements of its lists, or into the values that it consists of where it has none.
/// Memory holds the current element, if it does not lie within the bytes at hand.
@safe struct JSONElements {
    /// The longest element that is accepted, in bytes.
    static let maximumBytes = 16 << 20

    /// Who looks at what stands around the elements.
    var surroundings: (any JSONSurroundings)?
    private let file: String
    private var splitter = json_splitter()
    /// Where the current element begins in the bytes at hand; nil where it began before them.
    private var start: Int?
    /// What came of the current element before the bytes at hand, and zeros behind a whole one.
    private var text: [UInt8] = []
    /// Where the whole element is in the bytes at hand; nil where it is in `text`.
    private var range: Range<Int>?
    private var isWhole = false
    private var hasElements = false
    private var line = 1

    /// Whether the current element is one of a list's.
    var isInList: Bool { splitter.is_collection }

    /// - Parameters:
    ///   - lists: which arrays' elements are looked for.
    ///   - isInArray: whether the document is an array of elements whose bracket is gone.
    init(file: String, lists: json_lists, isInArray: Bool = false) {
        self.file = file
        splitter.lists = lists
        splitter.depth = isInArray ? 1 : 0
        splitter.element_depth = splitter.depth
        splitter.before = json_before_opening
    }

    /// Looks for the end of the next element, from an offset of some more bytes on.
    ///
    /// - Returns: whether there is one, which `element` has then. Where there is none, these bytes are read.
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) throws(TraceError) -> Bool {
        if isWhole { text.removeAll(keepingCapacity: true) }
        isWhole = false
        guard let base = bytes.baseAddress else { return false }
        while at < bytes.count {
            let from = at, wasInside = splitter.is_in_element
            // SAFETY: the splitter reads up to the count.
            let event = unsafe hereabouts_json_split(&splitter, base, bytes.count, &at)
            let passed = unsafe UnsafeBufferPointer(rebasing: bytes[from..<at])
            line += unsafe passed.count { $0 == 10 }
            if !wasInside { unsafe try surroundings?.passed(passed, line: line, isAtEnd: splitter.depth == 0) }
            switch event {
            case json_split_start: start = at
            case json_split_end:
                unsafe try end(bytes, at)
                return true
            case json_split_collection:
                if let surroundings {
                    let head = unsafe text + bytes[(start ?? 0)..<at]
                    try surroundings.listBegins(behind: head, isFirst: !hasElements)
                }
                start = nil
                text.removeAll(keepingCapacity: true)
            case json_split_malformed: throw .malformedJSON(file: file, line: line)
            default:
                if splitter.is_in_element { unsafe try keep(bytes[(start ?? 0)...]) }
                start = nil
            }
        }
        // The element may begin with what follows.
        return false
    }

    private mutating func end(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) throws(TraceError) {
        (isWhole, hasElements) = (true, true)
        if let start {
            guard end - start <= Self.maximumBytes else { throw .featureTooLong(file: file, line: line) }
            range = start..<end
        } else {
            unsafe try keep(bytes[..<end])
            text.append(contentsOf: repeatElement(0, count: InputBuffer.padding))
            range = nil
        }
        start = nil
    }

    private mutating func keep(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(TraceError) {
        guard unsafe text.count + bytes.count <= Self.maximumBytes else {
            throw .featureTooLong(file: file, line: line)
        }
        unsafe text.append(contentsOf: bytes)
    }

    /// Shows the element that `next` found last.
    ///
    /// - Parameter bytes: those that `next` was given; `InputBuffer.padding` readable bytes follow them.
    func withElement<Result>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        if let range { return unsafe body(UnsafeBufferPointer(rebasing: bytes[range])) }
        return unsafe text.withUnsafeBufferPointer {
            unsafe body(UnsafeBufferPointer(rebasing: $0[..<($0.count - InputBuffer.padding)]))
        }
    }

    /// - Throws: `malformedJSON` where the document breaks off.
    func finish() throws(TraceError) {
        if splitter.depth > 0 || splitter.is_in_string || splitter.is_in_element {
            throw .malformedJSON(file: file, line: line)
        }
    }
}
