/// Why bytes are not a pacer's state.
public enum PacerStateError: Error, Hashable, Sendable {
    /// There are not `Pacer.State.byteCount` bytes.
    case wrongLength
    /// The first byte is a version of the form that is not known here.
    case unsupportedVersion
    /// The checksum does not match: the bytes were damaged.
    case damaged
    /// The checksum matches, but no pacer has such a state: a region that is none, or one that stood twice.
    case inconsistent
}

extension Pacer {
    /// What must be kept of a device for its pacing to survive a restart (contract C12): 176 bytes.
    ///
    /// It holds regions, a tick and how long regions stood, and nothing of a fix's position or time: a fix that waits for
    /// its tick is not in it.
    ///
    /// ```text
    /// offset  size  content, little-endian
    ///      0     1  version, 2
    ///      1     1  1 if the device has been among the same regions from the first, else 0
    ///      2     2  zero
    ///      4     4  checksum: 32-bit FNV-1a of the 176 bytes with these four as zero
    ///      8     8  tick of the last answer, signed nanoseconds since 1970
    ///     16     8  the last answer
    ///     24     8  the region that contained its fix
    ///     32    32  four others that were near it
    ///     64    32  four regions that stood where others are near
    ///     96    64  for each of them, two others that contained the fixes
    ///    160    16  how long each stood, in seconds (4 bytes each)
    /// ```
    ///
    /// Regions are the cell ids of their `RegionID`s (8 bytes); 0 for none, and where the atlas did not have the region.
    public struct State: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The size of the byte form.
        public static let byteCount = 176
        static let version: UInt8 = 2

        /// A region and the time that it stood where others are near; see `StandingTimes`.
        struct Standing: Hashable, Sendable {
            var region: RegionID
            /// The regions that contained the fixes, at most two.
            var others: [RegionID] = []
            /// Positive.
            var seconds: UInt32
        }

        /// The tick of the last answer.
        public let tick: Timestamp
        /// The last answer.
        public let region: RegionID?
        /// The region that contained the fix that was answered.
        let here: RegionID?
        /// Those that were near it, at most four.
        let contenders: [RegionID]
        let isResting: Bool
        let standing: [Standing]

        init(
            tick: Timestamp, region: RegionID?, here: RegionID? = nil, contenders: [RegionID] = [],
            isResting: Bool = false, standing: [Standing] = []
        ) {
            self.tick = tick
            self.region = region
            self.here = here
            self.contenders = contenders
            self.isResting = isResting
            self.standing = standing
        }

