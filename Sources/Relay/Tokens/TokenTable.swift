internal import CNettle

/// The tokens that are in force, by their digests.
package struct TokenTable: Sendable {
    /// By the digest's first eight bytes. Finding an entry takes a time that depends on them, and so tells at most
    /// something of SHA-256 of what was presented: who presents texts cannot steer that towards a digest that is kept,
    /// and no text follows from it. Whole digests are compared in constant time.
    private var buckets: [UInt64: [KeptToken]] = [:]

    /// How many there are.
    package private(set) var count = 0

    package init(_ tokens: [KeptToken] = []) {
        for token in tokens { add(token) }
    }

    /// Adds a token. One whose digest has not 32 bytes is never found.
    package mutating func add(_ token: KeptToken) {
        buckets[Self.prefix(token.digest), default: []].append(token)
        count += 1
    }

    /// Removes a token; false where there is none.
    ///
    /// - Complexity: linear in the tokens.
    package mutating func remove(_ id: Int64) -> Bool {
        guard let prefix = buckets.first(where: { $0.value.contains { $0.id == id } })?.key else { return false }
        buckets[prefix]?.removeAll { $0.id == id }
        if buckets[prefix]?.isEmpty == true { buckets[prefix] = nil }
        count -= 1
        return true
    }

    /// All of them, in order of their ids.
    package var tokens: [KeptToken] { buckets.values.flatMap(\.self).sorted { $0.id < $1.id } }

    /// Whose token a presented text is; nil for any other text.
    package func holder(of text: some Collection<UInt8>) -> KeptToken.Holder? { token(of: text)?.holder }

    /// The token that a presented text is; nil for any other text.
    package func token(of text: some Collection<UInt8>) -> KeptToken? {
        guard text.count == Token.characterCount else { return nil }
        let digest = Token.digest(of: text)
        return buckets[Self.prefix(digest)]?.first { kept in
            // SAFETY: both have as many bytes as are compared.
            unsafe kept.digest.count == digest.count && nettle_memeql_sec(kept.digest, digest, digest.count) == 1
        }
    }

    private static func prefix(_ digest: [UInt8]) -> UInt64 {
        digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension TokenTable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many there are, and nothing of them.
    package var description: String { "TokenTable(\(count) tokens)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
