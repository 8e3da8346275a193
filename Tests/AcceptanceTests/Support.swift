import Foundation
import Hereabouts
import PROJBridge
import Synchronization
import Testing

/// What issue 2 asks of the committed atlas, on real input. One after another, because most of the tests use all cores
/// and the same two large tables.
@Suite(.serialized) enum Acceptance {}

/// The project's folder.
let projectFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The atlas under test: the committed one, or the one `HEREABOUTS_ATLAS` names.
let atlasPath =
    ProcessInfo.processInfo.environment["HEREABOUTS_ATLAS"]
    ?? projectFolder.appendingPathComponent("data/world.atlas").path

let atlas: Atlas = {
    do {
        return try Atlas(contentsOf: atlasPath)
    } catch {
        fatalError("\(atlasPath) cannot be opened: \(error)")
    }
}()

/// The files the atlas was built from, which `data/fetch-sources.sh` makes.
enum SourceFile: String {
    case borders = "borders.geojsonl"
    case land = "land.geojsonl"
    case places = "places.csv"

    var path: String { projectFolder.appendingPathComponent(".build/sources/\(rawValue)").path }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test where a source is missing.
    static func needs(_ sources: SourceFile...) -> Self {
        let missing = sources.filter { !$0.exists }.map(\.rawValue).joined(separator: " and ")
        return .enabled(
            if: missing.isEmpty, "skipped: no \(missing) in .build/sources (data/fetch-sources.sh makes it)")
    }
}

/// Runs `body` for every index on all cores; results come in index order.
func onAllCores<Result: Sendable>(
    _ count: Int, _ body: @Sendable (Int) throws -> Result
) throws -> [Result] {
    let results = Mutex<[Swift.Result<Result, any Error>?]>(Array(repeating: nil, count: count))
    let next = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
        while true {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < count else { return }
            let result = Swift.Result { try body(index) }
            results.withLock { $0[index] = result }
        }
    }
    return try results.withLock { results in try results.map { try $0!.get() } }
}

/// Whole numbers 0 ..< count in about equal ranges.
func ranges(_ count: Int, parts: Int) -> [Range<Int>] {
    (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
}

/// What is published for each region, looked up once.
struct RegionTable: Sendable {
    let locations: [ReducedLocation]
    let codes: [CountryCode]

    static let world = RegionTable(atlas)

    init(_ atlas: Atlas) {
        do {
            locations = try (0..<atlas.regionCount).map { try atlas.reducedLocation(of: Region(index: UInt32($0))) }
        } catch {
            fatalError("\(error)")
        }
        codes = locations.map { CountryCode($0.country.code) }
    }

    subscript(_ region: Region) -> ReducedLocation { locations[Int(region.index)] }

    func code(_ region: Region) -> CountryCode { codes[Int(region.index)] }
}

/// A country's code in a form that compares fast.
struct CountryCode: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let packed: UInt64

    init(_ text: String) { packed = text.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    static let none = CountryCode("XZ")

    var description: String {
        String(
            decoding: (0..<8).map { UInt8(truncatingIfNeeded: packed >> (56 - 8 * $0)) }.filter { $0 > 0 },
            as: UTF8.self)
    }

    static func < (left: Self, right: Self) -> Bool { left.packed < right.packed }
}

/// Meters of the geodesic between two positions, by PROJ.
func distance(_ start: Coordinate, _ end: Coordinate) throws -> Double {
    try Geodesic.wgs84.distanceMeters(
        fromLatitude: start.latitude, longitude: start.longitude, toLatitude: end.latitude, longitude: end.longitude)
}

/// Where one gets to by going some meters in a direction, by PROJ.
func moved(_ coordinate: Coordinate, azimuth: Double, meters: Double) throws -> Coordinate {
    let place = try Geodesic.wgs84.destination(
        fromLatitude: coordinate.latitude, longitude: coordinate.longitude, azimuthDegrees: azimuth,
        distanceMeters: meters)
    return Coordinate(latitude: place.latitude, longitude: place.longitude)
}

/// A share in percent, for the figures that tests print.
func percent(_ part: Int, of whole: Int) -> String {
    String(format: "%.4f %%", 100 * Double(part) / Double(max(whole, 1)))
}
