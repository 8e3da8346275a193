import CAllocationCounter
import FixedRandom
import Testing

@testable import Hereabouts

private let model = AtlasModel(seed: 11)
private let modelBytes = model.fixture.bytes
private let dividedCells = model.dividedCells

/// Every kernel this processor can run.
private let kernels = KernelSet.allCases.compactMap { CellKernel($0) }

extension Atlas {
    /// The regions of an array of positions by the batch.
    fileprivate func regions(of places: [Coordinate], with kernel: CellKernel = .selected) -> [Region] {
        var regions = [Region](repeating: Region(index: 7), count: places.count)
        unsafe places.withUnsafeBufferPointer { places in
            unsafe regions.withUnsafeMutableBufferPointer { unsafe snap(places, into: $0, with: kernel) { _, _ in } }
        }
        return regions
    }

    /// The same one by one.
    fileprivate func regionsOneByOne(_ places: [Coordinate]) -> [Region] {
        places.map { (try? snap($0)) ?? .invalid }
    }
}

/// Values at and beside which the formulas change course.
private enum Edge {
    static let latitudes: [Double] = {
        // 35.26…° is the latitude of the cube's corners.
        let plain = [
            0, 45, 35.264389682754654, 89.99999999999999, 90, 90.00000000000001, 91, 30, 1e-300, .leastNonzeroMagnitude,
            1e300,
        ]
        return withNeighbors(plain) + [.nan, .infinity, -.infinity, .signalingNaN, .greatestFiniteMagnitude]
    }()
    static let longitudes: [Double] = {
        let plain = [
            0, 45, 90, 135, 180, 225, 270, 360, 405, 540, 720, 1e9, 1e17, 1e300, .greatestFiniteMagnitude, 1e-300,
            .leastNonzeroMagnitude, .leastNormalMagnitude,
        ]
        return withNeighbors(plain) + [.nan, .infinity, -.infinity, .signalingNaN]
    }()
    static let coordinates = latitudes.flatMap { latitude in
        longitudes.map { Coordinate(latitude: latitude, longitude: $0) }
    }

    private static func withNeighbors(_ values: [Double]) -> [Double] {
        values.flatMap { [$0, $0.nextUp, $0.nextDown, -$0, -$0.nextUp, -$0.nextDown] }
    }
}

@Suite struct CellKernelTests {
    /// The first coordinate whose cell is not the scalar code's, bit for bit.
    private func difference(_ places: [Coordinate], _ kernel: CellKernel) -> Int? {
        var storage = CellBlock.Storage()
        return unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let block = unsafe CellBlock(bytes.baseAddress!)
            for start in stride(from: 0, to: places.count, by: 64) {
                let part = places[start..<min(start + 64, places.count)]
                let invalid = unsafe part.withUnsafeBufferPointer { unsafe kernel.locate($0, into: block) }
                for (point, place) in part.enumerated() {
                    let isInvalid = invalid >> UInt64(point) & 1 == 1
                    guard (try? FaceIJ.check(latitude: place.latitude, longitude: place.longitude)) != nil else {
                        if isInvalid { continue } else { return start + point }
                    }
                    let leaf = FaceIJ(
                        latitude: place.latitude, longitude: FaceIJ.wrappedLongitude(place.longitude))
                    let cell = UInt32(leaf.face) << 14 | (leaf.i >> 23) << 7 | leaf.j >> 23
                    let isSame =
                        unsafe block.leaf(point) == leaf && block.cells[point] == cell
                        && block.keys[point] == AtlasLayout.key(i: leaf.i, j: leaf.j)
                    if isInvalid || !isSame { return start + point }
                }
            }
            return nil
        }
    }

    @Test(arguments: kernels.indices) func `edge cases have the scalar code's cells`(kernel: Int) {
        #expect(difference(Edge.coordinates, kernels[kernel]) == nil)
    }

    @Test(arguments: kernels.indices) func `points anywhere have the scalar code's cells`(kernel: Int) {
        var random = SplitMix64(seed: 12)
        let places = (0..<400_000).map { _ in
            Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
        }
        #expect(difference(places, kernels[kernel]) == nil)
    }

    /// Where a last bit decides: corners of cells, and the lines between cells and between faces.
    @Test(arguments: kernels.indices) func `points on the lines between cells too`(kernel: Int) {
        var random = SplitMix64(seed: 13)
        var places: [Coordinate] = []
        for _ in 0..<15_000 {
            let level = Int.random(in: 0...30, using: &random), shift = UInt32(30 - level)
            let leaf = FaceIJ(
                face: UInt8.random(in: 0...5, using: &random),
                i: UInt32.random(in: 0..<1 << 30, using: &random) & (UInt32.max << shift),
                j: UInt32.random(in: 0..<1 << 30, using: &random) & (UInt32.max << shift))
            let cell = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: level)
            for corner in cell.vertices {
                places.append(corner)
                places.append(Coordinate(latitude: corner.latitude.nextUp, longitude: corner.longitude.nextDown))
            }
            places.append(cell.center)
        }
        for _ in 0..<20_000 {
            // Meridians at multiples of 45°, where two faces tie.
            let meridian = Double(Int.random(in: -8...8, using: &random)) * 45
            places.append(Coordinate(latitude: random.uniform(-90, 90), longitude: meridian))
            places.append(Coordinate(latitude: random.uniform(-1e-9, 1e-9), longitude: meridian.nextUp))
        }
        #expect(difference(places, kernels[kernel]) == nil)
    }

    @Test func `every processor has the baseline`() { #expect(CellKernel(.baseline) != nil) }
}

