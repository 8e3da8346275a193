private import Foundation

/// The page with a live map, and what it must be served with.
///
/// It is one file that asks no other host; its script and its style are named in the policy by their hashes, so that no
/// other would run even if a text got into the page as markup.
package struct LivePage: Sendable {
    /// HTML in UTF-8.
    package let body: [UInt8]
    /// For the answer to `GET /`, beside its length.
    package let headers: [(name: String, value: String)]

    /// For every answer of the relay: none may be kept, guessed at or embedded.
    package static let headersOfEveryAnswer: [(name: String, value: String)] = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// Makes the page ready to be served.
    package init() {
        body = PackageResources.page_html
        let policy = [
            "default-src 'none'", "connect-src 'self'", "img-src data:",
            "script-src 'sha256-\(Self.hash(of: "script", in: body))'",
            "style-src 'sha256-\(Self.hash(of: "style", in: body))'",
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ]
        headers =
            [
                ("Content-Type", "text/html; charset=utf-8"),
                ("Content-Security-Policy", policy.joined(separator: "; ")),
                ("Cross-Origin-Opener-Policy", "same-origin"),
            ] + Self.headersOfEveryAnswer
    }

    /// The SHA-256 in Base64 of what stands in the page's only element of a name.
    private static func hash(of element: String, in page: [UInt8]) -> String {
        let opening = Array("<\(element)>".utf8), closing = Array("</\(element)>".utf8)
        guard let start = page.firstRange(of: opening)?.upperBound,
            let end = page[start...].firstRange(of: closing)?.lowerBound
        else { preconditionFailure("the page has a \(element)") }
        return Data(Token.digest(of: page[start..<end])).base64EncodedString()
    }
}
