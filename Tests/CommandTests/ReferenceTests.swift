import CommandSupport
import Foundation
import Testing

/// `--crs`: positions in other coordinate reference systems.
@Suite struct ReferenceTests {
    private static let head = "latitude,longitude,horizontal_accuracy,region,country,place\n"

    /// The transverse Mercator projection of a UTM zone by Krüger's series to the fourth order in n, good to a millimeter
    /// within a zone: written from the formulas (Karney, J. Geodesy 85, 2011, eqs. 7 to 11 and 35), without PROJ.
    static func utm(_ latitude: Double, _ longitude: Double, centralMeridian: Double) -> (x: Double, y: Double) {
        let f = 1 / 298.257223563, a = 6_378_137.0, n = f / (2 - f)
        let n2 = n * n, n3 = n2 * n, n4 = n3 * n
        let radius = a / (1 + n) * (1 + n2 / 4 + n4 / 64)
        let first: Double = n / 2 - 2 * n2 / 3 + 5 * n3 / 16 + 41 * n4 / 180
        let second: Double = 13 * n2 / 48 - 3 * n3 / 5 + 557 * n4 / 1440
        let third: Double = 61 * n3 / 240 - 103 * n4 / 140
        let alpha: [Double] = [first, second, third, 49561 * n4 / 161_280]
        let phi = latitude * .pi / 180, lambda = (longitude - centralMeridian) * .pi / 180
        let e = (f * (2 - f)).squareRoot()
        let t = tan(phi), secant: Double = (1 + t * t).squareRoot()
        let sigma = sinh(e * atanh(e * t / secant))
        let tau: Double = t * (1 + sigma * sigma).squareRoot() - sigma * secant
        let across: Double = (tau * tau + cos(lambda) * cos(lambda)).squareRoot()
        let xi = atan2(tau, cos(lambda)), eta = asinh(sin(lambda) / across)
        var x = eta, y = xi
        for (index, factor) in alpha.enumerated() {
            let k = 2 * Double(index + 1)
            x += factor * cos(k * xi) * sinh(k * eta)
            y += factor * sin(k * xi) * cosh(k * eta)
        }
        return (500_000 + 0.9996 * radius * x, 0.9996 * radius * y)
    }

    private static let places: [(Double, Double)] = (0..<300).map { (index: Int) -> (Double, Double) in
        let latitude: Double = 31.0 + Double(index % 20) * 0.7003
        let longitude: Double = -107.9 + Double(index / 20) * 0.3907
        return (latitude, longitude)
    }

    /// What `snap` makes of positions in degrees.
    private func expected(_ places: [(Double, Double)], in place: Workplace) throws -> String {
        place.write("lat,lon\n" + places.map { "\($0.0),\($0.1)\n" }.joined(), as: "degrees.csv")
        return try place.hereabouts("snap", "degrees.csv", environment: ["HEREABOUTS_ATLAS": atlasPath]).output
    }

    private func snap(_ place: Workplace, _ arguments: String...) throws -> CommandResult {
        try place.run(command, ["snap"] + arguments, environment: ["HEREABOUTS_ATLAS": atlasPath])
    }

    @Test(arguments: ["x,y", "easting,northing", "Easting,Northing", "y,x", "northing,easting"])
    func `eastings and northings of a table`(_ header: String) throws {
        let place = Workplace()
        let expected = try expected(Self.places, in: place)
        let isFlipped = header.lowercased().hasPrefix("y") || header.hasPrefix("n")
        let rows = Self.places.map { latitude, longitude in
            let (x, y) = Self.utm(latitude, longitude, centralMeridian: -105)
            return isFlipped ? "\(y),\(x)\n" : "\(x),\(y)\n"
        }
        place.write(header + "\n" + rows.joined(), as: "utm.csv")
        for system in ["EPSG:32613", "+proj=utm +zone=13 +datum=WGS84", "urn:ogc:def:crs:EPSG::32613"] {
            let result = try snap(place, "--crs", system, "utm.csv")
            #expect(result.output == expected && result.status == 0, "\(system) \(result.errors)")
        }
        #expect(try snap(place, "utm.csv", "--crs=EPSG:32613", "--threads", "3").output == expected)
    }

