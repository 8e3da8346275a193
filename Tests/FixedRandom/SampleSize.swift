#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many cases a suite has that would take a minute: some in `make test`, all in `make test-all`. CONTRIBUTING.md has the
/// table.
package enum SampleSize: String, CaseIterable {
    /// Devices at rest on edges, corners and borders, each simulated for a day (`Steady`).
    case devices
    /// People who live near another region, each simulated for a month (`Commutes`).
    case commuters
    /// Runs of `convert` that are killed (`KillTests`).
    case kills
    /// Sizes of disks that are full (`KillTests`).
    case disks
    /// Batches of 100 stories told by two streams each (`NonInterferenceTests`).
    case streams
    /// Batches of 40 stories with pauses, and of 150 views (`NonInterferenceTests`).
    case views

    /// What `make test` takes.
    package var sampled: Int {
        switch self {
        case .devices: 1_000
        case .commuters: 40
        case .kills: 12
        case .disks: 2
        case .streams, .views: 1
        }
    }

    /// What `make test-all` takes, which sets `HEREABOUTS_ALL_CASES`.
    package var full: Int {
        switch self {
        case .devices: 10_000
        case .commuters: 200
        case .kills: 60
        case .disks: 7
        case .streams: 5
        case .views: 2
        }
    }

    /// What this run takes. A variable of the case's name, such as `HEREABOUTS_KILLS`, says something else.
    package var count: Int {
        if let text = Self.variable(rawValue.uppercased()), let count = Int(text) { return count }
        return Self.variable("ALL_CASES") == nil ? sampled : full
    }

    private static func variable(_ name: String) -> String? {
        // SAFETY: the string is copied before anything could change the environment.
        guard let value = unsafe getenv("HEREABOUTS_" + name) else { return nil }
        return unsafe String(cString: value)
    }
}
