import ArgumentParser
import CommandCore
import Hereabouts
import Synchronization
import Traces

/// The options that need GEOS or PROJ. `hereabouts` does not link these: it hands a run with one of them to
/// `hereabouts-atlas`, which sets `GeometryProvider.current`.
package struct GeometryOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Sensitive places: GeoJSON polygons, or points with a radius property in meters, or rows LAT,LON,RADIUS. The \
            regions around them are not published.
            """, valueName: "file"), completion: .file())
    var zones: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The coordinate reference system of tables and GeoJSON: EPSG:32613 or anything else that PROJ understands, x \
            being the easting or longitude; auto for what each input declares; utm for the UTM zone that a column of each \
            record says (zone: 30T). (default: WGS 84)
            """, valueName: "system"))
    var crs: String?

    package init() {}

    /// The names of the options that need the other program.
    private static let names = ["--zones", "--crs"]

    /// Whether the arguments have one of these options.
    package static func areNamed(by arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { argument in
            names.contains { argument == $0 || argument.hasPrefix($0 + "=") }
        }
    }

    /// The files of these options, which the output must not replace.
    var usedFiles: [UsedFile] { zones.map { [UsedFile(zones: $0)] } ?? [] }

    /// The reference system of inputs; nil for WGS 84.
    func reference() throws(CommandFailure) -> ReferenceChoice? {
        guard let crs else { return nil }
        let provider = try GeometryProvider.required()
        if crs.lowercased() == "utm" {
            // Whether PROJ has its systems shows now, and not on the threads.
            _ = try provider.reference("EPSG:32631")
            return .named(.utm { try? provider.reference($0) })
        }
        guard crs == "auto" else { return .named(try provider.reference(crs)) }
        return .declared { name in try? provider.reference(name) }
    }

    /// The regions around the zones, which are withheld; nil without zones.
    func withheld(_ atlas: Atlas, atlasPath: String, isQuiet: Bool) throws(CommandFailure) -> WithheldRegions? {
        guard let zones else { return nil }
        let regions = try GeometryProvider.required().zones(zones, atlas, atlasPath)
        if isQuiet { return regions }
        let countries = regions.countries.map(\.code).joined(separator: ", ")
        printError("\(zones): \(regions.count) regions are around zones in \(countries) and withheld")
        return regions
    }
}

/// What needs GEOS or PROJ, from the program that links them.
package struct GeometryProvider: Sendable {
    /// Reads a file of zones, and finds the regions around them.
    private let findZones:
        @Sendable (_ file: String, _ atlas: Atlas, _ atlasPath: String) -> Result<WithheldRegions, CommandFailure>

    /// Finds a coordinate reference system by its name or definition.
    private let findReference: @Sendable (_ system: String) -> Result<CoordinateReference, CommandFailure>

    package init(
        zones:
            @escaping @Sendable (
                _ file: String, _ atlas: Atlas, _ atlasPath: String
            ) -> Result<WithheldRegions, CommandFailure>,
        reference: @escaping @Sendable (_ system: String) -> Result<CoordinateReference, CommandFailure>
    ) {
        findZones = zones
        findReference = reference
    }

    func reference(_ system: String) throws(CommandFailure) -> CoordinateReference { try findReference(system).get() }

    func zones(_ file: String, _ atlas: Atlas, _ atlasPath: String) throws(CommandFailure) -> WithheldRegions {
        try findZones(file, atlas, atlasPath).get()
    }

    /// That of this program.
    package static let current = Mutex<GeometryProvider?>(nil)

    static func required() throws(CommandFailure) -> GeometryProvider {
        guard let provider = current.withLock({ $0 }) else {
            throw CommandFailure(.unusable, "this program has neither GEOS nor PROJ")
        }
        return provider
    }
}
