/// Paces one device: turns its fixes over time into few, steady answers. One value per device.
///
/// - *Paced* (contract C9): a reduced location is recomputed at *ticks* only, the multiples of the interval in UTC (:00,
///   :15, :30 and :45 for 900 s), which are the same for every device. At a tick the newest fix of the interval before it,
///   (tick - interval, tick], is answered, and the answer has the tick's time. A tick without a fix has no answer: the last
///   one stands. Neither has one whose fix states an accuracy larger than the circle that would be published: the device may
///   be outside of it (C3). So what was crossed, and when, and when a trip began, is not told.
/// - *Steady* (C11): a region stands for fixes a little outside it too (hysteresis), so a device at rest on an edge does
///   not flicker. Of several regions near a fix the one holds that stood longest in such places over the last weeks
///   (see `StandingTimes`), so a home is answered alike from whichever side it was reached. Published circles reach that
///   far beyond their region, so they still contain the fix (C3).
/// - *Durable* (C12): `state(in:)` and `init(interval:state:from:in:otherAtlas:)` carry a device over a restart.
///
/// `report(_:in:)` takes the fixes, `tick(_:in:)` the moments. With a clock, call `tick` at each tick. In a recording the
/// fixes are the clock: one that belongs to a later tick gives the answer of the tick before it, and `pendingTick` says
/// what is left at the end.
///
/// A fix far in the future, from a wrong clock, makes all before it late: a stream does not say which clock is right, and
/// answering again would break the pace. Filter such fixes at their source.
///
/// ```swift
/// var pacer = Pacer()
/// for fix in fixes {
///     if case .kept(let answer?) = try pacer.report(fix, in: atlas), answer.isNew { publish(answer) }
/// }
/// if let tick = pacer.pendingTick, let answer = try pacer.tick(tick, in: atlas), answer.isNew { publish(answer) }
/// ```
public struct Pacer: Hashable, Sendable {
    /// What a tick came to: the reduced location of the device from now on.
    public struct Answer: Hashable, Sendable {
        /// The tick, the time that is published.
        public var tick: Timestamp
        /// Where the device is.
        public var region: Region
        /// Whether this is the first answer, or another than the last.
        public var isNew: Bool
    }

    /// What became of a fix.
    public enum Reception: Hashable, Sendable {
        /// Kept for its tick, as the newest so far. If it shows that the tick of the fix before it has passed, that tick's
        /// answer.
        case kept(Answer?)
        /// Late or repeated: it is not newer than the newest fix, or its tick was answered. It changes nothing.
        case late
    }

    /// What is remembered from the first answer on. Nothing in it is finer than a region or a tick.
    struct History: Hashable, Sendable {
        /// The tick of the last answer.
        var tick: Timestamp
        /// The last answer; nil where a state was restored whose region the atlas does not have.
        var region: Region?
        /// The region that contained the fix that was answered; nil as above.
        var here: Region?
        /// Others that were near it; of a device at rest, near the fixes before as well.
        var contenders = Contenders()
        /// Whether the device has been among the same regions since it was first heard of.
        var isResting = false
        var standing = StandingTimes()

        /// Whether more than one region was near the fix.
        var isContested: Bool { region != here || !contenders.isEmpty }

        /// Whether a region contained the last fix or was near it.
        func isNear(_ region: Region) -> Bool { here == region || contenders.contains(region) }
    }

    /// The time between two ticks, in nanoseconds; positive.
    let intervalNanoseconds: Int64
    /// The newest fix, until its tick.
    private(set) var pending: Fix?
    /// The tick of `pending`; or, without one, of the last answer.
    private var currentTick = Timestamp(nanosecondsSince1970: .min)
    private(set) var history: History?

    /// A device that has not been heard of.
    ///
    /// - Parameter interval: the time between two ticks; not negative. Parts of a nanosecond round up, zero is taken for a
    ///   nanosecond.
    public init(interval: Duration = .seconds(900)) {
        precondition(interval >= .zero, "an interval is not negative")
        intervalNanoseconds = max(1, Self.nanoseconds(in: interval))
    }

    /// A device with this history.
    init(interval: Duration, history: History) {
        self.init(interval: interval)
        self.history = history
        currentTick = history.tick
    }

    /// The last answer, which stands until a tick gives another; nil before the first.
    public var region: Region? { history?.region }

    /// The tick at which the newest fix will be answered; nil where there is none to answer.
    public var pendingTick: Timestamp? { pending == nil ? nil : currentTick }

