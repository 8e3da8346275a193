import Foundation
import HereaboutsLive
import Relay
import Testing

@Suite("The page") struct LivePageTests {
    private let page = LivePage()
    private var text: String { String(decoding: page.body, as: UTF8.self) }

    @Test func `is the file beside its source`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        #expect(try Data(page.body) == Data(contentsOf: root.appendingPathComponent("Sources/Relay/Page/page.html")))
        #expect(page.body.count < 100_000)
    }

    @Test func `has one script and one style, and nothing from elsewhere`() {
        func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
        #expect(count("<script") == 1 && count("<style") == 1 && count("<script>") == 1 && count("<style>") == 1)
        // The only address is the name of SVG, in the script and in the icon.
        #expect(count("://") == count("http://www.w3.org/2000/svg") && count("http://www.w3.org/2000/svg") == 2)
        for part in ["@import", "url(", " src=", "style=\"", " onclick", " onload", "javascript:"] {
            #expect(count(part) == 0, "\(part)")
        }
    }

    @Test func `takes texts as text`() {
        for part in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "srcdoc"] {
            #expect(!text.contains(part), "\(part)")
        }
        #expect(text.contains("localStorage") == false && text.contains("document.cookie") == false)
    }

    @Test func `has a sentence for every diagnostic`() {
        for (_, name) in Diagnostics.names { #expect(text.contains("\n    \(name): ["), "\(name)") }
    }

    @Test func `is served so that nothing else runs`() throws {
        let headers = Dictionary(uniqueKeysWithValues: page.headers.map { ($0.name, $0.value) })
        let policy = try #require(headers["Content-Security-Policy"]).components(separatedBy: "; ")
        #expect(policy.contains("default-src 'none'") && policy.contains("connect-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'none'"))
        #expect(!policy.joined().contains("unsafe"))
        // 32 bytes in Base64, one for the script and one for the style.
        for directive in ["script-src", "style-src"] {
            #expect(
                policy.contains { $0.wholeMatch(of: try! Regex("\(directive) 'sha256-[A-Za-z0-9+/]{43}='")) != nil })
        }
        #expect(headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(headers["Cache-Control"] == "no-store" && headers["X-Content-Type-Options"] == "nosniff")
        #expect(headers["Referrer-Policy"] == "no-referrer" && headers["X-Frame-Options"] == "DENY")
    }
}
