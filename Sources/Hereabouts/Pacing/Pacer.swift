/// Paces one device: turns its fixes over time into few, steady answers. One value per device.
///
/// - *Paced* (contract C9): the first fix is answered; a later one only when a whole interval has passed since the last
///   recomputation, whatever was crossed meanwhile. With the default of 900 s that is at most four answers in any
///   half-open hour. A fix that is not newer than the newest one seen is never answered.
/// - *Steady* (C11): while the last region is within the steadiness distance of a fix, it stands (hysteresis), so a
///   device at rest on an edge does not flicker. Published circles reach that much beyond their region, so they still
///   contain the fix (C3).
/// - *Durable* (C12): `state(in:)` and `init(interval:state:in:)` carry a device over a restart.
///
/// A fix with a time far in the future, from a wrong clock, silences the device until that time: a stream does not say
/// which clock is right, and answering again would break the pace. Filter such fixes at their source.
///
/// ```swift
/// var pacer = Pacer()
/// switch try pacer.report(fix, in: atlas) {
/// case .new(let region): publish(try atlas.reducedLocation(of: region))
/// case .unchanged, .paced: break
/// }
/// ```
public struct Pacer: Hashable, Sendable {
    /// The outcome of a fix.
    public enum Decision: Hashable, Sendable {
        /// Recomputed, and the device is now in this region: the first answer, or another than the last.
        case new(Region)
        /// Recomputed, and the last answer is right again.
        case unchanged(Region)
        /// Not recomputed: it is too early, or the fix is late or repeated. The last answer, `Pacer.region`, stands.
        case paced
    }

    /// What is remembered from the first recomputation on.
    struct History: Hashable, Sendable {
        /// The time of the newest fix seen, answered or not.
        var newest: Timestamp
        /// The time of the last fix that was answered.
        var lastRecomputation: Timestamp
        /// The last answer; nil where a state was restored whose region the atlas does not have.
        var region: Region?
    }

    /// The least time between two recomputations, in nanoseconds.
    let intervalNanoseconds: Int64
    var history: History?

    /// A device that has not been heard of.
    ///
    /// - Parameter interval: the least time between two recomputations; not negative. Parts of a nanosecond round up.
    public init(interval: Duration = .seconds(900)) {
        precondition(interval >= .zero, "an interval is not negative")
        intervalNanoseconds = Self.nanoseconds(in: interval)
        history = nil
    }

    /// The last answer, which stands until `report` gives another; nil before the first.
    public var region: Region? { history?.region }

    /// A duration in whole nanoseconds, rounded up, at most `Int64.max` (292 years).
    package static func nanoseconds(in duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let part = (attoseconds + 999_999_999) / 1_000_000_000
        let (sum, carried) = whole.addingReportingOverflow(part)
        return overflow || carried ? .max : sum
    }

    /// `report(_:in:)` for any division of the Earth into regions.
    ///
    /// - Throws: `CoordinateError`, leaving the pacer as it was.
    mutating func report(
        _ fix: Fix, steadinessMeters: Double,
        mayReach: (_ region: Region, _ latitude: Double, _ longitude: Double) -> Bool = { _, _, _ in true },
        snap: (_ latitude: Double, _ longitude: Double) throws(CoordinateError) -> Region
    ) throws(CoordinateError) -> Decision {
        try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        return try decide(fix, steadinessMeters: steadinessMeters, mayReach: mayReach, snap: snap)
    }

    /// Decides on a fix whose coordinate is valid.
    ///
    /// - Parameters:
    ///   - steadinessMeters: how far beyond its region a published circle reaches; in 0 … 10,000.
    ///   - mayReach: false only where a region lies farther than `steadinessMeters` from a position: a quick test.
    ///   - snap: the region of a latitude in [-90, 90] and a longitude in [-182, 182], both in degrees.
    /// - Throws: what `snap` throws, leaving the pacer as it was.
    @inline(__always)
    mutating func decide<Failure: Error>(
        _ fix: Fix, steadinessMeters: Double,
        mayReach: (_ region: Region, _ latitude: Double, _ longitude: Double) -> Bool,
        snap: (_ latitude: Double, _ longitude: Double) throws(Failure) -> Region
    ) throws(Failure) -> Decision {
        let (latitude, longitude) = (fix.coordinate.latitude, fix.coordinate.longitude)
        if let history {
            guard fix.time > history.newest else { return .paced }
            guard fix.time.nanoseconds(since: history.lastRecomputation) >= intervalNanoseconds else {
                self.history?.newest = fix.time
                return .paced
            }
        }
        let last = history?.region
        let wrapped = FaceIJ.wrappedLongitude(longitude)
        var region = try snap(latitude, wrapped)
        if let last, last != region, mayReach(last, latitude, wrapped) {
            let radius = Self.steadiness(limit: steadinessMeters, horizontalAccuracy: fix.horizontalAccuracy)
            let probe = HysteresisProbe(latitude: latitude, longitude: wrapped, radiusMeters: radius)
            if try probe.reaches(last, snap: snap) { region = last }
        }
        history = History(newest: fix.time, lastRecomputation: fix.time, region: region)
        return region == last ? .unchanged(region) : .new(region)
    }

    /// How far from a fix the last region may lie and still stand, in meters.
    ///
    /// A device at rest leaves a region only when two of its fixes, one inside and one beyond the distance, lie that
    /// far apart. The accuracy holds the truth two times in three, which is 1.5 σ of each axis, so six times it is 9 σ:
    /// with normal noise fewer than one pair in 10⁸ is that far apart. 60 m where the receiver claims better than 10 m,
    /// since such claims err. Never more than the published circles allow for.
    static func steadiness(limit: Double, horizontalAccuracy: Double?) -> Double {
        guard let horizontalAccuracy, horizontalAccuracy > 0 else { return limit }
        return min(limit, max(60, 6 * horizontalAccuracy))
    }
}

extension Pacer: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows nothing of the device.
    public var description: String { "Pacer(redacted)" }
    /// Shows nothing of the device.
    public var debugDescription: String { description }
}
