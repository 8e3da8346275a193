import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The steps between the fixes of one device, and the *jumps* among them: steps of more than 50 km that need more than
/// 1,500 km/h. A recording with many is of several devices, or its columns are not what they were taken for.
///
/// Glitches of receivers are few, and lead to places that differ; flights stay below 1,200 km/h, and tunnels
/// below 50 km.
struct JumpCount {
    /// Steps up to this length are none of those that jumps are compared with, so that a device at rest hides none.
    static let stepMeters = 1_000.0
    static let jumpMeters = 50_000.0
    /// 1,500 km/h.
    static let jumpMetersPerSecond = 1_500 / 3.6

    /// Steps of more than `stepMeters`, jumps included.
    private(set) var steps = 0
    private(set) var jumps = 0
    /// The most jumps that go to and fro between two places.
    private(set) var toAndFro = 0
    private var last: (coordinate: Coordinate, time: Timestamp)?
    /// The last jumps, each that goes back where one came from in its place.
    private var ways: [Way] = []
    private static let mostWays = 8

    /// Jumps to and fro between two places.
    private struct Way {
        var from, to: Coordinate
        var count = 1
    }

    /// Whether no device can have made these steps: at least three jumps that are more than a tenth of the steps, or at
    /// least three to and fro between two places.
    var isImplausible: Bool { jumps >= 3 && 10 * jumps > steps || toAndFro >= 3 }

    /// Takes the next fix in order of time, whose coordinate is valid. O(1).
    mutating func take(_ coordinate: Coordinate, at time: Timestamp) {
        defer { last = (coordinate, time) }
        // 0.006° on each axis are at most 950 m.
        guard let last,
            (coordinate.latitude - last.coordinate.latitude).magnitude > 0.006
                || (coordinate.longitude - last.coordinate.longitude).magnitude > 0.006
        else { return }
        let meters = Self.meters(from: last.coordinate, to: coordinate)
        guard meters > Self.stepMeters else { return }
        steps += 1
        guard Self.isJump(meters: meters, from: last.time, to: time) else { return }
        jumps += 1
        add(Way(from: last.coordinate, to: coordinate), meters: meters)
    }

    /// Notes a jump. Places are the same within a quarter of its length and 200 km: devices move between two jumps, and of
    /// ten glitches all over the world two are that near each other once in a hundred recordings.
    private mutating func add(_ way: Way, meters: Double) {
        let reach = min(meters / 4, 200_000)
        let back = ways.firstIndex {
            Self.meters(from: $0.to, to: way.from) <= reach && Self.meters(from: $0.from, to: way.to) <= reach
        }
        if let back {
            let count = ways[back].count + 1
            ways[back] = way
            ways[back].count = count
            toAndFro = max(toAndFro, count)
        } else {
            if ways.count == Self.mostWays { ways.removeFirst() }
            ways.append(way)
        }
    }

    /// Whether a step is a jump. Within one second is taken for a second.
    private static func isJump(meters: Double, from start: Timestamp, to end: Timestamp) -> Bool {
        guard meters > jumpMeters else { return false }
        let (nanoseconds, overflow) = end.nanosecondsSince1970.subtractingReportingOverflow(start.nanosecondsSince1970)
        guard !overflow else { return false }
        return meters > jumpMetersPerSecond * max(1, Double(nanoseconds) / 1e9)
    }

    /// Whether the step from one fix to a later one is a jump; most are not, by the difference of their coordinates alone.
    @inline(__always)
    static func isJump(
        from start: Coordinate, at startTime: Timestamp, to end: Coordinate, at endTime: Timestamp
    ) -> Bool {
        // 0.3° on each axis are at most 47.3 km.
        guard (end.latitude - start.latitude).magnitude > 0.3 || (end.longitude - start.longitude).magnitude > 0.3
        else { return false }
        return isFarJump(from: start, at: startTime, to: end, at: endTime)
    }

    @inline(never)
    private static func isFarJump(
        from start: Coordinate, at startTime: Timestamp, to end: Coordinate, at endTime: Timestamp
    ) -> Bool {
        isJump(meters: meters(from: start, to: end), from: startTime, to: endTime)
    }

