import FixedRandom
import Foundation
import HereaboutsFoundation
import Testing

@testable import Hereabouts

private let model = AtlasModel(seed: 1)
private let modelFile = model.fixture.file()

/// The public lookups: what they answer, and what they throw.
@Suite struct LookupTests {
    let atlas: Atlas

    init() throws { atlas = try Atlas(bytes: modelFile.bytes) }

    private func coordinates(_ count: Int, seed: UInt64) -> [Coordinate] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-400, 400))
        }
    }

    @Test func `the region of a coordinate is that of its leaf cell`() throws {
        for coordinate in coordinates(3_000, seed: 700) {
            let leaf = try CellID(latitude: coordinate.latitude, longitude: coordinate.longitude).faceIJ()
            let region = try atlas.region(at: coordinate)
            #expect(Int(region.index) == model.region(face: leaf.face, i: Int(leaf.i), j: Int(leaf.j)))
            #expect(try atlas.reducedLocation(at: coordinate) == atlas.reducedLocation(of: region))
        }
    }

    @Test func `invalid coordinates throw or are invalid regions`() throws {
        for latitude in [90.000001, -.infinity, .nan, 1e300] {
            let coordinate = Coordinate(latitude: latitude, longitude: 0)
            #expect(throws: LookupError.coordinate(.latitudeOutOfRange)) { try atlas.region(at: coordinate) }
            #expect(throws: LookupError.coordinate(.latitudeOutOfRange)) { try atlas.reducedLocation(at: coordinate) }
            #expect(try atlas.regions(at: [coordinate]) == [.invalid])
            #expect(try atlas.reducedLocations(at: [coordinate]) == [nil])
        }
        for longitude in [540.000001, -1e300, .infinity, .nan] {
            let coordinate = Coordinate(latitude: 0, longitude: longitude)
            #expect(throws: LookupError.coordinate(.longitudeOutOfRange)) { try atlas.region(at: coordinate) }
            #expect(try atlas.regions(at: [coordinate]) == [.invalid])
        }
        #expect(throws: LookupError.foreignRegion) { try atlas.reducedLocation(of: .invalid) }
    }

    @Test func `arrays and spans answer as single calls do`() throws {
        var places = coordinates(1_000, seed: 701)
        places += places[..<50]
        places[17].latitude = .nan
        let expected = places.map { try? atlas.region(at: $0) }
        #expect(try atlas.regions(at: places) == expected.map { $0 ?? .invalid })
        #expect(try atlas.reducedLocations(at: places) == places.map { try? atlas.reducedLocation(at: $0) })
        var regions = [Region](repeating: .invalid, count: places.count)
        var span = regions.mutableSpan
        try atlas.regions(at: places.span, into: &span)
        #expect(regions == expected.map { $0 ?? .invalid })
        #expect(try atlas.regions(at: []).isEmpty)
    }

    @Test func `identifiers lead to regions and back`() throws {
        for coordinate in coordinates(500, seed: 702) {
            let region = try atlas.region(at: coordinate), id = try atlas.identifier(of: region)
            #expect(try atlas.reducedLocation(of: region).region == id)
            if let found = try atlas.region(withID: id) { #expect(try atlas.identifier(of: found) == id) }
        }
        // Centers of the model are made up; one that lies in its own region is needed.
        var fixture = model.fixture
        let cell = CellID(face: 3, i: 77 << 22 | 5 << 12, j: 99 << 22 | 9 << 12, level: 18)
        fixture.regions[3].latitude = Int((cell.center.latitude * 100_000).rounded())
        fixture.regions[3].longitude = Int((cell.center.longitude * 100_000).rounded())
        let atlas = try Atlas(bytes: fixture.bytes)
        let region = try #require(try atlas.region(withID: RegionID(cell: cell)))
        #expect(region.index == 3)
        #expect(try atlas.region(withID: RegionID(cell: cell.next)) == nil)
        #expect(try atlas.region(withID: RegionID(cell: CellID(rawValue: 0))) == nil)
    }

    /// Handles of other atlases: refused, whatever their index.
    @Test func `a region of another atlas is refused`() throws {
        var random = SplitMix64(seed: 703)
        var refused = 0, equalMarks = 0
        for number in 0..<5 {
            var fixture = model.fixture
            fixture.about = "{\"number\":\(number)}"
            let other = try Atlas(bytes: fixture.bytes, validation: .onFirstUse)
            if other.mark == atlas.mark {
                equalMarks += 1
                continue
            }
            for coordinate in coordinates(20, seed: random.next()) {
                let region = try other.region(at: coordinate)
                #expect(throws: LookupError.foreignRegion) { try atlas.reducedLocation(of: region) }
                #expect(throws: LookupError.foreignRegion) { try atlas.circle(of: region) }
                #expect(throws: LookupError.foreignRegion) { try atlas.identifier(of: region) }
                #expect(throws: LookupError.foreignRegion) { try atlas.anonymity(of: region) }
                refused += 1
            }
        }
        #expect(refused >= 60 && equalMarks < 3)
        // Any 32 bits at all are an answer or an error.
        for _ in 0..<20_000 {
            let region = Region(bits: UInt32.random(in: 0...UInt32.max, using: &random))
            if let circle = try? atlas.circle(of: region) {
                #expect(circle.horizontalAccuracy > 0 && region.index < UInt32(atlas.regionCount))
            }
        }
    }

    @Test func `an invalid fix throws and changes nothing`() throws {
        var pacer = Pacer()
        func report(_ seconds: Int64, _ latitude: Double, _ longitude: Double) throws -> Pacer.Reception {
            let time = try #require(Timestamp(secondsSince1970: seconds))
            return try pacer.report(
                Fix(coordinate: Coordinate(latitude: latitude, longitude: longitude), time: time), in: atlas)
        }
        #expect(throws: LookupError.coordinate(.latitudeOutOfRange)) { try report(0, 91, 0) }
        #expect(pacer == Pacer())
        _ = try report(0, 1, 2)
        let before = pacer
        #expect(throws: LookupError.coordinate(.latitudeOutOfRange)) { try report(5_000, .nan, 0) }
        #expect(throws: LookupError.coordinate(.longitudeOutOfRange)) { try report(6_000, 0, .infinity) }
        #expect(pacer == before)
    }

    @Test func `a pacer keeps its pace in another atlas`() throws {
        var fixture = model.fixture
        fixture.about = "{\"number\":1}"
        let other = try Atlas(bytes: fixture.bytes)
        var pacer = Pacer()
        func fix(_ seconds: Int64) throws -> Fix {
            Fix(
                coordinate: Coordinate(latitude: 1, longitude: 2),
                time: try #require(Timestamp(secondsSince1970: seconds)))
        }
        _ = try pacer.report(fix(0), in: atlas)
        let first = try pacer.tick(fix(0).time, in: atlas)
        #expect(try first?.region == atlas.region(at: Coordinate(latitude: 1, longitude: 2)))
        #expect(pacer.state(in: atlas)?.region != nil)
        #expect(pacer.state(in: other)?.region == nil)
        #expect(try pacer.report(fix(0), in: other) == .late)
        #expect(try pacer.report(fix(899), in: other) == .kept(nil))
        let second = try pacer.tick(fix(900).time, in: other)
        #expect(try second?.region == other.region(at: Coordinate(latitude: 1, longitude: 2)) && second?.isNew == true)
    }
}

/// Atlases validated on first use: damage is thrown by the lookup that finds it.
@Suite struct DamagedLookupTests {
    /// The file with one byte of each chunk of a section changed, from the second chunk of the file on.
    private func damaged(_ section: Int, seal: Bool = false) -> [UInt8] {
        var bytes = modelFile.bytes
        let range = modelFile.layout.sections[section]
        for offset in stride(from: max(range.lowerBound, 0x20 + 1 << 14), to: range.upperBound, by: 512) {
            bytes[offset] ^= 4
        }
        return bytes
    }

    private let places: [Coordinate] = {
        var random = SplitMix64(seed: 710)
        return (0..<4_000).map { _ in
            Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
        }
    }()

    @Test(arguments: 0..<5) func `lookups throw or answer as the sound file does`(section: Int) throws {
        let sound = try Atlas(bytes: modelFile.bytes)
        let atlas = try Atlas(bytes: damaged(section), validation: .onFirstUse)
        var thrown = 0, answered = 0
        for place in places {
            do throws(LookupError) {
                let location = try atlas.reducedLocation(at: place)
                #expect(try location == sound.reducedLocation(at: place))
                answered += 1
            } catch {
                #expect(error == .atlas(.checksumMismatch))
                thrown += 1
            }
        }
        #expect(thrown > 0)
        #expect(section > 1 || answered >= 0)
        // Again: damage is not forgotten.
        #expect(places.contains { (try? atlas.reducedLocation(at: $0)) == nil })
        #expect(throws: AtlasError.self) { try atlas.validate() }
    }

    @Test func `a batch throws what its lookups find`() throws {
        let atlas = try Atlas(bytes: damaged(3), validation: .onFirstUse)
        #expect(throws: AtlasError.checksumMismatch) { try atlas.regions(at: places) }
        #expect(throws: AtlasError.checksumMismatch) { try atlas.reducedLocations(at: places) }
        var regions = [Region](repeating: .invalid, count: places.count)
        var circles = [Atlas.Circle](
            repeating: Atlas.Circle(coordinate: Coordinate(latitude: 0, longitude: 0), horizontalAccuracy: 0),
            count: places.count)
        #expect(throws: AtlasError.checksumMismatch) {
            var span = regions.mutableSpan
            try atlas.regions(at: places.span, into: &span)
        }
        #expect(throws: AtlasError.checksumMismatch) {
            var span = regions.mutableSpan, circleSpan = circles.mutableSpan
            try atlas.regions(at: places.span, into: &span, circles: &circleSpan)
        }
        // Whatever handles a failed batch left, they are refused or sound.
        for region in regions { _ = try? atlas.reducedLocation(of: region) }
        // Positions that need nothing damaged are answered, also after damage was found.
        let good = places.filter { (try? atlas.region(at: $0)) != nil }
        #expect(try atlas.regions(at: good).count == good.count)
    }

    @Test func `texts and numbers throw too`() throws {
        let place = Coordinate(latitude: 1, longitude: 2)
        var bytes = modelFile.bytes
        // Sections 5 to 8: anonymity, concentration, names and about.
        for offset in modelFile.layout.sections[5].lowerBound..<modelFile.layout.sections[8].upperBound {
            bytes[offset] ^= 1
        }
        let atlas = try Atlas(bytes: bytes, validation: .onFirstUse)
        if let region = try? atlas.region(at: place) {
            #expect(throws: LookupError.atlas(.checksumMismatch)) { try atlas.reducedLocation(of: region) }
            #expect(throws: LookupError.atlas(.checksumMismatch)) { try atlas.anonymity(of: region) }
            #expect(throws: LookupError.atlas(.checksumMismatch)) { try atlas.concentration(of: region) }
        }
        #expect(throws: AtlasError.checksumMismatch) { try atlas.aboutJSON }
        #expect(throws: AtlasError.checksumMismatch) { try atlas.attribution }
    }

    @Test func `pacers and fleets throw damage and stay as they were`() throws {
        let atlas = try Atlas(bytes: damaged(1), validation: .onFirstUse)
        let place = try #require(places.first { (try? atlas.region(at: $0)) == nil })
        let time = Timestamp(nanosecondsSince1970: 0)
        var pacer = Pacer()
        var fleet = Fleet(capacity: 10, atlas: atlas)
        _ = try pacer.report(Fix(coordinate: place, time: time), in: atlas)
        _ = try fleet.report(Fix(coordinate: place, time: time), from: "a")
        let before = pacer
        #expect(throws: LookupError.atlas(.checksumMismatch)) { try pacer.tick(time, in: atlas) }
        #expect(pacer == before)
        #expect(throws: FleetError.atlas(.checksumMismatch)) { try fleet.tick(time) { _ in } }
        let later = Fix(coordinate: place, time: Timestamp(nanosecondsSince1970: 1))
        #expect(throws: LookupError.atlas(.checksumMismatch)) { try pacer.report(later, in: atlas) }
        #expect(pacer == before)
        #expect(throws: FleetError.atlas(.checksumMismatch)) { try fleet.report(later, from: "a") }
    }

    @Test func `an atlas opened on first use and validated later is sound`() throws {
        let atlas = try Atlas(bytes: modelFile.bytes, validation: .onFirstUse)
        try atlas.validate()
        #expect(try atlas.regions(at: places) == Atlas(bytes: modelFile.bytes).regions(at: places))
    }
}

