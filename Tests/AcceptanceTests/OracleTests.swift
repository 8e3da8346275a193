import FixedRandom
import Foundation
import Hereabouts
import Testing

extension Acceptance {
    /// Issue 2, item 4: snapping against GEOS on the source polygons.
    @Suite struct Oracle {
        /// How far the atlas's borders may be from the source's, meters: 25 by simplification, half a step of a cut
        /// cell's grid each way (11 m, so 15.6 m across), and what an edge straight on a cube's face differs from one
        /// straight in degrees (1 m).
        static let borderTolerance = 42.0

        /// What came of comparing points.
        struct Comparison {
            var points = 0
            var mismatches = 0
            var worst = 0.0
            var offenders: [String] = []

            /// Prints it.
            func report(_ what: String) {
                let share = percent(mismatches, of: points)
                print(
                    "oracle: \(points) \(what): \(mismatches) differ (\(share)), at most by \(Oracle.meters(worst))"
                )
                for offender in offenders.prefix(20) { print("oracle:   \(offender)") }
                if offenders.count > 20 { print("oracle:   and \(offenders.count - 20) more") }
            }
        }

        private static func meters(_ value: Double) -> String { String(format: "%.1f m", value) }

        /// Compares the atlas's country at every point (flat longitude, latitude pairs) with the source's.
        ///
        /// Those that differ by more than `listed` meters are listed.
        static func compare(
            _ points: [Double], _ expected: [CountryCode], with oracle: PolygonOracle, listed: Double = borderTolerance
        ) throws -> Comparison {
            let table = RegionTable.world
            let parts = ranges(points.count / 2, parts: 16)
            let answers = try onAllCores(parts.count) { part in
                try parts[part].map {
                    table.code(try atlas.snap(latitude: points[2 * $0 + 1], longitude: points[2 * $0]))
                }
            }.flatMap { $0 }
            let wrong = answers.indices.filter { answers[$0] != expected[$0] }
            let questions = wrong.map {
                CountryDistance.Question(longitude: points[2 * $0], latitude: points[2 * $0 + 1], country: answers[$0])
            }
            let distances = try CountryDistance(oracle: oracle, reach: 250).meters(questions)
            var result = Comparison(points: answers.count, mismatches: wrong.count, worst: distances.max() ?? 0)
            for (index, (question, distance)) in zip(wrong, zip(questions, distances)) where distance > listed {
                result.offenders.append(
                    "\(expected[index]) taken for \(answers[index]) at \(question.latitude), \(question.longitude): "
                        + Oracle.meters(distance))
            }
            return result
        }

        /// Points spread evenly over the Earth's land, flat longitude, latitude pairs; exactly `count`.
        static func landPoints(_ count: Int) throws -> [Double] {
            let land = try PolygonOracle.land.get()
            // 29 % of the Earth is land.
            let parts = 16
            let each = count * 4 / 16
            let points = try onAllCores(parts) { part in
                var random = SplitMix64(seed: 0x1a_0000 + UInt64(part))
                return (0..<each).flatMap { _ in
                    [random.uniform(-180, 180), asin(random.uniform(-1, 1)) * 180 / .pi]
                }
            }.flatMap { $0 }
            var ashore: [Double] = []
            for (index, isLand) in try land.holds(points).enumerated() where isLand && ashore.count < 2 * count {
                ashore.append(points[2 * index])
                ashore.append(points[2 * index + 1])
            }
            try #require(ashore.count == 2 * count)
            return ashore
        }

        @Test(.needs(.borders, .land)) func `a million points on land`() throws {
            let borders = try PolygonOracle.borders.get()
            let points = try Self.landPoints(1_000_000)
            let result = try Self.compare(points, try borders.codes(of: points), with: borders)
            result.report("random points on land")
            #expect(result.points == 1_000_000 && result.worst <= Self.borderTolerance)
        }

        @Test(.needs(.borders)) func `a million points within 200 meters of a border`() throws {
            let borders = try PolygonOracle.borders.get()
            // Half of the edges lie within one country (time zones), or have the same one on the other side.
            let walk = try BorderWalk(borders.polygons, count: 1_800_000, reach: 200, seed: 0xb0_0000)
            let (left, right) = (try borders.codes(of: walk.left), try borders.codes(of: walk.right))
            var points: [Double] = []
            for index in left.indices where left[index] != right[index] {
                points.append(walk.near[2 * index])
                points.append(walk.near[2 * index + 1])
            }
            let result = try Self.compare(points, try borders.codes(of: points), with: borders)
            result.report("points within 200 m of a border")
            #expect(result.points >= 1_000_000 && result.worst <= Self.borderTolerance)
        }

        @Test(.needs(.borders)) func `every center is in its country`() throws {
            let borders = try PolygonOracle.borders.get()
            let points = RegionTable.world.locations.flatMap { [$0.coordinate.longitude, $0.coordinate.latitude] }
            let result = try Self.compare(points, try borders.codes(of: points), with: borders, listed: 0)
            result.report("centers of regions")
            #expect(result.worst <= Self.borderTolerance)
        }
    }
}
