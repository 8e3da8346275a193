import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// RFC 4180 read one byte after the other: the oracle.
private func records(_ text: String, delimiter: Character) -> [[String]] {
    var records: [[String]] = []
    var fields: [String] = []
    var field = ""
    var state = 0  // 0 at a field's start, 1 in an unquoted field, 2 within quotes, 3 after a quote within quotes
    for scalar in text.unicodeScalars {
        let character = Character(scalar)
        if state == 3 {
            if character == "\"" {
                field.append(character)
                state = 2
                continue
            }
            state = 1
        }
        if state == 2 {
            if character == "\"" { state = 3 } else { field.unicodeScalars.append(scalar) }
        } else if character == "\"" && state == 0 {
            state = 2
        } else if character == delimiter {
            fields.append(field)
            (field, state) = ("", 0)
        } else if character == "\n" {
            fields.append(field)
            records.append(fields)
            (fields, field, state) = ([], "", 0)
        } else if character != "\r" {
            field.unicodeScalars.append(scalar)
            state = 1
        }
    }
    return records
}

/// A table of random records, some bad, with fields of every kind.
private func table(_ random: inout SplitMix64, delimiter: String, lineEnd: String, records count: Int) -> String {
    let words = ["plain", "", "with blank", "a,b", "semi;colon", "tab\tbed", "say \"no\"", "two\nlines", "é ü 漢", "'"]
    func quoted(_ field: String, always: Bool) -> String {
        let needs = field.contains { $0 == "\"" || $0 == "\n" || String($0) == delimiter }
        return needs || always ? "\"\(field.replacingOccurrences(of: "\"", with: "\"\""))\"" : field
    }
    var text = ["note", "lat", "id", "lon", "rest"].joined(separator: delimiter) + lineEnd
    for _ in 0..<count {
        let latitude = String(
            format: "%.\(Int.random(in: 0...9, using: &random))f", Double.random(in: -91...91, using: &random))
        let longitude = String(
            format: "%.\(Int.random(in: 0...9, using: &random))f", Double.random(in: -180...180, using: &random))
        let fields = [
            words.randomElement(using: &random)!, Int.random(in: 0...20, using: &random) == 0 ? "none" : latitude,
            // A key is on one line.
            words.filter { !$0.contains("\n") }.randomElement(using: &random)!, longitude,
            words.randomElement(using: &random)!,
        ]
        text += fields.map { quoted($0, always: Int.random(in: 0...5, using: &random) == 0) }.joined(
            separator: delimiter)
        text += lineEnd
    }
    return text
}

@Suite struct HeaderTests {
    /// What a header says must not depend on where the chunks fall.
    @Test(arguments: [
        "lat,lon,\"note\n1,2,x\n\"3\",4,\"y\n", "\"lat\",lon,n\r1,2,\"a\rb\"\r3,4,c\r", "lat,lon\r\r\n1,2\r\r\n",
        "\u{feff}lat,lon\r\n1,2\r\n", "\u{feff}lat,lon\r1,2\r", "lat,lon,N/S\n1,2,S\n\"1\",2,\"N\"\n", "lat,lon\r",
        "1 2\r3 4",
    ])
    func `chunks make no difference`(_ input: String) {
        let whole = snap(input)
        for chunk in 1...20 { #expect(snap(input) { $0.readBytes = chunk } == whole) }
    }
}

@Suite struct CSVPropertyTests {
    @Test(arguments: [(",", "\n"), (",", "\r\n"), (";", "\n"), ("\t", "\r\n")])
    func `agrees with an oracle on random tables`(_ delimiter: String, _ lineEnd: String) throws {
        var random = SplitMix64(seed: UInt64(delimiter.utf8.first!) + UInt64(lineEnd.utf8.count))
        for _ in 0..<4 {
            let input = table(&random, delimiter: delimiter, lineEnd: lineEnd, records: 300)
            let outcome = snap(input) { $0.keep = ["note"] }
            let read = records(input, delimiter: Character(delimiter)).dropFirst()
            let written = records(outcome.text, delimiter: ",").dropFirst()
            #expect(read.count == 300 && written.count == 300)
            for (source, result) in zip(read, written) {
                let latitude = Double(source[1]).flatMap { abs($0) <= 90 ? $0 : nil }
                #expect(
                    result[0] == (latitude == nil ? "" : source[0]) && result[1] == (latitude == nil ? "" : source[2]))
                let expected = try latitude.map { try reducedColumns($0, Double(source[3])!) } ?? ",,,,,"
                #expect(Array(result[2...]) == records(expected + "\n", delimiter: ",")[0])
            }
        }
    }

    @Test func `where chunks fall makes no difference`() {
        var random = SplitMix64(seed: 4)
        for lineEnd in ["\n", "\r\n"] {
            let input = table(&random, delimiter: ",", lineEnd: lineEnd, records: 200)
            let whole = snap(input) { $0.keep = ["note"] }
            #expect(whole.summary.records == 200 && !whole.problems.isEmpty)
            for chunk in [1, 7, 64, 4096] {
                #expect(snap(input) { ($0.keep, $0.readBytes) = (["note"], chunk) } == whole)
            }
            let converted = convert(input) { ($0.format, $0.acceptsUntimed) = (.csv, true) }
            for chunk in [1, 7, 4096] {
                #expect(
                    convert(input) { ($0.format, $0.acceptsUntimed, $0.readBytes) = (.csv, true, chunk) } == converted)
            }
        }
    }

    @Test func `mutated tables neither crash nor lose records`() {
        var random = SplitMix64(seed: 5)
        let original = Array(table(&random, delimiter: ",", lineEnd: "\n", records: 30).utf8)
        let headerLength = original.firstIndex(of: 10)! + 1
        let bytes: [UInt8] = Array("\",\n\r;\t .-+eE0123456789x".utf8) + [0, 0x80, 0xff]
        for _ in 0..<400 {
            var input = original
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let at = Int.random(in: headerLength..<input.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: input[at] = bytes.randomElement(using: &random)!
                case 1: input.insert(bytes.randomElement(using: &random)!, at: at)
                default: input.remove(at: at)
                }
            }
            let outcome = snap(input)
            #expect(outcome.error == nil)
            #expect(outcome.summary.written == outcome.summary.records)
            #expect(outcome.summary.badRecords == outcome.problems.count)
            #expect(snap(input) { $0.readBytes = 7 } == outcome)
            let converted = convert([input]) { ($0.format, $0.acceptsUntimed) = (.geojson, true) }
            #expect(converted.error == nil && converted.summary.records == outcome.summary.records)
        }
    }

    @Test func `noise is refused or read`() {
        var random = SplitMix64(seed: 6)
        for _ in 0..<300 {
            let count = Int.random(in: 0...400, using: &random)
            let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let outcome = snap(input)
            #expect(outcome.error != nil || outcome.summary.written == outcome.summary.records)
            let table = snap(Array("lat,lon\n".utf8) + input)
            #expect(table.error == nil && table.summary.written == table.summary.records)
        }
    }
}