    /// EPSG:4326 has the latitude first by its authority; here x is the longitude.
    @Test func `axes are in the order of their names`() throws {
        let place = Workplace()
        let expected = try expected(Self.places, in: place)
        place.write("x,y\n" + Self.places.map { "\($0.1),\($0.0)\n" }.joined(), as: "swapped.csv")
        #expect(try snap(place, "--crs", "EPSG:4326", "swapped.csv").output == expected)
        #expect(try snap(place, "--crs", "EPSG:4326", "degrees.csv").output == expected)
        // Web Mercator, by its formula.
        let rows = Self.places.map { latitude, longitude in
            let y = 6_378_137 * asinh(tan(latitude * .pi / 180))
            return "POINT(\(longitude * .pi / 180 * 6_378_137) \(y))\n"
        }
        place.write("wkt\n" + rows.joined(), as: "mercator.csv")
        #expect(try snap(place, "--crs", "EPSG:3857", "mercator.csv").output == expected)
        place.write("wkt\n" + rows.map { "SRID=3857;" + $0 }.joined(), as: "ewkt.csv")
        #expect(try snap(place, "--crs", "auto", "ewkt.csv").output == expected)
        place.write(
            "id,wkt\n" + rows.map { "1,SRID=3857;" + $0 }.joined() + "1,SRID=4326;POINT(1 2)\n", as: "mixed.csv")
        let mixed = try snap(place, "--crs", "auto", "mixed.csv")
        #expect(mixed.status == 1 && mixed.errors.contains("1 of 301 records were bad"))
        // Without --crs nothing of the kind is read.
        let without = try snap(place, "ewkt.csv")
        #expect(without.status == 1 && without.errors.contains("300 of 300"))
        place.write(
            Self.places.map { latitude, longitude in
                let (x, y) = Self.utm(latitude, longitude, centralMeridian: -105)
                return "{\"northing\":\(y),\"easting\":\(x)}\n"
            }.joined(), as: "utm.ndjson")
        #expect(try snap(place, "--crs", "EPSG:32613", "--to", "csv", "utm.ndjson").output == expected)
    }

