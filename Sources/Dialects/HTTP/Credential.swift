/// What an `Authorization` header presents. Printing or reflecting one shows nothing of it.
package enum Credential: Hashable, Sendable {
    /// RFC 7617.
    case basic(user: [UInt8], password: [UInt8])
    /// RFC 6750; also what Overland's OwnTracks mode sends as `Basic TOKEN:`, not in base 64. The colon may be missing.
    case token([UInt8])

    /// Parses a header's value; nil for another scheme, and for what is longer than `DialectLimits.authorizationByteCount`.
    package init?(authorization: some Collection<UInt8>) {
        guard authorization.count <= DialectLimits.authorizationByteCount else { return nil }
        let parts = authorization.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2 else { return nil }
        let value = Array(parts[1].drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 || $0 == 9 }.reversed())
        guard !value.isEmpty else { return nil }
        switch String(decoding: parts[0], as: UTF8.self).lowercased() {
        case "bearer": self = .token(value)
        case "basic":
            // A colon is no digit of base 64.
            if let colon = value.firstIndex(of: UInt8(ascii: ":")) {
                guard colon == value.count - 1, colon > 0 else { return nil }
                self = .token(Array(value.dropLast()))
                return
            }
            if let text = Self.decoded(value), let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                self = .basic(user: Array(text[..<colon]), password: Array(text[(colon + 1)...]))
            } else {
                self = .token(value)
            }
        default: return nil
        }
    }

    /// Base 64 (RFC 4648, section 4), with or without padding; nil for anything else.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        let digits = Array(text.reversed().drop { $0 == UInt8(ascii: "=") }.reversed())
        guard text.count - digits.count <= 2, digits.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        var bits: UInt32 = 0, count = 0
        for byte in digits {
            guard let value = digit(byte) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bits & ((1 << UInt32(count)) - 1) == 0 ? result : nil
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing.
    package var description: String { "Credential(redacted)" }
    /// Shows nothing.
    package var debugDescription: String { description }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}
