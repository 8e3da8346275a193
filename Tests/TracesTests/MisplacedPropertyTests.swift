import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Over tables with shuffled, missing, doubled and shifted fields: no coordinate reaches an output, a notice or a state.
@Suite struct MisplacedPropertyTests {
    /// An output without the columns of the reduced location, which are the last six.
    private func copied(_ outcome: Outcome, _ format: TraceFormat) -> String {
        switch format {
        case .csv:
            return outcome.rows.map { row in
                // No place of this atlas has a quote; commas within quotes only make more fields.
                row.split(separator: ",", omittingEmptySubsequences: false).prefix(3).joined(separator: ",")
            }.joined(separator: "\n")
        default:
            return outcome.rows.map { row in
                let end = row.range(of: "\"latitude\"") ?? row.range(of: "\"horizontal_accuracy\"")
                return end.map { String(row[..<$0.lowerBound]) } ?? ""
            }.joined(separator: "\n")
        }
    }

    private func leaks(_ text: String, _ secrets: Set<String>) -> Bool {
        text.utf8.split { !(0x30...0x39).contains($0) }.contains { digits in
            digits.count >= 7
                && zip(digits.indices, digits.indices.dropFirst(6)).contains {
                    secrets.contains(String(decoding: digits[$0...$1], as: UTF8.self))
                }
        }
    }

    private func said(_ outcome: Outcome) -> String {
        "\(outcome.notices) \(outcome.readings) \(outcome.reasons) \(outcome.error.map { "\($0)" } ?? "")"
    }

    @Test(arguments: 0..<8) func `no coordinate reaches an output`(_ batch: Int) {
        var random = SplitMix64(seed: 560 + UInt64(batch)), written = 0
        let scratch = Scratch()
        for number in 0..<400 {
            let table = MisplacedTable(&random)
            for format in [TraceFormat.csv, .ndjson, .geojson] where number % 3 == 0 || format == .csv {
                let outcome = snap(table.text) { $0.format = format }
                written += outcome.summary.written - outcome.summary.badRecords
                #expect(!leaks(copied(outcome, format), table.secrets), "\(table.text)")
                #expect(!leaks(said(outcome), table.secrets), "\(table.text)")
            }
            let state = scratch.path("state-\(number)")
            let outcome = convert(table.text) {
                ($0.format, $0.emission, $0.onError) = (.csv, .fixes, .blank)
                ($0.earliest, $0.state, $0.acceptsJumps) = (TimeBounds.earliest, state, true)
            }
            #expect(!leaks(copied(outcome, .csv), table.secrets), "\(table.text)")
            #expect(!leaks(said(outcome), table.secrets), "\(table.text)")
            let kept = (FileManager.default.contents(atPath: state) ?? Data()).map { $0 < 0x80 ? $0 : 0x20 }
            #expect(!leaks(String(decoding: kept, as: UTF8.self), table.secrets), "\(table.text)")
        }
        // The tables are not all refused.
        #expect(written > 1000)
    }
}
