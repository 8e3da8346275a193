import ArgumentParser
import Traces

/// Options for the columns of a CSV.
struct CSVArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The latitude column, or pointer into JSON. (default: latitude, lat and the like)", valueName: "name"))
    var latitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The longitude column, or pointer into JSON. (default: longitude, lon, lng and the like)", valueName: "name"
        ))
    var longitudeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The column of both, or pointer into JSON: a text with POINT(LON LAT), or LAT,LON unless its name has the \
            longitude first. (default: wkt, geometry, lat_lon and the like)
            """, valueName: "name"))
    var positionColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The field separator: one character, or 'tab'. (default: comma, semicolon, tab or |, as in the header)",
            valueName: "character"))
    var delimiter: Delimiter?

    var options: CSVOptions {
        CSVOptions(
            latitudeColumn: latitudeColumn, longitudeColumn: longitudeColumn, positionColumn: positionColumn,
            delimiter: delimiter?.byte)
    }

    func validate() throws {
        guard positionColumn == nil || latitudeColumn == nil && longitudeColumn == nil else {
            throw ValidationError("Give either --position-column, or --latitude-column and --longitude-column.")
        }
    }

    /// What the help of both commands says of tables.
    static let layouts = """
        Of a CSV, lines end with a line feed, a carriage return or both; text is UTF-8, or UTF-16 with its mark. Before \
        the header may be a line sep=;, blank lines and comments (#, %, //), after it a line of units. Separators at the \
        end of a line make no field. A position is decimal degrees, with a point or a comma, or degrees, minutes and \
        seconds (48°12'30.5"N, 48 12 30.5), with or without a hemisphere's letter; columns N/S and E/W (or lat_ref and \
        the like) set the signs; or one column has it all, POINT(16.37 48.21) or 48.21,16.37. Of several names of \
        coordinates, latitude and longitude go before lat and lon. Columns x and y are coordinates with --crs, or where \
        options name them: they may be accelerations.
        """
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
