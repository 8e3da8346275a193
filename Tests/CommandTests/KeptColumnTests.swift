import CommandSupport
import Testing

@Suite(.serialized) struct KeptColumnTests {
    let place = Workplace()

    /// A kept column with the name of one that the output writes itself would be there twice.
    @Test(arguments: ["horizontal_accuracy", "region", "country", "place", "Country"])
    func `a column that the output writes is not kept`(_ name: String) throws {
        place.write("id,time,lat,lon,\(name)\n1,1772323200,48.2,16.3,x\n", as: "table.csv")
        let key = ["convert", "--to", "csv", "--key-column", name]
        // The accuracy has a meaning of its own as an input of `convert`.
        for arguments in [["snap", "--keep", name]] + (name == "horizontal_accuracy" ? [] : [key]) {
            let result = try place.run(command, arguments + ["table.csv", "-o", "out.csv"])
            #expect(result.status == 2 && result.output.isEmpty && place.read("out.csv") == nil)
            #expect(result.errors.contains("\(arguments[arguments.count - 2]) \(name)"))
        }
        // Without the option the column is dropped like any other.
        let dropped = try place.hereabouts("snap", "table.csv")
        #expect(dropped.status == 0 && dropped.errors.contains("; dropped: \(name)"))
    }

    /// With the position in other columns, latitude and longitude would be kept twice as well.
    @Test func `a second position is not kept`() throws {
        place.write("a,b,latitude\n48.2,16.3,1\n", as: "table.csv")
        let result = try place.hereabouts(
            "snap", "--latitude-column", "a", "--longitude-column", "b", "--keep", "latitude", "table.csv")
        #expect(result.status == 2 && result.output.isEmpty)
    }
}