    /// The length of a great circle on a sphere: within 0.6 % of that on the ellipsoid.
    static func meters(from start: Coordinate, to end: Coordinate) -> Double {
        let (sineA, cosineA) = Trigonometry.sineAndCosine(degrees: start.latitude)
        let (sineB, cosineB) = Trigonometry.sineAndCosine(degrees: end.latitude)
        let longitude = (end.longitude - start.longitude).remainder(dividingBy: 360)
        let east = Trigonometry.sineAndCosine(degrees: longitude / 2).sine
        let (north, outward) = (sineA - sineB, cosineA - cosineB)
        let chord = (north * north + outward * outward + 4 * cosineA * cosineB * east * east).squareRoot()
        return 2 * asin(min(1, chord / 2)) * CellID.earthRadiusMeters
    }
}

/// The first fixes of what is to be one device, kept until it is known whether one device can have made them.
struct FirstFixes {
    /// Of each source so many are kept, and of all of them those that are first in time.
    static let most = 10_000

    /// A fix in 24 bytes. Coordinates are good to 2 m.
    struct Entry {
        fileprivate var nanoseconds: Int64
        fileprivate var latitude, longitude: Float
        /// The number of its track.
        var track: UInt32
        /// The number of its record among the first of its source.
        var record: UInt16
        /// The input or file that it is from.
        var source: UInt16

        fileprivate var coordinate: Coordinate {
            Coordinate(latitude: Double(latitude), longitude: Double(longitude))
        }
        fileprivate var time: Timestamp { Timestamp(nanosecondsSince1970: nanoseconds) }
    }

    private(set) var entries: [Entry] = []
    /// Where those of the source that is being read begin.
    private var start = 0
    private var source: UInt16 = 0
    /// Later ones than this are not among the first of all sources.
    private var latest = Int64.max

    /// Takes a fix of the source that is being read, whose coordinate is valid.
    ///
    /// - Parameter record: the number of its record in the source; nil of one that is not judged.
    @inline(__always)
    mutating func take(_ coordinate: Coordinate, at time: Timestamp, track: UInt32 = 0, record: Int?) {
        if entries.count - start < Self.most, let record { append(coordinate, time, track, record) }
    }

    @inline(never)
    private mutating func append(_ coordinate: Coordinate, _ time: Timestamp, _ track: UInt32, _ record: Int) {
        entries.append(
            Entry(
                nanoseconds: time.nanosecondsSince1970, latitude: Float(coordinate.latitude),
                longitude: Float(coordinate.longitude), track: track, record: UInt16(clamping: record), source: source))
    }

    /// Ends the source that was read, and begins another.
    mutating func beginSource() {
        guard entries.count > start else { return }
        (start, source) = (entries.count, source == .max ? .max : source + 1)
        trim(to: Self.most)
        start = entries.count
    }

    /// Takes those of a file, whose tracks' numbers are added to `firstTrack`.
    mutating func merge(_ other: FirstFixes, firstTrack: UInt32) {
        for entry in other.entries where entry.nanoseconds <= latest {
            var entry = entry
            (entry.track, entry.source) = (entry.track + firstTrack, source)
            entries.append(entry)
        }
        source = source == .max ? .max : source + 1
        start = entries.count
        // Seldom, since sorting takes longer than reading does.
        if entries.count > 4 * Self.most { trim(to: Self.most) }
    }

    /// Leaves the first ones in time.
    private mutating func trim(to count: Int) {
        guard entries.count > count else { return }
        entries = sorted(entries)
        entries.removeLast(entries.count - count)
        latest = entries.last?.nanoseconds ?? .max
    }

    private func sorted(_ entries: [Entry]) -> [Entry] {
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { $0.nanoseconds <= $1.nanoseconds }
        if isSorted { return entries }
        return entries.indices.sorted { (entries[$0].nanoseconds, $0) < (entries[$1].nanoseconds, $1) }
            .map { entries[$0] }
    }

    /// The first ones in time, in order of it.
    private var ordered: [Entry] { Array(sorted(entries).prefix(2 * Self.most)) }