    /// The tick of the last answer; nil before the first.
    public var lastTick: Timestamp? { history?.tick }

    /// The first tick at or after a time: the one at which a fix of that time may be answered.
    public func tick(for time: Timestamp) -> Timestamp {
        Self.tick(for: time, intervalNanoseconds: intervalNanoseconds)
    }

    /// The first multiple of an interval at or after a time; `Int64.max` where that is beyond the range of times.
    package static func tick(for time: Timestamp, intervalNanoseconds: Int64) -> Timestamp {
        let remainder = time.nanosecondsSince1970 % intervalNanoseconds
        guard remainder > 0 else { return Timestamp(nanosecondsSince1970: time.nanosecondsSince1970 - remainder) }
        let (tick, overflow) = time.nanosecondsSince1970.addingReportingOverflow(intervalNanoseconds - remainder)
        return Timestamp(nanosecondsSince1970: overflow ? .max : tick)
    }

    /// A duration in whole nanoseconds, rounded up, at most `Int64.max` (292 years).
    package static func nanoseconds(in duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let part = (attoseconds + 999_999_999) / 1_000_000_000
        let (sum, carried) = whole.addingReportingOverflow(part)
        return overflow || carried ? .max : sum
    }

    // MARK: For any division of the Earth into regions

    /// Takes a fix whose coordinate is valid.
    ///
    /// - Throws: what the lookup throws, leaving the pacer as it was.
    @inline(__always)
    mutating func take<Lookup: RegionLookup>(_ fix: Fix, _ lookup: Lookup) throws(Lookup.Failure) -> Reception {
        if let pending {
            guard fix.time > pending.time else { return .late }
            if fix.time <= currentTick {
                self.pending = fix
                return .kept(nil)
            }
        } else if history != nil {
            guard fix.time > currentTick else { return .late }
        }
        let answer = try answerPending(lookup)
        pending = fix
        currentTick = tick(for: fix.time)
        return .kept(answer)
    }

    /// `tick(_:in:)` for any lookup.
    @inline(__always)
    mutating func answer<Lookup: RegionLookup>(
        at time: Timestamp, _ lookup: Lookup
    ) throws(Lookup.Failure) -> Answer? {
        guard pending != nil, currentTick <= time else { return nil }
        return try answerPending(lookup)
    }

    /// Answers the newest fix, if there is one.
    @inline(never)
    private mutating func answerPending<Lookup: RegionLookup>(_ lookup: Lookup) throws(Lookup.Failure) -> Answer? {
        guard let fix = pending else { return nil }
        let (latitude, longitude) = (fix.coordinate.latitude, FaceIJ.wrappedLongitude(fix.coordinate.longitude))
        let here = try lookup.region(latitude: latitude, longitude: longitude)
        var next = History(tick: currentTick)
        if let history {
            next.standing = history.standing
            next.standing.decay(from: history.tick, to: currentTick)
        }
        let region = try standingRegion(of: fix, at: (latitude, longitude), in: here, next.standing, lookup)
        // A circle reaches beyond its region by more than the steadiness.
        if let accuracy = fix.statedAccuracy, accuracy > lookup.steadinessMeters,
            try accuracy > lookup.accuracyMeters(of: region)
        {
            pending = nil
            return nil
        }
        (next.region, next.here) = (region, here)
        next.contenders =
            try HysteresisProbe(latitude: latitude, longitude: longitude, radiusMeters: lookup.steadinessMeters)
            .contenders(of: here, lookup)
        next.isResting = next.isContested && (history.map { $0.isResting && $0.isNear(here) } ?? true)
        if let history, next.isResting {
            // Each fix sees some of them.
            next.contenders.insert(history.contenders, except: here)
            if let before = history.here, before != here { next.contenders.insert(before) }
        }
        if let history, let last = history.region, history.isContested {
            let nanoseconds = currentTick.nanoseconds(since: history.tick)
            // A region that was answered once, on the way, did not stand.
            if last == region || nanoseconds > intervalNanoseconds {
                let hasStayed = history.here == here || nanoseconds > intervalNanoseconds
                next.standing.add(nanoseconds, to: last, for: hasStayed ? history.here : nil)
            }
        }
        let answer = Answer(tick: currentTick, region: region, isNew: region != history?.region)
        pending = nil
        history = next
        return answer
    }

