import Relay
import Testing

@Suite("Relay") struct RelayTests {
    @Test("a device is called as its configuration says") func deviceDefaults() {
        #expect(RelayConfiguration.Device("phone").tracker == "ne")
    }
}
