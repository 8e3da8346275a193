import Foundation
import Hereabouts

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The names, numbers and words of a document, whatever its format, by Foundation's parsers of XML and JSON and by splitting
/// text: nothing of the code under test is used.
package struct Tokens {
    /// Names of elements, attributes, members and columns, and the values.
    package private(set) var all: Set<String> = []

    package init(_ text: String) {
        let data = Data(text.utf8)
        if text.first == "<" {
            let reader = XMLReader()
            let parser = XMLParser(data: data)
            parser.delegate = reader
            if parser.parse() {
                all = reader.found
                return
            }
        }
        if let value = try? JSONSerialization.jsonObject(with: data) {
            add(value)
            return
        }
        for line in text.split(whereSeparator: \.isNewline) {
            if line.first == "{", let value = try? JSONSerialization.jsonObject(with: Data(line.utf8)) {
                add(value)
            } else {
                Self.fields(line).forEach { all.insert($0) }
            }
        }
    }

    private mutating func add(_ value: Any) {
        switch value {
        case let object as [String: Any]:
            for (name, value) in object {
                all.insert(name)
                add(value)
            }
        case let array as [Any]: array.forEach { add($0) }
        case let text as String: all.insert(text)
        case let number as NSNumber: all.insert(number.stringValue)
        default: break
        }
    }

    /// The fields of a line of CSV.
    package static func fields(_ line: Substring) -> [String] {
        var fields = [""], isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields
    }

    private final class XMLReader: NSObject, XMLParserDelegate {
        var found: Set<String> = []
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            flush()
            found.insert(name)
            for (name, value) in attributes { found.formUnion([name, value]) }
        }

        func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
            flush()
        }
        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        func parser(_ parser: XMLParser, foundCDATA block: Data) { text += String(decoding: block, as: UTF8.self) }
        func parser(_ parser: XMLParser, foundComment comment: String) { found.insert(comment) }

        private func flush() {
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if !trimmed.isEmpty { found.insert(trimmed) }
            text = ""
        }
    }
}

/// What may be in an output.
package struct Allowed {
    /// Words that say nothing: those that outputs of two inputs have in common that have nothing in common.
    package var vocabulary: Set<String>
    /// Keys and the names of their columns, which the commands document as copied.
    package var copied: Set<String> = []
    /// Times that the input has, in seconds since 1970; nil where times are ticks.
    package var times: Set<Int>?
    /// How many tracks the input can have.
    package var tracks: Int

    package init(vocabulary: Set<String>, copied: Set<String> = [], times: Set<Int>? = nil, tracks: Int) {
        (self.vocabulary, self.copied, self.times, self.tracks) = (vocabulary, copied, times, tracks)
    }

    /// The first token that is not allowed; nil where there is none.
    package func leak(in output: String) throws -> String? {
        let tokens = Tokens(output)
        var regions: Set<String> = [], numbers: Set<Double> = []
        for token in tokens.all {
            guard let id = RegionID(token), let region = worldAtlas.region(id) else { continue }
            let location = try worldAtlas.reducedLocation(of: region)
            regions.formUnion([token, location.country.description])
            if let place = location.place { regions.insert("\(place)") }
            func rounded(_ degrees: Double) -> Double { Double(String(format: "%.5f", degrees)) ?? .nan }
            numbers.formUnion([
                rounded(location.coordinate.latitude), rounded(location.coordinate.longitude),
                location.horizontalAccuracy.rounded(.up),
            ])
        }
        func isAllowed(_ token: String) -> Bool {
            if token.isEmpty || vocabulary.contains(token) || regions.contains(token) || copied.contains(token) {
                return true
            }
            // What KML has before the number of a track.
            if token == "track" || token == "route" { return true }
            if let number = Double(token), numbers.contains(number) { return true }
            if let number = Int(token), (1...tracks).contains(number) { return true }
            guard let time = Self.seconds(token) else { return false }
            return times.map { $0.contains(time) } ?? (time % 900 == 0)
        }
        return tokens.all.first { token in
            // A list of numbers, as some formats have positions.
            !isAllowed(token) && !token.split { $0 == "," || $0.isWhitespace }.allSatisfy { isAllowed(String($0)) }
        }
    }

    private static let utc = Calendar(identifier: .gregorian)

    /// `2026-03-01T08:00:00Z` alone.
    package static func seconds(_ text: String) -> Int? {
        let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int($0) }
        guard text.count == 20, text.hasSuffix("Z"), numbers.count == 6 else { return nil }
        let parts = DateComponents(
            calendar: utc, timeZone: .gmt, year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3],
            minute: numbers[4], second: numbers[5])
        return parts.date.map { Int($0.timeIntervalSince1970) }
    }
}