    /// Whether a fix in a region may be of a device that stayed where it was, among several regions.
    private func isStill(in here: Region) -> Bool {
        guard let history, history.isContested else { return false }
        return history.here == here || history.isResting && history.contenders.contains(here)
    }

    /// Of the regions near a fix, the one that holds.
    ///
    /// - Parameter here: the region that contains the fix.
    private func standingRegion<Lookup: RegionLookup>(
        of fix: Fix, at place: (latitude: Double, longitude: Double), in here: Region, _ standing: StandingTimes,
        _ lookup: Lookup
    ) throws(Lookup.Failure) -> Region {
        let margin = Self.steadiness(limit: lookup.steadinessMeters, horizontalAccuracy: fix.statedAccuracy)
        func isNear(_ region: Region, _ meters: Double) throws(Lookup.Failure) -> Bool {
            try HysteresisProbe(latitude: place.latitude, longitude: place.longitude, radiusMeters: meters)
                .reaches(region, lookup)
        }
        let narrow = min(margin, lookup.steadinessMeters * Self.narrow)
        let last = history?.region
        // The time to exceed, and whether it is enough to equal it: the last answer holds against its equals.
        var (holder, time) = (here, standing.seconds(of: here))
        if let last, last != here {
            let seconds = standing.seconds(of: last)
            let isWide = isStill(in: here) || standing.hasStood(last, for: here)
            if seconds >= time, try isNear(last, isWide ? lookup.steadinessMeters : narrow) {
                (holder, time) = (last, seconds)
            }
        }
        // In order of their times, so that the first that is near is the one.
        var others = standing
        while let region = others.removeLongest(above: time) {
            guard region != last else { continue }
            let isWide = standing.hasStood(region, for: here)
            if try isNear(region, isWide ? lookup.steadinessMeters * Self.wide : narrow) { return region }
        }
        return holder
    }

    // How near a region must be to be the answer for a fix that it does not contain, in parts of what its published circle
    // allows for. It begins to be within the narrow part. Where it has been before, it is again within the wide part, and
    // stays as far as the circle allows. The three lie farther apart than the noise of most receivers, so that a device at
    // rest on the edge of one does not come and go.
    private static let narrow = 0.4
    private static let wide = 0.8

    /// The steadiness margin in meters: how far from a fix a region may lie and still be its answer, where nothing else
    /// is known of the place.
    ///
    /// Within it a device at rest leaves a region only when two of its fixes, one inside and one beyond the distance, lie that
    /// far apart. The accuracy holds the truth two times in three, which is 1.5 σ of each axis, so six times it is 9 σ:
    /// with normal noise fewer than one pair in 10⁸ is that far apart. 60 m where the receiver claims better than 10 m,
    /// since such claims err. Never more than the published circles allow for.
    static func steadiness(limit: Double, horizontalAccuracy: Double?) -> Double {
        guard let horizontalAccuracy else { return limit }
        return min(limit, max(60, 6 * horizontalAccuracy))
    }
}

/// A division of the Earth into regions, as a pacer asks it.
protocol RegionLookup {
    associatedtype Failure: Error

    /// How far beyond its region a published circle reaches, in meters; in 0 … 10,000.
    var steadinessMeters: Double { get }

    /// The region of a latitude in [-90, 90] and a longitude in [-182, 182], both in degrees.
    func region(latitude: Double, longitude: Double) throws(Failure) -> Region

    /// The radius of a region's published circle, in meters.
    func accuracyMeters(of region: Region) throws(Failure) -> Double

    /// The regions of several such positions, into as many places.
    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(Failure)

    /// False only where no position between four is in a region: a quick test. The positions are the corners of a
    /// quadrilateral of great circles: latitudes in [-90, 90] and longitudes in [-190, 190], in degrees.
    func mayMeet(_ region: Region, between corners: InlineArray<4, Coordinate>) -> Bool
}

extension RegionLookup {
    func accuracyMeters(of region: Region) throws(Failure) -> Double { .infinity }

    func mayMeet(_ region: Region, between corners: InlineArray<4, Coordinate>) -> Bool { true }

    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(Failure) {
        for index in 0..<min(coordinates.count, regions.count) {
            // SAFETY: the index is below both counts.
            let coordinate = unsafe coordinates[index]
            unsafe regions[index] = try region(latitude: coordinate.latitude, longitude: coordinate.longitude)
        }
    }
}

extension Pacer: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows nothing of the device.
    public var description: String { "Pacer(redacted)" }
    /// Shows nothing of the device.
    public var debugDescription: String { description }
}
