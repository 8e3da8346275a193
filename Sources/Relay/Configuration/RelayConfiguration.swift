/// What the relay is told by its configuration file.
package struct RelayConfiguration: Hashable, Sendable {
    /// Where to listen, and where to connect to.
    package enum Address: Hashable, Sendable, CustomStringConvertible {
        /// A host and a port; a host is a name or an address.
        case host(String, port: Int)
        /// A Unix socket, by its path.
        case unix(String)

        /// As in the file.
        package var description: String {
            switch self {
            case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): "unix:\(path)"
            }
        }
    }

    /// A certificate and its key, as files in PEM.
    package struct TLS: Hashable, Sendable {
        package var certificate: String
        package var key: String
        package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// A gpsd that a device's fixes come from.
    package struct GPSDSource: Hashable, Sendable {
        package var address: Address
        /// The receiver whose reports are taken, by gpsd's name; nil for all.
        package var receiver: String?
        package init(_ address: Address, receiver: String? = nil) {
            (self.address, self.receiver) = (address, receiver)
        }
    }

    /// What is located.
    package struct Device: Hashable, Sendable {
        /// The name in URLs and verbs.
        package var name: String
        /// What people see.
        package var title: String
        /// OwnTracks' two characters on the map.
        package var tracker: String
        /// The consumer whose friends OwnTracks on this device shows.
        package var consumer: String?
        package var gpsd: GPSDSource?

        package init(_ name: String) {
            (self.name, title, tracker) = (name, name, String(name.suffix(2)))
        }
    }

    /// A gpsd port for a consumer.
    package struct GPSDPort: Hashable, Sendable {
        package var device: String
        package var address: Address
        package var isReduced = false
        /// The purpose of full accuracy that a connection asks for.
        package var purpose: String?
        package init(device: String, address: Address) { (self.device, self.address) = (device, address) }
    }

    /// Where a consumer's answers are pushed to.
    package struct Push: Hashable, Sendable {
        /// The protocol.
        package enum Dialect: String, Hashable, Sendable, CaseIterable { case owntracks, overland, osmand }

        package var device: String
        package var dialect: Dialect
        package var url: PushURL
        /// A file with `user:password` or a token.
        package var credentialFile: String?
        package var isReduced = false
        /// The purpose of full accuracy that is asked for.
        package var purpose: String?
        package init(device: String, dialect: Dialect, url: PushURL) {
            (self.device, self.dialect, self.url) = (device, dialect, url)
        }
    }

    /// Who asks.
    package struct Consumer: Hashable, Sendable {
        /// The name in verbs.
        package var name: String
        /// What people see.
        package var title: String
        package var requiresExplicitSession = false
        /// What it says that full accuracy is for, by key.
        package var purposes: [String: String] = [:]
        /// For a read-only link, the consumer it derives from.
        package var linkOf: String?
        package var gpsd: [GPSDPort] = []
        package var pushes: [Push] = []

        package init(_ name: String) { (self.name, title) = (name, name) }
    }

    package var listen = Address.host("127.0.0.1", port: 8737)
    /// The address of the reverse proxy that may connect, where one ends TLS.
    package var proxy: String?
    /// Where numbers for monitoring are given; nil for nowhere.
    package var metrics: Address?
    /// The owner's time zone, as the system's database names it.
    package var zone = "UTC"
    /// The time between two ticks.
    package var interval = Duration.seconds(900)
    /// An answer older than this is none.
    package var stale = Duration.seconds(7200)
    package var tls: TLS?
    /// In order of their names.
    package var devices: [Device] = []
    /// In order of their names.
    package var consumers: [Consumer] = []

    package init() {}

    /// A device by its name.
    ///
    /// - Complexity: O(log n).
    package func device(_ name: String) -> Device? { Self.find(name, in: devices, \.name) }

    /// A consumer by its name.
    ///
    /// - Complexity: O(log n).
    package func consumer(_ name: String) -> Consumer? { Self.find(name, in: consumers, \.name) }

    private static func find<Element>(
        _ name: String, in elements: [Element], _ key: (Element) -> String
    ) -> Element? {
        var low = 0, high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if key(elements[middle]) < name { low = middle + 1 } else { high = middle }
        }
        return low < elements.count && key(elements[low]) == name ? elements[low] : nil
    }
}
