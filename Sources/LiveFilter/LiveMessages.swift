import Dialects
import Hereabouts
import Traces

/// What a line of a dialect says.
enum LiveMessage {
    case fix(ClaimedFix, key: String?)
    /// A message of the protocol that has no location of a device.
    case other
    case bad(String)
}

/// Reads the lines of a dialect.
struct LiveMessageReader {
    private let gpsd: GPSDReportReader?
    private let ownTracks = OwnTracksReader()

    init(isGPSD: Bool) { gpsd = isGPSD ? GPSDReportReader() : nil }

    func message(_ line: ArraySlice<UInt8>) -> LiveMessage {
        if let gpsd {
            return switch gpsd.report(line) {
            case .fix(let fix): .fix(fix, key: nil)
            case .noFix, .version, .error, .other: .other
            case .unusable(let reason): .bad(reason.words)
            case .overLimit: .bad(Self.overLimit)
            }
        }
        let (topic, payload) = Self.parts(line)
        switch ownTracks.received(payload) {
        case .fixes(let received):
            guard let fix = received.fixes.first else { return .other }
            guard let key = topic ?? fix.device else { return .bad("neither a topic nor a tid") }
            return .fix(fix, key: key)
        case .sighting, .retryLater: return .other
        case .unusable(.otherType), .unusable(.empty): return .other
        case .unusable(let reason): return .bad(reason.words)
        case .overLimit: return .bad(Self.overLimit)
        }
    }

    private static let overLimit = "brackets nested too deep, or too long"

    /// The topic before the payload, as `mosquitto_sub -v` writes it, and the payload.
    private static func parts(_ line: ArraySlice<UInt8>) -> (topic: String?, payload: ArraySlice<UInt8>) {
        guard let first = line.first, first != UInt8(ascii: "{"), let space = line.firstIndex(of: 0x20),
            space > line.startIndex
        else { return (nil, line) }
        return (String(decoding: line[..<space], as: UTF8.self), line[(space + 1)...])
    }
}
