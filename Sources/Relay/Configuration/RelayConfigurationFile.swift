import Files

/// Something that is wrong in a configuration file.
package struct RelayConfigurationProblem: Error, Hashable, Sendable {
    /// From 1; 0 for the file as a whole.
    package let line: Int
    /// A sentence for people, without a full stop.
    package let message: String

    init(line: Int, _ message: String) { (self.line, self.message) = (line, message) }
}

/// Why a configuration file cannot be used: everything that is wrong in it.
package struct RelayConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// At least one, in order of their lines.
    package let problems: [RelayConfigurationProblem]

    init(file: String, _ problems: [RelayConfigurationProblem]) {
        self.file = file
        self.problems = problems.enumerated()
            .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map(\.element)
    }

    /// A line for each: `FILE:LINE: SENTENCE`.
    package var description: String {
        problems.map { $0.line > 0 ? "\(file):\($0.line): \($0.message)" : "\(file): \($0.message)" }
            .joined(separator: "\n")
    }
}

extension RelayConfiguration {
    /// The largest configuration file, and its longest line, in bytes.
    static let maximumFileBytes = 16 << 20, maximumLineBytes = 4096

    /// Reads a configuration file, and looks at the files that it names.
    ///
    /// - Throws: `RelayConfigurationError` with all that is wrong; after a syntax error that alone.
    package init(file: String) throws(RelayConfigurationError) {
        let text: [UInt8]?
        do throws(SystemError) {
            text = try readAll(path: file, limit: Self.maximumFileBytes)
        } catch {
            throw RelayConfigurationError(
                file: file, [RelayConfigurationProblem(line: 0, "the configuration cannot be read: \(error)")])
        }
        guard let text else { throw Self.tooLarge(file) }
        self = try Self.parse(text, file: file, looksAtFiles: true)
    }

    /// Reads the text of a configuration file.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - file: what errors call it.
    ///   - looksAtFiles: whether the files that it names must be there, and closed to others.
    /// - Throws: `RelayConfigurationError` with all that is wrong; after a syntax error that alone.
    package static func parse(
        _ text: [UInt8], file: String, looksAtFiles: Bool = false
    ) throws(RelayConfigurationError) -> RelayConfiguration {
        guard text.count <= maximumFileBytes else { throw tooLarge(file) }
        // This bounds how deep dotted keys nest tables.
        let lines = text.split(separator: 10, omittingEmptySubsequences: false)
        if let long = lines.firstIndex(where: { $0.count > maximumLineBytes }) {
            throw RelayConfigurationError(
                file: file,
                [RelayConfigurationProblem(line: long + 1, "a line has at most \(maximumLineBytes) bytes")])
        }
        let root: TOMLNode
        do throws(RelayConfigurationProblem) {
            root = try TOMLNode.read(text)
        } catch {
            throw RelayConfigurationError(file: file, [error])
        }
        var reader = RelayConfigurationReader(looksAtFiles: looksAtFiles)
        let configuration = reader.read(root)
        guard reader.problems.isEmpty else { throw RelayConfigurationError(file: file, reader.problems) }
        return configuration
    }

    private static func tooLarge(_ file: String) -> RelayConfigurationError {
        RelayConfigurationError(
            file: file, [RelayConfigurationProblem(line: 0, "a configuration has at most \(maximumFileBytes) bytes")])
    }
}