/// The attributions in the JSON of the section `about`.
@Suite struct AttributionTests {
    private func attribution(_ about: String) -> [Atlas.Attribution]? {
        var scanner = AboutScanner(Array(about.utf8))
        return scanner.attributions()
    }

    @Test func `sources give their texts in order`() throws {
        let about = """
            {"before": {"sources": [1]}, "sources" : [
              {"name": "A", "version": "1", "licence": "ODbL 1.0", "attribution": "© \\u00c5, \\"q\\" \\ud83d\\ude00\\/"},
              {"name": "B", "nested": [{"attribution": "no"}, null, true, -1.5e3]},
              {"attribution": "C\\ud800", "version": 3}
            ], "summary": [[], {}, ""]}
            """
        #expect(
            attribution(about) == [
                Atlas.Attribution(source: "A", license: "ODbL 1.0", text: "© Å, \"q\" 😀/"),
                Atlas.Attribution(source: "", license: nil, text: "C\u{fffd}"),
            ])
        #expect(attribution(about)?.first?.description == "© Å, \"q\" 😀/ (ODbL 1.0)")
        #expect(attribution("{}") == [])
        var fixture = model.fixture
        fixture.about = about
        #expect(try Atlas(bytes: fixture.bytes, validation: .onFirstUse).attribution == attribution(about))
        fixture.about = "{\"sources\":[{\"attribution\":\"A\"}"
        #expect(try Atlas(bytes: fixture.bytes, validation: .onFirstUse).attribution.isEmpty)
    }

    @Test func `Foundation reads the same`() throws {
        struct About: Decodable {
            struct Source: Decodable { var name: String, licence: String, attribution: String }
            var sources: [Source]
        }
        var random = SplitMix64(seed: 720)
        for _ in 0..<50 {
            let texts = (0..<6).map { _ in
                String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                            Unicode.Scalar(UInt32.random(in: 0...0x1_1000, using: &random))
                        }))
            }
            let json = try JSONSerialization.data(withJSONObject: [
                "sources": [
                    ["name": texts[0], "licence": texts[1], "attribution": texts[2]],
                    ["name": texts[3], "licence": texts[4], "attribution": texts[5]],
                ]
            ])
            let expected = try JSONDecoder().decode(About.self, from: json).sources
            let found = try #require(attribution(String(decoding: json, as: UTF8.self)))
            #expect(found.map(\.source) == expected.map(\.name))
            #expect(found.map(\.license) == expected.map(\.licence))
            #expect(found.map(\.text) == expected.map(\.attribution))
        }
    }

    @Test(arguments: [
        "", "[", "{", "nonsense", "{\"sources\":[{\"attribution\":\"A\"}]", "{\"sources\":[{\"attribution\":\"A\"}]}}",
        "{\"sources\":[{\"attribution\":\"A\\x\"}]}", "{\"sources\":[{\"attribution\":\"A}]}", "{\"sources\":7}",
        "{\"sources\":[\"A\"]}", "{\"sources\":[{\"attribution\":\"\\u12\"}]}",
        String(repeating: "[", count: 100_000), "{\"sources\":" + String(repeating: "[", count: 100_000),
        String(repeating: "{\"a\":", count: 100_000),
    ])
    func `malformed JSON has none`(about: String) {
        #expect(attribution(about) == nil)
    }

    @Test func `any bytes are read without a trap`() {
        let sound = Array("{\"sources\":[{\"name\":\"\\u00c5\",\"attribution\":\"A\\n\"}],\"x\":[1,{\"y\":null}]}".utf8)
        var random = SplitMix64(seed: 721)
        for _ in 0..<20_000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...10, using: &random))
            var scanner = AboutScanner(bytes)
            _ = scanner.attributions()
        }
    }
}
