import ArgumentParser
import Hereabouts
import Traces

/// `hereabouts region`.
struct RegionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "region",
        abstract: "Tell what a region is: centre, accuracy, country, place and how many people live there.",
        usage: "hereabouts region <id | lat,lon> [--atlas <file>]",
        discussion: """
            Name it by its id, or by any position in it:
              hereabouts region 31.7619,-106.4850
              hereabouts region -33.92,18.42
            """)

    // All is taken as it comes and checked in `run`: the parser would repeat an argument, perhaps a position, in its
    // messages.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("A region's id, or a latitude and longitude: LAT,LON.", valueName: "region"))
    var selectors: [String] = []

    @OptionGroup var atlas: AtlasOptions

    func run() throws {
        guard selectors.count == 1, let selector = Selector(selectors[0]) else {
            throw CommandFailure(.unusable, "give one region: its id, or LAT,LON in degrees")
        }
        let atlas = try AtlasSearch.open(option: atlas.atlas)
        let region = try selector.region(in: atlas)
        print(Self.description(of: region, in: atlas))
    }

    /// What names a region.
    private enum Selector {
        case id(RegionID)
        case position(Coordinate)

        init?(_ argument: String) {
            if let position = CoordinateArgument(argument) {
                self = .position(position.coordinate)
            } else if let id = RegionID(argument) {
                self = .id(id)
            } else {
                return nil
            }
        }

        func region(in atlas: Atlas) throws(CommandFailure) -> Region {
            switch self {
            case .id(let id):
                guard let region = atlas.region(id) else {
                    throw CommandFailure(.unusable, "the atlas has no region \(id)")
                }
                return region
            case .position(let coordinate):
                do {
                    return try atlas.snap(coordinate)
                } catch {
                    let axis = error == .latitudeOutOfRange ? "latitude" : "longitude"
                    throw CommandFailure(.unusable, "the \(axis) is out of range")
                }
            }
        }
    }

    /// One line per property, name and value; the place only where there is one.
    private static func description(of region: Region, in atlas: Atlas) -> String {
        let location = atlas.reducedLocation(of: region)
        let properties: [(name: String, value: String?)] = [
            ("region", location.region.description),
            ("latitude", degrees(location.coordinate.latitude)),
            ("longitude", degrees(location.coordinate.longitude)),
            ("horizontal_accuracy", String(Int(location.horizontalAccuracy.rounded(.up)))),
            ("country", location.country.description),
            ("place", location.place),
            ("anonymity", String(atlas.anonymity(of: region))),
        ]
        return properties.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 21 - name.count) + $0 }
        }.joined(separator: "\n")
    }

    /// An angle with five decimals, as all outputs have it.
    private static func degrees(_ value: Double) -> String {
        var text = ByteBuffer(capacity: 16)
        text.append(degrees: value)
        return String(decoding: text.array, as: UTF8.self)
    }
}
