import ArgumentParser
import CommandCore
import Traces

/// The root command.
struct HereaboutsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: [
            SnapCommand.self, ConvertCommand.self, DelegatedCommands.Region.self, DelegatedCommands.Atlas.self,
        ])
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
