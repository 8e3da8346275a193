import ArgumentParser
import AtlasInspection
import CommandCore
import Foundation
import Hereabouts
import PROJBridge
import Traces

/// `hereabouts region`.
struct RegionCommand: ParsableCommand {
    static let configuration = CommandConfiguration.region(
        usage: "hereabouts region <id | lat,lon | lat lon> [--geojson | --wkt] [--atlas <file>]",
        discussion: """
            Name it by its id or by any position in it:
              hereabouts region 31.7619,-106.4850
              hereabouts region -33.92,18.42

            Print its outline as GeoJSON or well-known text, in degrees (WGS 84):
              hereabouts region --geojson 31.7619,-106.4850

            anonymity is the estimated number of residents, anonymity_lower_bound the number that is promised; nine in ten of them live \
            within concentration meters of one of them.

            A position given as an argument stands in the shell's history and in the system's list of processes.
            """)

    // `run` validates the arguments: the parser would repeat one, perhaps a position, in its messages.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("A region's id, or a latitude and longitude: LAT,LON or LAT LON.", valueName: "region"))
    var selectors: [String] = []

    @Flag(help: "Print the outline, as a GeoJSON feature or as well-known text.")
    var outline: OutlineForm?

    @OptionGroup var atlas: AtlasOptions

    /// The forms of an outline.
    enum OutlineForm: String, EnumerableFlag {
        case geojson, wkt
    }

    func run() throws {
        // What ends the options is given along with them.
        guard let selector = Selector(selectors.first == "--" ? Array(selectors.dropFirst()) : selectors) else {
            throw CommandFailure(.unusable, "give one region: its id, or LAT,LON or LAT LON in degrees")
        }
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.open(option: path)
        let region = try selector.region(in: atlas)
        let text: String
        do {
            let shape = try RegionOutline(of: region, atlasPath: path)
            text =
                switch outline {
                case .geojson: try Self.feature(of: region, shape, in: atlas)
                case .wkt: try shape.wkt()
                case nil:
                    try Self.description(
                        of: region, area: try Geodesic.wgs84.areaSquareKilometers(polygons: shape.polygons), in: atlas)
                }
            try atlas.checkUnchanged()
        } catch {
            throw CommandFailure(.unusable, "\(path): \(error)")
        }
        try printOutput(text)
    }

    /// A region named by its id or by a position in it.
    private enum Selector {
        case id(RegionID)
        case position(Coordinate)

        init?(_ arguments: [String]) {
            // A blank may stand for the comma, and divide the two arguments.
            let words = arguments.flatMap { $0.split(separator: " ") }
            let isPair = words.count == 2 && words.allSatisfy { CoordinateArgument.isNumber(String($0)) }
            let argument = isPair ? words.joined(separator: ",") : arguments.first ?? ""
            guard isPair || arguments.count == 1 else { return nil }
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
                    throw CommandFailure(
                        .unusable,
                        error == .latitudeOutOfRange
                            ? "the latitude must be from -90 to 90 degrees"
                            : "the longitude must be from -540 to 540 degrees")
                }
            }
        }
    }

    /// One line per property, name and value; no line for a place if the region has none.
    private static func description(of region: Region, area: Double, in atlas: Atlas) throws -> String {
        let location = try atlas.reducedLocation(of: region)
        let properties: [(name: String, value: String?)] = [
            ("region", location.region.description),
            ("latitude", degrees(location.coordinate.latitude)),
            ("longitude", degrees(location.coordinate.longitude)),
            ("horizontal_accuracy", String(Int(location.horizontalAccuracy.rounded(.up)))),
            ("country", location.country.description),
            ("place", location.place?.description),
            ("anonymity", try residents(of: region, in: atlas)),
            ("anonymity_lower_bound", String(PrintedResidents.lowerBound(try atlas.anonymityLowerBound(of: region)))),
            ("concentration", try atlas.concentration(of: region).map { String(Int($0)) }),
            ("area_km2", String((area * 10).rounded() / 10)),
        ]
        return properties.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 23 - name.count) + $0 }
        }.joined(separator: "\n")
    }

    private static func residents(of region: Region, in atlas: Atlas) throws -> String {
        let residents = PrintedResidents.estimate(try atlas.anonymity(of: region))
        return residents == 0 ? "0 (nobody that the sources know)" : String(residents)
    }

    /// The outline with the same properties, as a GeoJSON feature.
    private static func feature(of region: Region, _ shape: RegionOutline, in atlas: Atlas) throws -> String {
        let location = try atlas.reducedLocation(of: region)
        let place = String(decoding: try JSONEncoder().encode(location.place?.description), as: UTF8.self)
        let country = String(decoding: try JSONEncoder().encode(location.country.code), as: UTF8.self)
        let anonymity = PrintedResidents.estimate(try atlas.anonymity(of: region))
        let lowerBound = PrintedResidents.lowerBound(try atlas.anonymityLowerBound(of: region))
        let concentration = try atlas.concentration(of: region).map { String(Int($0)) } ?? "null"
        return """
            {"type":"Feature","properties":{"region":"\(location.region)",\
            "latitude":\(degrees(location.coordinate.latitude)),"longitude":\(degrees(location.coordinate.longitude)),\
            "horizontal_accuracy":\(Int(location.horizontalAccuracy.rounded(.up))),"country":\(country),\
            "place":\(place),"anonymity":\(anonymity),"anonymity_lower_bound":\(lowerBound),\
            "concentration":\(concentration)},\
            "geometry":\(try shape.geoJSON())}
            """
    }

    /// An angle with five decimals, as in all outputs.
    private static func degrees(_ value: Double) -> String {
        var text = ByteBuffer(capacity: 16)
        text.append(degrees: value)
        return String(decoding: text.array, as: UTF8.self)
    }
}
