/// Where a push target is: `http` or `https`, a host, perhaps a port, and a path with perhaps a query.
package struct PushURL: Hashable, Sendable {
    /// Why a URL is none of a push target. No case carries anything of it.
    package enum Failure: String, Error, Hashable, Sendable {
        /// Too long, or with blanks, controls or other characters than ASCII.
        case text
        /// Neither `http` nor `https`.
        case scheme
        /// With a user or a password: a credential has a file of its own.
        case credential
        /// With a fragment.
        case fragment
        /// No host, or one that is neither a name nor an address.
        case host
        /// No number from 1 to 65,535.
        case port
        /// Without TLS, and to another machine.
        case plainText
    }

    private static let longest = 2048

    /// As it was written.
    package let text: String
    package let isSecure: Bool
    /// A name or an address, without brackets.
    package let host: String
    package let port: Int
    /// What a request asks for: the path, and the query with its question mark.
    package let target: String

    package init(_ text: String) throws(Failure) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .text
        }
        let lower = text.prefix(8).lowercased()
        guard lower == "https://" || lower.hasPrefix("http://") else { throw .scheme }
        isSecure = lower == "https://"
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { throw .credential }
        guard !rest.contains("#") else { throw .fragment }
        let path = rest[authority.endIndex...]
        target = path.hasPrefix("/") ? String(path) : "/" + path
        // The colons of an address in brackets are its own.
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[bracket...].firstIndex(of: ":")
        guard let host = HostText(authority[..<(colon ?? authority.endIndex)])?.host else { throw .host }
        if let colon {
            guard let port = portNumber(authority[authority.index(after: colon)...]), port > 0 else { throw .port }
            self.port = port
        } else {
            port = isSecure ? 443 : 80
        }
        guard isSecure || isLoopback(host) else { throw .plainText }
        (self.text, self.host) = (text, host)
    }

    /// The value of the header `Host`.
    package var authority: String {
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

extension PushURL.Failure: CustomStringConvertible {
    /// What is wrong, without the URL; the subject is the URL.
    package var description: String {
        switch self {
        case .text: "is not a URL: it has at most 2048 characters of ASCII, and no spaces"
        case .scheme: "begins with neither https:// nor http://"
        case .credential: "names a user: credentials belong into a file, see credential-file"
        case .fragment: "has a fragment, which is never sent"
        case .host: "has no valid host"
        case .port: "has an invalid port"
        case .plainText: "is not encrypted: http is for this machine alone, others need https"
        }
    }
}
