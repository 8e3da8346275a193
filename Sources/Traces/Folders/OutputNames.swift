import Hereabouts

/// The outputs of a folder with zones: none without answers, and the others by date and number, `2026-03-02-1.gpx`.
///
/// The name of a recording may say when it began to the second, and one that is there without answers that somebody was
/// within zones all the time. So a name has the date of the first answer as it is written, and counts the outputs of that date
/// in order of their first ticks. Dates are UTC's.
struct OutputNames {
    /// By the inputs; nil where there is none.
    private(set) var names: [String?]

    /// - Parameter keepsNames: whether outputs have the names of their inputs all the same.
    init(_ plan: FolderPlan, writer: FolderWriter, mark: borrowing RunMark, keepsNames: Bool) throws(TraceError) {
        let answered = writer.answered, first = try writer.firstAnswers()
        names = plan.inputs.map { _ in nil }
        var numbers: [String: Int] = [:]
        func take(_ name: String) {
            guard let (stem, number) = Self.parts(of: name) else { return }
            numbers[stem] = max(numbers[stem] ?? 0, number)
        }
        for name in mark.others(besides: answered) { take(name) }
        var new: [(index: Int, time: Timestamp?)] = []
        for index in plan.inputs.indices where answered[index] {
            if let entry = mark.entry(index) {
                names[index] = entry.output
                if let output = entry.output { take(output) }
            } else if let first = first[index] {
                new.append((index, first.time))
            }
        }
        for (index, time) in new.sorted(by: { ($0.time ?? .latest, $0.index) < ($1.time ?? .latest, $1.index) }) {
            guard !keepsNames else {
                names[index] = plan.inputs[index].output
                continue
            }
            let options = writer.options.convert
            // A person's folder says whose the outputs are; others say where a recording was stored.
            let folder = options.devices == .subfolders ? plan.inputs[index].file.folder : ""
            let stem = folder + Self.date(time.flatMap { options.disguise.written($0, shift: 0) })
            numbers[stem, default: 0] += 1
            names[index] = plan.output(index, called: "\(stem)-\(numbers[stem] ?? 0)")
        }
    }

    private static func date(_ time: Timestamp?) -> String {
        guard let time else { return "undated" }
        var out = ByteBuffer(capacity: 32)
        time.append(to: &out)
        return String(decoding: out.array.prefix { $0 != UInt8(ascii: "T") }, as: UTF8.self)
    }

    /// What is before the number of an output's name, and the number; nil for a name of another form.
    private static func parts(of name: String) -> (stem: String, number: Int)? {
        let folder = name.lastIndex(of: "/").map { name[...$0] } ?? ""
        let base = name.dropFirst(folder.count).prefix { $0 != "." }
        guard let dash = base.lastIndex(of: "-"), let number = Int(base[base.index(after: dash)...]) else { return nil }
        return ("\(folder)\(base[..<dash])", number)
    }

    // MARK: Times in names

    /// Whether a file's name holds a date and a time of day, such as `2026-03-02_07-32-10_gym.gpx` or `20260302T0732.gpx`.
    static func holdsTime(_ name: String) -> Bool {
        let last = name.split(separator: "/").last ?? ""
        let digits = last.split { !("0"..."9").contains($0) }.map(String.init)
        return digits.indices.contains { holdsTime(digits[$0...]) }
    }

    /// Whether numbers begin with a date and a time of day, each in one number or in several.
    private static func holdsTime(_ numbers: ArraySlice<String>) -> Bool {
        var text = ""
        for number in numbers.prefix(6) {
            text += number
            if text.utf8.count >= 12 { break }
        }
        let digits = text.utf8.prefix(12).map { Int($0) - 48 }
        guard digits.count == 12 else { return false }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { 10 * $0 + $1 } }
        return (1970..<2100).contains(number(0..<4)) && (1...12).contains(number(4..<6))
            && (1...31).contains(number(6..<8)) && number(8..<10) < 24 && number(10..<12) < 60
    }
}

extension FolderWalk.File {
    /// The first folder on its path, with a slash; empty where it is in none.
    fileprivate var folder: String { name.firstIndex(of: "/").map { String(name[...$0]) } ?? "" }
}

extension Timestamp {
    fileprivate static let latest = Timestamp(nanosecondsSince1970: .max)
}
