import Hereabouts

/// A location with diagnostics, as a GeoJSON feature (RFC 7946).
package enum GeoJSONAnswer {
    /// A feature with `device`, and where there is a location, `time` and `horizontal_accuracy`; for a reduced one also
    /// `region`, `country` and `place`. Its geometry is null where there is none. Of the diagnostics those given are members
    /// that are true, in the order of their declaration.
    package static func feature(
        _ location: OutgoingLocation?, device: String, diagnostics: Set<Diagnostic> = []
    ) -> [UInt8] {
        var text = MessageText()
        text.append("{\"type\":\"Feature\",\"geometry\":")
        if let location {
            text.append("{\"type\":\"Point\",\"coordinates\":[")
            text.append(location, \.longitude)
            text.append(",")
            text.append(location, \.latitude)
            text.append("]}")
        } else {
            text.append("null")
        }
        text.append(",\"properties\":{\"device\":")
        text.append(json: device)
        if let location { append(location, &text) }
        text.append(diagnostics)
        text.append("}}")
        return text.bytes
    }

    private static func append(_ location: OutgoingLocation, _ text: inout MessageText) {
        text.append(",\"time\":\"")
        text.append(location.time)
        text.append("\"")
        if let meters = location.accuracyMeters {
            text.append(",\"horizontal_accuracy\":")
            text.append(Int64(meters))
        }
        guard case .reduced(let reduced, _) = location else { return }
        text.append(",\"region\":")
        text.append(json: "\(reduced.region)")
        text.append(",\"country\":")
        text.append(json: reduced.country.code)
        if let place = reduced.place {
            text.append(",\"place\":")
            text.append(json: "\(place)")
        }
    }
}

extension MessageText {
    /// Appends those given as further members that are true, in the order of their declaration.
    package mutating func append(_ diagnostics: Set<Diagnostic>) {
        for diagnostic in Diagnostic.allCases where diagnostics.contains(diagnostic) {
            append(",")
            append(json: diagnostic.rawValue)
            append(":true")
        }
    }
}

/// Server-sent events (WHATWG HTML, section 9.2). They have no `id`: a client that returns gets what stands, not what it
/// missed.
package enum ServerSentEvent {
    /// An event named `update`, with one line of data for each of the text's.
    package static func update(_ data: [UInt8]) -> [UInt8] { event("update", data) }

    /// An event, with one line of data for each of the text's.
    ///
    /// - Parameter name: of one line.
    package static func event(_ name: StaticString, _ data: [UInt8]) -> [UInt8] {
        var text = MessageText()
        text.append("event: ")
        text.append(name)
        text.append("\n")
        // An event ends at an empty line, and a carriage return ends a line too.
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 10 || $0 == 13 }) {
            text.append("data: ")
            text.append(Array(line))
            text.append("\n")
        }
        text.append("\n")
        return text.bytes
    }

    /// A comment of so many bytes; of one, an empty line.
    package static func padding(_ byteCount: Int) -> [UInt8] {
        guard byteCount > 1 else { return byteCount == 1 ? [10] : [] }
        return [UInt8(ascii: ":")] + [UInt8](repeating: 0x20, count: byteCount - 2) + [10]
    }

    /// A comment, which keeps a connection open.
    package static let keepAlive = Array(":\n\n".utf8)
}
