import FixedRandom
import Foundation
import Hereabouts
import PROJBridge
import Traces
import Zones

let atlasPath = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("data/world.atlas").path

/// The committed atlas.
let worldAtlas: Atlas = {
    do {
        return try Atlas(contentsOf: atlasPath)
    } catch {
        fatalError("data/world.atlas cannot be opened: \(error)")
    }
}()

/// The region of a position, without a mark.
func region(at place: Coordinate) -> Region {
    worldAtlas.region(at: FaceIJ(latitude: place.latitude, longitude: FaceIJ.wrappedLongitude(place.longitude)))
}

/// Where one gets to from a position.
func moved(_ place: Coordinate, meters: Double, azimuth: Double) -> Coordinate {
    guard
        let end = try? Geodesic.wgs84.destination(
            fromLatitude: place.latitude, longitude: place.longitude, azimuthDegrees: azimuth, distanceMeters: meters)
    else { fatalError("a position that was valid") }
    return Coordinate(latitude: end.latitude, longitude: end.longitude)
}

func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
    (try? Geodesic.wgs84.distanceMeters(
        fromLatitude: a.latitude, longitude: a.longitude, toLatitude: b.latitude, longitude: b.longitude)) ?? .nan
}

extension SplitMix64 {
    /// Uniform in a disc.
    mutating func place(within radius: Double, of center: Coordinate) -> Coordinate {
        moved(center, meters: radius * unit().squareRoot(), azimuth: uniform(-180, 180))
    }

    /// Uniform in a region.
    mutating func place(in wanted: Region) -> Coordinate {
        while true {
            let place = place(within: worldAtlas.horizontalAccuracy(of: wanted), of: worldAtlas.center(of: wanted))
            if region(at: place) == wanted { return place }
        }
    }
}

/// A folder that is removed with the value.
final class Scratch {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")

    init() { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func write(_ text: String, as name: String) -> InputName {
        _ = FileManager.default.createFile(atPath: path(name), contents: Data(text.utf8))
        return .file(path(name))
    }

    /// A file's text; of one that is none, what decodes.
    func read(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path(name)) ?? Data(), as: UTF8.self)
    }
}

/// A recording as a CSV.
func csv(_ fixes: [Fix]) -> String {
    "time,latitude,longitude\n"
        + fixes.map {
            "\($0.time.nanosecondsSince1970),\($0.coordinate.latitude),\($0.coordinate.longitude)\n"
        }.joined()
}

/// What `convert` writes of some inputs.
func convert(
    _ inputs: [String], zones: WithheldRegions?, to format: TraceFormat = .csv,
    _ configure: (inout ConvertRun.Options) -> Void = { _ in }
) throws -> String {
    let scratch = Scratch()
    var options = ConvertRun.Options()
    options.format = format
    options.withheld = zones
    options.timeStyle = TimeStyle(format: .unixNanoseconds)
    configure(&options)
    let files = inputs.enumerated().map { scratch.write($1, as: "input\($0).csv") }
    let output = try OutputFile.file(scratch.path("output"), besides: [])
    _ = try ConvertRun.run(files, to: output, atlas: worldAtlas, options: options, observer: RunObserver())
    return scratch.read("output")
}
