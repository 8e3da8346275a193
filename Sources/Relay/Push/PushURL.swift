/// Where a push target is: `http` or `https`, a host, perhaps a port, and a path with perhaps a query.
package struct PushURL: Hashable, Sendable {
    /// Why a URL is none of a push target. No case carries anything of it.
    package enum Failure: String, Error, Hashable, Sendable {
        /// Neither `http` nor `https`.
        case scheme
        /// Without TLS, and to another machine.
        case plainText
        /// With a user or a password: a credential has a file of its own.
        case credential
        /// No host, or one that is neither a name nor an address.
        case host
        /// No number from 1 to 65,535.
        case port
        /// A path or query with blanks, controls, other characters than ASCII, or with a fragment.
        case path
    }

    package let isSecure: Bool
    /// A name or an address, without brackets.
    package let host: String
    package let port: Int
    /// What a request asks for: the path, and the query with its question mark.
    package let target: String

    package init(_ text: String) throws(Failure) {
        let lower = text.prefix(8).lowercased()
        let rest: Substring
        if lower == "https://" {
            (isSecure, rest) = (true, text.dropFirst(8))
        } else if lower.hasPrefix("http://") {
            (isSecure, rest) = (false, text.dropFirst(7))
        } else {
            throw .scheme
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { throw .credential }
        let path = rest[authority.endIndex...]
        // Visible ASCII but for the sign of a fragment.
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { throw .path }
        target = path.hasPrefix("/") ? String(path) : "/" + path
        let number: Substring?
        (host, number) = try Self.parts(authority)
        if let number {
            guard number.utf8.allSatisfy({ $0 &- 48 < 10 }), let port = Int(number), (1...65_535).contains(port) else {
                throw .port
            }
            self.port = port
        } else {
            port = isSecure ? 443 : 80
        }
        guard isSecure || RelayConfiguration.Address.host(host, port: port).isLocal else { throw .plainText }
    }

    /// The host, and the port where there is one.
    private static func parts(_ authority: Substring) throws(Failure) -> (host: String, port: Substring?) {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw .host }
            let host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard host.contains(":"),
                host.utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
                rest.isEmpty || rest.hasPrefix(":")
            else { throw .host }
            return (String(host), rest.isEmpty ? nil : rest.dropFirst())
        }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, host.utf8.count <= 253,
            host.utf8.allSatisfy({
                isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
            })
        else { throw .host }
        let rest = authority[host.endIndex...]
        return (String(host), rest.isEmpty ? nil : rest.dropFirst())
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 || (byte | 0x20) &- 97 < 6 }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 }

    /// The value of the header `Host`.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

extension PushURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing: a path may hold a secret.
    package var description: String { "PushURL(redacted)" }
    /// Shows nothing.
    package var debugDescription: String { description }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
