import Dialects
import HereaboutsLive
import Relay
import Testing

@Suite("Outgoing values") struct OutgoingTests {
    @Test("each diagnostic of a desk has its name in messages") func diagnostics() {
        for (diagnostic, name) in Diagnostics.names {
            #expect(Set(diagnostic).map(\.rawValue) == [name])
        }
        #expect(Set(Diagnostics(rawValue: .max)).count == Diagnostic.allCases.count)
        #expect(Set(Diagnostics()).isEmpty)
    }
}
