import FixedRandom
import Testing
import Zones

@Suite struct ZoneFileTests {
    private func parse(_ text: String) throws -> [Zone] { try ZoneFile.parse(Array(text.utf8)) }

    private func problem(_ text: String) -> ZoneError? {
        do throws(ZoneError) {
            _ = try ZoneFile.parse(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    private func feature(_ geometry: String, _ properties: String = "{}") -> String {
        "{\"type\":\"Feature\",\"properties\":\(properties),\"geometry\":\(geometry)}"
    }

    @Test func `rows`() throws {
        let zones = try parse(
            "\u{feff}latitude,longitude,radius_m\r\n# home\r\n48.2,16.4,200\r\n\r\n 48.3 , 16.5 , 1e3\r\n-1,-2,3"
        )
        #expect(zones.count == 3)
        #expect(zones[0].middle.latitude == 48.2 && zones[0].middle.longitude == 16.4)
        #expect(zones.map(\.reachMeters) == [200, 1000, 3])
        #expect("\(zones[0])" == "Zone(redacted)" && String(reflecting: zones[0]) == "Zone(redacted)")
        var dumped = ""
        dump(zones, to: &dumped)
        #expect(!dumped.contains("48"))
    }

    @Test func `polygons and points`() throws {
        let square = "[[16,48],[16.01,48],[16.01,48.01],[16,48.01],[16,48]]"
        let zones = try parse(
            """
            {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},
            "features":[
            \(feature("{\"type\":\"Polygon\",\"coordinates\":[\(square)]}", "{\"name\":\"home\",\"radius\":null}")),
            \(feature("{\"coordinates\":[16,48,300],\"type\":\"Point\"}", "{\"radius\":250}")),
            \(feature("{\"type\":\"MultiPolygon\",\"coordinates\":[[\(square)],[[[1,2],[1.1,2],[1,2.1],[1,2]]]]}"))]}
            """)
        #expect(zones.count == 4)
        // Half the diagonal of 745 m by 1,112 m, and 1 %.
        #expect((660...690).contains(zones[0].reachMeters))
        #expect((zones[0].middle.latitude - 48.005).magnitude < 1e-6)
        #expect(zones[1].reachMeters == 250)
        #expect(zones[2] == zones[0])
        // One feature or geometry is enough, or several one after the other.
        #expect(try parse("{\"type\":\"Polygon\",\"coordinates\":[\(square)]}").count == 1)
        let point = feature("{\"type\":\"Point\",\"coordinates\":[1,2]}", "{\"radius\":1}")
        #expect(try parse("\u{1e}\(point)\n\u{1e}\(point)\n").count == 2)
        // A radius widens a polygon.
        let wide = try parse(feature("{\"type\":\"Polygon\",\"coordinates\":[\(square)]}", "{\"radius\":1000}"))
        #expect(wide[0].reachMeters == zones[0].reachMeters + 1000)
    }

    /// A zone that is not understood is refused, never left out or repaired.
    @Test(arguments: [
        ("", ZoneError.empty), ("\n# nothing\n", .empty), ("lat,lon,radius\n", .empty),
        ("{\"type\":\"FeatureCollection\",\"features\":[]}", .empty),
        ("48,16", .bad(.line(1), .badRow)), ("48,16,200,1", .bad(.line(1), .badRow)),
        ("48,16,200\nx,16,200", .bad(.line(2), .badRow)), ("48;16;200", .bad(.line(1), .badRow)),
        ("lon,lat,radius\n16,48,200", .bad(.line(1), .badRow)), (",16,200", .bad(.line(1), .badRow)),
        ("nan,16,200", .bad(.line(1), .badRow)), ("48,16,inf", .bad(.line(1), .badRow)),
        ("91,16,200", .bad(.line(1), .latitudeOutOfRange)), ("48,181,200", .bad(.line(1), .longitudeOutOfRange)),
        ("48,16,", .bad(.line(1), .noRadius)), ("48,16,0", .bad(.line(1), .badRadius)),
        ("48,16,-5", .bad(.line(1), .badRadius)), ("48,16,50001", .bad(.line(1), .badRadius)),
        ("\r\n48,16,200,48,", .bad(.line(2), .badRow)), ("48,16,200,48.1,16.1", .bad(.line(1), .badRow)),
        ("{", .bad(.line(1), .notJSON)), ("{\"type\":\"Feature\"\n,,}", .bad(.line(2), .notJSON)),
        ("[]", .bad(.line(1), .notGeoJSON)), ("{\"type\":\"Topology\"}", .bad(.line(1), .notGeoJSON)),
        ("{\"type\":\"Feature\",\"geometry\":null}", .bad(.feature(1), .notAPlace)),
    ]) func `what is no zone is refused`(_ text: String, _ expected: ZoneError) {
        #expect(problem(text) == expected)
    }

    @Test func `hostile features`() {
        func polygon(_ rings: String) -> String { "{\"type\":\"Polygon\",\"coordinates\":\(rings)}" }
        let cases: [(String, String, ZoneError.Problem)] = [
            (polygon("[]"), "{}", .noRings), (polygon("[[[1,1],[2,2],[1,1]]]"), "{}", .ringTooShort),
            (polygon("[[[1,1],[1.1,1],[1.1,1.1],[1,1.1]]]"), "{}", .ringNotClosed),
            (polygon("[[[1,1],[1.1,1.1],[1.1,1],[1,1.1],[1,1]]]"), "{}", .ringsCross),
            (polygon("[[[1,1],[1,1],[1,1],[1,1]]]"), "{}", .ringsCross),
            (polygon("[[[1,1],[1.1,1],[1.1,91],[1,1]]]"), "{}", .latitudeOutOfRange),
            (polygon("[[[1,1],[1.1,1],[1.1,null],[1,1]]]"), "{}", .notAPosition),
            (polygon("[[[1,1],[1.1,1],[1.1],[1,1]]]"), "{}", .notAPosition),
            (polygon("[[1,1],[1.1,1],[1.1,2],[1,1]]"), "{}", .notAPosition),
            (polygon("[[[[[[1]]]]]]"), "{}", .notAPosition), (polygon("7"), "{}", .notAPosition),
            (polygon("[[[1,1],[3,1],[3,3],[1,1]]]"), "{}", .tooWide),
            (polygon("[[[179.9,1],[-179.9,1],[-179.9,1.1],[179.9,1]]]"), "{}", .tooWide),
            ("{\"type\":\"LineString\",\"coordinates\":[[1,1],[2,2]]}", "{}", .notAPlace),
            ("{\"type\":\"GeometryCollection\",\"geometries\":[]}", "{}", .notAPlace),
            ("{\"type\":\"Point\",\"coordinates\":[1,1]}", "{}", .noRadius),
            ("{\"type\":\"Point\",\"coordinates\":[1,1]}", "{\"radius\":\"200\"}", .badRadius),
            ("{\"type\":\"Point\",\"coordinates\":[1,1]}", "{\"radius\":1e9}", .badRadius),
            ("{\"type\":\"Point\",\"coordinates\":[1,1]}", "{\"radius\":5,\"radius\":6}", .repeatedMember),
            ("{\"type\":\"Point\",\"coordinates\":[1,1],\"coordinates\":[2,2]}", "{}", .repeatedMember),
            ("{\"type\":\"Point\",\"coordinates\":[1,1],\"crs\":{\"name\":\"EPSG:3857\"}}", "{}", .foreignCRS),
        ]
        for (geometry, properties, expected) in cases {
            let good = feature("{\"type\":\"Point\",\"coordinates\":[1,1]}", "{\"radius\":5}")
            let text = "{\"type\":\"FeatureCollection\",\"features\":[\(good),\(feature(geometry, properties))]}"
            #expect(problem(text) == .bad(.feature(2), expected), "\(geometry)")
        }
        #expect(problem("[" + String(repeating: "[", count: 100_000)) == .bad(.line(1), .notGeoJSON))
        #expect(
            problem("{\"x\":" + String(repeating: "[", count: 100_000)) == .bad(.line(1), .nestedTooDeep))
    }

    @Test func `limits`() {
        #expect(problem(String(repeating: "48,16,200\n", count: 1001)) == .tooMany)
        #expect(problem(String(repeating: " ", count: (16 << 20) + 1)) == .tooLarge)
        #expect(problem("48,16,200" + String(repeating: " ", count: 5000)) == .bad(.line(1), .badRow))
    }

    /// No error has digits of the file.
    @Test func `errors have nothing of the file`() {
        var random = SplitMix64(seed: 14)
        let base = Array(feature("{\"type\":\"Polygon\",\"coordinates\":[[[16.123456,48.123456]]]}").utf8)
        for _ in 0..<2000 {
            var bytes = base
            for _ in 0..<3 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            do throws(ZoneError) {
                _ = try ZoneFile.parse(bytes)
            } catch {
                #expect(!"\(error)".contains("123456"))
            }
        }
    }
}
