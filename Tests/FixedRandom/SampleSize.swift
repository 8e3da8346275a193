#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many cases a suite has that would take a minute: some in `make test`, all in `make test-all`. CONTRIBUTING.md has the
/// table.
package enum SampleSize: String, CaseIterable {
    /// Devices at rest on edges, corners and borders, each simulated for a day (`Steady`; a tenth in `PacerSteadinessTests`).
    case devices
    /// People who live near another region, each simulated for a month (`Commutes`).
    case commuters
    /// Runs of `convert` that are killed (`KillTests`).
    case kills
    /// Fixes of each device in them (`KillTests`).
    case fixes
    /// Sizes of disks that are full (`KillTests`).
    case disks
    /// Builds of the same atlas, the first on all cores and the next on one (`RebuildTests`).
    case builds
    /// Maps whose points are looked up (`RegionMapTests`).
    case maps
    /// Batches of 100 stories told by two streams each (`NonInterferenceTests` of the live library).
    case streams
    /// Batches of 139 pairs of recordings that agree at ticks, in each format (`NonInterferenceTests`).
    case recordings

    /// What `make test` takes.
    package var sampled: Int {
        switch self {
        case .devices: 1_000
        case .commuters: 50
        case .kills: 12
        case .fixes: 300
        case .disks: 2
        case .streams: 2
        case .builds, .maps, .recordings: 1
        }
    }

    /// What `make test-all` takes, which sets `HEREABOUTS_ALL_CASES`.
    package var full: Int {
        switch self {
        case .devices: 10_000
        case .commuters: 200
        case .kills: 60
        case .fixes: 1_500
        case .disks: 7
        case .builds: 2
        case .maps: 3
        case .streams: 5
        case .recordings: 4
        }
    }

    /// What this run takes. A variable of the case's name, such as `HEREABOUTS_KILLS`, says something else.
    package var count: Int {
        if let text = Self.variable(rawValue.uppercased()), let count = Int(text) { return count }
        return Self.isFull ? full : sampled
    }

    /// Whether this is `make test-all`.
    package static var isFull: Bool { variable("ALL_CASES") != nil }

    private static func variable(_ name: String) -> String? {
        // SAFETY: the string is copied before anything could change the environment.
        guard let value = unsafe getenv("HEREABOUTS_" + name) else { return nil }
        return unsafe String(cString: value)
    }
}
