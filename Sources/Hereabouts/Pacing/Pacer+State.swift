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
    /// What must be kept of a device for its pacing to survive a restart (contract C12): 72 bytes.
    ///
    /// It holds regions, a tick and how long regions stood, and nothing of a fix's position or time: a fix that waits for
    /// its tick is not in it.
    ///
    /// ```text
    /// offset  size  content, little-endian
    ///      0     1  version, 2
    ///      1     1  bit 0: another region was near the fix that was answered last; bit 1: the answer has settled there
    ///      2     2  zero
    ///      4     4  checksum: 32-bit FNV-1a of the 72 bytes with these four as zero
    ///      8     8  tick of the last answer, signed nanoseconds since 1970
    ///     16     8  the last answer: the cell id of its `RegionID`; 0 where the atlas did not have the region
    ///     24    32  four regions that stood where others are near, as cell ids; 0 from the first free place on
    ///     56    16  how long each stood, in seconds (4 bytes each)
    /// ```
    public struct State: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The size of the byte form.
        public static let byteCount = 72
        static let version: UInt8 = 2

        /// A region and the time that it stood where others are near; see `StandingTimes`.
        struct Standing: Hashable, Sendable {
            var region: RegionID
            /// Positive.
            var seconds: UInt32
        }

        /// The tick of the last answer.
        public let tick: Timestamp
        /// The last answer.
        public let region: RegionID?
        let isContested: Bool
        let isSettled: Bool
        let standing: [Standing]

        init(
            tick: Timestamp, region: RegionID?, isContested: Bool = false, isSettled: Bool = false,
            standing: [Standing] = []
        ) {
            self.tick = tick
            self.region = region
            self.isContested = isContested
            self.isSettled = isSettled
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
            guard integer(1, 1) <= 3, integer(1, 1) != 2, integer(2, 2) == 0 else { throw .inconsistent }
            tick = Timestamp(nanosecondsSince1970: Int64(bitPattern: integer(8, 8)))
            isContested = bytes[1] & 1 != 0
            isSettled = bytes[1] & 2 != 0
            region = try Self.region(integer(16, 8))
            var standing: [Standing] = []
            for place in 0..<StandingTimes.capacity {
                let seconds = UInt32(integer(56 + 4 * place, 4))
                guard let region = try Self.region(integer(24 + 8 * place, 8)) else {
                    guard seconds == 0 else { throw .inconsistent }
                    continue
                }
                guard standing.count == place else { throw .inconsistent }
                standing.append(Standing(region: region, seconds: seconds))
            }
            guard Self.isConsistent(standing) else { throw .inconsistent }
            self.standing = standing
        }

        /// Whether a pacer may remember these regions: few, different ones, that stood for a time.
        static func isConsistent(_ standing: [Standing]) -> Bool {
            standing.count <= StandingTimes.capacity && Set(standing.map(\.region)).count == standing.count
                && standing.allSatisfy { $0.seconds > 0 }
        }

        /// The region of a cell id; nil for 0.
        private static func region(_ id: UInt64) throws(PacerStateError) -> RegionID? {
            let cell = CellID(rawValue: id)
            guard id == 0 || (cell.isValid && cell.level == RegionID.level) else { throw .inconsistent }
            return id == 0 ? nil : RegionID(cell: cell)
        }

        /// The byte form, `byteCount` long.
        public var bytes: [UInt8] {
            let flags: UInt8 = (isContested ? 1 : 0) | (isSettled ? 2 : 0)
            var bytes = [Self.version, flags, 0, 0, 0, 0, 0, 0]
            bytes.reserveCapacity(Self.byteCount)
            bytes.append(littleEndian: tick.nanosecondsSince1970)
            bytes.append(littleEndian: region?.cell.rawValue ?? 0)
            let places = (0..<StandingTimes.capacity).map { $0 < standing.count ? standing[$0] : nil }
            for place in places { bytes.append(littleEndian: place?.region.cell.rawValue ?? 0) }
            for place in places { bytes.append(littleEndian: place?.seconds ?? 0) }
            let checksum = Self.checksum(bytes)
            for k in 0..<4 { bytes[4 + k] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * k)) }
            return bytes
        }

        /// The same of a device that was answered at another tick.
        package func moved(to tick: Timestamp) -> State {
            State(tick: tick, region: region, isContested: isContested, isSettled: isSettled, standing: standing)
        }

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
        let history = History(
            tick: state.tick, region: state.region.flatMap(region), isContested: state.isContested,
            isSettled: state.isSettled, standing: StandingTimes(state.standing, region: region))
        self.init(interval: interval, history: history)
    }

    /// `state(in:)` for any way to identify a region.
    func state(identify: (Region) -> RegionID?) -> State? {
        guard let history else { return nil }
        return State(
            tick: history.tick, region: history.region.flatMap(identify), isContested: history.isContested,
            isSettled: history.isSettled, standing: history.standing.entries(identify: identify))
    }
}

extension [UInt8] {
    /// Appends a number, the least significant byte first.
    mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
