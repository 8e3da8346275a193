import CommandSupport
import Foundation
import Testing

/// The command's outputs against the files of Tests/Goldens.
@Suite(.serialized) struct GoldenTests {
    @Test(arguments: Golden.all("commands.txt")) func `the output is as it was`(_ golden: Golden) throws {
        try golden.check()
    }

    @Test func `there is a file for each command, and no other`() throws {
        let names = Golden.lists.flatMap(Golden.all).map(\.name)
        #expect(names.count > 40 && Set(names).count == names.count)
        if Golden.isWriting { return }
        let files = try FileManager.default.contentsOfDirectory(atPath: Golden.folder.path)
        #expect(Set(files) == Set(names + Golden.lists + ["inputs"]))
    }
}
