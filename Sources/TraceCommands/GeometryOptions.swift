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
            """, valueName: "file"))
    var zones: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What stands for regions around zones: nothing (withhold), or the region of a public place (anchor): a \
            zone's anchor property or fourth and fifth number, else the densest region within 50 km.
            """, valueName: "what"))
    var zoneAnswer = ZoneAnswerKind.withhold

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

    package func validate() throws {
        guard zones != nil || zoneAnswer == .withhold else {
            throw ValidationError("'--zone-answer' says what stands for regions around zones: add --zones.")
        }
    }

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

    /// What stands for regions around the zones; nil without zones.
    func zoneAnswers(_ atlas: Atlas, atlasPath: String, isQuiet: Bool) throws(CommandFailure) -> ZoneAnswers? {
        guard let zones else { return nil }
        let answers = try GeometryProvider.required().zoneAnswers(zones, zoneAnswer, atlas, atlasPath)
        if isQuiet { return answers }
        printError(
            "\(zones): \(answers.count) regions are around zones in \(answers.countries.map(\.code).joined(separator: ", ")) and "
                + (zoneAnswer == .withhold ? "withheld" : "answered by those of public places"))
        return answers
    }
}

/// What stands for regions around zones.
package enum ZoneAnswerKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case withhold, anchor
}

/// What needs GEOS or PROJ, from the program that links them.
package struct GeometryProvider: Sendable {
    /// Reads a file of zones, and finds the regions around them.
    private let findZoneAnswers:
        @Sendable (_ file: String, _ kind: ZoneAnswerKind, _ atlas: Atlas, _ atlasPath: String) -> Result<
            ZoneAnswers, CommandFailure
        >

    /// Finds a coordinate reference system by its name or definition.
    private let findReference: @Sendable (_ system: String) -> Result<CoordinateReference, CommandFailure>

    package init(
        zoneAnswers:
            @escaping @Sendable (
                _ file: String, _ kind: ZoneAnswerKind, _ atlas: Atlas, _ atlasPath: String
            ) -> Result<ZoneAnswers, CommandFailure>,
        reference: @escaping @Sendable (_ system: String) -> Result<CoordinateReference, CommandFailure>
    ) {
        findZoneAnswers = zoneAnswers
        findReference = reference
    }

    func reference(_ system: String) throws(CommandFailure) -> CoordinateReference { try findReference(system).get() }

    func zoneAnswers(
        _ file: String, _ kind: ZoneAnswerKind, _ atlas: Atlas, _ atlasPath: String
    ) throws(CommandFailure) -> ZoneAnswers {
        try findZoneAnswers(file, kind, atlas, atlasPath).get()
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
