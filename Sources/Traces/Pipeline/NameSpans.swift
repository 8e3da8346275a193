import Hereabouts

/// From when to when there are reports under each name of an output: the longer, the more an observer finds out.
struct NameSpans {
    /// Of more days a notice tells.
    static let mostDays = 60
    static let longest = Int64(mostDays) * 86_400_000_000_000

    private var spans: [(first: Int64, last: Int64)] = []
    /// The span of each of the output's devices: those of a person without a key share one.
    private var numbers: [Int] = []
    private var persons: [String: Int] = [:]

    /// Adds the next device of the output.
    mutating func add(_ clock: Disguise.Clock) {
        var known: Int?
        if case .person(let name, nil) = clock {
            known = persons[name]
            persons[name] = known ?? spans.count
        }
        numbers.append(known ?? spans.count)
        if known == nil { spans.append((.max, .min)) }
    }

    @inline(__always)
    mutating func note(_ time: Timestamp?, of device: Int) {
        guard let time = time?.nanosecondsSince1970 else { return }
        let number = numbers[device]
        spans[number] = (min(spans[number].first, time), max(spans[number].last, time))
    }

    /// How many spans are longer than `mostDays`.
    var longNames: Int { count(of: Set(spans.indices)) }

    /// How many of some spans are.
    func count(of numbers: Set<Int>) -> Int {
        numbers.count { number in
            let (first, last) = spans[number]
            return first <= last && last.subtractingReportingOverflow(first).partialValue > Self.longest
        }
    }
}