    @Test func `a projection file beside a table`() throws {
        let place = Workplace()
        let expected = try expected(Self.places, in: place)
        place.write(
            "x,y\n"
                + Self.places.map { latitude, longitude in
                    let (x, y) = Self.utm(latitude, longitude, centralMeridian: -105)
                    return "\(x),\(y)\n"
                }.joined(), as: "points.csv")
        place.write(
            """
            PROJCS["WGS_1984_UTM_Zone_13N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,\
            298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],\
            PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-105.0],\
            PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]
            """, as: "points.prj")
        #expect(try snap(place, "--crs", "auto", "points.csv").output == expected)
        place.write("nonsense", as: "points.prj")
        let bad = try snap(place, "--crs", "auto", "points.csv")
        #expect(
            bad.status == 2 && bad.errors.contains("declares a coordinate reference system that PROJ does not know"))
    }

    /// Eastings and northings in the zone that each record says. The degrees are PROJ's, by pyproj.
    @Test func `a zone for each record`() throws {
        let place = Workplace()
        let head = "device_id,time,zone,easting,northing\n"
        let rows = [
            "a,2026-05-01T08:10:00Z,30T,289054.868,4822059.711\n", "b,2026-05-01T08:11:00Z,31T,431000.0,4582000.0\n",
            "c,2026-05-01T08:12:00Z,23K,683466,7460687\n",
        ]
        place.write(head + rows.joined(), as: "zones.csv")
        place.write(
            """
            device_id,time,lat,lon
            a,2026-05-01T08:10:00Z,43.5216855,-5.6101620
            b,2026-05-01T08:11:00Z,41.3865701,2.1747262
            c,2026-05-01T08:12:00Z,-22.9519039,-43.2106024

            """, as: "degrees.csv")
        let expected = try snap(place, "degrees.csv")
        #expect(expected.status == 0 && expected.output.contains("BR"))
        let result = try snap(place, "--crs", "utm", "zones.csv")
        #expect(result.output == expected.output && result.status == 0, "\(result.errors)")
        let environment = ["HEREABOUTS_ATLAS": atlasPath]
        let arguments = ["--to", "csv"]
        #expect(
            try place.run(
                command, ["convert", "--crs", "utm", "zones.csv"] + arguments, environment: environment
            ).output
                == place.run(command, ["convert", "degrees.csv"] + arguments, environment: environment).output)
        // One system for three zones.
        let wrong = try snap(place, "--crs", "EPSG:32630", "zones.csv")
        #expect(wrong.status == 2 && wrong.output.isEmpty && wrong.errors.contains("--crs utm"))
        place.write(head + rows[0], as: "one.csv")
        let one = try snap(place, "--crs", "EPSG:32630", "one.csv")
        #expect(one.status == 0 && expected.output.hasPrefix(one.output))
        place.write("x,y\n500000,4000000\n", as: "none.csv")
        #expect(try snap(place, "--crs", "utm", "none.csv").status == 2)
    }

    /// Outside of a projection's domain there is no position.
    @Test func `positions outside are bad records`() throws {
        let place = Workplace()
        place.write(
            "x,y\n500000,4000000\n1e12,1e12\n-1e300,0\nnan,1\n500000,\n,\n500000,4000000\n", as: "points.csv")
        let result = try snap(place, "--crs", "EPSG:32613", "points.csv")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 8 && lines[1] == lines[7] && !lines[1].hasPrefix(",,"))
        #expect(lines[2...6].allSatisfy { $0 == ",,,,," })
        #expect(result.status == 1 && result.errors.contains("the position is outside of the area of --crs (2)"))
        place.write("x,y\n4e7,0\n0,1e9\n0,0\n", as: "mercator.csv")
        let mercator = try snap(place, "--crs", "EPSG:3857", "mercator.csv")
        #expect(mercator.output.split(separator: "\n")[1] == ",,,,,")
        place.write("lat,lon\n91,0\n", as: "degrees.csv")
        #expect(try snap(place, "--crs", "EPSG:4326", "degrees.csv").status == 1)
    }

    @Test(arguments: [
        "EPSG:999999", "nonsense", "", "EPSG:4978", "EPSG:5773", "+proj=pipeline +step +proj=utm +zone=13",
    ])
    func `what is no system is refused`(_ system: String) throws {
        let place = Workplace()
        place.write("x,y\n500000,4000000\n", as: "points.csv")
        let result = try snap(place, "--crs", system, "points.csv")
        #expect(result.status == 2 && result.output.isEmpty && result.errors.contains("--crs"), "\(result.errors)")
    }

    @Test func `what has no system is refused`() throws {
        let place = Workplace()
        place.write("500000 4000000\n", as: "bare.txt")
        let bare = try snap(place, "--crs", "EPSG:32613", "bare.txt")
        #expect(bare.status == 2 && bare.errors.contains("which is the easting"))
        place.write("<gpx version=\"1.1\" xmlns=\"http://www.topografix.com/GPX/1/1\"></gpx>", as: "a.gpx")
        let gpx = try place.hereabouts(
            "convert", "--crs", "EPSG:32613", "--to", "csv", "a.gpx", environment: ["HEREABOUTS_ATLAS": atlasPath])
        #expect(gpx.status == 2 && gpx.errors.contains("WGS 84 by definition"))
        // A column of eastings is a position, whether it is read or not.
        place.write("lat,lon,easting\n48,16,500000\n", as: "kept.csv")
        #expect(try snap(place, "--keep", "easting", "kept.csv").status == 2)
    }

    /// GeoJSON of before RFC 7946 may be in any system, and says so.
    @Test func `GeoJSON that declares a system`() throws {
        let place = Workplace()
        func convert(_ text: String, _ arguments: String...) throws -> CommandResult {
            place.write(text, as: "in.geojson")
            return try place.run(
                command, ["convert", "--to", "csv", "--emit", "recomputations", "in.geojson"] + arguments,
                environment: ["HEREABOUTS_ATLAS": atlasPath])
        }
        func collection(_ before: String = "", _ after: String = "", _ inFeature: String = "", utm: Bool) -> String {
            let features = (0..<6).map { index in
                let (latitude, longitude) = Self.places[index * 37]
                let (x, y) = utm ? Self.utm(latitude, longitude, centralMeridian: -105) : (longitude, latitude)
                return
                    "{\"type\":\"Feature\"\(inFeature),\"properties\":{\"time\":\"2026-03-01T\(10 + index):05:00Z\"},"
                    + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(x),\(y)]}}"
            }
            return
                "{\"type\":\"FeatureCollection\"\(before),\"features\":[\(features.joined(separator: ",\n"))]\(after)}"
        }
        func member(_ name: String) -> String { ",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"\(name)\"}}" }
        let expected = try convert(collection(utm: false))
        #expect(expected.status == 0 && expected.output.split(separator: "\n").count == 7)
        let foreign = member("urn:ogc:def:crs:EPSG::32613")
        #expect(try convert(collection(foreign, utm: true), "--crs", "auto").output == expected.output)
        for text in [
            collection(foreign, utm: true), collection("", foreign, utm: true), collection("", "", foreign, utm: true),
        ] {
            #expect(try convert(text, "--crs", "EPSG:32613").output == expected.output)
            let result = try convert(text)
            #expect(result.status != 0 && result.output.split(separator: "\n").count <= 1, "\(result.output)")
        }
        #expect(try convert(collection(foreign, utm: true)).errors.contains("name it with --crs"))
        #expect(try convert(collection("", foreign, utm: true), "--crs", "auto").status == 2)
        for name in ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326", "urn:ogc:def:crs:EPSG::4326"] {
            for text in [
                collection(member(name), utm: false), collection("", member(name), utm: false),
                collection("", "", member(name), utm: false),
            ] {
                #expect(try convert(text).output == expected.output)
                #expect(try convert(text, "--crs", "auto").output == expected.output)
            }
        }
        #expect(try convert(collection(",\"crs\":null", utm: false)).output == expected.output)
        #expect(try convert(collection(",\"crs\":{\"type\":\"link\"}", utm: false)).status == 2)
        #expect(try convert(collection(foreign + foreign, utm: true), "--crs", "auto").status == 2)
        #expect(try convert(collection(member("EPSG:999999"), utm: true), "--crs", "auto").status == 2)
    }
}
