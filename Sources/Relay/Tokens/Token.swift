internal import CNettle

/// A token as its holder has it: 128 bits from the system's generator, written as 22 characters of base64url (RFC 4648,
/// section 5, without padding).
///
/// It prints, dumps and reflects as redacted; `text` is for showing it once.
package struct Token: Hashable, Sendable {
    /// The length of the text, and of its digest.
    static let characterCount = 22, digestByteCount = 32
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package let text: String

    /// A new one.
    package init() {
        var system = SystemRandomNumberGenerator()
        self.init(random: &system)
    }

    init(random: inout some RandomNumberGenerator) {
        var bits = UInt128(random.next() as UInt64) << 64 | UInt128(random.next() as UInt64)
        var characters: [UInt8] = []
        // The first of 22 characters has the two bits that the others leave.
        for _ in 0..<Self.characterCount {
            characters.append(Self.alphabet[Int(bits & 63)])
            bits >>= 6
        }
        text = String(decoding: characters.reversed(), as: UTF8.self)
    }

    init(text: String) { self.text = text }

    /// Nil for what is not written as a token is.
    package init?(validating text: String) {
        guard text.utf8.count == Self.characterCount, text.utf8.allSatisfy(Self.alphabet.contains) else { return nil }
        self.init(text: text)
    }

    /// SHA-256 of its text, which is what is kept of it. A hash without salt or stretching is enough for 128 random
    /// bits: nobody can try them all.
    package var digest: [UInt8] { Self.digest(of: text.utf8) }

    /// SHA-256 of a presented text.
    static func digest(of text: some Collection<UInt8>) -> [UInt8] {
        var context = sha256_ctx()
        var digest = [UInt8](repeating: 0, count: digestByteCount)
        let bytes = Array(text)
        // SAFETY: each call reads or writes as many bytes as it is told, which the arrays have.
        unsafe nettle_sha256_init(&context)
        unsafe nettle_sha256_update(&context, bytes.count, bytes)
        unsafe nettle_sha256_digest(&context, digest.count, &digest)
        return digest
    }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "Token(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

// As its text: the answer that carries a new token goes over the owner's socket.
extension Token: Codable {
    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
