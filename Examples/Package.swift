// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as an adopter's is; `make examples` builds and runs it.
let package = Package(
    name: "hereabouts-examples", platforms: [.macOS(.v15)],
    dependencies: [.package(name: "hereabouts", path: "..")],
    targets: [
        .executableTarget(name: "lines", dependencies: [.product(name: "Hereabouts", package: "hereabouts")]),
        .executableTarget(name: "fleet", dependencies: [.product(name: "Hereabouts", package: "hereabouts")]),
        .executableTarget(name: "consumers", dependencies: [.product(name: "HereaboutsLive", package: "hereabouts")]),
    ]
)
