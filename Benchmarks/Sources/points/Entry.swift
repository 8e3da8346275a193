import Foundation
import Hereabouts
import PointSets

/// What the comparison with peers needs of us, in a process of its own; each subcommand prints what it found.
@main
enum Entry {
    private static let usage = """
        usage: points generate ATLAS SET COUNT POINTS          write a set of points (land, mixed, drive, border, ocean)
               points table POINTS ROWS DEVICES SECONDS FILE   write them as a table, .csv or .gpx by the name
               points snap ATLAS POINTS PASSES                 nanoseconds per point, a line per pass: batch, single
               points check ATLAS POINTS ROWS DEVICES CSV      prove a table that `hereabouts snap` wrote

        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("points: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        func number(_ index: Int) throws -> Int {
            guard arguments.indices.contains(index), let number = Int(arguments[index]), number > 0 else {
                throw WrongResult("argument \(index) is not a positive number")
            }
            return number
        }
        switch (arguments.first, arguments.count) {
        case ("generate", 5):
            guard let set = PointSet(rawValue: arguments[2]) else {
                throw WrongResult("no set \(arguments[2])")
            }
            let maker = PointMaker(atlas: try Atlas(contentsOf: arguments[1]), count: try number(3))
            try PointFile.write(maker.points(set), to: arguments[4])
        case ("table", 6):
            let form = TableWriter.Form(rawValue: URL(fileURLWithPath: arguments[5]).pathExtension) ?? .csv
            let points = try PointFile.read(arguments[1])
            try TableWriter(points: points, devices: try number(3), interval: try number(4))
                .write(rows: try number(2), as: form, to: arguments[5])
        case ("snap", 4):
            try SnapPasses(atlasPath: arguments[1], pointsPath: arguments[2]).run(try number(3))
        case ("check", 6):
            let table = TableWriter(points: try PointFile.read(arguments[2]), devices: try number(4), interval: 1)
            try TableCheck(atlas: try Atlas(contentsOf: arguments[1])).check(
                arguments[5], rows: try number(3), of: table)
        default:
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
    }
}
