// swift-tools-version: 6.2
import PackageDescription

// Who uses the package sets none of these variables. The Makefile sets them for single commands:
//   HEREABOUTS_PINNED  the versions that our own builds have, exactly
//   HEREABOUTS_LIVE    the relay, its state, its program, their tests, and the packages these need
//   HEREABOUTS_TESTS   what is tested is optimized, the tests are not; and the fuzzers, to repeat their seeds
//   HEREABOUTS_FUZZ    the fuzzers with libFuzzer, which ordinary builds do without
func isSet(_ variable: String) -> Bool { Context.environment["HEREABOUTS_" + variable] != nil }

// Warnings are errors in our own targets, and in no dependency's.
let strictTests: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]
var strict = strictTests
var strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
var strictCXX: [CXXSetting] = [.enableWarning("all"), .treatAllWarnings(as: .error)]
if isSet("TESTS") {
    // Assertions stay. The tests run in a third of the time, and take as long to build as without.
    strict.append(
        .unsafeFlags([
            "-O", "-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode", "-assert-config", "Debug",
        ]))
    strictC.append(.unsafeFlags(["-O2"]))
    strictCXX.append(.unsafeFlags(["-O2"]))
}

let package = Package(
    name: "hereabouts",
    // Tested: Linux on x86-64. The minimum versions of the Apple platforms are those of `Synchronization`; nothing is
    // tested on them.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Hereabouts", targets: ["Hereabouts"]),
        // Who gets what of a located device, and when: Core Location's semantics on the engine.
        .library(name: "HereaboutsLive", targets: ["HereaboutsLive"]),
        // Date and URL for those who use Foundation anyway.
        .library(name: "HereaboutsFoundation", targets: ["HereaboutsFoundation"]),
        .executable(name: "hereabouts", targets: ["hereabouts-cli"]),
        // What `hereabouts atlas` and `hereabouts region` run; see Sources/CommandCore/Executable.swift.
        .executable(name: "hereabouts-atlas", targets: ["hereabouts-atlas-cli"]),
    ],
    dependencies: [
        isSet("PINNED")
            ? .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
            : .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        isSet("PINNED")
            ? .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0")
            : .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CGEOS", pkgConfig: "geos", providers: [.apt(["libgeos-dev"]), .brew(["geos"])]),
        .systemLibrary(name: "CPROJ", pkgConfig: "proj", providers: [.apt(["libproj-dev"]), .brew(["proj"])]),
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .systemLibrary(name: "CZLib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        // HMAC-SHA256. Linked statically (see Traces): of the library two objects are used, 40 KB.
        .systemLibrary(name: "CNettle", providers: [.apt(["nettle-dev"]), .brew(["nettle"])]),
        // simdjson behind a C interface.
        .target(name: "CSimdjson", cxxSettings: strictCXX, linkerSettings: [.linkedLibrary("simdjson")]),
        // toml++, which is headers alone, behind a C interface.
        .target(name: "CTOML", cxxSettings: strictCXX),

        .target(name: "CKernels", cSettings: strictC),
        // Calls of the system that Swift cannot make: their arguments vary.
        .target(name: "CProcess", cSettings: strictC),
        .target(name: "Hereabouts", dependencies: ["CKernels"], swiftSettings: strict),
        .target(name: "HereaboutsLive", dependencies: ["CKernels", "Hereabouts"], swiftSettings: strict),
        .target(name: "HereaboutsFoundation", dependencies: ["Hereabouts"], swiftSettings: strict),
        // Files that are read whole, and that appear whole or not at all.
        .target(name: "Files", swiftSettings: strict),
        // JSON and decimal numbers as text.
        .target(name: "TextCoding", dependencies: ["CSimdjson"], swiftSettings: strict),
        // Wire formats of live location: bytes to values and back.
        .target(name: "Dialects", dependencies: ["CSimdjson", "Hereabouts", "TextCoding"], swiftSettings: strict),
        .target(name: "GeoBridge", dependencies: ["CGEOS"], swiftSettings: strict),
        // Apart, because PROJ brings fifty shared libraries, which the relay does without.
        .target(name: "PROJBridge", dependencies: ["CPROJ"], swiftSettings: strict),
        .target(name: "ParallelMap", swiftSettings: strict),
        // Readers of what atlases are built from and verified against: borders, land, places, population. Of the engine
        // they use the checksum alone.
        .target(
            name: "AtlasSources", dependencies: ["CZLib", "Files", "GeoBridge", "Hereabouts", "TextCoding"],
            swiftSettings: strict),
        // A second reader of the atlas file, for the verifier and for maps; shares no code with the engine's.
        .target(name: "AtlasFormat", dependencies: ["GeoBridge"], swiftSettings: strict),
        .target(
            name: "AtlasInspection", dependencies: ["AtlasFormat", "GeoBridge", "Hereabouts", "ParallelMap"],
            swiftSettings: strict),
        .target(
            name: "AtlasBuilder",
            dependencies: [
                "AtlasFormat", "AtlasInspection", "AtlasSources", "GeoBridge", "Hereabouts", "ParallelMap",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict),
        // Cannot import the builder.
        .target(
            name: "AtlasVerifier",
            dependencies: ["AtlasFormat", "AtlasSources", "GeoBridge", "Hereabouts", "PROJBridge", "ParallelMap"],
            swiftSettings: strict),
        .target(
            name: "Traces",
            dependencies: [
                "CArchive", "CKernels", "CLibXML2", "CNettle", "CSimdjson", "CZLib", "CZstd", "Files", "Hereabouts",
                "TextCoding",
            ],
            swiftSettings: strict,
            linkerSettings: [
                .linkedLibrary(":libnettle.a", .when(platforms: [.linux])),
                .linkedLibrary("nettle", .when(platforms: [.macOS])),
            ]),
        .target(
            name: "CommandCore",
            dependencies: [
                "CProcess", "Files", "Hereabouts",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // Sensitive places: their files, and the regions around them.
        .target(
            name: "Zones",
            dependencies: [
                "AtlasFormat", "AtlasInspection", "Files", "GeoBridge", "Hereabouts", "PROJBridge", "TextCoding",
            ],
            swiftSettings: strict),
        // `snap` and `convert`, for both programs. Links neither GEOS nor PROJ.
        .target(
            name: "TraceCommands",
            dependencies: [
                "CommandCore", "Files", "Hereabouts", "Traces",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // `version --all` tells of packages whose version is known.
            swiftSettings: strict + (isSet("PINNED") ? [.define("HEREABOUTS_PINNED")] : [])),
        // `live`, but for its state: lines in, reports out.
        .target(
            name: "LiveFilter",
            dependencies: ["Dialects", "Files", "Hereabouts", "HereaboutsLive", "Traces"], swiftSettings: strict),
        // `live` as a process: the clock, standard input and output, signals.
        .target(
            name: "LiveProcess",
            dependencies: ["CommandCore", "Files", "Hereabouts", "LiveFilter", "TraceCommands", "Traces"],
            swiftSettings: strict),
        // What the relay's configuration file says. Without NIO, so that the fuzzers need none.
        .target(
            name: "RelaySetup", dependencies: ["CTOML", "Files", "Hereabouts", "HereaboutsLive"],
            path: "Sources/Relay/Configuration", swiftSettings: strict),
        .executableTarget(
            name: "hereabouts-cli",
            dependencies: [
                "CommandCore", "LiveProcess", "TraceCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "hereabouts-atlas-cli",
            dependencies: [
                "AtlasBuilder", "AtlasInspection", "AtlasSources", "AtlasVerifier", "CommandCore", "Files",
                "GeoBridge", "Hereabouts", "PROJBridge", "TraceCommands", "Traces", "Zones",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // Debian's S2 library, as an oracle for the tests alone.
        .target(
            name: "CS2Oracle", path: "Tests/CS2Oracle", cxxSettings: strictCXX,
            linkerSettings: [.linkedLibrary("s2"), .linkedLibrary("m")]),
        // PROJ's projections, as an oracle for the tests alone.
        .systemLibrary(
            name: "CPROJTransforms", path: "Tests/CPROJTransforms", pkgConfig: "proj",
            providers: [.apt(["libproj-dev"]), .brew(["proj"])]),
        .target(
            name: "PROJOracle", dependencies: ["CPROJTransforms"], path: "Tests/PROJOracle", swiftSettings: strict),
        // Counts allocations in tests that must see none.
        .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter", cSettings: strictC),
        // Atlas files made up for tests, written from data/FORMAT.md alone.
        .target(name: "AtlasFixture", path: "Tests/AtlasFixture", swiftSettings: strict),
        .target(name: "FixedRandom", path: "Tests/FixedRandom", swiftSettings: strict),
        // Population surfaces made up for tests, written from data/SURFACE.md alone.
        .target(
            name: "SurfaceFixture", dependencies: ["CZLib", "Hereabouts"], path: "Tests/SurfaceFixture",
            swiftSettings: strict),
        .testTarget(
            name: "HereaboutsTests",
            dependencies: [
                "Hereabouts", "HereaboutsFoundation", "PROJOracle", "CS2Oracle", "AtlasFixture", "FixedRandom",
                "CAllocationCounter",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "HereaboutsLiveTests", dependencies: ["AtlasFixture", "FixedRandom", "Hereabouts", "HereaboutsLive"],
            swiftSettings: strictTests),
        .testTarget(name: "GeoBridgeTests", dependencies: ["GeoBridge", "FixedRandom"], swiftSettings: strictTests),
        .testTarget(name: "PROJBridgeTests", dependencies: ["PROJBridge"], swiftSettings: strictTests),
        // A world of level-7 cells and a microstate, as an atlas file and as its sources.
        .target(
            name: "SmallWorld", dependencies: ["AtlasFixture", "AtlasSources", "Hereabouts", "PROJBridge"],
            path: "Tests/SmallWorld", swiftSettings: strict),
        .testTarget(
            name: "AtlasSourcesTests",
            dependencies: ["AtlasSources", "FixedRandom", "Hereabouts", "SurfaceFixture", "TextCoding"],
            swiftSettings: strictTests),
        .testTarget(
            name: "AtlasBuilderTests",
            dependencies: [
                "AtlasBuilder", "AtlasSources", "GeoBridge", "Hereabouts", "FixedRandom", "SurfaceFixture",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "AtlasVerifierTests",
            dependencies: [
                "AtlasVerifier", "AtlasFormat", "AtlasSources", "AtlasFixture", "FixedRandom", "Hereabouts",
                "SmallWorld", "SurfaceFixture",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "AtlasInspectionTests",
            dependencies: [
                "AtlasInspection", "AtlasFormat", "AtlasFixture", "GeoBridge", "Hereabouts", "PROJBridge", "SmallWorld",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "TracesTests",
            dependencies: ["AtlasFixture", "Files", "FixedRandom", "Hereabouts", "TextCoding", "Traces"],
            swiftSettings: strictTests),
        .testTarget(
            name: "ZonesTests",
            dependencies: ["AtlasInspection", "FixedRandom", "Hereabouts", "PROJBridge", "Traces", "Zones"],
            swiftSettings: strictTests),
        .testTarget(
            name: "DialectsTests",
            dependencies: ["Dialects", "FixedRandom", "Hereabouts", "TextCoding"],
            swiftSettings: strictTests),
        // The programs as processes, and what they print.
        .target(
            name: "CommandSupport", dependencies: ["FixedRandom", "Hereabouts"], path: "Tests/CommandSupport",
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "Hereabouts", "GeoBridge", "AtlasFixture", "CommandSupport", "FixedRandom", "SurfaceFixture", "Traces",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "AcceptanceTests",
            dependencies: [
                "Hereabouts", "GeoBridge", "AtlasInspection", "AtlasSources", "CommandSupport", "PROJBridge", "Traces",
                "FixedRandom",
            ],
            swiftSettings: strictTests),
    ],
    cxxLanguageStandard: .cxx17
)

// The relay: location shared with those who were granted it.
if isSet("LIVE") {
    // What `hereabouts serve` and `hereabouts live --state` run.
    package.products.append(.executable(name: "hereabouts-live", targets: ["hereabouts-live-cli"]))
    package.dependencies += [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        // What these bring.
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ]
    package.targets += [
        // `serve`, the relay, but for its state: fixes in by HTTP and gpsd, locations out to those who were granted them.
        .target(
            name: "Relay",
            dependencies: [
                "AtlasFormat", "AtlasInspection", "CNettle", "CZLib", "Dialects", "Files", "Hereabouts",
                "HereaboutsLive", "RelaySetup", "TextCoding",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
                // Used by NIO alone. A version that is declared and not used is a warning.
                .product(name: "Atomics", package: "swift-atomics", condition: .when(platforms: [.wasi])),
                .product(name: "SystemPackage", package: "swift-system", condition: .when(platforms: [.wasi])),
            ],
            exclude: ["Configuration"],
            resources: [.embedInCode("Page/page.html")],
            swiftSettings: strict,
            linkerSettings: [
                .linkedLibrary(":libnettle.a", .when(platforms: [.linux])),
                .linkedLibrary("nettle", .when(platforms: [.macOS])),
            ]),
        // The state of both, in SQLite.
        .target(
            name: "LiveState",
            dependencies: [
                "Files", "Hereabouts", "HereaboutsLive", "LiveFilter", "Relay",
                .product(name: "GRDB", package: "GRDB.swift"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "hereabouts-live-cli",
            dependencies: [
                "CProcess", "CTOML", "CommandCore", "Files", "GeoBridge", "Hereabouts", "LiveFilter", "LiveProcess",
                "LiveState", "Relay", "TraceCommands", "Traces",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LiveFilterTests",
            dependencies: [
                "AtlasFixture", "FixedRandom", "Hereabouts", "HereaboutsLive", "LiveFilter", "LiveState", "Traces",
            ],
            swiftSettings: strictTests),
        .testTarget(
            name: "LiveCommandTests", dependencies: ["CommandSupport", "FixedRandom"], swiftSettings: strictTests),
        .testTarget(
            name: "RelayTests",
            dependencies: [
                "AtlasFixture", "AtlasFormat", "AtlasInspection", "CZLib", "Dialects", "Files", "FixedRandom",
                "Hereabouts", "HereaboutsLive", "LiveFilter", "LiveState", "PROJBridge", "Relay", "RelaySetup",
                "SmallWorld",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strictTests),
    ]
}

// Every parser with an oracle: for libFuzzer, or to repeat inputs that there are.
if isSet("FUZZ") || isSet("TESTS") {
    package.targets.append(
        .executableTarget(
            name: "hereabouts-fuzz",
            dependencies: [
                "AtlasFixture", "AtlasSources", "Dialects", "Files", "FixedRandom", "Hereabouts", "HereaboutsLive",
                "LiveFilter", "RelaySetup", "SurfaceFixture", "TextCoding", "Traces", "Zones",
            ], path: "Fuzz", exclude: ["Dictionaries", "Seeds"],
            swiftSettings: strictTests + (isSet("FUZZ") ? [.define("LIBFUZZER")] : [])))
}
