import Testing

@testable import Traces

/// `--pad`: lengths of lines tell nothing of regions.
@Suite struct PaddingTests {
    @Test func `lines have multiples of 256 bytes`() {
        let long = String(repeating: "k", count: 250)
        let table = """
            id,time,lat,lon
            a,2026-03-01T08:07:00Z,48.2,16.4
            \(long),2026-03-01T08:07:00Z,47.5596,7.5886
            a,2026-03-01T09:07:00Z,95,7.5886
            a,2026-03-01T10:07:00Z,0.1,-140

            """
        for emission in [Emission.changes, .fixes] {
            func run(_ format: TraceFormat) -> Outcome {
                convert(table) {
                    ($0.format, $0.emission, $0.acceptsJumps) = (format, emission, true)
                    $0.onError = emission == .fixes ? .blank : .skip
                }
            }
            let padded = run(.paddedNDJSON), plain = run(.ndjson)
            #expect(padded.rows.allSatisfy { ($0.utf8.count + 1) % 256 == 0 && $0.utf8.count < 768 })
            #expect(padded.rows.map { String($0.reversed().drop { $0 == " " }.reversed()) } == plain.rows)
            #expect(plain.rows.count >= 3)
        }
        var out = ByteBuffer(capacity: 16)
        for length in [0, 254, 255, 256] {
            let start = out.count
            out.append(text: String(repeating: "x", count: length) + "\n")
            out.padLine(from: start, to: 256)
            #expect(out.count - start == (length < 256 ? 256 : 512) && out.array.last == 10)
        }
    }
}
