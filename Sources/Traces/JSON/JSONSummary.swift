import TextCoding

/// A recording inside of an object that has a position of its own: a summary beside its samples, as exports of sport watches
/// are. Read as a record it would be the summary, one position of a whole day.
struct JSONSummary {
    /// A step from a value into one of its parts.
    enum Step: Equatable {
        case member(String)
        case elements
    }

    /// The way from the first record to the array of the samples.
    let path: [Step]

    /// Finds the samples in an object's text; nil where it has none, or is not well-formed.
    ///
    /// - Complexity: O(bytes).
    init?(_ object: [UInt8]) {
        var search = Search(JSONScanner(object))
        guard search.scanner.peek() == UInt8(ascii: "{"), (try? search.walk()) != nil, let path = search.found else {
            return nil
        }
        self.path = path
    }

    /// Looks for arrays of objects that have positions.
    private struct Search {
        var scanner: JSONScanner
        /// The way to the current value.
        private var path: [Step] = []
        /// The first array that was found, by its end.
        private(set) var found: [Step]?

        init(_ scanner: JSONScanner) { self.scanner = scanner }

        /// Walks over a value.
        ///
        /// - Returns: whether it is an object that has a position, its own or that of one of its members.
        mutating func walk() throws(JSONScanner.Failure) -> Bool {
            switch scanner.peek() {
            case UInt8(ascii: "{"): return try walkObject()
            case UInt8(ascii: "["):
                if try walkArray(), found == nil { found = path }
                return false
            default:
                try scanner.skipValue()
                return false
            }
        }

        private mutating func walkObject() throws(JSONScanner.Failure) -> Bool {
            try scanner.open(UInt8(ascii: "{"))
            var names: [String] = []
            var hasPosition = false
            var isFirst = true
            while let name = try scanner.nextKey(&isFirst) {
                let isScalar = scanner.peek() != UInt8(ascii: "{") && scanner.peek() != UInt8(ascii: "[")
                if isScalar, names.count < 1 << 10 { names.append(name) }
                path.append(.member(name))
                if try walk() { hasPosition = true }
                path.removeLast()
            }
            return hasPosition || CSVHeader(names: names).hasPosition(CSVOptions())
        }

        /// - Returns: whether an element is an object that has a position.
        private mutating func walkArray() throws(JSONScanner.Failure) -> Bool {
            try scanner.open(UInt8(ascii: "["))
            var hasPosition = false
            var isFirst = true
            path.append(.elements)
            while try scanner.nextElement(&isFirst) {
                if try walk() { hasPosition = true }
            }
            path.removeLast()
            return hasPosition
        }
    }

    /// The samples as `jq` names them: `.exercises[].samples.route[]`; nil where a name may be data.
    var filter: String? {
        var text = ""
        for step in path {
            switch step {
            case .elements: text += "[]"
            case .member(let name):
                guard let name = shownName(name) else { return nil }
                let isPlain =
                    name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || Self.isLetter($0) }
                    && name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
                guard isPlain || name.utf8.allSatisfy({ $0 >= 0x20 && !"\"'\\".utf8.contains($0) }) else { return nil }
                text += isPlain ? ".\(name)" : ".\"\(name)\""
            }
        }
        return text + "[]"
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & ~0x20) }
}

extension InputReader {
    /// Looks into the first object for samples, where the object has a position of its own that no option names. Nothing is
    /// consumed.
    ///
    /// - Throws: `summaryBesideSamples`.
    mutating func requireNoSamples(_ options: CSVOptions) throws(TraceError) {
        guard options.latitudeColumn == nil, options.longitudeColumn == nil, options.positionColumn == nil else {
            return
        }
        let kind = try kindOfJSON() ?? .lines
        var summary: JSONSummary?
        unsafe try peek { bytes, isAtEnd in
            let object =
                unsafe kind == .lines ? firstTextLine(bytes, isAtEnd) : firstValue(bytes, isArray: kind == .array)
            guard let object else { return false }
            summary = JSONSummary(object)
            return true
        }
        if let summary { throw .summaryBesideSamples(file: label, filter: summary.filter) }
    }
}

/// The first line that is not blank; nil where more bytes are needed.
private func firstTextLine(_ bytes: UnsafeBufferPointer<UInt8>, _ isAtEnd: Bool) -> [UInt8]? {
    let text = unsafe bytes.drop { $0 <= 0x20 }
    guard let end = unsafe text.firstIndex(of: 10) ?? (isAtEnd ? text.endIndex : nil) else { return nil }
    return unsafe Array(text[..<end])
}

/// The first whole value, or the first of an array; nil where more bytes are needed.
private func firstValue(_ bytes: UnsafeBufferPointer<UInt8>, isArray: Bool) -> [UInt8]? {
    var values = JSONValues(isInArray: isArray, isOpen: false)
    return unsafe values.next(bytes).map { unsafe Array(bytes[$0]) }
}
