// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what only benchmarks need is never built with the library.
let package = Package(
    name: "hereabouts-benchmarks",
    dependencies: [
        // Named, because a path's last component is whatever the checkout is called.
        .package(name: "hereabouts", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "snap-benchmark",
            dependencies: [.product(name: "Hereabouts", package: "hereabouts")],
            swiftSettings: [.strictMemorySafety()])
    ]
)
