import Hereabouts

/// Reads messages of any of the dialects that phones post, told apart by content: for senders whose path cannot be chosen.
package final class DialectReader {
    private let kind = JSONMessageReader([["_type"], ["locations"]])
    private let ownTracks = OwnTracksReader()
    private let overland = OverlandReader()
    private let osmAnd = OsmAndReader()

    package init() {}

    /// The protocols of phones.
    package enum Dialect: String, CaseIterable, Sendable {
        case ownTracks = "owntracks"
        case overland
        case osmAnd = "osmand"
    }

    /// What came of a request.
    ///
    /// - Parameters:
    ///   - dialect: the one that the path names; nil to go by the content: an object with `_type` is OwnTracks', one with
    ///     `locations` Overland's, an array what its first element is, everything else OsmAnd's.
    ///   - clock: the present.
    /// - Complexity: O(size).
    package func received(
        query: some Collection<UInt8> = [], body: some Collection<UInt8>, in dialect: Dialect? = nil,
        at clock: Timestamp
    ) -> (dialect: Dialect, received: Received) {
        let dialect = dialect ?? detected(body)
        switch dialect {
        case .ownTracks: return (dialect, ownTracks.received(body))
        case .overland: return (dialect, overland.received(body))
        case .osmAnd: return (dialect, osmAnd.received(query: query, body: body, at: clock))
        }
    }

    private func detected(_ body: some Collection<UInt8>) -> Dialect {
        if JSONMessageReader.isArray(body) {
            guard let first = try? JSONMessageReader.elements(body).first else { return .osmAnd }
            return JSONMessageReader.isArray(first) ? .osmAnd : detected(Array(first))
        }
        let found = try? kind.read(body) { message throws(Unusable) in
            message.has(0) ? Dialect.ownTracks : message.has(1) ? .overland : .osmAnd
        }
        return found ?? .osmAnd
    }

    /// The body of the answer that makes a sender forget its message.
    package static func answer(_ dialect: Dialect) -> [UInt8] {
        switch dialect {
        case .ownTracks: OwnTracksMessage.answer()
        case .overland: OverlandMessage.answer
        case .osmAnd: []
        }
    }
}
