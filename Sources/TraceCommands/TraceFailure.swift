import CommandCore
import Traces

extension CommandFailure {
    /// The exit status and message for a failed run.
    init(_ error: TraceError) {
        switch error {
        case .outputClosed: self.init(.success)
        case .stopped: self.init(.badRecords, "\(error)")
        default: self.init(.unusable, error.message)
        }
    }
}

extension TraceError {
    /// The description with the options that it is about.
    fileprivate var message: String {
        switch self {
        case .noColumn(_, _, let columns) where columns.contains { $0.lowercased().hasPrefix("easting") }:
            "\(self); name the system of eastings and northings with --crs, or --crs utm where a column says each record's zone"
        case .noColumn(let file, let axis, _), .noMember(let file, let axis):
            Self.withHint(file, "\(self); name it with --\(axis)-column, or with --position-column where one has both")
        case .bareAxes(_, let x, let y):
            "\(self); if they are degrees, name them with --longitude-column \(x) --latitude-column \(y), and if they are of a "
                + "map, its system with --crs"
        case .notRead(let file, .otherXML), .otherRoot(let file, _): Self.withHint(file, "\(self)")
        case .notRead(_, let kind): kind.hint.map { "\(self); \($0)" } ?? "\(self)"
        case .noTimeColumn, .noTimeMember:
            "\(self). Name the column with --time-column, or write every region on the way with --untimed"
        case .summaryBesideSamples:
            "\(self). To read the summary, name its position with --latitude-column and --longitude-column"
        case .noDate: "\(self). Name the day of the first fix with --date"
        case .noTimes: "\(self). Write every region on the way with --untimed"
        case .keepsPosition, .columnIsWritten(as: .kept, _): "--keep \(self)"
        case .columnIsWritten(as: .key, _): "--key-column \(self)"
        case .replacesRecords: "\(self), and a state is as it was before. --allow-empty replaces it"
        case .notOneDevice(_, let report): "\(self). \(report.advice)"
        default: "\(self)"
        }
    }

    /// A message with what to do where the file's name is one of gpsbabel's.
    private static func withHint(_ file: String, _ message: String) -> String {
        GPSBabelFormat.hint(ofText: file).map { "\(message); \($0)" } ?? message
    }
}