        /// Reads the byte form.
        ///
        /// - Throws: `PacerStateError` for anything that `bytes` cannot have made.
        public init(bytes: some Collection<UInt8>) throws(PacerStateError) {
            guard bytes.count == Self.byteCount else { throw .wrongLength }
            guard bytes.first == Self.version else { throw .unsupportedVersion }
            let bytes = Array(bytes)
            func integer(_ offset: Int, _ size: Int) -> UInt64 {
                bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            guard integer(4, 4) == UInt64(Self.checksum(bytes)) else { throw .damaged }
            guard integer(1, 1) <= 1, integer(2, 2) == 0 else { throw .inconsistent }
            func regions(_ offset: Int, _ count: Int) throws(PacerStateError) -> [RegionID] {
                var regions: [RegionID] = []
                for place in 0..<count {
                    let cell = CellID(rawValue: integer(offset + 8 * place, 8))
                    guard cell.rawValue != 0 else { continue }
                    guard cell.isValid, cell.level == RegionID.level, regions.count == place else {
                        throw .inconsistent
                    }
                    regions.append(RegionID(cell: cell))
                }
                return regions
            }
            tick = Timestamp(nanosecondsSince1970: Int64(bitPattern: integer(8, 8)))
            region = try regions(16, 1).first
            here = try regions(24, 1).first
            contenders = try regions(32, Contenders.capacity)
            isResting = integer(1, 1) == 1
            var standing: [Standing] = []
            let stood = try regions(64, StandingTimes.capacity)
            for place in 0..<StandingTimes.capacity {
                let seconds = UInt32(integer(160 + 4 * place, 4)), others = try regions(96 + 16 * place, 2)
                if place < stood.count {
                    standing.append(Standing(region: stood[place], others: others, seconds: seconds))
                } else if seconds != 0 || !others.isEmpty {
                    throw .inconsistent
                }
            }
            guard Self.isConsistent(standing) else { throw .inconsistent }
            self.standing = standing
        }

        /// All regions that it names.
        var regions: [RegionID] {
            [region, here].compactMap { $0 } + contenders + standing.flatMap { [$0.region] + $0.others }
        }

        /// Whether a pacer may remember these regions: few, different ones, that stood for a time.
        static func isConsistent(_ standing: [Standing]) -> Bool {
            standing.count <= StandingTimes.capacity
                && standing.indices.allSatisfy { place in
                    standing[..<place].allSatisfy { $0.region != standing[place].region }
                }
                && standing.allSatisfy { $0.seconds > 0 && $0.others.count <= 2 }
        }

        /// The byte form, `byteCount` long.
        public var bytes: [UInt8] {
            var bytes = [Self.version, isResting ? 1 : 0, 0, 0, 0, 0, 0, 0]
            bytes.reserveCapacity(Self.byteCount)
            func append(_ regions: [RegionID], places: Int) {
                for place in 0..<places {
                    bytes.append(littleEndian: place < regions.count ? regions[place].cell.rawValue : 0)
                }
            }
            bytes.append(littleEndian: tick.nanosecondsSince1970)
            append([region].compactMap { $0 }, places: 1)
            append([here].compactMap { $0 }, places: 1)
            append(contenders, places: Contenders.capacity)
            append(standing.map { $0.region }, places: StandingTimes.capacity)
            for place in 0..<StandingTimes.capacity {
                append(place < standing.count ? standing[place].others : [], places: 2)
            }
            for place in 0..<StandingTimes.capacity {
                bytes.append(littleEndian: place < standing.count ? standing[place].seconds : 0)
            }
            let checksum = Self.checksum(bytes)
            for k in 0..<4 { bytes[4 + k] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * k)) }
            return bytes
        }

        /// The same of a device that was answered at another tick.
        package func moved(to tick: Timestamp) -> State {
            State(
                tick: tick, region: region, here: here, contenders: contenders, isResting: isResting,
                standing: standing)
        }

        /// The same without the regions that another atlas does not have: the pace is kept.
        package func keeping(_ isKept: (RegionID) -> Bool) -> State {
            func kept(_ region: RegionID?) -> RegionID? { region.flatMap { isKept($0) ? $0 : nil } }
            return State(
                tick: tick, region: kept(region), here: kept(here), contenders: contenders.filter(isKept),
                isResting: isResting && kept(here) != nil,
                standing: standing.filter { isKept($0.region) }.map { entry in
                    Standing(region: entry.region, others: entry.others.filter(isKept), seconds: entry.seconds)
                })
        }

        /// All regions that it names.
        package var allRegions: [RegionID] { regions }

        /// Shows nothing of the device.
        public var description: String { "Pacer.State(redacted)" }
        /// Shows nothing of the device.
        public var debugDescription: String { description }

        /// 32-bit FNV-1a of the bytes, those at 4 … 7 taken as zero.
        private static func checksum(_ bytes: some Collection<UInt8>) -> UInt32 {
            var hash: UInt32 = 0x811c_9dc5
            for (offset, byte) in bytes.enumerated() {
                hash = (hash ^ (offset >= 4 && offset < 8 ? 0 : UInt32(byte))) &* 0x0100_0193
            }
            return hash
        }
    }
}

extension Pacer {
    /// `init(interval:state:in:)` for any way to find a region by its published identifier.
    init(interval: Duration, state: State, region: (RegionID) -> Region?) {
        var contenders = Contenders()
        for region in state.contenders.compactMap(region) { contenders.insert(region) }
        let history = History(
            tick: state.tick, region: state.region.flatMap(region), here: state.here.flatMap(region),
            contenders: contenders, isResting: state.isResting, standing: StandingTimes(state.standing, region: region))
        self.init(interval: interval, history: history)
    }

    /// `state(in:)` for any way to identify a region.
    func state(identify: (Region) -> RegionID?) -> State? {
        guard let history else { return nil }
        return State(
            tick: history.tick, region: history.region.flatMap(identify), here: history.here.flatMap(identify),
            contenders: history.contenders.regions.compactMap(identify), isResting: history.isResting,
            standing: history.standing.entries(identify: identify))
    }
}

extension [UInt8] {
    /// Appends a number, the least significant byte first.
    package mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
