import Dialects
import HereaboutsLive
import Relay
import Testing

@Suite("Outgoing values") struct OutgoingTests {
    @Test func `each diagnostic of a desk has its name in messages`() {
        for (diagnostic, name) in Diagnostics.names {
            #expect(Set(diagnostic).map(\.rawValue) == [name])
        }
        #expect(Set(Diagnostics(rawValue: .max)).count == Diagnostic.allCases.count)
        #expect(Set(Diagnostics()).isEmpty)
    }
}
