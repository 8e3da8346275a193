import FixedRandom
import Foundation
import GeoBridge
import Testing

@Suite struct TransformerTests {
    @Test func `web Mercator agrees with its formula`() throws {
        let transformer = try Transformer(PROJContext(), from: "EPSG:4326", to: "EPSG:3857")
        var random = SplitMix64(seed: 6)
        var flat: [Double] = []
        for _ in 0..<1_000 {
            flat += [.random(in: -179...179, using: &random), .random(in: -80...80, using: &random)]
        }
        let degrees = flat
        try transformer.transform(&flat)
        for index in stride(from: 0, to: flat.count, by: 2) {
            let (longitude, latitude) = (degrees[index] * .pi / 180, degrees[index + 1] * .pi / 180)
            // Longitude first, whatever EPSG says of the axes. A tangent near 80 degrees keeps 1e-8 m easily.
            #expect(abs(flat[index] - 6_378_137 * longitude) < 1e-6)
            #expect(abs(flat[index + 1] - 6_378_137 * asinh(tan(latitude))) < 1e-6)
        }
        try transformer.transform(&flat, .inverse)
        for (back, there) in zip(flat, degrees) { #expect(abs(back - there) < 1e-9) }
    }

    @Test func `a batch gives what single positions give`() throws {
        let context = try PROJContext()
        let transformer = try Transformer(context, from: "EPSG:4326", to: "EPSG:32613")
        var random = SplitMix64(seed: 7)
        var batch: [Double] = []
        for _ in 0..<500 { batch += [.random(in: -108 ... -102, using: &random), .random(in: 0...70, using: &random)] }
        let degrees = batch
        try transformer.transform(&batch)
        for index in stride(from: 0, to: batch.count, by: 2) {
            var one = [degrees[index], degrees[index + 1]]
            try transformer.transform(&one)
            #expect(one == [batch[index], batch[index + 1]])
        }
        // On the central meridian the easting is 500 km by definition.
        var middle = [-105.0, 40]
        try transformer.transform(&middle)
        #expect(abs(middle[0] - 500_000) < 1e-6)
    }

    @Test func `a pipeline takes degrees`() throws {
        let transformer = try Transformer(PROJContext(), pipeline: "+proj=laea +lat_0=52 +lon_0=10 +ellps=WGS84")
        var flat = [10.0, 52]
        try transformer.transform(&flat)
        #expect(abs(flat[0]) < 1e-6 && abs(flat[1]) < 1e-6)
        try transformer.transform(&flat, .inverse)
        #expect(abs(flat[0] - 10) < 1e-9 && abs(flat[1] - 52) < 1e-9)
    }

    @Test func `what has no image is named by its index, without numbers of its own`() throws {
        let transformer = try Transformer(PROJContext(), pipeline: "+proj=ortho +lat_0=0 +lon_0=0 +ellps=WGS84")
        var flat = [0.0, 0, 10, 10, 170.125, 20, 5, 5]
        do throws(PROJError) {
            try transformer.transform(&flat)
            Issue.record("the far side of the Earth was seen")
        } catch {
            guard case .transformFailed(index: 2, let message) = error else {
                Issue.record("another error: \(error)")
                return
            }
            #expect(!message.isEmpty)
            #expect(message.allSatisfy { !$0.isNumber })
        }
        var again = [0.0, 0, 170, 20, .nan, 5, 5, 5]
        let failures = try transformer.transformEach(&again)
        #expect(failures == 2)
        #expect(again.map(\.isNaN) == [false, false, true, true, true, true, false, false])
        var latitudeTooHigh = [0.0, 91]
        #expect(throws: PROJError.self) { try transformer.transform(&latitudeTooHigh) }
    }

    @Test func `bad definitions and odd buffers are refused`() throws {
        let context = try PROJContext()
        func failure(_ body: () throws(PROJError) -> Void) -> PROJError? {
            do throws(PROJError) {
                try body()
                return nil
            } catch {
                return error
            }
        }
        let unknown = failure { () throws(PROJError) in
            _ = try Transformer(context, from: "EPSG:4326", to: "EPSG:99999999")
        }
        guard case .unknownTransformation(let message) = unknown else {
            Issue.record("another error")
            return
        }
        #expect(!message.isEmpty)
        let nonsense = failure { () throws(PROJError) in _ = try Transformer(context, from: "", to: "nonsense") }
        #expect(nonsense != nil)
        let pipeline = failure { () throws(PROJError) in _ = try Transformer(context, pipeline: "+proj=nonesuch") }
        guard case .invalidPipeline(let reason) = pipeline else {
            Issue.record("another error")
            return
        }
        #expect(!reason.isEmpty)
        let transformer = try Transformer(context, pipeline: "+proj=merc +ellps=WGS84")
        var odd = [0.0, 1, 2]
        #expect(throws: PROJError.oddCoordinateCount) { try transformer.transform(&odd) }
        var none: [Double] = []
        try transformer.transform(&none)
        #expect(none.isEmpty)
    }

    @Test func `two workers at once`() async throws {
        @Sendable func work() throws -> [Double] {
            let transformer = try Transformer(PROJContext(), from: "EPSG:4326", to: "EPSG:32613")
            var flat: [Double] = []
            for step in 0..<10_000 { flat += [-105 + Double(step) * 1e-5, 30 + Double(step) * 1e-4] }
            try transformer.transform(&flat)
            return flat
        }
        async let first = work()
        async let second = work()
        let (a, b) = try await (first, second)
        #expect(a == b)
        #expect(a.count == 20_000)
    }
}
