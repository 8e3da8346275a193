import FixedRandom
import Testing

@testable import Hereabouts

@Suite struct XXH64Tests {
    /// What libxxhash 0.8.1 says of the first bytes of the sequence 13, 180, 91, … (167 more each time, modulo 256).
    @Test func `the same as the reference`() {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 167 + 13) }
        let expected: [(count: Int, hash: UInt64)] = [
            (0, 0xef46_db37_51d8_e999), (1, 0x2078_e1ad_38ad_738b), (3, 0x634d_95fc_01a1_89cd),
            (4, 0xeed3_4090_8a1a_c6c6), (5, 0x342b_d7a5_f3e2_edcd), (7, 0x0da4_9362_1d6d_c898),
            (8, 0x76f9_16c7_bb52_3126), (12, 0xfb52_f89a_1dc4_49d2), (15, 0x4e1c_333b_057f_b6a4),
            (31, 0x65c5_feb0_1da7_464d), (32, 0x7665_c921_c9bf_2ec7), (33, 0xb5a9_d9ef_259a_e821),
            (39, 0xe214_8dbb_c5ab_4089), (40, 0xc942_02b2_b088_6774), (44, 0x9959_7b95_f674_0623),
            (63, 0xb028_9cd9_3240_34f0), (64, 0xfff2_525c_99bf_2005), (71, 0x7b9d_c081_227f_f4c7),
            (100, 0x74e5_02db_362e_fd4c), (200, 0x4d9d_64ca_8464_91af),
        ]
        for (count, hash) in expected { #expect(XXH64.hash(Array(bytes[..<count])) == hash, "\(count) bytes") }
    }

    /// What the checksum of format 2 could not see: two flips of the highest bit of words of one lane.
    @Test func `any two flipped high bits are noticed`() {
        var random = SplitMix64(seed: 3)
        let words: [UInt64] = (0..<64).map { _ in random.next() }
        // SAFETY: the bytes are used within the call.
        func hash(_ words: [UInt64]) -> UInt64 { unsafe words.withUnsafeBytes { unsafe XXH64.hash($0) } }
        let sound = hash(words)
        for first in words.indices {
            for second in words.indices where second > first {
                for bits: UInt64 in [1 << 63, 1 << 62, 1 << 63 | 1] {
                    var changed = words
                    changed[first] ^= bits
                    changed[second] ^= bits
                    #expect(hash(changed) != sound)
                }
            }
        }
    }
}
