import NIOCore

/// Which hosts are this machine.
package enum Loopback {
    /// Whether a host is `localhost` or an address of the loopback interface. Other names are not resolved to find out.
    package static func contains(host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return false }
        return contains(address)
    }

    /// Whether an address is 127.0.0.0/8 or ::1.
    package static func contains(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: address.ipAddress?.hasPrefix("127.") ?? false
        case .v6: address.ipAddress == "::1"
        case .unixDomainSocket: false
        }
    }
}
