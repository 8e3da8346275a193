/// How a relay does, for who watches over it: numbers, and no place, name or token.
package struct RelayStatus: Hashable, Codable, Sendable {
    /// Whether what must be kept is where it was, and can be written.
    package var isStateUsable = true
    package var isPaused = false
    package var devices = 0, consumers = 0, tokens = 0, grants = 0, requests = 0
    /// Open ones, streams among them.
    package var connections = 0, streams = 0
    /// Since the relay began.
    package var messages = 0, unusable = 0, overLimit = 0, retried = 0, unauthorized = 0
    /// In seconds since 1970.
    package var lastTick: Int64 = 0

    /// Every number: its name, whether it only grows, what it is, and its value.
    package var numbers: [(name: String, isCounter: Bool, meaning: String, value: Int64)] {
        [
            ("state_usable", false, "1 where the state is in its place and can be written", isStateUsable ? 1 : 0),
            ("paused", false, "1 while everything is paused", isPaused ? 1 : 0),
            ("devices", false, "Devices of the configuration", Int64(devices)),
            ("consumers", false, "Consumers of the configuration", Int64(consumers)),
            ("tokens", false, "Tokens that hold", Int64(tokens)),
            ("grants", false, "Grants that hold", Int64(grants)),
            ("requests_waiting", false, "Requests that wait for the owner", Int64(requests)),
            ("connections", false, "Open connections of HTTP", Int64(connections)),
            ("streams", false, "Open streams of events", Int64(streams)),
            ("messages_total", true, "Messages with positions", Int64(messages)),
            ("messages_unusable_total", true, "Messages, or parts of them, that cannot be used", Int64(unusable)),
            ("messages_over_limit_total", true, "Messages beyond a limit", Int64(overLimit)),
            ("messages_retried_total", true, "Messages that were to be sent again", Int64(retried)),
            ("unauthorized_total", true, "Requests without a token that holds", Int64(unauthorized)),
            ("last_tick_timestamp_seconds", false, "The last tick, since 1970", lastTick),
        ]
    }

    /// The numbers in Prometheus' text format.
    package var metrics: String {
        numbers.map { number in
            let name = "hereabouts_\(number.name)"
            return """
                # HELP \(name) \(number.meaning)
                # TYPE \(name) \(number.isCounter ? "counter" : "gauge")
                \(name) \(number.value)

                """
        }.joined()
    }
}
