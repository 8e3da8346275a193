import FixedRandom
import Foundation
import Testing

/// CONTRIBUTING.md says how many cases the suites have that `make test` takes a sample of.
@Suite struct SampleSizeTests {
    @Test func `the cases of each sampled suite are those of the table`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("CONTRIBUTING.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let table = text.components(separatedBy: "| cases |")[1].components(separatedBy: "\n\n")[0]
        let rows = table.split(separator: "\n").dropFirst(2).map { row in
            row.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows == SampleSize.allCases.map { ["`\($0)`", "\($0.sampled)", "\($0.full)"] })
    }
}
