import AtlasFixture
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// `--state-from`: a state of another atlas goes on in this one, with all paces and the regions that both have.
@Suite struct StateOriginTests {
    private let scratch = Scratch()

    private func atlas(_ name: String, _ change: (inout AtlasFixture) -> Void = { _ in }) throws -> Atlas {
        var fixture = AtlasFixture.small
        for index in 6..<fixture.regions.count { fixture.regions[index].accuracy = 81_000 }
        fixture.blocks[0] = .init([(0, .region(6)), (0xFFFF, .region(7))])
        change(&fixture)
        return try Atlas(contentsOf: scratch.write(fixture.file().bytes, as: name))
    }

    /// A fix of each device: near the middle of a face, whose region both atlases have, and where the atlases differ nearby.
    private func table(_ seconds: Int) -> [UInt8] {
        let place = AtlasFixture.places[0]
        return Array("id,time,lat,lon\na,\(seconds),0.1,0.1\nb,\(seconds),\(place.latitude),\(place.longitude)\n".utf8)
    }

    private func run(
        _ atlas: Atlas, _ seconds: Int, from origin: StateOrigin? = nil, _ emission: Emission = .changes
    ) -> Outcome {
        var options = ConvertRun.Options()
        (options.format, options.now, options.earliest) = (.csv, testNow, Timestamp(nanosecondsSince1970: .min))
        (options.state, options.stateOrigin, options.emission) = (scratch.path("state"), origin, emission)
        options.allowsEmpty = true
        let file = scratch.write(table(seconds), as: "input.csv")
        var outcome = observed(scratch) { output, observer throws(TraceError) in
            try ConvertRun.run([.file(file)], to: output, atlas: atlas, options: options, observer: observer)
        }
        outcome.forget(scratch)
        return outcome
    }

    @Test(arguments: [Emission.changes, .stays]) func `paces go on and regions that both have`(
        _ emission: Emission
    ) throws {
        let old = try atlas("old.atlas")
        let new = try atlas("new.atlas") {
            $0.blocks[0] = .init([(0, .region(6)), (0x7000, .region(7)), (0x7400, .region(6))])
        }
        let origin = StateOrigin(old, withheld: nil)
        _ = run(old, 0, emission)
        #expect(run(old, 900, emission).rows.count == (emission == .stays ? 3 : 1))
        let before = scratch.read("state")
        #expect(run(new, 1800, emission).error == .badState(file: scratch.path("state"), .otherAtlas))
        #expect(run(new, 1800, from: StateOrigin(new, withheld: nil), emission).error != nil)
        #expect(scratch.read("state") == before)
        // The tick that was answered stays so.
        let late = run(new, 899, from: origin, emission)
        #expect(late.rows.count == 1 && late.notices.contains(.lateFixes(file: "input.csv", count: 2)))
        let moves = late.notices.compactMap { notice -> [Int]? in
            if case .stateMoved(_, let regions, let dropped) = notice { [regions, dropped] } else { nil }
        }
        #expect(moves == [[2, 1]])
        // It is of the new atlas now, which knows what it answered where it has the region: of the other the next is reported.
        let next = run(new, 1800, from: origin, emission)
        let rows = emission == .stays ? run(new, 2700, from: origin, emission).rows : next.rows
        #expect(rows.count == 2 && rows[1].hasPrefix("b,"))
        #expect(run(old, 3600, emission).error == .badState(file: scratch.path("state"), .otherAtlas))
    }

    @Test func `what was withheld is of the state too`() throws {
        let old = try atlas("old.atlas"), new = try atlas("new.atlas") { $0.about = "{\"new\":1}" }
        let withheld = WithheldRegions([]).requiring(1, in: old)
        _ = run(old, 0)
        #expect(run(new, 900, from: StateOrigin(old, withheld: withheld)).error != nil)
        #expect(run(new, 900, from: StateOrigin(old, withheld: nil)).error == nil)
    }
}
