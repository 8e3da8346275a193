import Testing

@testable import GeoBridge

@Suite struct MessageTests {
    @Test(arguments: [
        (
            "TopologyException: side location conflict at 31.76 -106.49. This can occur",
            "TopologyException: side location conflict at # #. This can occur"
        ),
        ("at 1e-7, -2.5E+10 and +.5", "at #, # and #"),
        ("Self-intersection[10.5 -20]", "Self-intersection[# #]"),
        ("no numbers here - at all.", "no numbers here - at all."),
        ("", ""), ("7", "#"), ("-", "-"), ("x-", "x-"),
    ])
    func `numbers are left out of messages`(message: String, expected: String) {
        let clean = withoutNumbers(message)
        #expect(clean == expected)
    }

    @Test func `GEOS says which it is`() {
        #expect(GEOSContext.libraryVersion.hasPrefix("3."))
    }
}
