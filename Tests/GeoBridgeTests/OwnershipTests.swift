import FixedRandom
import GeoBridge
import Testing

@Suite(.serialized) struct OwnershipTests {
    #if os(Linux)
        @Test func `memory can be measured`() {
            #expect(residentMebibytes() ?? 0 > 1)
        }
    #endif

    /// Geometries of 160 KB each, on every path that makes or gives away a handle: one of them leaked a round would
    /// come to 62 MiB, and the limit leaves 32 MiB to other suites that run meanwhile.
    @Test func `large geometries are freed on every path`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 8)
        let ring = star(0, 0, radius: 1, corners: 10_000, using: &random)
        let unclosed = Array(ring.dropLast(2))
        func round() throws {
            let polygon = try context.polygon([ring, ring])
            _ = try polygon.polygonRings()
            #expect(throws: GEOSError.ringNotClosed) { _ = try context.polygon([ring, ring, unclosed]) }
            #expect(throws: GEOSError.wrongKind(.collection)) {
                try Self.refuse(context.polygon([ring]), context.lineString(ring))
            }
            var lines = GeometryList(context)
            lines.append(try context.lineString(ring))
            #expect(try lines.collected(as: .multiLineString).prepared().intersects(x: ring[0], y: ring[1]))
        }
        for _ in 0..<10 { try round() }
        guard let before = residentMebibytes() else { return }
        for _ in 0..<400 { try round() }
        #expect(try #require(residentMebibytes()) - before < 32)
    }

    /// Gives a polygon and a line away to a collection that takes polygons only.
    private static func refuse(_ polygon: consuming Geometry, _ line: consuming Geometry) throws {
        var list = GeometryList(polygon.context)
        list.append(polygon)
        list.append(line)
        _ = try list.collected(as: .multiPolygon)
    }

    /// Over 100,000 operations on small things, the throwing paths among them, in a process of their own, where nothing
    /// else takes memory meanwhile: the limit of 0.75 MiB is 90 bytes a round, less than each kind of handle takes.
    @Test func `small handles are freed on every path`() async {
        await #expect(processExitsWith: .success) {
            let context = try GEOSContext()
            func round(_ number: Int) throws {
                let x = Double(number % 50)
                var list = GeometryList(context)
                list.append(try context.polygon([square(x, 0, side: 9), square(x + 1, 1)]))
                list.append(try context.lineString([x, 0, x + 1, 1, x + 2, 0]))
                let box = try context.polygon([square(x, 0)])
                let bowtie = try context.polygon([[x, 0, x + 2, 2, x + 2, 0, x, 2, x, 0]])
                _ = try? bowtie.intersection(box)
                _ = try box.union(bowtie.madeValid()).polygonRings()
                _ = try box.minimumBoundingCircle()
                // Five times, since a writer takes no more than 50 bytes.
                for _ in 0..<5 {
                    _ = try box.wkt()
                    _ = try box.geoJSON()
                }
                _ = try bowtie.isValid()
                let prepared = try box.prepared()
                _ = try prepared.contains(x: x, y: 0.5)
                _ = try list.collected(as: .collection).positionCount
            }
            for number in 0..<2_000 { try round(number) }
            guard let before = residentMebibytes() else { return }
            for number in 0..<9_000 { try round(number) }
            #expect(try #require(residentMebibytes()) - before < 0.75)
        }
    }

    @Test func `contexts come and go`() throws {
        for _ in 0..<500 { _ = try GEOSContext() }
        guard let before = residentMebibytes() else { return }
        var positions = 0
        for number in 0..<100_000 {
            let context = try GEOSContext()
            positions += try context.point(x: Double(number), y: 0).positionCount
        }
        #expect(positions == 100_000)
        #expect(try #require(residentMebibytes()) - before < 24)
    }

    @Test func `two workers at once, each with its own context`() async throws {
        /// Unites 40 random stars on a grid, and fails once in between.
        @Sendable func work(_ seed: UInt64) throws -> Double {
            let context = try GEOSContext()
            var random = SplitMix64(seed: seed)
            var area = 0.0
            for _ in 0..<25 {
                var stars: [[[Double]]] = []
                for _ in 0..<40 {
                    let x = Double.random(in: 0...10, using: &random)
                    stars.append([star(x, 0, radius: 2, corners: 30, using: &random)])
                }
                area += try context.multiPolygon(stars).unaryUnion(gridSize: 1e-6).area()
                let bowtie = try context.polygon([[0, 0, 2, 2, 2, 0, 0, 2, 0, 0]])
                #expect(throws: GEOSError.self) {
                    _ = try bowtie.intersection(context.polygon([square(0, 0, side: 1.7)]))
                }
            }
            return area
        }
        let alone = try (0..<4).map { try work($0) }
        let together = try await withThrowingTaskGroup(of: (Int, Double).self) { group in
            for seed in 0..<4 { group.addTask { (seed, try work(UInt64(seed))) } }
            return try await group.reduce(into: [Int: Double]()) { $0[$1.0] = $1.1 }
        }
        for seed in 0..<4 { #expect(together[seed] == alone[seed]) }
    }
}
