/// A random table whose fields are shuffled, missing, doubled and shifted: whatever of it reaches an output, a coordinate must
/// not. Coordinates have twelve digits after the point, none of them zero; times and keys have none of these digits in a row.
package struct MisplacedTable {
    /// The table.
    package private(set) var text = ""
    /// Runs of seven digits of its coordinates.
    package private(set) var secrets: Set<String> = []
    private let delimiter: Character

    package init(_ random: inout SplitMix64) {
        delimiter = [",", ",", ";", "\t", "|"].randomElement(using: &random)!
        var names = ["id", "lat", "lon", "time", "note", "ele"].shuffled(using: &random)
        if chance(3, &random) { names.removeAll { $0 == "note" } }
        let lineEnd = chance(4, &random) ? "\r\n" : "\n"
        text += line(names, &random) + lineEnd
        var order = names
        let hasRowNames = chance(6, &random), endsWithSeparator = chance(6, &random)
        for record in 0..<Int.random(in: 1...12, using: &random) {
            if chance(12, &random) {
                order.shuffle(using: &random)
                if chance(4, &random) { order[0] = "other" }
                text += line(order, &random) + lineEnd
                if order[0] == "other" { order = names }
            }
            var fields = order.map { field($0, record, &random) }
            if hasRowNames { fields.insert("\"\(record + 1)\"", at: 0) }
            if endsWithSeparator { fields.append("") }
            if chance(3, &random) { damage(&fields, &random) }
            text += line(fields, &random) + lineEnd
        }
    }

    private func chance(_ one: Int, _ random: inout SplitMix64) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func coordinate(_ whole: ClosedRange<Int>, _ random: inout SplitMix64) -> String {
        let digits = (0..<12).map { _ in Character("\(Int.random(in: 1...9, using: &random))") }
        for start in 0...5 { secrets.insert(String(digits[start..<start + 7])) }
        let sign = chance(4, &random) ? "-" : ""
        return "\(sign)\(Int.random(in: whole, using: &random)).\(String(digits))"
    }

    private mutating func field(_ name: String, _ record: Int, _ random: inout SplitMix64) -> String {
        switch name {
        case "lat": return coordinate(1...89, &random)
        case "lon": return coordinate(1...179, &random)
        case "time":
            return chance(8, &random) ? "" : "2026-05-01T08:\(10 + record):00Z"
        case "id": return chance(8, &random) ? "\(record)" : ["van-a", "van-b", "501.0"].randomElement(using: &random)!
        default:
            let note = ["", "x", "cafe, Vienna", "a\"b", "two; three", "5'10\""].randomElement(using: &random)!
            return chance(6, &random) ? coordinate(1...89, &random) : note
        }
    }

    /// Takes a field away, doubles one, or moves some.
    private mutating func damage(_ fields: inout [String], _ random: inout SplitMix64) {
        let at = Int.random(in: 0..<fields.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: fields.remove(at: at)
        case 1: fields.insert(fields[at], at: at)
        case 2: fields = Array(fields[at...] + fields[..<at])
        case 3: fields.swapAt(at, Int.random(in: 0..<fields.count, using: &random))
        case 4: fields[at] = coordinate(1...179, &random)
        case 5:
            let both = coordinate(1...89, &random) + ", " + coordinate(1...179, &random)
            fields[at] = [both, "POINT(\(both.replacing(",", with: "")))", both + " N"].randomElement(using: &random)!
        default: fields[at] = "\"" + fields[at]
        }
    }

    private func line(_ fields: [String], _ random: inout SplitMix64) -> String {
        fields.map { field in
            guard chance(6, &random) || field.contains(delimiter) && !chance(4, &random), !field.hasPrefix("\"") else {
                return field
            }
            return "\"\(field.replacing("\"", with: "\"\""))\""
        }.joined(separator: String(delimiter))
    }
}
