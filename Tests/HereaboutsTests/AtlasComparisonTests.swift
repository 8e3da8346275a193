import AtlasFixture
import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

/// Whether regions of two atlases have the same cells.
@Suite struct AtlasComparisonTests {
    private static let world: Atlas? = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("data/world.atlas")
        return try? Atlas(contentsOf: file.path)
    }()

    /// The small fixture, with circles that reach over the level-7 cells of its divided regions.
    private static func atlas(_ change: (inout AtlasFixture) -> Void = { _ in }) throws -> Atlas {
        var fixture = AtlasFixture.small
        for index in 6..<fixture.regions.count { fixture.regions[index].accuracy = 81_000 }
        change(&fixture)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(fixture.file().bytes).write(to: file)
        return try Atlas(contentsOf: file.path)
    }

    @Test func `a region is itself and not its neighbor`() throws {
        let world = try #require(Self.world)
        var random = SplitMix64(seed: 7)
        for _ in 0..<40 {
            let region = Region(index: UInt32(random.next() % UInt64(world.regionCount)))
            let other = Region(index: UInt32(random.next() % UInt64(world.regionCount)))
            #expect(world.hasCells(of: region, as: region, of: world))
            #expect(!world.hasCells(of: region, as: other, of: world) || region == other)
            let center = world.center(of: region)
            let near = try world.snap(latitude: min(90, center.latitude + 0.3), longitude: center.longitude)
            #expect(!world.hasCells(of: region, as: near, of: world) || region == near)
        }
    }

    /// One cell, and one vertex of a cut, are another region.
    @Test func `a difference is of the regions that have it`() throws {
        let old = try Self.atlas(), same = try Self.atlas { $0.about = "{\"other\":true}" }
        #expect(old.fingerprint != same.fingerprint)
        func different(_ other: Atlas) -> [UInt32] {
            (6..<10).filter { !old.hasCells(of: Region(index: $0), as: Region(index: $0), of: other) }
        }
        #expect(different(same) == [])
        // In the circle of the seventh and in that of the sixth, which lie apart.
        let cell = try Self.atlas { $0.blocks[1].values[1] = .region(7) }
        #expect(different(cell) == [7])
        let other = try Self.atlas { $0.blocks[0].values[3] = .region(6) }
        #expect(different(other) == [6])
        let vertex = try Self.atlas { $0.cuts[0].chains[0].vertices[1] += 1 }
        #expect(different(vertex) == [6])
        let code = try Self.atlas { $0.cuts[0].regions.swapAt(0, 1) }
        #expect(different(code) == [6])
    }
}
