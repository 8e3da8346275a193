// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]
let hereabouts: Target.Dependency = .product(name: "Hereabouts", package: "hereabouts")

/// A suite of the Benchmark package, whose plugin finds suites by their folder.
func suite(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["PointSets", hereabouts, .product(name: "Benchmark", package: "benchmark")],
        path: "Benchmarks/\(name)", swiftSettings: strict,
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}

// A package of its own, so that what only benchmarks need is never built with the library.
let package = Package(
    name: "hereabouts-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Named, because a path's last component is whatever the checkout is called.
        .package(name: "hereabouts", path: ".."),
        // Without its default traits: they replace the process's malloc, which is not to be measured.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "PointSets", dependencies: [hereabouts], swiftSettings: strict),
        // Writes the points for the peers, snaps them as the peers do, and checks what the command made of them.
        .executableTarget(name: "points", dependencies: ["PointSets", hereabouts], swiftSettings: strict),
        suite("Kernel"), suite("Pacing"), suite("Command"),
    ]
)
