internal import CNettle

/// The tokens that are in force, by their digests.
package struct TokenTable: Sendable {
    private struct Entry: Sendable {
        let id: Int64
        let holder: KeptToken.Holder
        /// The digest's halves.
        let first, rest: UInt128
        let end: Int64?
        let madeDay: Int32?
        var usedDay: Int32?
    }

    /// In order of the digests' first halves. Finding an entry takes a time that depends on it, and so tells at most something of
    /// SHA-256 of what was presented: who presents texts cannot steer that towards a digest that is kept, and no text
    /// follows from it. Whole digests are compared in constant time.
    private var entries: [Entry] = []
    /// The next moment at which one holds no more, in seconds since 1970; nil where none has an end.
    package private(set) var nextEnd: Int64?

    /// How many there are.
    package var count: Int { entries.count }

    package init(_ tokens: [KeptToken] = []) {
        entries = tokens.compactMap(Self.entry).sorted { $0.first < $1.first }
        nextEnd = tokens.compactMap(\.end).min()
    }

    /// Adds a token. One whose digest has not 32 bytes is left out: no text has it.
    ///
    /// - Complexity: linear in the tokens.
    package mutating func add(_ token: KeptToken) {
        guard let entry = Self.entry(token) else { return }
        entries.insert(entry, at: place(of: entry.first))
        nextEnd = [nextEnd, token.end].compactMap(\.self).min()
    }

    /// Removes a token; false where there is none.
    ///
    /// - Complexity: linear in the tokens.
    package mutating func remove(_ id: Int64) -> Bool {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return false }
        if entries.remove(at: place).end != nil { nextEnd = entries.compactMap(\.end).min() }
        return true
    }

    /// Notes the day of a token's use; false where it was noted before.
    ///
    /// - Complexity: O(log n).
    package mutating func noteUse(of token: KeptToken, day: Int64) -> Bool {
        guard token.usedDay != day, let (first, _) = Self.halves(token.digest),
            let place = entries[place(of: first)...].firstIndex(where: { $0.id == token.id })
        else { return false }
        entries[place].usedDay = Int32(truncatingIfNeeded: day)
        return true
    }

    /// All of them, in order of their ids.
    package var tokens: [KeptToken] {
        entries.map(Self.token).sorted { $0.id < $1.id }
    }

    /// Whose token a presented text is; nil for any other text.
    ///
    /// - Complexity: O(log n).
    package func holder(of text: some Collection<UInt8>) -> KeptToken.Holder? { token(of: text)?.holder }

    /// The token that a presented text is; nil for any other text.
    package func token(of text: some Collection<UInt8>) -> KeptToken? {
        // One that was pasted may have blanks around it.
        let text = Array(text.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed())
        guard text.count == Token.characterCount else { return nil }
        let digest = Token.digest(of: text)
        guard let (first, _) = Self.halves(digest) else { return nil }
        return entries[place(of: first)...].lazy.prefix { $0.first == first }.map(Self.token).first { kept in
            // SAFETY: both have as many bytes as are compared.
            unsafe nettle_memeql_sec(kept.digest, digest, digest.count) == 1
        }
    }

    /// Where the first entry is that is not before a half.
    private func place(of first: UInt128) -> Int {
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].first < first { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func entry(_ token: KeptToken) -> Entry? {
        halves(token.digest).map { first, rest in
            Entry(
                id: token.id, holder: token.holder, first: first, rest: rest, end: token.end,
                madeDay: token.madeDay.map { Int32(truncatingIfNeeded: $0) },
                usedDay: token.usedDay.map { Int32(truncatingIfNeeded: $0) })
        }
    }

    private static func token(_ entry: Entry) -> KeptToken {
        KeptToken(
            id: entry.id, holder: entry.holder, digest: bytes(entry.first) + bytes(entry.rest),
            madeDay: entry.madeDay.map(Int64.init), usedDay: entry.usedDay.map(Int64.init), end: entry.end)
    }

    private static func bytes(_ half: UInt128) -> [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt128($0)) }
    }

    private static func halves(_ digest: [UInt8]) -> (UInt128, UInt128)? {
        guard digest.count == Token.digestByteCount else { return nil }
        let halves = [digest.prefix(16), digest.suffix(16)].map { $0.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } }
        return (halves[0], halves[1])
    }
}

extension TokenTable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many there are, and nothing of them.
    package var description: String { "TokenTable(\(count) tokens)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
