import AtlasSources
import Foundation
import Hereabouts
import SurfaceFixture

/// What a reader made of the file `input`, or why it made nothing of it.
private func read<Content>(_ input: [UInt8], _ body: () throws(InputError) -> Content) -> Content? {
    write(input, to: "input")
    do throws(InputError) {
        return try body()
    } catch {
        checkPrivacy("\(error)", input: input)
        return nil
    }
}

/// Any bytes as borders: the same for any number of threads, coordinates within bounds, rings closed, and what was
/// read can be written as GeoJSON and read again.
func fuzzBorders(_ input: [UInt8]) {
    let borders = read(input) { () throws(InputError) in try BordersReader(path: "input").read(workers: 1) }
    let again = read(input) { () throws(InputError) in try BordersReader(path: "input").read(workers: 2) }
    check(borders == again, "another outcome with two threads")
    guard let borders else { return }
    for warning in borders.warnings { checkPrivacy("\(warning)", input: input) }
    for ring in borders.features.flatMap(\.polygons).joined() {
        check(ring.count >= 8 && ring.count % 2 == 0, "a ring of too few positions")
        check(ring.prefix(2) == ring.suffix(2), "a ring that is not closed")
        for (index, number) in ring.enumerated() {
            check(abs(number) <= (index % 2 == 0 ? 180 : 90), "a coordinate out of range")
        }
    }
    let text = borders.features.map(geoJSON).joined(separator: "\n")
    let reread = read(Array(text.utf8)) { () throws(InputError) in try BordersReader(path: "input").read(workers: 1) }
    check(reread?.features.map(\.code) == borders.features.map(\.code), "what was read is not read again")
}

private func geoJSON(_ feature: BorderFeature) -> String {
    let polygons = feature.polygons.map { polygon in
        polygon.map { ring in
            stride(from: 0, to: ring.count, by: 2).map { "[\(ring[$0]),\(ring[$0 + 1])]" }.joined(separator: ",")
        }.map { "[\($0)]" }.joined(separator: ",")
    }.map { "[\($0)]" }.joined(separator: ",")
    let names = try? JSONSerialization.data(withJSONObject: ["code": feature.code, "name": feature.name])
    return """
        {"type":"Feature","properties":\(String(decoding: names ?? Data(), as: UTF8.self)),\
        "geometry":{"type":"MultiPolygon","coordinates":[\(polygons)]}}
        """
}

/// Any bytes as a JSON value, against a second reader that does nothing but follow the grammar.
func fuzzJSON(_ input: [UInt8]) {
    // Nesting has a limit of its own, and a record separator is read between features.
    guard input.count(where: { $0 == 0x5B || $0 == 0x7B }) < 50, !input.contains(0x1E) else { return }
    let square = #""geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}"#
    let text = Array(#"{"type":"Feature","properties":{"code":"AA","x":"#.utf8) + input + Array("},\(square)}".utf8)
    let borders = read(text) { () throws(InputError) in try BordersReader(path: "input").read(workers: 1) }
    if borders != nil { check(JSONGrammar.isSequence(text), "accepted what is not JSON") }
    // Only a value that keeps to its place says something about the scanner.
    if JSONGrammar.isValue(input) { check(borders?.features.count == 1, "refused what is JSON") }
}

/// Any bytes as places: what was read can be written and read again.
func fuzzPlaces(_ input: [UInt8]) {
    let places = read(input) { () throws(InputError) in try PlacesReader(path: "input").read() }
    guard let places else { return }
    let rows = places.map {
        "\(quoted($0.name)),\($0.latitude),\($0.longitude),\($0.population),\($0.country.map(quoted) ?? "")\n"
    }
    let text = "name,latitude,longitude,population,country\n" + rows.joined()
    let again = read(Array(text.utf8)) { () throws(InputError) in try PlacesReader(path: "input").read() }
    check(again == places, "places are not read again as they were")
    check(places.allSatisfy { abs($0.latitude) <= 90 && abs($0.longitude) <= 180 }, "a place out of range")
}

/// Any bytes as rows of a population, likewise.
func fuzzPopulation(_ input: [UInt8]) {
    func samples(_ input: [UInt8]) -> [PopulationSample]? {
        read(input) { () throws(InputError) in
            var samples: [PopulationSample] = []
            try PopulationReader(path: "input").forEachChunk { samples += $0 }
            return samples
        }
    }
    guard let first = samples(input) else { return }
    let text = "x y z\n" + first.map { "\($0.longitude) \($0.latitude) \($0.population)\n" }.joined()
    check(samples(Array(text.utf8)) == first, "rows are not read again as they were")
    check(first.allSatisfy { $0.population >= 0 && abs($0.latitude) <= 90 }, "a sample out of range")
}

/// Any bytes as a population surface, as they are and as the streams of a file without other faults: the cells ascend and
/// do not overlap, and a surface of the same cells is read as they were.
func fuzzSurface(_ input: [UInt8]) {
    func cells(_ bytes: [UInt8]) -> [SurfaceCell]? {
        read(bytes) { () throws(InputError) in
            var cells: [SurfaceCell] = []
            try SurfaceReader(path: "input").forEachChunk { cells += $0 }
            return cells
        }
    }
    _ = cells(input)
    var fixture = SurfaceFixture([], sources: ["one"])
    fixture.shares = (0..<16).map { Float($0 % 5) / 4 }
    // Three streams take turns.
    var streams: [[UInt8]] = [[], [], []]
    for (index, byte) in input.enumerated() { streams[index % 3].append(byte) }
    // What the cells lack to six faces is empty.
    streams[0] += [UInt8](repeating: 0, count: 6)
    guard let found = cells(SurfaceFixture.file(header: fixture.header, streams: streams)) else { return }
    var last: UInt64 = 0
    for cell in found {
        let id = CellID(rawValue: cell.id)
        check(id.isValid && id.level <= 15 && id.rangeMin.rawValue > last, "cells out of order")
        check(cell.promised > 0 && cell.promised <= cell.residents, "a promise beyond the estimate")
        last = id.rangeMax.rawValue
    }
}

/// Scalar by scalar: a quote with a combining mark is another character, and a quote all the same.
private func quoted(_ text: String) -> String {
    var field = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" { field.unicodeScalars.append(scalar) }
        field.unicodeScalars.append(scalar)
    }
    return field + "\""
}
