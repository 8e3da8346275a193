import AtlasFixture
import AtlasFormat
import Foundation
import SmallWorld
import Testing

@testable import AtlasVerifier

/// The small world, listed and measured once for all tests: most changes to it leave cells and shapes as they are.
private enum Shared {
    static let world = Result { try SmallWorld() }
    static let listed = Result {
        let tables = try AtlasTables(bytes: world.get().fixture.bytes)
        let cover = try RegionCover(tables) { _ in }
        return (cover, try AtlasVerifier.measures(cover) { _ in })
    }
    static let fragments = Result { try RegionFragments(listed.get().0) }
}

/// The small world with a cell of one region in the middle of another, a few regions away.
private enum Enclave {
    static let host = SmallWorld.region(face: 0, column: 80, row: 40), owner = host + 4 * 128
    /// A region that touches the host.
    static let neighbor = host + 128
    static let shared = Result { try world(cellOf: owner) }
    static let ofNeighbor = Result { try world(cellOf: neighbor) }

    private static func world(cellOf region: Int) throws -> (SmallWorld, RegionCover, RegionFragments) {
        var world = try Shared.world.get()
        // The keys of a cell of level 12 that touches no side of the level-7 cell.
        world.fixture.blocks.append(
            AtlasFixture.Block([(0, .region(host)), (0x3000, .region(region)), (0x3040, .region(host))]))
        world.fixture.top[AtlasFixture.cell(face: 0, column: 80, row: 40)] = .block(1)
        let cover = try RegionCover(AtlasTables(bytes: world.fixture.bytes)) { _ in }
        return (world, cover, try RegionFragments(cover))
    }
}

@Suite struct VerifierTests {
    let world: SmallWorld
    let cover: RegionCover
    let measures: [RegionMeasure]

    init() throws {
        world = try Shared.world.get()
        (cover, measures) = try Shared.listed.get()
    }

    /// The clauses that fail on a changed world, of those that cost little (C3, C5, C7) and those asked for. Regions in
    /// `remeasured`, and new ones, are measured anew.
    private func failures(
        of names: Set<String>, remeasured: [Int] = [], _ change: (inout SmallWorld) throws -> Void
    ) throws -> [VerificationReport.Clause] {
        var changed = world
        try change(&changed)
        let bytes = changed.fixture.bytes
        let tables = try AtlasTables(bytes: bytes)
        let cover = names.contains("C1") ? try RegionCover(tables) { _ in } : cover.replacing(tables)
        let measurer = RegionMeasurer(cover: cover)
        var measures = measures
        for region in remeasured { measures[region] = try measurer.measure(region) }
        for region in measures.count..<tables.regionCount { measures.append(try measurer.measure(region)) }
        let ashore = try PointsInPolygons((0..<tables.regionCount).map { tables.position($0) }).areInside(changed.land)
        let verified = VerifiedAtlas(
            tables: tables, engine: try EngineAnswers(bytes: bytes), cover: cover, measures: measures, isAshore: ashore,
            land: changed.land)
        let checks: [(name: String, run: () throws -> VerificationReport.Clause)] = [
            ("C1", verified.verifyTotal), ("C2", verified.verifyRecords), ("C3", verified.verifyCircles),
            ("C4", { try verified.verifySides(borders: changed.borders) }),
            ("C5", { try verified.verifyAccuracies(changed.residents(tables)) }),
            ("C6", { try verified.verifyAnonymity(changed.residents(tables)) }),
            ("C7", { try verified.verifyAreas(smallest: AtlasVerifier.smallestArea, changed.residents(tables)) }),
            ("C8", { try verified.verifyNames(places: changed.places, changed.residents(tables)) }),
        ]
        let clauses = try checks.filter { names.union(["C3", "C5", "C7"]).contains($0.name) }.map { try $0.run() }
        #expect(clauses.allSatisfy { $0.checked > 0 && $0.skipped.isEmpty })
        return clauses.filter { !$0.passed }
    }

    private func identifier(_ region: Int) -> String { cover.tables.identifier(region) }

