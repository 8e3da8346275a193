import Hereabouts

/// Our side of a connection to a gpsd server: bytes in, bytes to send and reports out. One value per connection.
///
/// The server speaks first, with `VERSION`. It is then asked to watch, and answers `DEVICES`, `WATCH` and reports.
package struct GPSDClient {
    /// What some bytes of the server came to.
    package struct Output {
        /// What is to be sent to the server.
        package var request: [UInt8] = []
        /// In the order of the server's lines.
        package var reports: [GPSDReportReader.Report] = []
        /// Set once the connection is of no use; it is to be closed.
        package var failure: Failure?
    }

    /// Why a connection is of no use.
    package enum Failure: Error, Hashable, Sendable {
        /// What greets is no gpsd.
        case notGPSD
        /// Another major version of the protocol than 3.
        case unsupportedVersion
    }

    private let reader = GPSDReportReader()
    private var cutter = LineCutter(limit: DialectLimits.reportByteCount)
    private var isGreeted = false
    private var failure: Failure?

    package init() {}

    private static let watch = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)

    /// Takes what the server sent. After a failure nothing is read any more.
    ///
    /// - Complexity: O(size).
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> Output {
        var output = Output(failure: failure)
        guard failure == nil else { return output }
        for line in cutter.lines(bytes) {
            let report: GPSDReportReader.Report =
                switch line {
                case .text(let text): reader.report(text)
                case .tooLong: .overLimit
                }
            if isGreeted {
                output.reports.append(report)
            } else if case .version(let major, _) = report {
                guard major == 3 else { return fail(.unsupportedVersion, output) }
                isGreeted = true
                output.request += Self.watch
                output.reports.append(report)
            } else {
                return fail(.notGPSD, output)
            }
        }
        return output
    }

    private mutating func fail(_ failure: Failure, _ output: Output) -> Output {
        self.failure = failure
        var output = output
        output.failure = failure
        return output
    }
}
