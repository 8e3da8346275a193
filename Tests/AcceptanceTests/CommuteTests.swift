import FixedRandom
import Foundation
import Hereabouts
import Testing

/// A pacer as it is asked here: by ticks.
struct PacedPerson {
    private var pacer = Pacer()

    var region: Region? { pacer.region }

    /// Takes the newest fix of the interval before a tick, and gives the answer that stands from the tick on.
    mutating func tick(_ fix: Fix, at time: Timestamp) throws -> Region? {
        _ = try pacer.report(fix, in: atlas)
        _ = try pacer.tick(time, in: atlas)
        return pacer.region
    }
}

extension Acceptance {
    /// Issue 12: which region stands at home at night, for people who live near another one and come home from
    /// different sides (C11): of `SampleSize.commuters` twice as many at edges, half as many beside them and at corners.
    @Suite struct Commutes {
        static let count = SampleSize.commuters.count
        static let people = Result {
            try Commuter.Neighborhood.allCases.map { neighborhood in
                try Commuter.find(neighborhood == .edge ? 2 * count : count / 2, neighborhood, seed: 0xc0_7700)
            }
        }

        /// The months of all people, by neighborhood.
        static func months(_ receiver: CommuteReceiver, isDaily: Bool = false) throws -> [[CommuteMonth]] {
            try people.get().map { people in
                let parts = ranges(people.count, parts: min(people.count, 40))
                return try onAllCores(parts.count) { part in
                    try parts[part].map {
                        try CommuteMonth(people[$0], receiver, seed: 0x70_0000 + UInt64($0), isDaily: isDaily)
                    }
                }.flatMap { $0 }
            }
        }

        static func report(_ title: String, _ months: [[CommuteMonth]]) throws {
            let shares = zip(Commuter.Neighborhood.allCases, months).map { neighborhood, months in
                "\(neighborhood) \(percent(months.count(where: \.varies), of: months.count))"
            }
            let all = months.joined()
            print(
                "commute: \(title): the night's region varies for \(shares.joined(separator: ", ")); "
                    + "\(all.map(\.restChanges).reduce(0, +)) changes in \(all.map(\.restTicks).reduce(0, +)) ticks at rest, "
                    + "\(all.map(\.homeChanges).reduce(0, +)) of them at home")
            let strips = try all.filter(\.varies).compactMap { try strip($0) }.sorted()
            if !strips.isEmpty {
                print(
                    String(
                        format: "commute: who sees both regions knows a strip of %.1f %% of one (median of %d)",
                        100 * strips[strips.count / 2], strips.count))
            }
        }

        /// The area within reach of both regions that stood most, as a share of the larger part's region: where a home
        /// lies whose nights are answered with either. Estimated by points; nil where no point falls into the region.
        static func strip(_ month: CommuteMonth) throws -> Double? {
            // Handles that the pacer gives have a mark, those of `snap` have none.
            let pair = month.nights.sorted { ($0.value, $0.key.index) > ($1.value, $1.key.index) }.prefix(2)
                .map { Region(index: $0.key.index) }
            let circle = RegionTable.world[pair[0]]
            var random = SplitMix64(seed: UInt64(pair[0].index))
            var (inside, near) = (0, 0)
            for _ in 0..<1_000 {
                let radius = circle.horizontalAccuracy * random.unit().squareRoot()
                let angle = random.uniform(0, 2 * .pi)
                let point = Device.offset(circle.coordinate, east: radius * sin(angle), north: radius * cos(angle))
                let region = try atlas.snap(point)
                if region == pair[0] { inside += 1 }
                guard pair.contains(region) else { continue }
                let others = try Surroundings(point, in: region, radii: [125, 250]).others
                if others.contains(where: { $0 != region && pair.contains($0) }) { near += 1 }
            }
            return inside > 0 ? Double(near) / Double(inside) : nil
        }

        @Test func `people live near other regions in both orders`() throws {
            for (neighborhood, people) in zip(Commuter.Neighborhood.allCases, try Self.people.get()) {
                for person in people {
                    let radius = neighborhood == .brink ? 60.0 : 250
                    let others = try Surroundings(
                        person.home, in: atlas.snap(person.home),
                        radii: [radius / 4, radius / 2, 3 * radius / 4, radius]
                    ).others
                    #expect(others.count >= 1 && person.nights.count > 30)
                    #expect(
                        zip(person.legs, person.legs.dropFirst()).allSatisfy { $0.end == $1.start && $0.to == $1.from })
                }
            }
        }

        @Test(
            arguments: [
                CommuteReceiver(sigma: 10.0 / 3, accuracy: 5), CommuteReceiver(sigma: 40.0 / 3, accuracy: 20),
                CommuteReceiver(sigma: 5), CommuteReceiver(sigma: 10),
            ], CommuteReceiver.Sampling.allCases)
        func `one region stands at night`(receiver: CommuteReceiver, sampling: CommuteReceiver.Sampling) throws {
            var receiver = receiver
            receiver.sampling = sampling
            let months = try Self.months(receiver)
            try Self.report(receiver.figures, months)
            let all = months.joined(), edge = months[0]
            // Of people within 250 m of another region one in two hundred, or in 150: 3 or 4 of 600, and by chance 3 of the first 200
            // of these. Of those within 60 m of one, or of two, and with a logger that writes a few fixes a day, more: seven
            // hundred people of each had up to 1.3 %.
            if sampling == .continuous { #expect(edge.count(where: \.varies) * 100 <= edge.count) }
            #expect(all.count(where: \.varies) * 50 <= all.count)
            // Who comes and goes at home: 11 of 5,400 people, and 10 on the atlas before. One alone did so 162 times, so that a sum over
            // all says little.
            #expect(all.count { $0.homeChanges > 4 } * 100 <= all.count)
        }

        /// What is not promised: recordings that know nothing of each other.
        @Test(arguments: [CommuteReceiver(sigma: 10.0 / 3, accuracy: 5), CommuteReceiver(sigma: 5)])
        func `days begun anew vary`(receiver: CommuteReceiver) throws {
            try Self.report("\(receiver.figures), begun anew each day", try Self.months(receiver, isDaily: true))
        }
    }
}
