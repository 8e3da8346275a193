import TextCoding

/// Cuts what a gpsd client sends into requests: `?NAME;` or `?NAME={…};`. A request ends at a semicolon, at the brace that
/// closes its argument, or with its line: clients end theirs with any of these. How the bytes come changes nothing.
struct GPSDRequestCutter {
    enum Request {
        case named(String, argument: [UInt8]?)
        /// Something else. The rest of its line is read past: what is in it cannot be told from an argument.
        case unrecognized
        /// Longer than the limit, and read past up to the end of its line.
        case tooLong
    }

    private let limit: Int
    private var text: [UInt8] = []
    /// Of an argument: how many braces are open, and whether they are in a string.
    private var depth = 0
    private var isArgument = false
    private var isInString = false
    private var isEscaped = false
    private var isSkipping = false

    /// - Parameter limit: the longest request, in bytes.
    init(limit: Int) { self.limit = limit }

    /// The requests that end within some more bytes.
    ///
    /// - Complexity: O(size).
    mutating func requests(_ bytes: some Sequence<UInt8>) -> [Request] {
        var requests: [Request] = []
        for byte in bytes {
            if byte == 10 {
                finish(&requests)
                isSkipping = false
            } else if isSkipping {
                continue
            } else if byte == UInt8(ascii: ";"), !isInString, depth == 0 {
                finish(&requests)
            } else if text.count == limit {
                requests.append(.tooLong)
                reset()
                isSkipping = true
            } else {
                text.append(byte)
                if isArgument { follow(byte, &requests) } else { isArgument = byte == UInt8(ascii: "=") }
            }
        }
        return requests
    }

    /// Follows strings and braces, and ends a request with the brace that closes the first one.
    private mutating func follow(_ byte: UInt8, _ requests: inout [Request]) {
        if isInString {
            isInString = isEscaped || byte != JSONString.quote
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            return
        }
        switch byte {
        case JSONString.quote: isInString = true
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"):
            depth -= 1
            if depth <= 0 { finish(&requests) }
        default: break
        }
    }

    private mutating func finish(_ requests: inout [Request]) {
        defer { reset() }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 9 || byte == 13 }
        let request = text.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        guard let first = request.first else { return }
        let name = request.dropFirst().prefix { $0 &- 65 < 26 }
        let rest = request.dropFirst(1 + name.count)
        guard first == UInt8(ascii: "?"), !name.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: "=") else {
            requests.append(.unrecognized)
            isSkipping = true
            return
        }
        requests.append(
            .named(String(decoding: name, as: UTF8.self), argument: rest.isEmpty ? nil : Array(rest.dropFirst())))
    }

    private mutating func reset() {
        text.removeAll(keepingCapacity: true)
        (depth, isArgument, isInString, isEscaped) = (0, false, false, false)
    }
}
