/// XXH64 with seed 0, the checksum of atlas and state files.
///
/// Each step is a bijection of its lane for a given word and of the word for a given lane, so any change within one
/// 8-byte word is detected; any other change is, but for a chance of 2⁻⁶⁴. Specification: the xxHash project, `doc/xxhash_spec.md`.
package enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87, prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9, prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of some bytes. Linear.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        // SAFETY: every load ends at or before `count`.
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var at = 0
        var hash = prime5
        if count >= 32 {
            var lane0 = prime1 &+ prime2, lane1 = prime2, lane2: UInt64 = 0, lane3 = 0 &- prime1
            while at &+ 32 <= count {
                lane0 = round(lane0, word(at))
                lane1 = round(lane1, word(at &+ 8))
                lane2 = round(lane2, word(at &+ 16))
                lane3 = round(lane3, word(at &+ 24))
                at &+= 32
            }
            hash = rotated(lane0, 1) &+ rotated(lane1, 7) &+ rotated(lane2, 12) &+ rotated(lane3, 18)
            hash = merged(merged(merged(merged(hash, lane0), lane1), lane2), lane3)
        }
        hash &+= UInt64(count)
        while at &+ 8 <= count {
            hash = rotated(hash ^ round(0, word(at)), 27) &* prime1 &+ prime4
            at &+= 8
        }
        if at &+ 4 <= count {
            let half = UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            hash = rotated(hash ^ UInt64(half) &* prime1, 23) &* prime2 &+ prime3
            at &+= 4
        }
        while at < count {
            hash = rotated(hash ^ UInt64(unsafe bytes[at]) &* prime5, 11) &* prime1
            at &+= 1
        }
        hash = (hash ^ hash &>> 33) &* prime2
        hash = (hash ^ hash &>> 29) &* prime3
        return hash ^ hash &>> 32
    }

    /// The hash of an array's bytes.
    package static func hash(_ bytes: [UInt8]) -> UInt64 { unsafe bytes.withUnsafeBytes { unsafe hash($0) } }

    @inline(__always)
    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotated(lane &+ word &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merged(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    @inline(__always)
    private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value &<< bits | value &>> (64 &- bits) }
}