@Suite struct BatchTests {
    let atlas: Atlas

    init() throws { atlas = try Atlas(bytes: modelBytes) }

    @Test(arguments: kernels.indices) func `edge cases are answered as single calls are`(kernel: Int) {
        let regions = atlas.regions(of: Edge.coordinates, with: kernels[kernel])
        #expect(regions == atlas.regionsOneByOne(Edge.coordinates))
        #expect(regions.contains(.invalid))
    }

    @Test func `batches of every length and place are answered alike`() {
        var random = SplitMix64(seed: 14)
        let places = (0..<300).map { index in
            Coordinate(latitude: index % 17 == 3 ? .nan : random.uniform(-95, 95), longitude: random.uniform(-400, 400))
        }
        let expected = atlas.regionsOneByOne(places)
        for count in Array(0...20) + Array(55...75) + Array(126...130) + [199, 250] {
            for start in [0, 1, 5, 50] {
                let mark = Region(index: 77_777)
                var regions = [Region](repeating: mark, count: 300)
                let range = start..<start + count
                unsafe places.withUnsafeBufferPointer { places in
                    unsafe regions.withUnsafeMutableBufferPointer {
                        unsafe atlas.snap(
                            UnsafeBufferPointer(rebasing: places[range]),
                            into: UnsafeMutableBufferPointer(rebasing: $0[range]))
                    }
                }
                #expect(regions[range] == expected[range], "\(count) from \(start)")
                #expect(
                    regions[..<start].allSatisfy { $0 == mark }
                        && regions[range.upperBound...].allSatisfy { $0 == mark })
            }
        }
    }

    /// Positions in cells of several regions, all levels of cuts among them.
    private func dividedPlaces(_ count: Int, _ random: inout SplitMix64) -> [Coordinate] {
        (0..<count).map { index in
            let (face, column, row) = dividedCells[index % dividedCells.count]
            let i = UInt32(column << 23 | Int.random(in: 0..<1 << 23, using: &random))
            let j = UInt32(row << 23 | Int.random(in: 0..<1 << 23, using: &random))
            return CellID(face: face, i: i, j: j, level: 30).center
        }
    }

    @Test func `cells of several regions, in any order`() throws {
        var random = SplitMix64(seed: 15)
        let places = dividedPlaces(30_000, &random).shuffled(using: &random)
        let expected = try places.map { place in
            let leaf = try CellID(latitude: place.latitude, longitude: place.longitude).faceIJ()
            return model.region(face: leaf.face, i: Int(leaf.i), j: Int(leaf.j))
        }
        #expect(atlas.regions(of: places).map { Int($0.index) } == expected)
        #expect(Set(expected).count > 100)
    }

    /// Steps from none to some kilometers: neighbors in one finest cell share a lookup.
    @Test func `traces are answered as single calls are`() {
        var random = SplitMix64(seed: 16)
        var places: [Coordinate] = []
        for start in dividedPlaces(150, &random) {
            var place = start
            let step = [0, 1e-7, 1e-5, 1e-3, 0.05].randomElement(using: &random)!
            for _ in 0..<150 {
                places.append(place)
                place.latitude = min(90, max(-90, place.latitude + random.uniform(-step, step)))
                place.longitude += random.uniform(-step, step)
            }
        }
        #expect(atlas.regions(of: places) == atlas.regionsOneByOne(places))
    }

    /// Devices in turn, positions of no order, and edge cases: enough of each that the cache is used, bypassed and
    /// tried again.
    @Test func `the cell cache changes no answer`() {
        var random = SplitMix64(seed: 19)
        var places: [Coordinate] = []
        let devices = dividedPlaces(1000, &random)
        for _ in 0..<30 {
            places += devices.map { place in
                Coordinate(
                    latitude: place.latitude + random.uniform(-1e-4, 1e-4),
                    longitude: place.longitude + random.uniform(-1e-4, 1e-4))
            }
        }
        places += dividedPlaces(100_000, &random).shuffled(using: &random) + Edge.coordinates + places[..<20_000]
        let expected = atlas.regions(of: places)
        #expect(expected == atlas.regionsOneByOne(places))
        var cache = CellCache(atlas)
        var regions = [Region](repeating: Region(index: 7), count: places.count)
        for (start, end) in [(0, places.count), (0, 1), (0, 0), (1, 64), (5, places.count)] {
            for index in start..<end { regions[index] = Region(index: 7) }
            unsafe places[start..<end].withUnsafeBufferPointer { places in
                unsafe regions[start..<end].withUnsafeMutableBufferPointer {
                    unsafe atlas.snap(places, into: $0, cache: &cache)
                }
            }
            #expect(regions == expected)
        }
    }

    @Test func `circles are the centers and accuracies`() throws {
        var random = SplitMix64(seed: 17)
        let places = dividedPlaces(500, &random) + Edge.coordinates
        var regions = [Region](repeating: .invalid, count: places.count)
        let zero = Atlas.Circle(coordinate: Coordinate(latitude: 0, longitude: 0), horizontalAccuracy: 0)
        var circles = [Atlas.Circle](repeating: zero, count: places.count)
        var regionSpan = regions.mutableSpan, circleSpan = circles.mutableSpan
        try atlas.regions(at: places.span, into: &regionSpan, circles: &circleSpan)
        #expect(regions == places.map { (try? atlas.region(at: $0)) ?? .invalid })
        #expect(regions.map(\.index) == atlas.regionsOneByOne(places).map(\.index))
        for (region, circle) in zip(regions, circles) {
            if region == .invalid {
                #expect(
                    circle.coordinate.latitude.isNaN && circle.coordinate.longitude.isNaN
                        && circle.horizontalAccuracy.isNaN)
            } else {
                #expect(try circle == atlas.circle(of: region))
                #expect(
                    circle.coordinate == atlas.center(of: region)
                        && circle.horizontalAccuracy == atlas.horizontalAccuracy(of: region))
            }
        }
    }

    @Test func `what is published for many is what is published for one`() {
        func text(_ published: Atlas.Published) -> [String] {
            let place = unsafe published.place.map { unsafe String(decoding: $0, as: UTF8.self) }
            return [
                "\(published.coordinate.latitude) \(published.coordinate.longitude) \(published.horizontalAccuracy)",
                "\(published.region) \(published.isNear)",
                unsafe String(decoding: published.country, as: UTF8.self), place ?? "none",
            ]
        }
        let regions = (0..<atlas.regionCount).map { Region(index: UInt32($0)) }
        let alone = regions.map { atlas.withPublished($0, text) }
        #expect(Set(alone).count == regions.count)
        for size in [1, 5, Atlas.blockSize] {
            var together: [[String]] = [], order: [Region] = []
            for start in stride(from: 0, to: regions.count, by: size) {
                unsafe regions[start..<min(start + size, regions.count)].withUnsafeBufferPointer {
                    unsafe atlas.withPublished($0) { region, published in
                        order.append(region)
                        together.append(text(published))
                    }
                }
            }
            #expect(order == regions && together == alone)
        }
    }

    @Test(.enabled(if: allocation_counter_works())) func `looking positions up allocates nothing`() {
        func allocations(_ work: () -> Void) -> UInt64 {
            let before = allocation_count()
            work()
            return allocation_count() - before
        }
        #expect(allocations { _ = [Int](repeating: 1, count: Int.random(in: 100...200)) } > 0, "the counter counts")

        var random = SplitMix64(seed: 18)
        let places = dividedPlaces(2_000, &random) + Edge.coordinates
        let regions = UnsafeMutableBufferPointer<Region>.allocate(capacity: places.count)
        let circles = UnsafeMutableBufferPointer<Atlas.Circle>.allocate(capacity: places.count)
        defer {
            unsafe regions.deallocate()
            unsafe circles.deallocate()
        }
        unsafe places.withUnsafeBufferPointer { places in
            func publicSingle() {
                for index in 0..<2_000 {
                    guard let region = unsafe try? atlas.region(at: places[index]) else { continue }
                    _ = try? atlas.circle(of: region)
                    _ = try? atlas.identifier(of: region)
                }
            }
            func publicBatch() {
                // SAFETY: the spans are used while the buffers live.
                let coordinates = unsafe Span(_unsafeElements: places)
                var found = unsafe MutableSpan(_unsafeElements: regions)
                var around = unsafe MutableSpan(_unsafeElements: circles)
                try? atlas.regions(at: coordinates, into: &found)
                try? atlas.regions(at: coordinates, into: &found, circles: &around)
            }
            func single() {
                // Without invalid coordinates: `try?` boxes an error in a debug build.
                for index in 0..<2_000 {
                    guard let region = unsafe try? atlas.snap(places[index]) else { continue }
                    _ = atlas.center(of: region)
                    _ = atlas.horizontalAccuracy(of: region)
                }
            }
            let works = [
                { unsafe atlas.snap(places, into: regions) }, single, publicSingle, publicBatch,
            ]
            for work in works {
                // The first time the runtime may set up what it needs once.
                work()
                #expect(allocations(work) == 0)
            }
            var cache = CellCache(atlas)
            let remembering = allocations { unsafe atlas.snap(places, into: regions, cache: &cache) }
            #expect(remembering == 0)
        }
    }
}
