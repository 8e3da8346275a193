import Hereabouts
import Testing

@testable import Traces

/// Eastings and northings beside columns that say their UTM zone.
@Suite struct UTMZoneTests {
    // MARK: A projection without PROJ

    /// A plane for each zone: a hundred kilometers of easting, and 111 of northing, are a degree.
    private static func plane(_ zone: UTMZone) -> CoordinateReference.Transform {
        { positions in
            for index in unsafe positions.elements.indices {
                let (x, y) = unsafe (positions.elements[index].longitude, positions.elements[index].latitude)
                unsafe positions.elements[index] = Coordinate(
                    latitude: (zone.isNorth ? y : y - 10_000_000) / 111_000,
                    longitude: Double(6 * Int(zone.number) - 183) + (x - 500_000) / 100_000)
            }
        }
    }

    private static func system(_ name: String) -> CoordinateReference? {
        UTMZone(ofSystem: name).map { zone in CoordinateReference(name: name) { plane(zone) } }
    }

    private static let utm = ReferenceChoice.named(.utm { system($0) })

    private static func named(_ name: String) -> ReferenceChoice {
        .named(system(name) ?? CoordinateReference(name: name) { { _ in } })
    }

    /// Easting and northing of a place in a zone's plane.
    private static func planar(_ place: Coordinate, zone: Int) -> (x: Double, y: Double) {
        (
            (place.longitude - Double(6 * zone - 183)) * 100_000 + 500_000,
            place.latitude * 111_000 + (place.latitude < 0 ? 10_000_000 : 0)
        )
    }

    private static let gijon = Coordinate(latitude: 43.5217, longitude: -5.6102)
    private static let barcelona = Coordinate(latitude: 41.3866, longitude: 2.1747)
    private static let rio = Coordinate(latitude: -22.952, longitude: -43.2106)
    private static let places = [gijon, barcelona, rio], numbers = [30, 31, 23]

    /// A table of the three places with these fields for the zones of each.
    private static func table(_ names: String, _ zones: [String], order: [Int] = [0, 1, 2]) -> String {
        "\(names),easting,northing\n"
            + order.map { index in
                let (x, y) = planar(places[index], zone: numbers[index])
                return "\(zones[index]),\(x),\(y)\n"
            }.joined()
    }

    private static func rows(_ order: [Int] = [0, 1, 2]) throws -> [String] {
        try order.map { try reducedColumns(places[$0].latitude, places[$0].longitude) }
    }

    private func snapped(_ input: String, _ choice: ReferenceChoice = utm) -> Outcome {
        snap(input) { $0.csv.reference = choice }
    }

    // MARK: Each record's zone

    @Test(arguments: [
        ("zone", ["30T", "31T", "23K"]), ("utm_zone", ["30t", " 31 t ", "23k"]),
        ("UTM Zone", ["EPSG:32630", "32631", "epsg:32723"]), ("zone", ["UTM 30T", "zone 31T", "UTM zone 23K"]),
        ("zone,hemisphere", ["30,N", "31,north", "23,S"]), ("zone_number,zone_letter", ["30,T", "31,T", "23,K"]),
        ("zone,hemisphere", ["30.0,North", "31.0,n", "23.0,south"]), ("utmzone,n/s", ["30,N", "31,N", "23,S"]),
        ("zone,hemisphere", ["30N,N", "31T,", "23M,S"]), ("zone", ["30 north", "31 north", "23 south"]),
        ("zone,hemisphere", ["30N,N", "31N,N", "23S,S"]),
        ("zone_no,latitude_band", ["30,T", "31,T", "23,K"]), ("zone", ["\"30T\"", "\"31T\"", "23-K"]),
    ])
    func `records are read by their zones`(_ names: String, _ zones: [String]) throws {
        let outcome = snapped(Self.table(names, zones))
        #expect(outcome.reasons.isEmpty && outcome.error == nil, "\(outcome)")
        #expect(Array(outcome.rows.dropFirst()) == (try Self.rows()))
    }

