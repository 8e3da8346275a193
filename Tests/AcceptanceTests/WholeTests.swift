import FixedRandom
import Foundation
import Hereabouts
import Testing
import Traces

extension Acceptance {
    /// Contract C1 and C2 on the committed atlas, and what holds for each of its regions.
    @Suite struct Whole {
        @Test func `poles and antimeridian`() throws {
            for pole in [90.0, -90] {
                let regions = Set(
                    try stride(from: -180.0, through: 180, by: 0.5).map {
                        try atlas.snap(latitude: pole, longitude: $0)
                    })
                #expect(regions.count == 1)
            }
            let torn = try stride(from: -90.0, through: 90, by: 0.01).filter { latitude in
                let regions = try [180.0, -180, 540, -540].map { try atlas.snap(latitude: latitude, longitude: $0) }
                return Set(regions).count > 1
            }
            #expect(torn.isEmpty)
        }

        @Test func `every position has a region and anything else an error`() throws {
            var random = SplitMix64(seed: 0xc1)
            for _ in 0..<200_000 {
                let latitude = random.uniform(-90, 90)
                // A multiple of 2⁻²⁰ degrees, so that whole turns are added exactly.
                let longitude = (random.uniform(-180, 180) * 0x1p20).rounded() * 0x1p-20
                let region = try atlas.snap(latitude: latitude, longitude: longitude)
                #expect(Int(region.index) < atlas.regionCount)
                let turned = longitude + (longitude < 0 ? 360 : -360)
                #expect(try atlas.snap(latitude: latitude, longitude: turned) == region)
            }
            for longitude in [540, -540, 180.0.nextUp, .leastNonzeroMagnitude] {
                #expect(Int(try atlas.snap(latitude: 45, longitude: longitude).index) < atlas.regionCount)
            }
            for latitude: Double in [90.000_000_000_000_02, -90.000_000_000_000_02, .nan, .infinity, -1e300] {
                #expect(throws: CoordinateError.self) { try atlas.snap(latitude: latitude, longitude: 0) }
            }
            for longitude in [(540.0).nextUp, (-540.0).nextDown, 1e9, -1e300, Double.nan, .infinity, -.infinity] {
                #expect(throws: CoordinateError.self) { try atlas.snap(latitude: 0, longitude: longitude) }
            }
        }

        /// Snapping what was published changes nothing, and identifiers are unique, for every region.
        @Test func `every center snaps to its region`() throws {
            let table = RegionTable.world
            var wandering = 0
            var foreign = 0
            for (index, location) in table.locations.enumerated() {
                let region = try atlas.snap(location.coordinate)
                if Int(region.index) != index { wandering += 1 }
                if atlas.region(location.region) != Region(index: UInt32(index)) { foreign += 1 }
            }
            #expect(wandering == 0 && foreign == 0)
            #expect(Set(table.locations.map(\.region)).count == atlas.regionCount)
            print("whole: \(atlas.regionCount) centers snap to their own region")
        }

        /// What is written for a point is what is written for any other of its region, byte for byte (C2); and every
        /// circle contains its point (C3). Many points in each of 500 regions, through `snap`.
        @Test func `many points of a region give the same bytes`() throws {
            var random = SplitMix64(seed: 0xc2)
            var points: [Coordinate] = []
            for _ in 0..<500 {
                let circle = RegionTable.world.locations[Int(random.next() % UInt64(atlas.regionCount))]
                for _ in 0..<200 {
                    let place = try moved(
                        circle.coordinate, azimuth: random.uniform(-180, 180),
                        meters: circle.horizontalAccuracy * random.unit().squareRoot())
                    // To what the file holds.
                    points.append(
                        Coordinate(
                            latitude: (place.latitude * 1e6).rounded() / 1e6,
                            longitude: (place.longitude * 1e6).rounded() / 1e6))
                }
            }
            let rows = try snapped(points)
            try #require(rows.count == points.count)
            var outputs: [Region: Set<Substring>] = [:]
            var outside = 0
            for (point, row) in zip(points, rows) {
                let region = try atlas.snap(point)
                outputs[region, default: []].insert(row)
                let circle = RegionTable.world[region]
                if try distance(circle.coordinate, point) > circle.horizontalAccuracy { outside += 1 }
            }
            #expect(outside == 0)
            #expect(outputs.values.allSatisfy { $0.count == 1 })
            #expect(Set(outputs.values.joined()).count == outputs.count)
            print("whole: \(points.count) points of \(outputs.count) regions gave \(Set(rows).count) different rows")
        }

        /// The rows that `snap` writes for points, without the header.
        private func snapped(_ points: [Coordinate]) throws -> [Substring] {
            let folder = FileManager.default.temporaryDirectory
            let (source, result) = (
                folder.appendingPathComponent("hereabouts-\(UUID().uuidString).csv"),
                folder.appendingPathComponent("hereabouts-\(UUID().uuidString).csv")
            )
            defer { for file in [source, result] { try? FileManager.default.removeItem(at: file) } }
            let lines = points.map { String(format: "%.6f,%.6f", $0.latitude, $0.longitude) }
            try Data(("lat,lon\n" + lines.joined(separator: "\n") + "\n").utf8).write(to: source)
            let inputs = [InputName.file(source.path)]
            _ = try SnapRun.run(
                inputs, to: try OutputFile.file(result.path), atlas: atlas, options: SnapRun.Options(),
                observer: RunObserver())
            return try String(contentsOf: result, encoding: .utf8).split(separator: "\n").dropFirst().map { $0 }
        }
    }
}
