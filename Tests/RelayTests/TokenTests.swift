import FixedRandom
import Hereabouts
import Testing

@testable import Relay

@Suite("Tokens") struct TokenTests {
    @Test func `a token is 128 bits in base64url`() throws {
        var random = SplitMix64(seed: 4)
        var bits = SplitMix64(seed: 4)
        for _ in 0..<100 {
            let token = Token(random: &random)
            #expect(token.text.utf8.count == 22)
            var value: UInt128 = 0
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            for character in token.text {
                let place = try #require(alphabet.firstIndex(of: character))
                value = value << 6 | UInt128(alphabet.distance(from: alphabet.startIndex, to: place))
            }
            #expect(value == UInt128(bits.next()) << 64 | UInt128(bits.next()))
        }
    }

    @Test func `no two are alike`() { #expect(Set((0..<1000).map { _ in Token().text }).count == 1000) }

    @Test func `a digest is SHA-256, as FIPS 180-4 has it`() {
        // The example of one block.
        let expected: [UInt8] = [
            0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03,
            0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
        ]
        #expect(Token.digest(of: "abc".utf8) == expected)
    }

    @Test func `a clock at the end of times, or a lifetime beyond it, ends no relay`() throws {
        let harness = try Harness()
        let token = try harness.relay.addToken(.owner, for: .max)
        #expect(harness.relay.holder(of: token.text.utf8) == .owner)
        harness.clock.now = Timestamp(clockSeconds: .max, nanoseconds: 999_999_999)
        #expect(harness.clock.now == .latestOfClocks)
        // What is next lies ahead, or the loop would turn without end.
        for _ in 0..<3 { #expect(harness.relay.turn() > harness.clock.now) }
        #expect(harness.relay.holder(of: token.text.utf8) == .owner)
    }

    @Test func `a text is whose token it is, until that is removed`() {
        let phone = Token(), page = Token(), owner = Token()
        var table = TokenTable([
            KeptToken(id: 1, holder: .device("phone"), digest: phone.digest),
            KeptToken(id: 2, holder: .consumer("page"), digest: page.digest),
        ])
        table.add(KeptToken(id: 3, holder: .owner, digest: owner.digest))
        #expect(table.holder(of: phone.text.utf8) == .device("phone"))
        #expect(table.holder(of: page.text.utf8) == .consumer("page"))
        #expect(table.holder(of: Array(owner.text.utf8)) == .owner)
        #expect(table.tokens.map(\.id) == [1, 2, 3])
        let removed = [table.remove(4), table.remove(2), table.remove(2)]
        #expect(removed == [false, true, false])
        #expect(table.holder(of: page.text.utf8) == nil)
        #expect(table.count == 2)
    }

    @Test func `any other text is nobody's`() {
        let token = Token()
        let table = TokenTable([
            KeptToken(id: 1, holder: .owner, digest: token.digest), KeptToken(id: 2, holder: .owner, digest: []),
        ])
        #expect(table.holder(of: "".utf8) == nil)
        #expect(table.holder(of: (token.text + "A").utf8) == nil)
        #expect(table.holder(of: token.text.dropLast().utf8) == nil)
        #expect(table.holder(of: Token.digest(of: token.text.utf8)) == nil)
        for place in 0..<22 {
            var bytes = Array(token.text.utf8)
            bytes[place] ^= 1
            #expect(table.holder(of: bytes) == nil)
        }
        #expect(table.holder(of: [UInt8](repeating: 0xFF, count: 1 << 16)) == nil)
    }

    @Test func `the same prefix of a digest is not the same token`() {
        let token = Token()
        let other = Array(token.digest.prefix(31)) + [token.digest[31] ^ 1]
        let table = TokenTable([
            KeptToken(id: 1, holder: .device("other"), digest: other),
            KeptToken(id: 2, holder: .owner, digest: token.digest),
        ])
        #expect(table.holder(of: token.text.utf8) == .owner)
    }

    @Test func `no description has a token`() {
        let token = Token()
        var dumped = ""
        dump(token, to: &dumped)
        dump(TokenTable([KeptToken(id: 1, holder: .owner, digest: token.digest)]), to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped, "\([token])"] {
            #expect(!text.contains(token.text))
        }
    }
}
