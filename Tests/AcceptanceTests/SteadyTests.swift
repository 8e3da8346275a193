import FixedRandom
import Foundation
import Hereabouts
import Testing

extension Acceptance {
    /// Issue 2, item 5: devices at rest on the edges, corners and borders of the committed atlas (C11), and C3 and C4
    /// for what they report.
    @Suite struct Steady {
        static let devices = Result { try Device.find(SampleSize.devices.count, seed: 0x57ea_d000) }
        /// Four times as many, where changes are counted: of 10,000 they differ by a tenth from one atlas to another by chance.
        static let manyDevices = Result { try Device.find(4 * SampleSize.devices.count, seed: 0x57ea_d000) }

        /// A receiver: noise in meters (one sigma, each axis), what it says of its accuracy, and how often it gives a
        /// fix.
        struct Receiver: Sendable, CustomTestStringConvertible {
            var sigma: Double
            /// Radius that holds the truth two times in three, which is 1.5 sigma; nil if it says nothing.
            var accuracy: Double?
            var interval = 900
            var testDescription: String {
                "\(Int(sigma)) m of noise, accuracy \(accuracy.map { "\($0) m" } ?? "unknown"), a fix in \(interval) s"
            }
        }

        /// What a simulated day came to.
        struct Day: Sendable {
            var recomputations = 0
            var changes: [Device.Place: Int] = [:]
            /// Reports whose circle does not contain the device.
            var untrue = 0
            var reported: Set<UInt32> = []

            var changeCount: Int { changes.values.reduce(0, +) }
            var figures: String { "\(changeCount) changes in \(recomputations) recomputations" }

            mutating func add(_ other: Day) {
                recomputations += other.recomputations
                changes.merge(other.changes, uniquingKeysWith: +)
                untrue += other.untrue
                reported.formUnion(other.reported)
            }
        }

        static func simulate(_ devices: [Device], _ receiver: Receiver, seed: UInt64) throws -> Day {
            let parts = ranges(devices.count, parts: min(devices.count, 40))
            var total = Day()
            for part in try onAllCores(
                parts.count,
                { part in
                    var random = SplitMix64(seed: seed &+ UInt64(part))
                    var sum = Day()
                    for index in parts[part] { try spend(devices[index], receiver, &random, &sum) }
                    return sum
                })
            {
                total.add(part)
            }
            return total
        }

        private static func spend(
            _ device: Device, _ receiver: Receiver, _ random: inout SplitMix64, _ day: inout Day
        ) throws {
            var pacer = Pacer()
            for second in stride(from: 0, through: 86_400, by: receiver.interval) {
                // Two independent normal deviates, by Box and Muller.
                let radius = receiver.sigma * (-2 * log(1 - random.unit())).squareRoot()
                let angle = random.uniform(0, 2 * .pi)
                let fix = Fix(
                    coordinate: Device.offset(device.position, east: radius * cos(angle), north: radius * sin(angle)),
                    time: Timestamp(nanosecondsSince1970: Int64(second) * 1_000_000_000),
                    horizontalAccuracy: receiver.accuracy)
                let before = pacer.region
                _ = try pacer.report(fix, in: atlas)
                guard let answer = try pacer.tick(fix.time, in: atlas) else { continue }
                if before != nil { day.recomputations += 1 }
                guard answer.isNew else { continue }
                if before != nil { day.changes[device.place, default: 0] += 1 }
                day.reported.insert(answer.region.index)
                let circle = RegionTable.world[answer.region]
                if try distance(circle.coordinate, device.position) > circle.horizontalAccuracy { day.untrue += 1 }
            }
        }

        /// C4: the centers of all that was reported lie in the countries named, in the atlas and in the source.
        static func expectRightSides(_ reported: Set<UInt32>) throws {
            for index in reported {
                let circle = RegionTable.world.locations[Int(index)]
                #expect(atlas.country(of: try atlas.snap(circle.coordinate)) == circle.country)
            }
            guard SourceFile.borders.exists else {
                print("skipped: no borders in .build/sources to look the reported centers up in")
                return
            }
            let indices = reported.sorted().map(Int.init)
            let points = indices.flatMap { index in
                let center = RegionTable.world.locations[index].coordinate
                return [center.longitude, center.latitude]
            }
            let borders = try PolygonOracle.borders.get()
            let result = try Oracle.compare(points, try borders.codes(of: points), with: borders)
            result.report("reported centers")
            #expect(result.worst <= Oracle.borderTolerance)
        }

        @Test func `devices stand where they say`() throws {
            let devices = try Self.devices.get()
            #expect(devices.count == SampleSize.devices.count)
            // Within 10 cm there is another region, two more, or another country.
            let misplaced = try devices.count { device in
                let regions = Set(
                    try (0..<32).map { direction in
                        let angle = Double(direction) * .pi / 8
                        let radius = direction < 16 ? 0.05 : 0.1
                        return try atlas.snap(
                            Device.offset(device.position, east: radius * cos(angle), north: radius * sin(angle)))
                    })
                return switch device.place {
                case .edge: regions.count < 2
                case .corner: regions.count < 3
                case .border: Set(regions.map { RegionTable.world.code($0) }).count < 2
                }
            }
            #expect(misplaced == 0)
            let counts = Dictionary(grouping: devices, by: \.place).mapValues(\.count)
            print("steady: \(Device.Place.allCases.map { "\(counts[$0] ?? 0) on \($0)s" }.joined(separator: ", "))")
        }

        @Test(arguments: [
            Receiver(sigma: 5, accuracy: 7.5), Receiver(sigma: 5), Receiver(sigma: 20, accuracy: 30),
            Receiver(sigma: 20),
        ])
        func `in ordinary noise none changes`(receiver: Receiver) throws {
            let devices = try Self.devices.get()
            let day = try Self.simulate(devices, receiver, seed: 0x5000)
            print(
                "steady: \(receiver.testDescription): \(day.figures)"
            )
            #expect(day.recomputations == devices.count * 96 && day.changeCount == 0 && day.untrue == 0)
            try Self.expectRightSides(day.reported)
        }

        @Test(arguments: [Receiver(sigma: 60, accuracy: 90), Receiver(sigma: 60)])
        func `in strong noise one recomputation in ten thousand changes`(receiver: Receiver) throws {
            let devices = try Self.manyDevices.get()
            let day = try Self.simulate(devices, receiver, seed: 0x6000)
            print(
                "steady: \(receiver.testDescription): \(day.figures), "
                    + "\(Device.Place.allCases.map { "\(day.changes[$0] ?? 0) on \($0)s" }.joined(separator: ", "))")
            #expect(day.recomputations == devices.count * 96 && day.untrue == 0)
            #expect(day.changeCount * 10_000 <= day.recomputations)
            try Self.expectRightSides(day.reported)
        }

        /// A fix every five seconds changes nothing: the pace holds.
        @Test(arguments: [
            Receiver(sigma: 5, accuracy: 7.5, interval: 5), Receiver(sigma: 20, interval: 5),
        ])
        func `many fixes are no more answers`(receiver: Receiver) throws {
            let devices = Array(try Self.devices.get().prefix(150))
            let day = try Self.simulate(devices, receiver, seed: 0x7000)
            print(
                "steady: \(receiver.testDescription): \(day.figures)"
            )
            #expect(day.recomputations == devices.count * 96 && day.changeCount == 0 && day.untrue == 0)
        }
    }
}
