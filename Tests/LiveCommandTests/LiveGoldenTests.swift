import CommandSupport
import Testing

/// The outputs of the relay's program against the files of Tests/Goldens.
@Suite(.serialized) struct LiveGoldenTests {
    @Test(arguments: Golden.all("live-commands.txt")) func `the output is as it was`(_ golden: Golden) throws {
        try golden.check()
    }
}
