import AtlasSources
import Foundation
import Hereabouts
import Testing

extension Acceptance {
    /// Issue 2, item 2: the right side of every border.
    @Suite struct Sides {
        static let borders = Set(BorderPoint.all.map(\.border)).sorted()

        @Test func `the table names what the issue names`() {
            let points = Dictionary(grouping: BorderPoint.all, by: \.border)
            for (border, points) in points where border != "Nicosia" {
                #expect(Set(points.map(\.country)).count >= 2, "\(border) has only one side")
            }
            #expect(points.count >= 27)
        }

        /// The table itself, against the source: each point is in its country, and no other is nearer than stated.
        @Test(.needs(.borders)) func `the table is right`() throws {
            let oracle = try PolygonOracle.borders.get()
            let points = BorderPoint.all.flatMap { [$0.longitude, $0.latitude] }
            #expect(try oracle.codes(of: points) == BorderPoint.all.map(\.country))
            let rings = BorderPoint.all.flatMap { point in
                [0.25, 0.5, 0.75, 1].flatMap { part in
                    stride(from: 0.0, to: 360, by: 7.5).flatMap { angle in
                        let radius = part * point.clearance
                        let place = shifted(
                            point.longitude, point.latitude, east: radius * cos(angle * .pi / 180),
                            north: radius * sin(angle * .pi / 180))
                        return [place.x, place.y]
                    }
                }
            }
            let around = try oracle.codes(of: rings)
            let each = around.count / BorderPoint.all.count
            for (index, point) in BorderPoint.all.enumerated() {
                let found = Set(around[index * each..<(index + 1) * each])
                #expect(found == [point.country], "\(point.name) is nearer to a border than \(point.clearance) m")
            }
        }

        @Test(arguments: borders) func `both sides`(of border: String) throws {
            for point in BorderPoint.all where point.border == border {
                let coordinate = Coordinate(latitude: point.latitude, longitude: point.longitude)
                let circle = RegionTable.world[try atlas.snap(coordinate)]
                #expect(circle.country.code == point.country.description, "\(point.name)")
                #expect(try distance(circle.coordinate, coordinate) <= circle.horizontalAccuracy, "\(point.name)")
                let center = RegionTable.world[try atlas.snap(circle.coordinate)]
                #expect(center.country == circle.country, "\(point.name): the center is abroad")
            }
        }

        /// The centers of their regions, by the source polygons.
        @Test(.needs(.borders)) func `their centers too`() throws {
            let circles = try BorderPoint.all.map { point in
                RegionTable.world[try atlas.snap(latitude: point.latitude, longitude: point.longitude)]
            }
            let centers = circles.flatMap { [$0.coordinate.longitude, $0.coordinate.latitude] }
            for (point, found) in zip(BorderPoint.all, try PolygonOracle.borders.get().codes(of: centers)) {
                #expect(found == point.country, "\(point.name): the center is in \(found)")
            }
        }

        /// Why a place is in another country than GeoNames says.
        enum Kind: String, CaseIterable {
            case none = "at sea, or in no country"
            case near = "within 1 km of the country GeoNames names"
            case other = "farther inside another country (disputed, or a wrong position in GeoNames)"
        }

        /// GeoNames' places of 500 people and more, and GeoNames' own country of each.
        @Test(.needs(.places, .borders)) func `places are in their country`() throws {
            let places = try PlacesReader(path: SourceFile.places.path).read()
            var totals: [String: Int] = [:]
            var wrong: [(place: Place, found: CountryCode)] = []
            for place in places {
                let code = try #require(place.country)
                totals[code, default: 0] += 1
                let found = RegionTable.world.code(try atlas.snap(latitude: place.latitude, longitude: place.longitude))
                if found != CountryCode(code) { wrong.append((place, found)) }
            }
            let share = 1 - Double(wrong.count) / Double(places.count)
            print(
                "places: \(places.count - wrong.count) of \(places.count) agree with GeoNames, \(wrong.count) do not "
                    + "(\(percent(places.count - wrong.count, of: places.count)) agree)")
            #expect(places.count > 200_000 && share >= 0.999)
            try report(wrong)

            let wrongByCountry = Dictionary(grouping: wrong) { $0.place.country ?? "" }.mapValues(\.count)
            let shares = totals.filter { $0.value >= 20 }.map { code, total in
                (code: code, share: 1 - Double(wrongByCountry[code] ?? 0) / Double(total), total: total)
            }.sorted { ($0.share, $0.code) < ($1.share, $1.code) }
            for (code, share, total) in shares.prefix(10) {
                print(String(format: "places: %@ %.2f %% of %d", code, 100 * share, total))
            }
            for (code, share, _) in shares { #expect(share >= 0.97, "\(code)") }
        }

        private func report(_ wrong: [(place: Place, found: CountryCode)]) throws {
            let questions = wrong.map {
                CountryDistance.Question(
                    longitude: $0.place.longitude, latitude: $0.place.latitude,
                    country: CountryCode($0.place.country ?? ""))
            }
            let distances = try CountryDistance(oracle: try PolygonOracle.borders.get(), reach: 1_000).meters(questions)
            let kinds = zip(wrong, distances).map { wrong, meters -> Kind in
                wrong.found == .none ? .none : meters <= 1_000 ? .near : .other
            }
            for kind in Kind.allCases {
                let those = zip(wrong, kinds).filter { $0.1 == kind }.map(\.0)
                let pairs = Dictionary(grouping: those) { "\($0.place.country ?? "") in \($0.found)" }.mapValues(
                    \.count)
                let list = pairs.sorted { (-$0.value, $0.key) < (-$1.value, $1.key) }.map { "\($0.key) \($0.value)" }
                print("places: \(those.count) \(kind.rawValue): \(list.joined(separator: ", "))")
            }
        }
    }
}