    /// Zones in turn, in batches and pieces of any size.
    @Test func `zones may change with each record`() throws {
        let order = (0..<2000).map { $0 * $0 % 7 % 3 }
        let table = Self.table("zone", ["30T", "31T", "23K"], order: order)
        for (threads, bytes) in [(1, 1 << 18), (2, 300), (7, 8)] {
            let outcome = snap(table) {
                $0.csv.reference = Self.utm
                ($0.threads, $0.readBytes) = (threads, bytes)
            }
            #expect(Array(outcome.rows.dropFirst()) == (try Self.rows(order)))
        }
    }

    @Test func `of JSON too`() throws {
        let (x, y) = Self.planar(Self.rio, zone: 23)
        let members = "\"time\":\"2026-05-01T08:10:00Z\",\"easting\":\(x),\"northing\":\(y)"
        for zone in ["\"zone\":\"23K\"", "\"utm_zone\":23,\"hemisphere\":\"S\"", "\"zone\":\"EPSG:32723\""] {
            let input = "{\(zone),\(members)}\n"
            let outcome = snap(input) {
                $0.csv.reference = Self.utm
                $0.format = .csv
            }
            #expect(outcome.rows.last == (try "2026-05-01T08:10:00Z," + Self.rows([2])[0]), "\(outcome)")
            let paced = convert(input) {
                $0.csv.reference = Self.utm
                $0.format = .csv
            }
            #expect(paced.rows.last?.hasSuffix(try Self.rows([2])[0]) == true, "\(paced)")
        }
        #expect(
            convert("{\"zone\":23,\(members)}") { $0.csv.reference = Self.utm }.error
                == .utmHemisphere(file: "input0", name: "zone"))
        let two = snap("{\"zone\":\"23K\",\(members)}\n{\"zone\":null,\(members)}\n{\"zone\":\"O\",\(members)}\n") {
            $0.csv.reference = Self.utm
        }
        #expect(two.reasons == ["2: the UTM zone is not readable", "3: the UTM zone is not readable"])
    }

    /// Case 33: three devices in three zones.
    @Test func `a paced table`() throws {
        let rows = Self.places.indices.map { index in
            let (x, y) = Self.planar(Self.places[index], zone: Self.numbers[index])
            return "\(["a", "b", "c"][index]),2026-05-01T08:1\(index):00Z,\(["30T", "31T", "23K"][index]),\(x),\(y)\n"
        }
        let table = "device_id,time,zone,easting,northing\n" + rows.joined()
        let outcome = convert(table) {
            $0.csv.reference = Self.utm
            $0.format = .csv
        }
        let expected = try Self.rows()
        #expect(outcome.reasons.isEmpty && outcome.error == nil)
        for (row, region) in zip(outcome.rows.dropFirst(), expected) { #expect(row.hasSuffix(region)) }
        #expect(outcome.rows.count == 4)
        // Without the option there are no coordinates.
        #expect(convert(table).error?.lacksPosition == true)
    }

    // MARK: What is not readable

    @Test(arguments: [
        "61T", "0T", "30I", "30O", "30A", "30Y", "T30", "30TVK", "-30", "30.5", "32661", "EPSG:25830", "EPSG:30", "",
        "north", "3030T", "99999999999999999999", "30TT", "30T5", "UTM", "30K north",
    ])
    func `a zone that is none`(_ zone: String) throws {
        let outcome = snapped(Self.table("zone", ["30T", zone, "23K"]))
        #expect(outcome.reasons == ["3: the UTM zone is not readable"], "\(outcome)")
        #expect(outcome.rows[2] == ",,,,,")
        #expect([outcome.rows[1], outcome.rows[3]] == (try Self.rows([0, 2])))
    }

    @Test(arguments: ["30T,S", "30K,N", "30N,S", "30,", "30,E", "30,Nord", ",N", "30,0"])
    func `a hemisphere that does not fit`(_ fields: String) {
        let outcome = snapped(Self.table("zone,hemisphere", [fields, "31,N", "23,S"]))
        #expect(outcome.reasons == ["2: the UTM zone is not readable"], "\(outcome)")
    }

    /// Exchanged, in kilometers, or degrees: no transformation sees those.
    @Test(arguments: ["4822059.7,289054.9", "289.05,4822.06", "-5.61,43.52", "0,0", "2000000,4000000", "nan,1"])
    func `numbers that are no eastings and northings`(_ position: String) {
        let outcome = snapped("zone,easting,northing\n30T,289054.9,4822059.7\n30T,\(position)\n")
        #expect(outcome.problems.map(\.line) == [3])
        #expect(outcome.rows[2] == ",,,,,")
    }

    @Test func `letters that may be hemispheres`() throws {
        // Bands, for one is.
        let bands = snapped(Self.table("zone", ["30N", "31T", "23K"]))
        #expect(bands.error == nil && bands.reasons.isEmpty)
        let south = snapped("zone,easting,northing\n30S,500000,4200000\n30T,500000,4600000\n")
        #expect(south.rows[1] == (try reducedColumns(4_200_000 / 111_000, -3)))
        for zones in [["30N", "31N", "23S"], ["30N", "31N", "32631"], ["30S", "31S", "23S"], ["30", "31", "23"]] {
            let outcome = snapped(Self.table("zone", zones))
            #expect(outcome.error == .utmHemisphere(file: "input", name: "zone"), "\(outcome)")
            #expect(outcome.output.isEmpty)
        }
        #expect(snapped(Self.table("zone", ["30T", "31", "23K"])).error == .utmHemisphere(file: "input", name: "zone"))
        let message = "\(TraceError.utmHemisphere(file: "f", name: "zone"))"
        #expect(message.contains("hemisphere") && message.contains("30T") && message.contains("EPSG:32630"))
    }

    /// Behind the records that are looked at, a zone that does not say its side is a bad record.
    @Test func `later records are judged one by one`() {
        let row = "32630,500000,4600000\n"
        let table =
            "zone,easting,northing\n" + String(repeating: row, count: 10_000)
            + "30N,500000,4600000\n30,500000,4600000\n30T,500000,4600000\n"
        let outcome = snapped(table)
        #expect(
            outcome.reasons == ["10002: the UTM zone is not readable", "10003: the UTM zone is not readable"])
    }

    @Test func `inputs without zones`() {
        #expect(snapped("x,y\n500000,4600000\n").error == .noUTMZone(file: "input"))
        #expect(snapped("{\"x\":500000,\"y\":4600000}\n").error == .noUTMZone(file: "input"))
        if case .bareReference? = snapped("500000 4600000\n").error {} else { Issue.record("lines of two numbers") }
        let collection = "{\"type\":\"FeatureCollection\",\"features\":[]}"
        #expect(convert(collection) { $0.csv.reference = Self.utm }.error == .noUTMZone(file: "input0"))
        let two = snapped("zone,zone_number,x,y\n30T,30,500000,4600000\n")
        #expect(two.error == .ambiguousColumn(file: "input", name: "UTM zone"))
    }

    // MARK: A named system

    @Test func `a column that says another zone`() throws {
        let table = Self.table("zone", ["30T", "31T", "23K"])
        for name in ["EPSG:32630", "urn:ogc:def:crs:EPSG::32631", "EPSG:31370", "+proj=utm +zone=30 +datum=WGS84"] {
            let outcome = snapped(table, Self.named(name))
            #expect(outcome.error == .utmZoneDiffers(file: "input", name: "zone"), "\(name) \(outcome)")
            #expect(outcome.output.isEmpty)
        }
        let xy = "X,Y,ZoneNumber\n500000,4600000,31\n"
        #expect(snapped(xy, Self.named("EPSG:32630")).error == .utmZoneDiffers(file: "input", name: "ZoneNumber"))
        let options = snap("e,n,utm_zone\n500000,4600000,31T\n") {
            $0.csv.reference = Self.named("EPSG:32630")
            ($0.csv.longitudeColumn, $0.csv.latitudeColumn) = ("e", "n")
        }
        #expect(options.error == .utmZoneDiffers(file: "input", name: "utm_zone"))
        let json = snapped("{\"zone\":\"31T\",\"x\":500000,\"y\":4600000}\n", Self.named("EPSG:32630"))
        #expect(json.error == .utmZoneDiffers(file: "input", name: "zone"))
        let south = snapped("x,y,zone\n500000,4600000,30T\n", Self.named("EPSG:32730"))
        #expect(south.error == .utmZoneDiffers(file: "input", name: "zone"))
    }

    @Test(arguments: [
        ("EPSG:32630", "30T"), ("EPSG:32630", "30"), ("EPSG:32630", "30N"), ("EPSG:32630", "30S"),
        ("EPSG:32630", "EPSG:32630"), ("EPSG:25830", "30T"), ("+proj=utm +zone=30", "30U"), ("EPSG:32730", "30S"),
        ("EPSG:32730", "30K"), ("+proj=utm +zone=30 +south", "30"),
        ("PROJCS[\"WGS_1984_UTM_Zone_30N\",GEOGCS[\"GCS_WGS_1984\"]]", "30T"), ("EPSG:32630", "industrial"),
        ("EPSG:31370", "industrial"),
    ])
    func `a column that says the same`(_ system: String, _ zone: String) {
        let outcome = snapped("x,y,zone\n500000,4600000,\(zone)\n", Self.named(system))
        #expect(outcome.error == nil, "\(outcome)")
        if UTMZone(ofSystem: system) != nil { #expect(outcome.reasons.isEmpty) }
    }

    @Test func `later records of another zone are bad`() throws {
        let table =
            "x,y,zone\n" + String(repeating: "500000,4600000,30T\n", count: 10_000)
            + "500000,4600000,31T\n500000,4600000,\n500000,4600000,30U\n"
        let outcome = snapped(table, Self.named("EPSG:32630"))
        #expect(
            outcome.reasons == ["10002: another UTM zone than that of --crs", "10003: the UTM zone is not readable"])
        #expect(outcome.rows[10_001] == ",,,,," && outcome.rows[10_003] == outcome.rows[1])
    }

    /// `zone` beside degrees is any column.
    @Test func `zones beside degrees`() throws {
        let expected = try reducedColumns(48.2, 16.3)
        for zone in ["33U", "31", "north", "", "7"] {
            #expect(snap("lat,lon,zone\n48.2,16.3,\(zone)\n").rows.last == expected)
            #expect(snapped("lat,lon,utm_zone\n48.2,16.3,\(zone)\n", Self.named("EPSG:4258")).rows.last == expected)
            #expect(snapped("x,y,zone\n16.3,48.2,\(zone)\n", Self.named("EPSG:4326")).rows.last == expected)
        }
        let kept = snap("lat,lon,zone\n48.2,16.3,33U\n") { $0.keep = ["zone"] }
        #expect(kept.rows.last == "33U," + expected)
    }

    @Test func `zones of systems`() {
        let north = UTMZone(number: 13, isNorth: true), south = UTMZone(number: 23, isNorth: false)
        for name in [
            "EPSG:32613", "epsg:32613", "urn:ogc:def:crs:EPSG::32613", "http://www.opengis.net/def/crs/EPSG/0/32613",
            "EPSG:26913", "+proj=utm +zone=13 +datum=WGS84", "PROJCS[\"NAD_1983_UTM_Zone_13N\"]",
            "PROJCRS[\"WGS 84 / UTM zone 13N\",BASEGEOGCRS[]]",
        ] { #expect(UTMZone(ofSystem: name) == north, "\(name)") }
        for name in ["EPSG:32723", "+proj=utm +south +zone=23", "PROJCS[\"WGS_1984_UTM_Zone_23S\"]"] {
            #expect(UTMZone(ofSystem: name) == south, "\(name)")
        }
        for name in ["EPSG:3857", "EPSG:31370", "EPSG:32661", "utm", "", "+proj=tmerc +lon_0=9", "PROJCS[\"UTM\"]"] {
            #expect(UTMZone(ofSystem: name) == nil, "\(name)")
        }
    }
}
