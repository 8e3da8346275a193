import FixedRandom
import Foundation
import Testing
import TextCoding

@testable import AtlasSources

/// Writes `text` into a file of its own, and removes it after `body`.
private func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
    try withFile(Data(text.utf8), body)
}

private func withFile<Result>(_ data: Data, _ body: (String) throws -> Result) throws -> Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID().uuidString)")
    try data.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
}

/// What `body` throws.
private func failure(_ body: () throws(InputError) -> Void) -> InputError? {
    do throws(InputError) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// A feature around a unit square at x, y.
private func feature(_ code: String, _ x: Int, _ y: Int) -> String {
    """
    {"type":"Feature","properties":{"code":"\(code)","name":"Land \(code)"},"geometry":{"type":"Polygon",\
    "coordinates":[[[\(x),\(y)],[\(x + 1),\(y)],[\(x + 1),\(y + 1)],[\(x),\(y + 1)],[\(x),\(y)]]]}}
    """
}

/// The ring of that square.
private func ring(_ x: Double, _ y: Double) -> [Double] { [x, y, x + 1, y, x + 1, y + 1, x, y + 1, x, y] }

@Suite struct BordersReaderTests {
    @Test func `a rank is read where there is one, and must be a whole number`() throws {
        let ranked = ["", #","rank":7"#, #","rank":"-2""#].map {
            feature("AA", 0, 0).replacingOccurrences(of: #""name":"Land AA""#, with: #""name":"Land AA""# + $0)
        }
        #expect(
            try withFile(ranked.joined()) { try BordersReader(path: $0).read() }.features.map(\.rank) == [0, 7, -2])
        let broken = feature("AA", 0, 0).replacingOccurrences(of: #""name":"#, with: #""rank":1.5,"name":"#)
        try withFile(broken) { path in
            #expect(
                failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                    == .badFeature(file: path, index: 1, code: "AA", .badRank))
        }
    }

    @Test(arguments: ["\n", "\r\n", " ", "\n\u{1E}"])
    func `features come one after another`(separator: String) throws {
        let text = "\u{1E}" + feature("AA", 0, 0) + separator + feature("BB", 5, -3) + "\n"
        let borders = try withFile(text) { try BordersReader(path: $0).read() }
        #expect(borders.features.map(\.code) == ["AA", "BB"])
        #expect(borders.features.map(\.name) == ["Land AA", "Land BB"])
        #expect(borders.features.map(\.polygons) == [[[ring(0, 0)]], [[ring(5, -3)]]])
        #expect(borders.warnings.isEmpty)
    }

    @Test func `a collection, pretty-printed, with a byte order mark and members of no interest`() throws {
        let text = """
            \u{FEFF}{ "type" : "FeatureCollection", "name": "x", "crs": {"a": [1, {"b": null}, true, false, "\\"]}"]},
              "features" : [ \(feature("AA", 0, 0)) , \(feature("BB", 1, 0)) ], "bbox": [0, 0, 1.5e0, -1] }
            """
        let borders = try withFile(text) { try BordersReader(path: $0).read() }
        #expect(borders.features.map(\.code) == ["AA", "BB"])
        let none = #"{"features": [], "type": "FeatureCollection"}"#
        let empty = try withFile(none) { try BordersReader(path: $0).read() }
        #expect(empty.features.isEmpty)
        #expect(try withFile("") { try BordersReader(path: $0).read() }.features.isEmpty)
    }

    @Test func `members may come in any order, with heights and escapes`() throws {
        let text = """
            {"geometry":{"coordinates":[[[[0,0,5],[4,0,5],[4,4],[0,4,-1e2],[0,0,5]],[[1,1],[2,1],[2,2],[1,1]]],\
            [[[10,10],[11,10],[10.5,11],[10,10]]]],"type":"MultiPolygon"},\
            "properties":{"na\\u006de":"Caf\\u00e9 \\ud83d\\ude00 \\"x\\"","x":null,"iso_a2":"CF"},"type":"Feature"}
            """
        let borders = try withFile(text) { try BordersReader(path: $0).read() }
        #expect(
            borders.features == [
                BorderFeature(
                    code: "CF", name: "Café 😀 \"x\"",
                    polygons: [
                        [[0, 0, 4, 0, 4, 4, 0, 4, 0, 0], [1, 1, 2, 1, 2, 2, 1, 1]],
                        [[10, 10, 11, 10, 10.5, 11, 10, 10]],
                    ])
            ])
    }

    @Test(arguments: [
        (#""properties":{"name":"N","ISO_A2":"A2","code":"C"}"#, nil as String?, "C"),
        (#""properties":{"name":"N","ISO_A2":"A2"}"#, nil, "A2"),
        (#""properties":{"name":"N","iso_a2":"A2","ISO3166-1-Alpha-2":"A3"}"#, nil, "A3"),
        (#""id":48,"properties":{"name":"N"}"#, nil, "48"),
        (#""id":"X","properties":{"id":"P","name":"N"}"#, nil, "P"),
        (#""properties":{"name":"N","code":""}"#, nil, "N"),
        (#""properties":{"name":"N","code":"C","State":"TX"}"#, "State", "TX"),
        (#""id":7,"properties":null"#, "id", "7"),
    ])
    func `the code is found`(members: String, property: String?, code: String) throws {
        let geometry = #""geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#
        let borders = try withFile("{\"type\":\"Feature\",\(members),\(geometry)}") {
            try BordersReader(path: $0, codeProperty: property).read()
        }
        #expect(borders.features.map(\.code) == [code])
    }

    @Test func `the property settled on at the first feature holds for all`() throws {
        let other = feature("BB", 0, 0).replacingOccurrences(of: "\"code\"", with: "\"iso_a2\"")
        try withFile(feature("AA", 0, 0) + "\n" + other) { path in
            #expect(
                failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                    == .badFeature(file: path, index: 2, code: nil, .missingCode))
        }
    }

    @Test func `an open ring is closed, with a warning`() throws {
        let open = feature("AA", 0, 0).replacingOccurrences(of: ",[0,0]]]", with: "]]")
        try withFile(feature("BB", 3, 3) + open) { path in
            let borders = try BordersReader(path: path).read()
            #expect(borders.features[1].polygons == [[ring(0, 0)]])
            #expect(borders.warnings == [BorderWarning(file: path, index: 2, code: "AA", repair: .ringsClosed)])
        }
    }

    @Test func `a self-crossing polygon is repaired and a flat one left out, with warnings`() throws {
        let text = """
            {"type":"Feature","id":"AA","geometry":{"type":"MultiPolygon","coordinates":[\
            [[[0,0],[2,2],[2,0],[0,2],[0,0]]],[[[5,5],[6,6],[7,7],[5,5]]],[[[8,8],[9,8],[9,9],[8,8]]]]}}
            """
        try withFile(text) { path in
            let borders = try BordersReader(path: path).read()
            // The bow tie falls into its two wings of area 1; the third polygon stays as it was.
            let polygons = borders.features[0].polygons
            #expect(polygons.count == 3)
            #expect(polygons.contains([[8, 8, 9, 8, 9, 9, 8, 8]]))
            #expect(Set(borders.warnings.map(\.repair)) == [.selfIntersection, .collapsed])
            #expect(borders.warnings.allSatisfy { $0.index == 1 && $0.code == "AA" })
            for workers in 1...3 { #expect(try BordersReader(path: path).read(workers: workers) == borders) }
        }
    }

    static let badFeatures: [(geometry: String, problem: FeatureProblem)] = [
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,91.25],[0,0]]]}"#, .latitudeOutOfRange),
        (#"{"type":"Polygon","coordinates":[[[0,0],[-180.5,0],[1,1],[0,0]]]}"#, .longitudeOutOfRange),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#, .ringTooShort),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,0]]]}"#, .ringTooShort),
        (#"{"type":"Polygon","coordinates":[[]]}"#, .ringTooShort),
        (#"{"type":"Polygon","coordinates":[[[0,0],[NaN,0],[1,1],[0,0]]]}"#, .notFinite),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,-Infinity],[1,1],[0,0]]]}"#, .notFinite),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,null],[1,1],[0,0]]]}"#, .notFinite),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,1e999],[1,1],[0,0]]]}"#, .notFinite),
        (#"{"type":"Polygon","coordinates":[[[0,0],["1",0],[1,1],[0,0]]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1],[1,1],[0,0]]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":[[[0,0],[],[1,1],[0,0]]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":[[0,0],[1,0],[1,1],[0,0]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":7}"#, .badCoordinates),
        (#"{"type":"MultiPolygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#, .badCoordinates),
        (#"{"type":"Polygon","coordinates":[]}"#, .noArea),
        (#"{"type":"Polygon"}"#, .noArea),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[2,2],[0,0]]]}"#, .noArea),
        (#"{"type":"Point","coordinates":[0,0]}"#, .notAPolygon),
        (#"{"type":"GeometryCollection","geometries":[]}"#, .notAPolygon),
        (#"{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#, .notAPolygon),
        ("null", .notAPolygon),
        ("[]", .notAPolygon),
    ]

    @Test(arguments: badFeatures)
    func `a bad feature is named by its number and code, not by where it is`(
        geometry: String, problem: FeatureProblem
    ) throws {
        // The code comes after the geometry, and is named all the same.
        let bad = "{\"type\":\"Feature\",\"geometry\":\(geometry),\"properties\":{\"code\":\"TX\"}}"
        for text in [
            feature("AA", 0, 0) + "\n" + bad + "\n" + feature("BB", 0, 0),
            "{\"type\":\"FeatureCollection\",\"features\":[\(feature("AA", 0, 0)),\(bad),\(feature("BB", 0, 0))]}",
        ] {
            try withFile(text) { path in
                let error = failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                #expect(error == .badFeature(file: path, index: 2, code: "TX", problem))
                #expect(error?.description == "\(path): feature 2 (TX): \(problem.rawValue)")
            }
        }
    }

    @Test(arguments: [
        (#"{"code":"123456789"}"#, FeatureProblem.codeTooLong), (#"{"code":"ééééé"}"#, .codeTooLong),
        (#"{"code":"A B"}"#, .unprintableCode), (#"{"code":"A,B"}"#, .unprintableCode),
        (#"{"code":"A\u0000"}"#, .unprintableCode), (#"{"other":"A"}"#, .missingCode), ("{}", .missingCode),
        (#"{"code":true}"#, .missingCode), (#"{"code":["A"]}"#, .missingCode), ("null", .missingCode),
        (#"{"code":""}"#, .missingCode),
    ])
    func `a bad code is refused`(properties: String, problem: FeatureProblem) throws {
        let text = feature("AA", 0, 0)
            .replacingOccurrences(of: #"{"code":"AA","name":"Land AA"}"#, with: properties)
        try withFile(text) { path in
            #expect(
                failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                    == .badFeature(file: path, index: 1, code: nil, problem))
        }
    }

    @Test func `an empty code is refused where the property is given`() throws {
        try withFile(feature("", 0, 0)) { path in
            #expect(
                failure { () throws(InputError) in _ = try BordersReader(path: path, codeProperty: "code").read() }
                    == .badFeature(file: path, index: 1, code: nil, .emptyCode))
        }
    }

    @Test(arguments: [
        ("{", 1, JSONProblem.unexpectedEnd), ("[]", 0, .notGeoJSON), ("7", 0, .notGeoJSON), ("{}", 0, .notGeoJSON),
        ("x", 0, .notGeoJSON), (#"{"type":"Point","coordinates":[0,0]}"#, 0, .notGeoJSON),
        (#"{"type":"Feature",}"#, 18, .unexpectedCharacter), (#"{"type" "Feature"}"#, 8, .unexpectedCharacter),
        (#"{"type":Feature}"#, 8, .badNumber), (#"{"a":[1,]}"#, 8, .badNumber), (#"{"a":[01]}"#, 6, .badNumber),
        (#"{"a":1.}"#, 5, .badNumber), (#"{"a":+1}"#, 5, .badNumber), (#"{"a":"\x"}"#, 7, .badString),
        (#"{"a":"\ud800"}"#, 12, .badString), ("{\"a\":\"b\nc\"}", 7, .badString), (#"{"a":"b"#, 7, .unexpectedEnd),
        (#"{"a":nul}"#, 5, .unexpectedCharacter), (#"{"a":1 "b":2}"#, 7, .unexpectedCharacter),
    ])
    func `what is not JSON is told by line and byte`(text: String, byte: Int, problem: JSONProblem) throws {
        let good = feature("AA", 0, 0) + "\n"
        try withFile(good + "\n" + text) { path in
            let start = good.utf8.count + 1
            let lines = text.utf8.prefix(byte).count { $0 == 10 }
            #expect(
                failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                    == .badJSON(file: path, line: 3 + lines, byte: start + byte, problem))
        }
    }

    @Test func `nesting without end is refused`() throws {
        let deep = "{\"a\":" + String(repeating: "[", count: 1_000_000)
        try withFile(deep) { path in
            let error = failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
            #expect(error == .badJSON(file: path, line: 1, byte: 69, .tooDeep))
        }
    }

    @Test func `broken text never crashes and never passes as whole`() throws {
        let whole = Array((feature("AA", 0, 0) + feature("BB", 2, 2)).utf8)
        var random = SplitMix64(seed: 1)
        var refused = 0
        for _ in 0..<500 {
            var bytes = whole
            bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(.random(in: 1..<bytes.count, using: &random)) }
            try withFile(Data(bytes)) { path in
                let error = failure { () throws(InputError) in _ = try BordersReader(path: path).read() }
                refused += error == nil ? 0 : 1
            }
        }
        #expect(refused > 250)
        for length in 1..<whole.count where length != feature("AA", 0, 0).utf8.count {
            try withFile(Data(whole[..<length])) { path in
                #expect(failure { () throws(InputError) in _ = try BordersReader(path: path).read() } != nil)
            }
        }
    }

    @Test func `a file that is not there`() {
        let error = failure { () throws(InputError) in _ = try BordersReader(path: "/nonexistent/borders").read() }
        #expect(error == .unreadable(file: "/nonexistent/borders", reason: "No such file or directory"))
    }
}

@Suite struct DecimalNumberGrammarTests {
    @Test func `numbers round as the standard library rounds them`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<20_000 {
            let digits = Int.random(in: 1...25, using: &random)
            var text = Bool.random(using: &random) ? "-" : ""
            for position in 0..<digits {
                text += String(Int.random(in: 0...9, using: &random))
                if position == 2 && digits > 3 { text += "." }
            }
            if Bool.random(using: &random) { text += "e\(Int.random(in: -330...310, using: &random))" }
            var offset = 0
            let value = DecimalNumber.read(Array(text.utf8), at: &offset, .table)
            #expect(value == Double(text), "\(text)")
            #expect(offset == text.utf8.count)
        }
    }

    @Test(arguments: [
        ("0", 0.0), ("-0.5", -0.5), ("1e5", 1e5), ("1E-2", 0.01), ("9007199254740993", 9007199254740992),
        ("0.1", 0.1), ("1e400", .infinity), ("1e-400", 0), ("0.000000000000000000000000001", 1e-27),
    ])
    func `both grammars read plain numbers`(text: String, expected: Double) {
        for grammar in [DecimalNumber.Grammar.json, .table] {
            var offset = 0
            #expect(DecimalNumber.read(Array(text.utf8), at: &offset, grammar) == expected)
            #expect(offset == text.utf8.count)
        }
    }

    @Test(arguments: ["", "-", ".", "e5", "1e", "1e+", "x", "--1", "-.", "na"])
    func `what is no number moves nothing`(text: String) {
        for grammar in [DecimalNumber.Grammar.json, .table] {
            var offset = 0
            #expect(DecimalNumber.read(Array(text.utf8), at: &offset, grammar) == nil)
            #expect(offset == 0)
        }
    }

    @Test(arguments: [("+1", 1.0), (".5", 0.5), ("1.", 1), ("007", 7)])
    func `tables may spell more freely than JSON`(text: String, expected: Double) {
        var offset = 0
        #expect(DecimalNumber.read(Array(text.utf8), at: &offset, .table) == expected)
        offset = 0
        #expect(DecimalNumber.read(Array(text.utf8), at: &offset, .json) == nil)
        for nan in ["nan", "NaN", "-nan", "NAN"] {
            offset = 0
            #expect(DecimalNumber.read(Array(nan.utf8), at: &offset, .table)?.isNaN == true)
        }
    }
}

@Suite struct PlacesReaderTests {
    @Test func `columns in any order, quotes, blank lines, either line end, byte order mark`() throws {
        let text =
            "\u{FEFF}Population, longitude ,elevation,name,LATITUDE,country\r\n"
            + "678815,-106.5,1140,\"El Paso, \"\"Texas\"\"\",31.75,US\r\n\r\n\n"
            + "12.6,0,,\"two\nlines\",-0.5,\n3,1,,Ñandú,2,XK"
        let places = try withFile(text) { try PlacesReader(path: $0).read() }
        #expect(
            places == [
                Place(
                    name: "El Paso, \"Texas\"", latitude: 31.75, longitude: -106.5, population: 678_815, country: "US"),
                Place(name: "two\nlines", latitude: -0.5, longitude: 0, population: 13, country: nil),
                Place(name: "Ñandú", latitude: 2, longitude: 1, population: 3, country: "XK"),
            ])
        let short = try withFile("name,latitude,longitude,population\nA,1,2,3\n") { try PlacesReader(path: $0).read() }
        #expect(short == [Place(name: "A", latitude: 1, longitude: 2, population: 3, country: nil)])
    }

    @Test(arguments: [
        ("A,1,2\n", RowProblem.fieldCount), ("A,1,2,3,4\n", .fieldCount), ("A,x,2,3\n", .badNumber(column: "latitude")),
        ("A,1,2 3,3\n", .badNumber(column: "longitude")), ("A,nan,2,3\n", .badNumber(column: "latitude")),
        ("A,1,inf,3\n", .badNumber(column: "longitude")), ("A,1,2,\n", .empty(column: "population")),
        (",1,2,3\n", .empty(column: "name")), ("A,90.01,2,3\n", .latitudeOutOfRange),
        ("A,1,-180.01,3\n", .longitudeOutOfRange), ("A,1,2,-1\n", .populationOutOfRange),
        ("A,1,2,1e300\n", .populationOutOfRange), ("\"A,1,2,3\n", .unclosedQuote), ("A\"B,1,2,3\n", .strayQuote),
        ("\"A\"B,1,2,3\n", .strayQuote),
    ])
    func `a bad row is named by its line`(row: String, problem: RowProblem) throws {
        // The row before takes up lines 2 and 3.
        try withFile("name,latitude,longitude,population\n\"x\ny\",1,2,3\n" + row) { path in
            let error = failure { () throws(InputError) in _ = try PlacesReader(path: path).read() }
            #expect(error == .badRow(file: path, line: 4, problem))
            #expect(error?.description.hasPrefix("\(path):4: ") == true)
        }
    }

    @Test(arguments: [
        ("", RowProblem.missingColumn("name")), ("name,latitude,lon,population\n", .missingColumn("longitude")),
        ("name,name,latitude,longitude,population\n", .repeatedColumn("name")),
    ])
    func `a bad header is refused`(header: String, problem: RowProblem) throws {
        try withFile(header) { path in
            #expect(
                failure { () throws(InputError) in _ = try PlacesReader(path: path).read() }
                    == .badRow(file: path, line: 1, problem))
        }
    }

    /// All of it would be the header, and nobody would live anywhere.
    @Test func `lines that end with a carriage return alone are refused`() {
        let places = "name,latitude,longitude,population,country\rA,1,2,3,US\rB,1,2,3,US\r"
        #expect(throws: InputError.self) { try withFile(places) { try PlacesReader(path: $0).read() } }
        for people in ["longitude,latitude,population\r1,2,3\r", "x y z\r1 2 3\r4 5 6", "1 2 3\r4 5 6\r"] {
            #expect(throws: InputError.self) {
                try withFile(people) { path in try PopulationReader(path: path).forEachChunk { _ in } }
            }
        }
    }

    @Test func `broken UTF-8 and bad countries are refused`() throws {
        let header = "name,latitude,longitude,population,country\n"
        try withFile(Data(header.utf8) + [0xFF, 0x2C] + Data("1,2,3,US\n".utf8)) { path in
            #expect(
                failure { () throws(InputError) in _ = try PlacesReader(path: path).read() }
                    == .badRow(file: path, line: 2, .notUTF8))
        }
        try withFile(header + "A,1,2,3,UNITEDSTATES\n") { path in
            #expect(
                failure { () throws(InputError) in _ = try PlacesReader(path: path).read() }
                    == .badRow(file: path, line: 2, .badCode))
        }
    }
}

@Suite struct PopulationReaderTests {
    private func samples(_ text: String) throws -> [PopulationSample] {
        try withFile(text) { path in
            var all: [PopulationSample] = []
            try PopulationReader(path: path).forEachChunk { all += $0 }
            return all
        }
    }

    @Test(arguments: [
        "-106.5,31.75,12.5\n1,2,0\n", "-106.5 31.75 12.5\n1 2 0\n", "-106.5\t31.75\t12.5\r\n1\t2\t-99999\r\n",
        "X Y Z\n-106.5 31.75 12.5\n\n1 2 nan",
        "longitude,latitude,population\n  -106.5 , 31.75 ,\t1.25e1  \n1,2,-nan\n",
        "\u{FEFF}-106.5,31.75,12.5\n1,2,-3.4028234663852886e+38",
    ])
    func `every way to write the same rows`(text: String) throws {
        #expect(
            try samples(text) == [
                PopulationSample(longitude: -106.5, latitude: 31.75, population: 12.5),
                PopulationSample(longitude: 1, latitude: 2, population: 0),
            ])
    }

    @Test func `chunks follow each other without loss`() throws {
        var random = SplitMix64(seed: 3)
        var text = ""
        var expected: [PopulationSample] = []
        // Some 4 MB: more than the reader's buffer of 1 MiB and its chunks of 65,536 rows.
        for row in 0..<150_000 {
            let longitude = Double(Int.random(in: -18_000...18_000, using: &random)) / 100
            let latitude = Double(Int.random(in: -9_000...9_000, using: &random)) / 100
            text += "\(longitude) \(latitude) \(row)\n"
            expected.append(PopulationSample(longitude: longitude, latitude: latitude, population: Double(row)))
        }
        try withFile(text) { path in
            var all: [PopulationSample] = []
            var largest = 0
            try PopulationReader(path: path).forEachChunk {
                all += $0
                largest = max(largest, $0.count)
            }
            #expect(all == expected)
            #expect(largest == 65_536)
        }
        #expect(try samples("").isEmpty)
    }

    @Test(arguments: [
        ("1 2", RowProblem.fieldCount), ("1", .fieldCount), ("1 2 3 4", .fieldCount), ("1,2,3,", .fieldCount),
        ("1,,2", .badNumber(column: "latitude")), ("a 2 3", .badNumber(column: "longitude")),
        ("1 b 3", .badNumber(column: "latitude")), ("1 2 c", .badNumber(column: "population")), ("1 2 3x", .fieldCount),
        ("1 2 1e13", .populationOutOfRange), ("180.5 2 3", .longitudeOutOfRange), ("nan 2 3", .longitudeOutOfRange),
        ("1 -90.5 3", .latitudeOutOfRange), ("1 nan 3", .latitudeOutOfRange),
        (String(repeating: " ", count: 70_000), .tooLong),
    ])
    func `a bad row is named by its line`(row: String, problem: RowProblem) throws {
        try withFile("x y z\n1 2 3\n" + row) { path in
            #expect(
                failure { () throws(InputError) in try PopulationReader(path: path).forEachChunk { _ in } }
                    == .badRow(file: path, line: 3, problem))
        }
    }

    @Test func `a header with latitude first is refused`() throws {
        try withFile("latitude,longitude,population\n1,2,3\n") { path in
            #expect(
                failure { () throws(InputError) in try PopulationReader(path: path).forEachChunk { _ in } }
                    == .badRow(file: path, line: 1, .columnsOutOfOrder))
        }
    }

    @Test func `what the caller throws comes through`() throws {
        let stop = InputError.unreadable(file: "x", reason: "enough")
        try withFile("1 2 3\n") { path in
            let error = failure { () throws(InputError) in
                try PopulationReader(path: path).forEachChunk { _ throws(InputError) in throw stop }
            }
            #expect(error == stop)
        }
    }
}