    @Test func `a good atlas passes, from the file on`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas")
        try Data(world.fixture.bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var sources = AtlasVerifier.Sources()
        (sources.borders, sources.land, sources.places) = (world.borders, world.land, world.places)
        let report = try AtlasVerifier(path: url.path, sources: sources).verify()
        #expect(report.passed, "\(report)")
        #expect(report.clauses.map(\.name) == (1...8).map { "C\($0)" })
        #expect(
            report.clauses.allSatisfy {
                $0.checked > 0 && $0.skipped.isEmpty == !["C5", "C6", "C7", "C8"].contains($0.name)
            })
        #expect(report.description.hasSuffix("98305 regions, every clause holds"))
    }

    @Test func `without sources what needs them is said to be skipped`() throws {
        let tables = cover.tables
        let verified = VerifiedAtlas(
            tables: tables, engine: try EngineAnswers(bytes: tables.bytes), cover: cover, measures: measures,
            isAshore: nil,
            land: nil)
        let clauses = [
            try verified.verifySides(borders: nil), try verified.verifyAnonymity(nil),
            try verified.verifyAreas(smallest: AtlasVerifier.smallestArea, nil),
            try verified.verifyNames(places: nil, nil),
        ]
        #expect(clauses.allSatisfy { $0.passed && !$0.skipped.isEmpty })
        #expect(clauses.map(\.skipped.count) == [2, 4, 1, 1])
    }

    @Test func `C1 notices a cut cell that is given only in part`() throws {
        let failed = try failures(of: ["C1"]) { $0.fixture.blocks[0].keys[2] = 0x4200 }
        #expect(failed.map(\.name) == ["C1"])
        #expect(failed.first?.faults == ["1 cut cells are incomplete"])
    }

    @Test func `C1 notices a region without cells`() throws {
        let failed = try failures(of: ["C1"]) { world in
            var orphan = world.fixture.regions[SmallWorld.corner]
            orphan.name = nil
            world.fixture.regions.append(orphan)
        }
        #expect(failed.first?.name == "C1")
        #expect(failed.first?.offenders.map(\.problem) == ["it has no cell"])
    }

    @Test func `C2 notices a center that is not the middle of its cell`() throws {
        let failed = try failures(of: ["C2"]) { $0.fixture.regions[SmallWorld.neighbor].latitude += 3 }
        #expect(failed.map(\.name) == ["C2"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(SmallWorld.neighbor)])
    }

    @Test func `C2 notices a center in another region, and a name twice given`() throws {
        let failed = try failures(of: ["C2"]) { world in
            let other = world.fixture.regions[SmallWorld.corner]
            world.fixture.regions[SmallWorld.neighbor].latitude = other.latitude
            world.fixture.regions[SmallWorld.neighbor].longitude = other.longitude
        }
        #expect(failed.first?.name == "C2")
        #expect(
            failed.first?.offenders.map(\.problem) == [
                "its center lies in another region", "another region has its identifier",
            ])
    }

    @Test(arguments: [SmallWorld.host, SmallWorld.corner, SmallWorld.region(face: 2, column: 64, row: 63)])
    func `C3 notices a circle that is too small`(region: Int) throws {
        let failed = try failures(of: ["C3"], remeasured: [region]) { $0.fixture.regions[region].accuracy -= 20 }
        #expect(failed.map(\.name) == ["C3"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(region)])
    }

    @Test func `C4 notices a region of the wrong country`() throws {
        let failed = try failures(of: ["C4"]) { $0.fixture.regions[SmallWorld.corner].country = SmallWorld.west }
        #expect(failed.map(\.name) == ["C4"])
        #expect(failed.first?.offenders.map(\.problem) == ["its center lies in BB"])
    }

    @Test func `C4 notices a part on the other side of a border`() throws {
        let failed = try failures(of: ["C4"]) { world in
            // The border a quarter of a degree further east: centers stay where they were.
            world.borders[0].polygons = [[SmallWorld.box(-180, -90, 0.25, 90)]]
            world.borders[1].polygons = [[SmallWorld.box(0.25, -90, 180, 90)]]
        }
        #expect(failed.map(\.name) == ["C4"])
        #expect(failed.first?.offenders.map(\.problem).first == "a part of it lies in AA")
        #expect(failed.first.map { $0.offenderCount > 100 } == true)
    }

    @Test func `C4 notices a center at sea where there is land`() throws {
        let failed = try failures(of: ["C4"]) { world in
            let region = world.fixture.regions[SmallWorld.host]
            let x = Double(region.longitude) / 100_000, y = Double(region.latitude) / 100_000
            world.land[0].append(SmallWorld.box(x - 0.01, y - 0.01, x + 0.01, y + 0.01))
        }
        #expect(failed.map(\.name) == ["C4"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(SmallWorld.host)])
    }

    @Test(arguments: [1_990, 80_010]) func `C5 notices an accuracy beyond the limits`(accuracy: Int) throws {
        let region = accuracy > 2_000 ? SmallWorld.corner : SmallWorld.state
        let failed = try failures(of: ["C5"], remeasured: [region]) { $0.fixture.regions[region].accuracy = accuracy }
        #expect(failed.map(\.name) == ["C5"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(region)])
    }

    @Test func `C5 lets only regions without residents be larger`() throws {
        let regions = [SmallWorld.corner, SmallWorld.neighbor]
        let failed = try failures(of: ["C5"], remeasured: regions) { world in
            world.fixture.largestEmptyAccuracy = 81_000
            for region in regions { world.fixture.regions[region].accuracy = 80_500 }
            world.fixture.regions[SmallWorld.corner].anonymity = 0
            world.fixture.regions[SmallWorld.corner].country = SmallWorld.micro
            world.borders[0].code = "AA"
        }
        #expect(failed.first { $0.name == "C5" }?.offenders.map(\.region) == [identifier(SmallWorld.neighbor)])
    }

    @Test func `C6 notices a region short of people that fits a neighbor`() throws {
        let failed = try failures(of: ["C6"]) {
            $0.fixture.regions[SmallWorld.corner].anonymity = AtlasFixture.packedAnonymity(950, of: 1_000)
        }
        #expect(failed.map(\.name) == ["C6"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(SmallWorld.corner)])
    }

    @Test func `C6 lets a region be short that fits no other`() throws {
        // In the middle of a face cells are wide: no circle of 80 km holds two of them.
        let failed = try failures(of: ["C6"]) {
            $0.fixture.regions[SmallWorld.region(face: 0, column: 30, row: 64)].anonymity =
                AtlasFixture.packedAnonymity(10, of: 1_000)
            $0.fixture.largestAccuracy = 70_000
        }
        #expect(failed.map(\.name) == [])
    }

    private func verified(_ world: SmallWorld) throws -> VerifiedAtlas {
        let tables = try AtlasTables(bytes: world.fixture.bytes)
        return VerifiedAtlas(
            tables: tables, engine: try EngineAnswers(bytes: tables.bytes), cover: cover.replacing(tables),
            measures: measures, isAshore: nil, land: nil)
    }

    @Test func `C6 counts leftovers, and fails above a number of them`() throws {
        // Small beside the largest accuracy of 80 km, and two of them are not.
        var changed = world
        let small = try #require(
            (80..<120).map { SmallWorld.region(face: 0, column: $0, row: 30) }
                .first { 50_000..<58_000 ~= world.fixture.regions[$0].accuracy })
        changed.fixture.regions[small].anonymity = AtlasFixture.packedAnonymity(400, of: 1_000)
        let atlas = try verified(changed)
        var bounds = AtlasVerifier.LeftoverBounds()
        bounds.all = 1
        let passed = try atlas.verifyAnonymity(nil, bounds)
        #expect(passed.passed && passed.notes.contains { $0.hasPrefix("1 leftovers with ") })
        bounds.all = 0
        #expect(try atlas.verifyAnonymity(nil, bounds).faults == ["1 leftovers, more than 0"])
        // What promises half of K is none, nor what has a neighbor of another country or without residents.
        changed.fixture.regions[small].anonymity = AtlasFixture.packedAnonymity(500, of: 1_000)
        #expect(try verified(changed).verifyAnonymity(nil, bounds).passed)
        changed.fixture.regions[small].anonymity = AtlasFixture.packedAnonymity(400, of: 1_000)
        changed.fixture.regions[small + 1].anonymity = 0
        #expect(try verified(changed).verifyAnonymity(nil, bounds).faults.isEmpty)
    }

    @Test(arguments: [(0, "does not say"), (1, nil), (5, "within less than 500 m")] as [(Int, String?)])
    func `C6 notices a wrong concentration`(steps: Int, problem: String?) throws {
        var changed = world
        changed.fixture.regions[SmallWorld.corner].concentration = steps
        let atlas = try verified(changed)
        var count = changed.residents(atlas.tables)
        let center = CubeGeometry.leaf(at: atlas.tables.position(SmallWorld.corner))
        count.points = (0..<10).map { _ in PlaceExtents.Residents(center, region: SmallWorld.corner, number: 1) }
        let clause = try atlas.verifyAnonymity(count)
        #expect(clause.offenders.map(\.region) == (problem == nil ? [] : [identifier(SmallWorld.corner)]))
        #expect(problem.map { clause.offenders.first?.problem.contains($0) ?? false } ?? true)
    }

    @Test func `C5 bounds how many regions took leftovers`() throws {
        var changed = world
        changed.fixture.largestAccuracy = 40_000
        let clause = try verified(changed).verifyAccuracies(nil)
        #expect(clause.faults == ["that is more than 1000 regions or 25000000 residents"])
    }

    @Test func `C7 notices a small region that is not all its country has`() throws {
        let failed = try failures(of: ["C7"]) { world in
            world.fixture.regions[SmallWorld.state].country = SmallWorld.east
            world.fixture.regions[SmallWorld.state].anonymity = AtlasFixture.packedAnonymity(1_000, of: 1_000)
            world.borders.removeLast()
            // Without a country of its own its place would count as near for others.
            world.places = []
            for index in world.fixture.regions.indices {
                (world.fixture.regions[index].name, world.fixture.regions[index].isNear) = (nil, false)
            }
        }
        #expect(failed.map(\.name) == ["C7"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(SmallWorld.state)])
    }

    /// A builder that measures a gap of some 2 km along other lines may see two fragments where the verifier sees one.
    @Test func `it is in doubt whether cells 2 km apart hang together`() {
        let cell = Quad(face: 0, i: 1 << 29, j: 1 << 29, level: 20), steps = 1..<400
        let apart = steps.map { Quad(face: 0, i: cell.i + ($0 + 1) * cell.size, j: cell.j, level: 20) }
        let middles = ([cell] + apart).map { EarthCentered.position($0.position(x: 0.5, y: 0.5)) }
        let width = middles[0].chord(to: middles[1]) / 2
        for (other, middle) in zip(apart, middles.dropFirst()) {
            let gap = middles[0].chord(to: middle) - width
            guard abs(gap - 1_990) > 1, abs(gap - 2_010) > 1 else { continue }
            #expect(RegionFragments.isDoubtful([cell, other]) == (1_990..<2_010).contains(gap), "\(gap) m")
        }
    }

    /// What the verifier says of a cell of one region within another, with so many residents in each; the third may
    /// be of another country, and touch the rest of the first one too.
    private func fragmentClause(
        owner: Double, fragment: Double, around: Double, isForeign: Bool = false, isNeighbor: Bool = false
    ) throws -> VerificationReport.Clause {
        let host = Enclave.host, far = isNeighbor ? Enclave.neighbor : Enclave.owner
        var (changed, cover, fragments) = try (isNeighbor ? Enclave.ofNeighbor : Enclave.shared).get()
        if isForeign { changed.fixture.regions[host].country = SmallWorld.micro }
        let tables = try AtlasTables(bytes: changed.fixture.bytes)
        cover = cover.replacing(tables)
        #expect(fragments.fragments.map(\.region) == [far, far] && fragments.ranges.count == 1)
        let cell = try #require(fragments.fragments.map(\.cells).first { $0.map(\.level) == [12] })[0]
        let rows = [
            (tables.position(far), owner), (cell.position(x: 0.5, y: 0.5), fragment), (tables.position(host), around),
        ]
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xyz")
        try Data(rows.map { "\($0.longitude) \($0.latitude) \($1)\n" }.joined().utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let count = try ResidentCount(tables: tables, fragments: fragments).count(url.path)
        #expect(
            count.residents[far] == owner + fragment && count.byFragment.map(\.residents).sorted() == [fragment, owner])
        let verified = VerifiedAtlas(
            tables: tables, engine: try EngineAnswers(bytes: tables.bytes), cover: cover, measures: measures,
            isAshore: nil, land: nil)
        var clause = VerificationReport.Clause("C7", "")
        try verified.verifyFragments(count, &clause)
        if clause.passed, fragment < 1_000 {
            // A host that does not touch the rest of its region touches the fragment and nothing else of it.
            #expect(clause.notes.count == (isNeighbor ? 2 : 3))
            #expect(clause.notes.last?.contains("1 of them, with 5 residents, are told apart") == !isNeighbor)
        }
        return clause
    }

    @Test func `C7 notices a small part of a region within another`() throws {
        let clause = try fragmentClause(owner: 2_000, fragment: 5, around: 1_500)
        #expect(clause.offenders.map(\.region) == [identifier(Enclave.owner)])
        #expect(clause.offenders[0].problem.hasPrefix("5 of its people live apart from the rest"))
    }

    @Test func `C7 asks those to take a part who promise fewer than its region if they tell it apart`() throws {
        let clause = try fragmentClause(owner: 2_000, fragment: 5, around: 900)
        #expect(clause.offenders.map(\.region) == [identifier(Enclave.owner)])
        let hidden = try fragmentClause(owner: 2_000, fragment: 5, around: 900, isNeighbor: true)
        #expect(hidden.passed && hidden.notes.last?.contains("would promise fewer residents than theirs does") == true)
        #expect(!(try fragmentClause(owner: 2_000, fragment: 5, around: 1_500, isNeighbor: true)).passed)
    }

    @Test func `C7 lets a part stay for its region's K if it is not told apart`() throws {
        let hidden = try fragmentClause(owner: 1_000, fragment: 5, around: 1_500, isNeighbor: true)
        #expect(hidden.passed && hidden.notes.last?.contains("needed for their region's K residents") == true)
        let clause = try fragmentClause(owner: 1_000, fragment: 5, around: 1_500)
        #expect(clause.offenders.map(\.region) == [identifier(Enclave.owner)])
    }

    @Test func `C7 lets a part stay that is not small, or that nobody could take`() throws {
        #expect(try fragmentClause(owner: 2_000, fragment: 1_000, around: 1_500).passed)
        let cases = [
            (try fragmentClause(owner: 2_000, fragment: 5, around: 0), "only regions without residents"),
            (try fragmentClause(owner: 2_000, fragment: 5, around: 1_500, isForeign: true), "no other region"),
        ]
        for (clause, reason) in cases {
            #expect(clause.passed && clause.notes.dropLast().last?.contains(reason) == true, "\(clause)")
        }
    }

    @Test func `C8 notices a wrong name, a missing one and a needless one`() throws {
        let far = SmallWorld.corner
        for (region, name) in [(SmallWorld.host, 2), (SmallWorld.host, nil), (SmallWorld.state, 0), (far, 0)] {
            let failed = try failures(of: ["C8"]) { $0.fixture.regions[region].name = name }
            #expect(failed.map(\.name) == ["C8"])
            #expect(Set(failed.first?.offenders.map(\.region) ?? []) == [identifier(region)])
        }
    }

    @Test func `C8 notices a name near that is not the nearest`() throws {
        let region = try #require(world.fixture.regions.firstIndex { $0.isNear })
        let failed = try failures(of: ["C8"]) { $0.fixture.regions[region].name = 1 }
        #expect(failed.map(\.name) == ["C8"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(region)])
    }

    @Test func `C8 wants the place that a region's people belong to`() throws {
        let region = try #require(world.fixture.regions.firstIndex { $0.isNear })
        let near = world.fixture.regions[region].name, village = 2
        /// With so many of a region's 10,000 people so far to the east of the village, which reaches 1.6 km.
        func offenders(_ name: Int?, isNear: Bool, _ people: Double, degreesEast: Double) throws -> [String] {
            var changed = world
            changed.fixture.regions[region].name = name
            changed.fixture.regions[region].isNear = isNear
            let tables = try AtlasTables(bytes: changed.fixture.bytes), place = changed.places[0]
            var count = changed.residents(tables)
            let home = Position(latitude: place.latitude, longitude: place.longitude + degreesEast)
            count.points = [PlaceExtents.Residents(CubeGeometry.leaf(at: home), region: region, number: people)]
            count.residents[region] = 10_000
            let verified = VerifiedAtlas(
                tables: tables, engine: try EngineAnswers(bytes: changed.fixture.bytes), cover: cover,
                measures: measures, isAshore: nil, land: nil)
            return try verified.verifyNames(places: changed.places, count).offenders.map(\.region)
        }
        #expect(try offenders(near, isNear: true, 9_000, degreesEast: 0.009) == [identifier(region)])
        #expect(try offenders(village, isNear: false, 9_000, degreesEast: 0.009).isEmpty)
        // A fifth of its people are too few, and two kilometers too far.
        #expect(try offenders(near, isNear: true, 2_000, degreesEast: 0.009).isEmpty)
        #expect(try offenders(village, isNear: false, 1_500, degreesEast: 0.009) == [identifier(region)])
        #expect(try offenders(village, isNear: false, 9_000, degreesEast: 0.02) == [identifier(region)])
        #expect(try offenders(near, isNear: true, 9_000, degreesEast: 0.02).isEmpty)
    }

    @Test func `C8 notices a place that should be the center`() throws {
        let failed = try failures(of: ["C8"]) { $0.places[1].longitude += 0.02 }
        #expect(failed.map(\.name) == ["C8"])
        #expect(failed.first?.offenders.map(\.region) == [identifier(SmallWorld.host)])
    }

    @Test func `files that are no atlas are refused`() throws {
        let bytes = world.fixture.bytes
        #expect(throws: FormatError.unreadable(path: "/nonexistent")) { try AtlasTables(path: "/nonexistent") }
        #expect(throws: FormatError.malformed("magic")) { try AtlasTables(bytes: []) }
        #expect(throws: FormatError.malformed("file size")) { try AtlasTables(bytes: bytes.dropLast(8) + []) }
        var flipped = bytes
        flipped[bytes.count / 2] ^= 1
        #expect(throws: FormatError.malformed("checksum of a chunk")) { try AtlasTables(bytes: flipped) }
    }

    @Test func `blocks that the engine refuses are refused here too`() throws {
        let place = AtlasFixture.cell(AtlasFixture.places[0])
        func top(_ bytes: [UInt8]) throws -> AtlasTables.Top {
            try AtlasTables(bytes: bytes).top(face: place >> 14, column: place >> 7 & 127, row: place & 127)
        }
        _ = try top(HostileFiles.sound.bytes)
        // Where a cut is, is seen when it is read.
        for (name, bytes) in HostileFiles.atlases where name.hasPrefix("node-") && name != "node-cut" {
            #expect(throws: FormatError.self, "\(name)") { try top(bytes) }
        }
    }
}

extension SmallWorld {
    /// The residents that the file gives its regions, as if they had been counted.
    fileprivate func residents(_ tables: AtlasTables) -> ResidentCount.Count {
        var count = ResidentCount.Count(regionCount: tables.regionCount, fragments: try? Shared.fragments.get())
        count.residents = (0..<tables.regionCount).map { tables.residentsRange($0).lowerBound }
        count.promised = (0..<tables.regionCount).map { tables.promisedRange($0).lowerBound }
        return count
    }
}
