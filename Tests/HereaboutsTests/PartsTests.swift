import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

/// What a region consists of, against lookups: a position is in a part if and only if it is in the region.
@Suite struct PartsTests {
    private static let world: Atlas? = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("data/world.atlas")
        return try? Atlas(contentsOf: file.path)
    }()

    /// How many corners' sides a position is inside of or on, by at least a distance in leaves; a negative one allows it outside.
    private func contains(_ corners: InlineArray<4, SIMD2<Double>>, _ x: Double, _ y: Double, margin: Double) -> Bool {
        (0..<4).allSatisfy { k in
            let start = corners[k], end = corners[(k + 1) % 4], along = end - start
            let length = (along * along).sum().squareRoot()
            guard length > 1e-6 else { return true }
            return (along.x * (y - start.y) - along.y * (x - start.x)) / length >= margin
        }
    }

    /// Positions about regions of land, along borders, at poles and at the antimeridian.
    @Test func `parts hold what lookups find, and nothing else`() throws {
        let world = try #require(Self.world)
        var random = SplitMix64(seed: 62)
        var regions = (0..<60).map { _ in Region(index: UInt32(random.next() % UInt64(world.regionCount))) }
        for (latitude, longitude) in [
            (31.75, -106.48), (47.56, 7.59), (90.0, 0), (-90, 0), (-16.8, 180), (51.44, 4.93),
        ] {
            for _ in 0..<8 {
                let near = Coordinate(
                    latitude: min(90, max(-90, latitude + .random(in: -0.05...0.05, using: &random))),
                    longitude: longitude + .random(in: -0.05...0.05, using: &random))
                regions.append(try world.snap(near))
            }
        }
        var inside = 0, outside = 0, cut = 0
        for region in Set(regions) {
            let circle = try world.circle(of: region), parts = try world.parts(of: region)
            cut += parts.count { !$0.isWhole }
            let reach = circle.horizontalAccuracy / 111_000
            for _ in 0..<200 {
                let latitude = circle.coordinate.latitude + .random(in: -reach...reach, using: &random)
                guard abs(latitude) <= 90 else { continue }
                let width = min(180, reach / max(cos(latitude * .pi / 180), 1e-6))
                let longitude = circle.coordinate.longitude + .random(in: -width...width, using: &random)
                let leaf = FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude))
                let (x, y) = (Double(leaf.i) + 0.5, Double(leaf.j) + 0.5)
                let own = parts.filter { $0.face == Int(leaf.face) }
                if world.region(at: leaf) == region {
                    #expect(own.contains { contains($0.corners, x, y, margin: -1e-3) })
                    inside += 1
                } else {
                    #expect(!own.contains { contains($0.corners, x, y, margin: 1e-3) })
                    outside += 1
                }
            }
        }
        #expect(inside > 5000 && outside > 3000 && cut > 500)
    }

    /// Edges that cross, that repeat, that leave the grid, as no builder writes them.
    @Test(arguments: [9, 13]) func `pieces of a cut are where its codes are`(level: Int) {
        var random = SplitMix64(seed: 620 + UInt64(level))
        let isFine = level >= 11, grid = isFine ? 255 : 4096, size = Double(1 << (30 - level))
        for _ in 0..<40 {
            func coordinate() -> [UInt8] {
                let value = Int.random(in: 0...grid, using: &random)
                return isFine ? [UInt8(value)] : [UInt8(value & 0xff), UInt8(value >> 8)]
            }
            let closings = Int.random(in: 0...3, using: &random), chains = Int.random(in: 1...3, using: &random)
            var bytes: [UInt8] = [UInt8(level), 2, UInt8(closings), UInt8(chains)]
            for region: UInt8 in 10..<14 { bytes += [region, 0, 0, 0] }
            for _ in 0..<closings { bytes += coordinate() + [UInt8.random(in: 1...3, using: &random)] }
            for _ in 0..<chains {
                let vertices = Int.random(in: 2...7, using: &random)
                bytes += [UInt8(vertices), UInt8.random(in: 1...3, using: &random)]
                for _ in 0..<2 * vertices { bytes += coordinate() }
            }
            bytes += [UInt8](repeating: 0, count: 16)
            unsafe bytes.withUnsafeBytes { bytes in
                let reader = CutReader(
                    bytes: unsafe AtlasBytes(start: bytes.baseAddress!, count: bytes.count), offset: 0)
                let slabs = CutSlabs(reader), step = size / Double(grid)
                var pieces: [UInt32: [InlineArray<4, SIMD2<Double>>]] = [:], area = 0.0
                for region: UInt32 in 10..<14 {
                    slabs.forEachPiece(of: region) { piece in
                        pieces[region, default: []].append(piece)
                        area += (piece[1].x - piece[0].x) * (piece[3].y - piece[0].y + piece[2].y - piece[1].y) / 2
                    }
                }
                #expect(abs(area / Double(grid * grid) - 1) < 1e-5)
                for _ in 0..<200 {
                    let column = UInt32.random(in: 0..<UInt32(size), using: &random)
                    let row = UInt32.random(in: 0..<UInt32(size), using: &random)
                    let region = reader.region(ofCode: Int(reader.code(of: FaceIJ(face: 0, i: column, j: row))))
                    let (x, y) = ((Double(column) + 0.5) / step, (Double(row) + 0.5) / step)
                    #expect(pieces[region, default: []].contains { contains($0, x, y, margin: -1e-3) })
                }
            }
        }
    }
}
