import ArgumentParser
import Traces

/// The root command.
struct HereaboutsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hereabouts",
        abstract: "Turn precise coordinates into the region around them, sized by how many people live there.",
        discussion: """
            Reduce a table of positions, or a few typed ones:
              hereabouts snap positions.csv > reduced.csv
              echo '31.7619 -106.4850' | hereabouts snap

            Reduce a recorded ride: at most four answers an hour, no names, speeds or heights left in it:
              hereabouts convert ride.gpx -o around.gpx

            Look at one region:
              hereabouts region 31.7619,-106.4850

            Exit status: 0 when all went well, 1 when some records were bad (each is named on standard error by file \
            and line, never by its content), 2 when the arguments, an input or the atlas cannot be used.

            The atlas is taken from --atlas, or HEREABOUTS_ATLAS, or world.atlas beside the command, or \
            ../share/hereabouts/world.atlas, or data/world.atlas of the checkout the command was built in.
            """,
        version: "hereabouts 0.1.0",
        subcommands: [SnapCommand.self, ConvertCommand.self, RegionCommand.self, AtlasCommand.self]
    )
}

/// Where the atlas is.
struct AtlasOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The atlas to use instead of the one found by itself.", valueName: "file"))
    var atlas: String?
}

/// How columns of a CSV are found.
struct CSVArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The latitude's column, where it is not named lat, latitude or y.", valueName: "name"))
    var latitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The longitude's column, where it is not named lon, lng, long, longitude or x.", valueName: "name"))
    var longitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What separates fields: one character, or 'tab'. Told from the header otherwise (comma, semicolon or tab).",
            valueName: "character"))
    var delimiter: Delimiter?

    var options: CSVOptions {
        CSVOptions(latitudeColumn: latitudeColumn, longitudeColumn: longitudeColumn, delimiter: delimiter?.byte)
    }
}

/// A separator of fields: one ASCII character that is no quote, digit, letter, sign, point or line end.
struct Delimiter: ExpressibleByArgument {
    var byte: UInt8

    init?(argument: String) {
        let name = argument == "tab" || argument == "\\t" ? "\t" : argument
        guard name.utf8.count == 1, let byte = name.utf8.first, byte < 0x80, byte == 9 || byte >= 0x20,
            !Character(name).isLetter, !Character(name).isNumber, !"\"+-.".contains(name)
        else { return nil }
        self.byte = byte
    }
}

extension ErrorPolicy: ExpressibleByArgument {}
