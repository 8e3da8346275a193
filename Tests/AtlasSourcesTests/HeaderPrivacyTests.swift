import Foundation
import Testing

@testable import AtlasSources

@Suite struct HeaderPrivacyTests {
    /// The first line of a file without a header is data: two equal coordinates in it are no column's name.
    @Test func `a repeated coordinate in the first line is not repeated in the message`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).csv").path
        _ = FileManager.default.createFile(atPath: path, contents: Data("Alpha,31.761934,31.761934,5\n".utf8))
        defer { try? FileManager.default.removeItem(atPath: path) }
        do throws(InputError) {
            _ = try PlacesReader(path: path).read()
            Issue.record("a file without a header was accepted")
        } catch {
            #expect(!"\(error)".contains("31.76") && "\(error)".hasSuffix("is the header missing?"))
        }
    }
}
