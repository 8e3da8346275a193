import NIOHTTP1

/// What a relay reads of a request's header fields, found in one pass: each look-up by name goes through all of them.
struct RequestFields {
    var authorization: [String] = []
    var hostCount = 0
    var transferEncoding: [String] = [], contentEncoding: [String] = [], expect: [String] = []
    /// The first of them.
    var userAgent: String?

    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            // Most names are told by their length.
            switch name.utf8.count {
            case 4: if Self.isSame(name, "host") { hostCount += 1 }
            case 6: if Self.isSame(name, "expect") { expect.append(value) }
            case 10: if userAgent == nil, Self.isSame(name, "user-agent") { userAgent = value }
            case 13: if Self.isSame(name, "authorization") { authorization.append(value) }
            case 16: if Self.isSame(name, "content-encoding") { contentEncoding.append(value) }
            case 17: if Self.isSame(name, "transfer-encoding") { transferEncoding.append(value) }
            default: break
            }
        }
    }

    /// Whether a name is that of a field, in letters of either case.
    private static func isSame(_ name: String, _ field: String) -> Bool {
        zip(name.utf8, field.utf8).allSatisfy { $0 == $1 || $0 ^ 0x20 == $1 && $1 >= 0x61 }
    }
}