    /// Whether all are of one source.
    var isOfOneSource: Bool { entries.allSatisfy { $0.source == entries[0].source } }

    /// The steps of all.
    var jumps: JumpCount { Self.count(ordered) }

    private static func count(_ entries: [Entry], swapped: Bool = false) -> JumpCount {
        var count = JumpCount()
        for entry in entries {
            let place = entry.coordinate
            count.take(
                swapped ? Coordinate(latitude: place.longitude, longitude: place.latitude) : place, at: entry.time)
        }
        return count
    }

    /// How many devices there are if fixes with one value are one's, where there are two at least, with two fixes each on
    /// average, and none of them jumps; else nil.
    func split<Value: Hashable>(by value: (Entry) -> Value?) -> Int? {
        var counts: [Value: JumpCount] = [:]
        let ordered = ordered
        for entry in ordered {
            guard let value = value(entry) else { return nil }
            counts[value, default: JumpCount()].take(entry.coordinate, at: entry.time)
        }
        guard counts.count > 1, 2 * counts.count <= ordered.count, counts.values.allSatisfy({ $0.jumps == 0 })
        else { return nil }
        return counts.count
    }

    /// Whether no step is a jump with latitudes and longitudes exchanged.
    var isSmoothIfSwapped: Bool {
        let ordered = ordered
        return ordered.allSatisfy { $0.longitude.magnitude <= 90 } && Self.count(ordered, swapped: true).jumps == 0
    }
}

/// What was to be one device's and jumps as none can, and what would explain it.
package struct JumpReport: Hashable, Sendable {
    /// An explanation that was tried: it leaves no jump.
    package enum Explanation: Hashable, Sendable {
        /// Each file is a device.
        case files(Int)
        /// Each track is a device.
        case tracks(Int)
        /// Each value of a column or member is a device; its name is empty where it may be data.
        case keys(column: String, Int)
        /// Latitude and longitude are exchanged.
        case swapped
    }

    /// Jumps, and the steps over 1 km that they are among.
    package var jumps, steps: Int
    /// Whether it is the device of a key.
    package var isKeyed: Bool
    package var hasSeveralFiles, hasSeveralTracks: Bool
    package var explanations: [Explanation] = []
}

extension JumpReport: CustomStringConvertible {
    /// What is wrong, in a few words for people; counts alone.
    package var description: String {
        "\(jumps) of \(steps) steps over 1 km\(isKeyed ? " of one device key" : "") are jumps that no traveler makes "
            + "(over 50 km at more than 1,500 km/h)"
    }
}

extension JumpReport {
    /// A report of the fixes of what was to be one device; nil where one device can have made them.
    ///
    /// - Parameter candidates: of the one source that the fixes are from.
    init?(_ first: FirstFixes, isKeyed: Bool = false, candidates: [KeyCandidate] = []) {
        let count = first.jumps
        guard count.isImplausible else { return nil }
        (jumps, steps, self.isKeyed) = (count.jumps, count.steps, isKeyed)
        hasSeveralFiles = !first.isOfOneSource
        hasSeveralTracks = Set(first.entries.map(\.track)).count > 1
        if !hasSeveralFiles {
            let splits = candidates.compactMap { candidate -> (name: String, devices: Int)? in
                first.split { Int($0.record) < candidate.values.count ? candidate.values[Int($0.record)] : nil }
                    .map { (candidate.name, $0) }
            }
            if let best = splits.min(by: { $0.devices < $1.devices }) {
                explanations.append(.keys(column: shownName(best.name) ?? "", best.devices))
            }
        } else if let devices = first.split(by: \.source) {
            explanations.append(.files(devices))
        }
        if explanations.isEmpty, let devices = first.split(by: \.track) { explanations.append(.tracks(devices)) }
        if explanations.isEmpty, first.isSmoothIfSwapped { explanations.append(.swapped) }
    }
}

/// A column or member that may tell devices apart, though its name is not known for that.
struct KeyCandidate {
    var name: String
    /// For each of the input's first `FirstFixes.most` records, bad ones included, the number of its value.
    var values: [UInt16]
}
