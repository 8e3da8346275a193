#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension RelayConfiguration.Address {
    /// The longest path of a Unix socket in bytes; the system has room for one more, the terminator.
    static let maximumPathBytes = 103

    /// Reads `HOST:PORT`, `[ADDRESS]:PORT` or `unix:PATH`; nil for anything else.
    init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = text.dropFirst(5)
            guard path.hasPrefix("/"), path.utf8.count <= Self.maximumPathBytes, !path.utf8.contains(0) else {
                return nil
            }
            self = .unix(String(path))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let host = HostText(text[..<colon])?.host,
            let port = portNumber(text[text.index(after: colon)...])
        else { return nil }
        self = .host(host, port: port)
    }

    /// Whether only programs on this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .host(let host, _): isLoopback(host)
        }
    }

    /// As a configuration file has it.
    package var text: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}

/// A host in an address or URL: a name, an IPv4 address, or an IPv6 address in brackets.
struct HostText {
    /// Without brackets.
    let host: String

    init?(_ text: some StringProtocol) {
        if text.hasPrefix("["), text.hasSuffix("]") {
            host = String(text.dropFirst().dropLast())
            guard isIPv6(host) else { return nil }
            return
        }
        host = String(text)
        let isName = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x2E
                || byte == 0x5F
        }
        // Where all parts are numbers, it is meant for an address.
        let isNumeric = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        guard (1...253).contains(host.utf8.count), isName, !isNumeric || isIPv4(host) else { return nil }
    }
}

/// Reads a port, 0 … 65,535; the system chooses one for 0.
func portNumber(_ text: some StringProtocol) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let port = Int(text), port <= 65_535
    else { return nil }
    return port
}

/// Whether a text is an IP address.
func isIPAddress(_ text: String) -> Bool { isIPv4(text) || isIPv6(text) }

private func isIPv4(_ text: String) -> Bool {
    var address = in_addr()
    // SAFETY: the call writes an address of its family.
    return unsafe inet_pton(AF_INET, text, &address) == 1
}

private func isIPv6(_ text: String) -> Bool {
    var address = in6_addr()
    // SAFETY: the call writes an address of its family.
    return unsafe inet_pton(AF_INET6, text, &address) == 1
}

/// Whether a host is this machine alone: `localhost`, 127.0.0.0/8 or ::1.
func isLoopback(_ host: String) -> Bool {
    if host == "localhost" { return true }
    var address = in6_addr()
    // SAFETY: the call writes an address of its family.
    if unsafe inet_pton(AF_INET6, host, &address) == 1 {
        return unsafe withUnsafeBytes(of: address) { bytes in
            unsafe bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }
    return isIPv4(host) && host.hasPrefix("127.")
}
