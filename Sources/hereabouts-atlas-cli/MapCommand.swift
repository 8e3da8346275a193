import ArgumentParser
import AtlasInspection
import CommandCore
import Files
import Hereabouts

extension AtlasCommand {
    /// `hereabouts atlas map`.
    struct Map: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draw the regions of an area as SVG.",
            discussion: """
                Regions colored by accuracy, country borders, and centers with their names:
                  hereabouts atlas map --bounds -107.2,31.0,-105.4,32.6 -o el-paso.svg
                """)

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "West, south, east and north in degrees, at most 20 apart.", valueName: "w,s,e,n"))
        var bounds: Bounds

        @Option(
            name: [.short, .customLong("output")],
            help: ArgumentHelp("The SVG to write, or '-' for standard output.", valueName: "file"), completion: .file())
        var output: String

        @Option(name: .long, help: "Width in pixels, from 200 to 4,000.")
        var width: Int = 1_000

        @Flag(name: .long, help: "Draw each region's published circle, too.")
        var circles = false

        @OptionGroup var atlas: AtlasOptions

        func validate() throws {
            guard (200...4_000).contains(width) else {
                throw ValidationError("'--width' takes a number from 200 to 4,000.")
            }
        }

        func run() throws {
            let path = try AtlasSearch.path(option: atlas.atlas)
            guard !leadToSameFile(path, output) else {
                throw CommandFailure(.unusable, "\(output): is the atlas of this run; write to another file")
            }
            let atlas = try AtlasSearch.open(option: path)
            let svg = try Build.failing {
                let svg = try RegionMap(bounds.value, of: atlas, atlasPath: path, widthInPixels: width)
                    .svg(showsCircles: circles)
                try atlas.checkUnchanged()
                return svg
            }
            if output == "-" { return try printOutput(svg) }
            do throws(SystemError) {
                try writeFile(Array(svg.utf8), to: output)
            } catch {
                throw CommandFailure(.unusable, "\(output): \(error)")
            }
        }
    }

    /// `W,S,E,N` in degrees.
    struct Bounds: ExpressibleByArgument {
        var value: MapBounds

        init?(argument: String) {
            let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
            guard numbers.count == 4,
                let bounds = MapBounds(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
            else { return nil }
            value = bounds
        }
    }
}
