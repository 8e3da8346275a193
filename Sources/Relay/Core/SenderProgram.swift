/// The programs that send positions, as far as they are known: what an owner is told of a message. Any other is "another": the
/// name that a program gives itself is not written anywhere.
package enum SenderProgram: String, CaseIterable, Codable, Sendable {
    case ownTracks = "OwnTracks"
    case overland = "Overland"
    case traccarClient = "Traccar Client"
    case traccar = "Traccar"
    case gpsLogger = "GPSLogger"
    case osmAnd = "OsmAnd"
    case colota = "Colota"
    case phoneTrack = "PhoneTrack"
    case homeAssistant = "Home Assistant"
    case tasker = "Tasker"
    case theThingsStack = "The Things Stack"
    case curl = "curl"
    case browser = "a browser"
    case gpsd = "gpsd"
    case another = "another program"

    /// Parts of what programs name themselves in `User-Agent`, in small letters; the first that fits counts.
    private static let marks: [(String, SenderProgram)] = [
        ("owntracks", .ownTracks), ("overland", .overland), ("traccar client", .traccarClient),
        ("traccarclient", .traccarClient), ("org.traccar.client", .traccarClient), ("traccar", .traccar),
        ("gpslogger", .gpsLogger), ("osmand", .osmAnd), ("colota", .colota), ("phonetrack", .phoneTrack),
        ("home assistant", .homeAssistant), ("homeassistant", .homeAssistant), ("tasker", .tasker),
        ("thethingsstack", .theThingsStack), ("the things", .theThingsStack), ("curl/", .curl), ("mozilla/", .browser),
    ]

    /// - Parameter userAgent: the header's value.
    package init(userAgent: [UInt8]?) {
        let name = String(decoding: (userAgent ?? []).prefix(200), as: UTF8.self).lowercased()
        self = Self.marks.first { name.contains($0.0) }?.1 ?? .another
    }
}
