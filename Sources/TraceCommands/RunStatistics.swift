import CommandCore
import Files
import Hereabouts
import Traces

/// What `--stats` writes.
struct RunStatistics {
    var converted = 0, kept = 0
    var failures: [String: Int] = [:]
    var skipped: [String: Int] = [:]
    var summary = RunSummary()
    var devices = 0
    var reports = ReportStatistics()
    /// How many records were bad for each reason.
    var reasons: [String: Int] = [:]
    /// The residents that a region has to promise to be published; nil where any number will do.
    var least: Int?
    /// Nil of `snap`.
    var pace: (interval: Duration, emission: Emission)?
    var elapsed = Duration.zero

    /// A JSON object. Times are ticks, and positions are in none of it.
    func json(atlas: Atlas) -> String {
        let ticks = pace.flatMap { reports.ticks(interval: $0.interval) }
        let accuracies = reports.accuracies(in: atlas)
        var members: [(String, String)] = [
            ("hereabouts", Self.quoted(hereaboutsVersion)),
            ("atlas", Self.quoted(atlas.name)),
        ]
        if let pace {
            members += [
                ("interval_seconds", Self.decimal(pace.interval)), ("emit", Self.quoted(pace.emission.rawValue)),
            ]
        }
        members.append(("files", "\(converted)"))
        if pace != nil {
            members += [
                ("files_kept", "\(kept)"), ("files_failed", Self.object(failures)),
                ("files_not_read", Self.object(skipped)),
            ]
        }
        members += [
            ("records", "\(summary.records)"),
            ("bad_records", "\(summary.badRecords)"),
            ("bad_records_by_reason", Self.object(reasons)),
            (pace == nil ? "written" : "reports", "\(summary.written)"),
        ]
        if pace != nil { members.append(("devices", "\(devices)")) }
        members.append(("regions", "\(reports.regions)"))
        if pace != nil {
            members += [
                ("first_tick", ticks.map { Self.quoted($0.first) } ?? "null"),
                ("last_tick", ticks.map { Self.quoted($0.last) } ?? "null"),
            ]
        }
        if let least { members += [("least", "\(least)"), ("withheld_below_least", "\(reports.tooFew)")] }
        members += [
            (
                "accuracy_meters",
                Self.members([
                    ("least", Self.number(accuracies.first?.meters)),
                    ("median", Self.number(Self.quantile(0.5, of: accuracies))),
                    ("percentile_95", Self.number(Self.quantile(0.95, of: accuracies))),
                    ("greatest", Self.number(accuracies.last?.meters)),
                ])
            ),
            ("wall_seconds", Self.decimal(elapsed)),
        ]
        return "{\n" + members.map { "  \(Self.quoted($0)): \($1)" }.joined(separator: ",\n") + "\n}\n"
    }

    /// Writes it, whole or not at all.
    func write(to path: String, atlas: Atlas) throws(CommandFailure) {
        do throws(SystemError) {
            try writeFile(Array(json(atlas: atlas).utf8), to: path)
        } catch {
            throw CommandFailure(.unusable, "--stats \(path): \(error)")
        }
    }

    /// The least number that so large a part of them does not exceed.
    private static func quantile(_ part: Double, of accuracies: [(meters: Int, count: Int)]) -> Int? {
        let total = accuracies.reduce(0) { $0 + $1.count }
        var sum = 0
        for (meters, count) in accuracies {
            sum += count
            if Double(sum) >= part * Double(total) { return meters }
        }
        return nil
    }

    /// Seconds, to the millisecond.
    private static func decimal(_ duration: Duration) -> String {
        let milliseconds = Int((duration / .milliseconds(1)).rounded())
        let part = milliseconds % 1000
        return "\(milliseconds / 1000)" + (part == 0 ? "" : "." + String(1000 + part).dropFirst())
    }

    private static func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "null" }

    private static func object(_ counts: [String: Int]) -> String {
        members(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
    }

    private static func members(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(quoted($0)): \($1)" }.joined(separator: ", ") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                result += "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
