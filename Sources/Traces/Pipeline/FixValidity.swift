import Hereabouts

/// A column, or member, by which a record may say that it has no fix. Each has words of its own; any other word says nothing.
enum FixValidity: Sendable, Equatable {
    /// `valid`, `gps_valid`, `fix_valid`.
    case validity
    /// `fix`, `fix_type`, `fix_quality`.
    case fix
    /// `status`: words alone, for its numbers mean anything.
    case status
    /// `mode`; beside gpsd's `class` 1 is no fix.
    case mode(isGPSD: Bool)

    private static let names: [String: FixValidity] = [
        "valid": .validity, "gps_valid": .validity, "fix_valid": .validity, "fix": .fix, "fix_type": .fix,
        "fix_quality": .fix, "status": .status, "mode": .mode(isGPSD: false),
    ]

    /// The columns of a header that say so, and what they say it by.
    static func columns(_ header: CSVHeader) -> [(column: Int, validity: FixValidity)] {
        let isGPSD = !header.columns(knownAs: ["class"]).isEmpty
        return header.names.indices.compactMap { column in
            names[header.knownName(of: column)].map {
                (column, $0 == .mode(isGPSD: false) ? .mode(isGPSD: isGPSD) : $0)
            }
        }
    }

    private var words: [StaticString] {
        switch self {
        case .validity: ["0", "0.0", "false", "f", "no", "v", "no fix"]
        case .fix: ["0", "0.0", "none", "no", "no fix"]
        case .status: ["v", "void", "no fix"]
        case .mode(let isGPSD): isGPSD ? ["no fix", "1"] : ["no fix"]
        }
    }

    /// Whether a field, without quotes around it, says that there is no fix.
    func isNoFix(_ field: UnsafeBufferPointer<UInt8>) -> Bool {
        let text = unsafe field.trimmedOfBlanks
        guard (1...6).contains(text.count) else { return false }
        return words.contains { word in
            guard text.count == word.utf8CodeUnitCount else { return false }
            // SAFETY: both have so many bytes.
            return (0..<text.count).allSatisfy { index in
                let byte = unsafe text[index]
                return unsafe ((65...90).contains(byte) ? byte + 32 : byte) == word.utf8Start[index]
            }
        }
    }
}

extension FixBatch {
    /// Makes bad records, from one on, of those that say that they have no fix.
    mutating func refuseWithoutFix(from first: Int, _ isNoFix: (_ record: Int) -> Bool) {
        refuse(first..<count) { isNoFix($0 - first) ? .noFix : nil }
    }

    /// Makes bad records of those at exactly 0, 0, which is where receivers put what they do not know.
    mutating func refuseNullIsland() {
        let positions = unsafe positions.elements
        // SAFETY: asked for records of the batch.
        refuse(0..<count) { unsafe positions[$0].latitude == 0 && positions[$0].longitude == 0 ? .noFix : nil }
    }

    /// Takes the position from those of some records that were good and have a reason not to be.
    @inline(__always)
    mutating func refuse(_ records: some Sequence<Int>, _ problem: (_ index: Int) -> RecordProblem.Reason?) {
        var bad: [(index: Int, reason: RecordProblem.Reason)] = []
        for index in records {
            if let reason = problem(index) { bad.append((index, reason)) }
        }
        guard !bad.isEmpty else { return }
        let known = Set(problems.map(\.index))
        bad.removeAll { known.contains($0.index) }
        for problem in bad { positions[problem.index].latitude = .nan }
        problems = (problems + bad).sorted { $0.index < $1.index }
    }
}
