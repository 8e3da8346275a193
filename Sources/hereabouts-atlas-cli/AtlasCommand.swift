import ArgumentParser
import AtlasBuilder
import AtlasInspection
import AtlasSources
import AtlasVerifier
import CommandCore
import Files
import Hereabouts

/// `hereabouts atlas` and its subcommands.
struct AtlasCommand: ParsableCommand {
    static let configuration = CommandConfiguration.atlas(
        discussion: """
            Describe the atlas in use: sources, licenses, sizes:
              hereabouts atlas info

            Verify every region of an atlas: sizes, borders, residents:
              hereabouts atlas verify world.atlas

            Build regions of at least 5,000 people that do not cross your own districts:
              hereabouts atlas build --borders districts.geojson \\
                --population people.xyz --anonymity 5000 -o my.atlas
            """,
        subcommands: [Build.self, Info.self, List.self, Verify.self, Map.self])

    /// The option for the property that contains a feature's code.
    struct CodeProperty: ParsableArguments {
        @Option(
            name: .long,
            help: ArgumentHelp(
                "The property with a feature's code. (default: code, ISO3166-1-Alpha-2, iso_a2, id or name)",
                valueName: "property"))
        var code: String?
    }

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build an atlas from borders, places and populations.",
            discussion: """
                Regions of at least 5,000 people within your own districts:
                  hereabouts atlas build --borders districts.geojson \\
                    --population people.xyz --anonymity 5000 -o my.atlas

                Borders are GeoJSON polygons, as a feature collection or one feature per line; each has a code \
                (--code). Everything outside them belongs to no country, XZ. Open rings are closed and \
                self-intersecting polygons repaired, with a warning. Where features of two codes overlap, the higher \
                "rank" wins, then the alphabetically first code. Any other fault is an error that names the feature.

                Places are a CSV with the columns name,latitude,longitude,population,country; regions are named for \
                them. The population is a surface (data/population.surface has the world's), or rows of longitude \
                latitude population, as gdal_translate -of XYZ prints them. A surface says how many of its estimated \
                residents can be promised, and those count towards K; of rows, all count.
                """)

        @Option(
            name: .long, help: ArgumentHelp("GeoJSON polygons that regions must not cross.", valueName: "file"),
            completion: .file())
        var borders: String
        @OptionGroup var property: CodeProperty
        @Option(
            name: .long,
            help: ArgumentHelp("GeoJSON polygons of land. (default: all within the borders)", valueName: "file"),
            completion: .file())
        var land: String?
        @Option(name: .long, help: ArgumentHelp("CSV of places.", valueName: "file"), completion: .file())
        var places: String?
        @Option(
            name: .long,
            help: ArgumentHelp("A population surface, or rows of longitude, latitude and people.", valueName: "file"),
            completion: .file())
        var population: String
        @Option(
            name: .long,
            help: ArgumentHelp(
                "An earlier atlas: its regions stay unless the contract is broken in them, so that few answers change.",
                valueName: "file"), completion: .file())
        var like: String?
        @Option(
            name: .long, help: ArgumentHelp("JSON array of the sources, stored in the atlas.", valueName: "file"),
            completion: .file())
        var credits: String?
        @Option(name: .long, help: "Residents that every region should promise (K).")
        var anonymity: Int = 20_000
        @Option(name: .long, help: "Smallest accuracy, meters.")
        var smallestAccuracy: Int = 2_000
        @Option(name: .long, help: "Largest accuracy of a region with residents, meters.")
        var largestAccuracy: Int = 16_000
        @Option(name: .long, help: "Largest accuracy at sea and on empty land, meters; up to 80,000.")
        var largestEmptyAccuracy: Int = 60_000
        @Option(name: .long, help: "Smallest area of a region, km².")
        var smallestArea: Double = 6
        @Option(
            name: [.short, .customLong("output")], help: ArgumentHelp("The atlas to write.", valueName: "file"),
            completion: .file())
        var output: String

        func validate() throws {
            guard (1...10_000_000).contains(anonymity) else {
                throw ValidationError("'--anonymity' takes a number from 1 to 10,000,000.")
            }
            guard smallestAccuracy >= 500, largestAccuracy >= 2 * smallestAccuracy,
                largestEmptyAccuracy >= largestAccuracy, largestEmptyAccuracy <= 80_000
            else {
                throw ValidationError(
                    """
                    Accuracies must rise: '--smallest-accuracy' from 500, '--largest-accuracy' at least twice that, \
                    '--largest-empty-accuracy' at least as large, up to 80,000.
                    """)
            }
            guard smallestArea > 0, smallestArea <= 100 else {
                throw ValidationError("'--smallest-area' takes a number above 0, up to 100 km².")
            }
        }

        func run() throws {
            for source in [borders, land, places, population, credits, like].compactMap(\.self)
            where leadToSameFile(source, output) {
                throw CommandFailure(.unusable, "\(output): is an input of this run; write to another file")
            }
            var sources = AtlasBuild.Sources(borders: borders, population: population)
            sources.codeProperty = property.code
            sources.land = land
            sources.places = places
            sources.credits = credits
            sources.like = try like.map { path in try Build.failing { try LikeAtlas(path: path) } }
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
            if let kept = result.kept {
                let count = result.summary.regions
                try printOutput(
                    "\(kept) of \(count) regions are those of the atlas before; \((10_000 - kept * 10_000 / count) / 100) % are others"
                )
            }
            try printOutput(result.summary.description)
        }

        /// Runs a step; its errors become failures of status 2.
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
            abstract: "Describe an atlas: sources, licenses, sizes and residents of its regions."
        )

        @Argument(
            help: ArgumentHelp("The atlas. (default: see 'hereabouts help')", valueName: "file"), completion: .file())
        var file: String?
        @OptionGroup var atlas: AtlasOptions
        @Flag(name: .long, help: "Print the description stored in the atlas, as JSON.")
        var json = false

        func run() throws {
            let atlas = try AtlasSearch.open(option: file ?? atlas.atlas)
            let text = try Build.failing { json ? try atlas.aboutJSON : try AtlasDescription(atlas).text }
            try Build.failing { try atlas.checkUnchanged() }
            try printOutput(text)
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify the contract (C1 to C8) for every region of a finished atlas.",
            discussion: """
                The world atlas against the sources it was built from:
                  hereabouts atlas verify world.atlas --borders borders.geojsonl \\
                    --land land.geojsonl --places places.csv --population population.surface

                Without the sources, sides of borders, shores, residents and names are verified in part. The report lists the \
                first regions that violate each clause; exit status 1 if there are any.
                """)

        @Argument(
            help: ArgumentHelp("The atlas. (default: see 'hereabouts help')", valueName: "file"), completion: .file())
        var file: String?
        @OptionGroup var atlas: AtlasOptions
        @Option(
            name: .long, help: ArgumentHelp("The borders it was built from.", valueName: "file"), completion: .file())
        var borders: String?
        @OptionGroup var property: CodeProperty
        @Option(name: .long, help: ArgumentHelp("The land it was built from.", valueName: "file"), completion: .file())
        var land: String?
        @Option(
            name: .long, help: ArgumentHelp("The places it was built from.", valueName: "file"), completion: .file())
        var places: String?
        @Option(
            name: .long, help: ArgumentHelp("The population it was built from.", valueName: "file"), completion: .file()
        )
        var population: String?
        @Option(
            name: .long,
            help: "Fail above so many leftovers: small regions short of K/2 amid others. (default: any number)")
        var mostLeftovers: Int?
        @Option(name: .long, help: "The same of the smallest, under 6 km and K/20. (default: any number)")
        var mostSmallestLeftovers: Int?

        func run() throws {
            let path = try AtlasSearch.path(option: file ?? atlas.atlas)
            let bar = ProgressBar()
            let report = try Build.failing {
                var sources = AtlasVerifier.Sources()
                sources.borders = try borders.map {
                    try BordersReader(path: $0, codeProperty: property.code).read().features
                }
                sources.land = try land.map { try BordersReader(path: $0).read().features.flatMap(\.polygons) }
                sources.places = try places.map { try PlacesReader(path: $0).read() }
                sources.population = population
                var bounds = AtlasVerifier.LeftoverBounds()
                if let mostLeftovers { bounds.all = mostLeftovers }
                if let mostSmallestLeftovers { bounds.smallest = mostSmallestLeftovers }
                return try AtlasVerifier(path: path, sources: sources, bounds: bounds).verify { bar.show($0, $1) }
            }
            bar.finish()
            try printOutput(report.description)
            if !report.passed { throw CommandFailure(.badRecords, "the atlas violates the contract") }
        }
    }
}
