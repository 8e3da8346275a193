import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

/// Two numbers in two bytes, never saying too much.
@Suite struct AnonymityRecordTests {
    @Test(arguments: [1, 2, 3, 999, 5_000, 20_000, 32_767, 32_768, 10_000_000])
    func `the bound is never above the promise, nor far below it`(anonymity: Int) {
        var random = SplitMix64(seed: UInt64(anonymity))
        for _ in 0..<5_000 {
            let promised = exp2(random.uniform(-3, 26)), residents = promised * exp2(random.uniform(0, 7.9))
            let record = AnonymityRecord(promised: promised, residents: residents, anonymity: anonymity)
            let bound = record.lowerBound(anonymity: anonymity)
            #expect(Double(bound) <= promised)
            // The least that c = 511 stands for.
            let last = Double(anonymity) * exp2(511.0 / 16 - floor(log2(Double(anonymity))) - 2)
            #expect(Double(bound) > min(promised, last) / 1.045 - 1)
            #expect((bound >= anonymity) == (promised >= Double(anonymity)))
            let estimate = Double(record.residents(anonymity: anonymity))
            #expect(estimate >= 1 && estimate + 0.5 >= residents / 1.0225)
            if residents > 1, promised > 1 { #expect(estimate - 0.5 <= residents * 1.0225) }
        }
    }

    @Test func `K is K, nobody is nobody, and a promise of nothing is an estimate all the same`() {
        let exact = AnonymityRecord(promised: 20_000, residents: 20_000, anonymity: 20_000)
        #expect(exact.bits == 256 << 7)
        #expect(exact.lowerBound(anonymity: 20_000) == 20_000 && exact.residents(anonymity: 20_000) == 20_000)
        let nobody = AnonymityRecord(promised: 0, residents: 0, anonymity: 20_000)
        #expect(nobody.bits == 0)
        #expect(nobody.lowerBound(anonymity: 20_000) == 0 && nobody.residents(anonymity: 20_000) == 0)
        let few = AnonymityRecord(promised: 0.01, residents: 0.03, anonymity: 20_000)
        #expect(few.lowerBound(anonymity: 20_000) == 0 && few.residents(anonymity: 20_000) == 1)
    }

    @Test func `any bits are some number, whatever K the file has`() {
        for anonymity in [0, 1, 20_000, Int(UInt32.max)] {
            for bits in 0...UInt16.max {
                let record = AnonymityRecord(bits: bits), bound = record.lowerBound(anonymity: anonymity)
                #expect(bound >= 0 && bound <= max(1, record.residents(anonymity: anonymity)) && bound < 1 << 40)
            }
        }
    }
}
