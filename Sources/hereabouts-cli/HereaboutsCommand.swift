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

/// Options for the columns of a CSV.
struct CSVArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The latitude column, or pointer into JSON. (default: lat, latitude or y)", valueName: "name"))
    var latitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The longitude column, or pointer into JSON. (default: lon, lng, long, longitude or x)", valueName: "name"))
    var longitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The field separator: one character, or 'tab'. (default: comma, semicolon or tab, as in the header)",
            valueName: "character"))
    var delimiter: Delimiter?

    var options: CSVOptions {
        CSVOptions(latitudeColumn: latitudeColumn, longitudeColumn: longitudeColumn, delimiter: delimiter?.byte)
    }
}

/// A field separator: one ASCII character other than a quote, digit, letter, sign, point or line end.
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
