import ArgumentParser
import AtlasBuilder
import CommandCore
import Files
import Hereabouts

/// `hereabouts atlas`: making and proving atlases.
struct AtlasCommand: ParsableCommand {
    static let configuration = CommandConfiguration.atlas(
        discussion: """
            What the atlas in use is made of:
              hereabouts atlas info

            Prove every region of an atlas: sizes, borders, people:
              hereabouts atlas verify world.atlas

            Regions that do not cross districts of your own, for at least 5,000 people each:
              hereabouts atlas build --borders districts.geojson --population people.xyz --anonymity 5000 -o my.atlas
            """,
        subcommands: [Build.self, Info.self, Verify.self, Map.self])

    /// Where the borders' codes are.
    struct CodeProperty: ParsableArguments {
        @Option(
            name: .long,
            help: ArgumentHelp(
                "The property with a feature's code; else code, ISO3166-1-Alpha-2, iso_a2, id or name.",
                valueName: "property"))
        var code: String?
    }

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build an atlas from borders, places and a population.",
            discussion: """
                Borders are GeoJSON polygons, a feature collection or one feature a line, with a code each (--code). \
                What lies outside them belongs to no country, XZ. Rings that are not closed are closed and polygons \
                that cross themselves repaired, with a warning; where features of two codes overlap, the one of higher \
                "rank" holds, then that of the first code. Other faults are errors that name the feature.

                Places are a CSV of name,latitude,longitude,population,country; they name the regions, and with \
                --countries (code,name,population) they make the population where --population does not bring one: \
                rows of longitude latitude population, as gdal_translate -of XYZ prints them.
                """)

        @Option(name: .long, help: ArgumentHelp("GeoJSON polygons that regions must not cross.", valueName: "file"))
        var borders: String
        @OptionGroup var property: CodeProperty
        @Option(
            name: .long,
            help: ArgumentHelp("GeoJSON polygons of land; else all within the borders is land.", valueName: "file"))
        var land: String?
        @Option(name: .long, help: ArgumentHelp("CSV of places.", valueName: "file"))
        var places: String?
        @Option(name: .long, help: ArgumentHelp("CSV of the borders' codes and their populations.", valueName: "file"))
        var countries: String?
        @Option(name: .long, help: ArgumentHelp("Rows of longitude, latitude and population.", valueName: "file"))
        var population: String?
        @Option(name: .long, help: ArgumentHelp("JSON about the sources, to keep in the atlas.", valueName: "file"))
        var credits: String?
        @Option(name: .long, help: "Residents every region should hold (K).")
        var anonymity: Int = 20_000
        @Option(name: .long, help: "Smallest accuracy, meters.")
        var smallestAccuracy: Int = 2_000
        @Option(name: .long, help: "Largest accuracy of a region with residents, meters.")
        var largestAccuracy: Int = 16_000
        @Option(name: .long, help: "Largest accuracy at sea and on empty land, meters; up to 80,000.")
        var largestEmptyAccuracy: Int = 60_000
        @Option(name: .long, help: "Smallest area of a region, km².")
        var smallestArea: Double = 6
        @Option(name: [.short, .customLong("output")], help: ArgumentHelp("The atlas to write.", valueName: "file"))
        var output: String

        func validate() throws {
            guard (1...10_000_000).contains(anonymity) else {
                throw ValidationError("--anonymity: from 1 to 10,000,000")
            }
            guard smallestAccuracy >= 500, largestAccuracy >= 2 * smallestAccuracy,
                largestEmptyAccuracy >= largestAccuracy, largestEmptyAccuracy <= 80_000
            else {
                throw ValidationError(
                    """
                    accuracies must rise: smallest (at least 500), largest (at least twice that), largest empty (at \
                    most 80,000)
                    """)
            }
            guard smallestArea > 0, smallestArea <= 100 else { throw ValidationError("--smallest-area: up to 100 km²") }
        }

        func run() throws {
            for source in [borders, land, places, countries, population, credits].compactMap(\.self)
            where leadToSameFile(source, output) {
                throw CommandFailure(.unusable, "\(output): is an input of this run; write to another file")
            }
            var sources = AtlasBuild.Sources(borders: borders)
            sources.codeProperty = property.code
            sources.land = land
            sources.places = places
            sources.countries = countries
            sources.population = population
            sources.credits = credits
            var limits = RegionLimits()
            limits.anonymity = Double(anonymity)
            limits.smallestAccuracy = Double(smallestAccuracy)
            limits.largestAccuracy = Double(largestAccuracy)
            limits.largestEmptyAccuracy = Double(largestEmptyAccuracy)
            limits.smallestArea = smallestArea
            let bar = ProgressBar()
            let result = try Build.failing {
                try AtlasBuild(sources: sources, limits: limits) { bar.show($0.stage, $0.fraction) }.run()
            }
            bar.finish()
            for warning in result.warnings { printError(warning, prefixed: false) }
            do throws(SystemError) {
                try writeFile(result.bytes, to: output)
            } catch {
                throw CommandFailure(.unusable, "\(output): \(error)")
            }
            try printOutput("\(output): \(result.bytes.count) bytes")
            try printOutput(result.summary.description)
        }

        /// Runs a step of the builder; its errors end the command with status 2.
        static func failing<Result>(_ body: () throws -> Result) throws -> Result {
            do {
                return try body()
            } catch {
                throw CommandFailure(.unusable, "\(error)")
            }
        }
    }

    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tell what an atlas is made of: sources, licenses, and how large and how peopled its regions are."
        )

        @Argument(help: ArgumentHelp("The atlas; else the one found by itself.", valueName: "file"))
        var file: String?
        @OptionGroup var atlas: AtlasOptions
        @Flag(name: .long, help: "Print what the atlas says about itself as JSON.")
        var json = false

        func run() throws {
            let atlas = try AtlasSearch.open(option: file ?? atlas.atlas)
            let text = json ? atlas.aboutJSON : try Build.failing { try AtlasDescription(atlas).text }
            try Build.failing { try atlas.checkUnchanged() }
            try printOutput(text)
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prove the contract (C1 to C8) for every region of a finished atlas, with GEOS and PROJ.",
            discussion: """
                Exit status 1 if a region breaks it; the first offenders of each clause are named. The sources, where \
                given, let it check sides, shores and names as well.
                """)

        @Argument(help: ArgumentHelp("The atlas; else the one found by itself.", valueName: "file"))
        var file: String?
        @OptionGroup var atlas: AtlasOptions
        @Option(name: .long, help: ArgumentHelp("The borders it was built from.", valueName: "file"))
        var borders: String?
        @OptionGroup var property: CodeProperty
        @Option(name: .long, help: ArgumentHelp("The land it was built from.", valueName: "file"))
        var land: String?
        @Option(name: .long, help: ArgumentHelp("The places it was built from.", valueName: "file"))
        var places: String?

        func run() throws {
            let path = try AtlasSearch.path(option: file ?? atlas.atlas)
            let bar = ProgressBar()
            let report = try Build.failing {
                try AtlasVerifier(
                    path: path,
                    borders: borders.map { try BordersReader(path: $0, codeProperty: property.code).read().features },
                    places: places.map { try PlacesReader(path: $0).read() },
                    land: land.map { try BordersReader(path: $0).read().features.flatMap(\.polygons) }
                ).verify { bar.show($0, $1) }
            }
            bar.finish()
            try printOutput(report.description)
            if !report.passed { throw CommandFailure(.badRecords, "the atlas breaks its contract") }
        }
    }
}
