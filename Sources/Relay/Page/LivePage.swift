internal import CNettle

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
        let content = Array(page[start..<end])
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
        var context = sha256_ctx()
        unsafe nettle_sha256_init(&context)
        unsafe nettle_sha256_update(&context, content.count, content)
        unsafe nettle_sha256_digest(&context, digest.count, &digest)
        return base64(digest)
    }

    /// RFC 4648, section 4.
    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0...group.count { text.append(alphabet[bits >> (18 - 6 * digit) & 63]) }
            text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - group.count))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
