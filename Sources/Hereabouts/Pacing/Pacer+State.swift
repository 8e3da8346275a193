/// Why bytes are not a pacer's state.
public enum PacerStateError: Error, Hashable, Sendable {
    /// There are not `Pacer.State.byteCount` bytes.
    case wrongLength
    /// The first byte is a version of the form that is not known here.
    case unsupportedVersion
    /// The checksum does not match: the bytes were damaged.
    case damaged
    /// The checksum matches, but no pacer has such a state: an answer later than the newest fix, for example.
    case inconsistent
}

extension Pacer {
    /// What must be kept of a device for its pacing to survive a restart (contract C12): 32 bytes.
    ///
    /// It holds a region and two times, and nothing of a fix's position. Still, keep it where the fixes are kept: the
    /// time of the newest fix is finer than what is published.
    ///
    /// ```text
    /// offset  size  content, little-endian
    ///      0     1  version, 1
    ///      1     3  zero
    ///      4     4  checksum: 32-bit FNV-1a of the 32 bytes with these four as zero
    ///      8     8  time of the newest fix seen, signed nanoseconds since 1970
    ///     16     8  time of the last recomputation, likewise, not later than the newest fix
    ///     24     8  the last answer: the cell id of its `RegionID`; 0 where the atlas did not have the region
    /// ```
    public struct State: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The size of the byte form.
        public static let byteCount = 32
        static let version: UInt8 = 1

        /// The time of the newest fix seen, answered or not.
        public let newest: Timestamp
        /// The time of the last recomputation; not later than `newest`.
        public let lastRecomputation: Timestamp
        /// The last answer.
        public let region: RegionID?

        init(newest: Timestamp, lastRecomputation: Timestamp, region: RegionID?) {
            self.newest = newest
            self.lastRecomputation = lastRecomputation
            self.region = region
        }

        /// Reads the byte form.
        ///
        /// - Throws: `PacerStateError` for anything that `bytes` cannot have made.
        public init(bytes: some Collection<UInt8>) throws(PacerStateError) {
            guard bytes.count == Self.byteCount else { throw .wrongLength }
            guard bytes.first == Self.version else { throw .unsupportedVersion }
            func integer(_ offset: Int, _ size: Int) -> UInt64 {
                bytes.dropFirst(offset).prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            guard integer(4, 4) == UInt64(Self.checksum(bytes)) else { throw .damaged }
            newest = Timestamp(nanosecondsSince1970: Int64(bitPattern: integer(8, 8)))
            lastRecomputation = Timestamp(nanosecondsSince1970: Int64(bitPattern: integer(16, 8)))
            let cell = CellID(rawValue: integer(24, 8))
            region = cell.rawValue == 0 ? nil : RegionID(cell: cell)
            guard integer(1, 3) == 0, lastRecomputation <= newest else { throw .inconsistent }
            guard cell.rawValue == 0 || (cell.isValid && cell.level == RegionID.level) else { throw .inconsistent }
        }

        /// The byte form, `byteCount` long.
        public var bytes: [UInt8] {
            var bytes = [Self.version, 0, 0, 0, 0, 0, 0, 0]
            bytes.reserveCapacity(Self.byteCount)
            let words = [
                UInt64(bitPattern: newest.nanosecondsSince1970),
                UInt64(bitPattern: lastRecomputation.nanosecondsSince1970), region?.cell.rawValue ?? 0,
            ]
            for word in words {
                for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> shift))
                }
            }
            let checksum = Self.checksum(bytes)
            for k in 0..<4 { bytes[4 + k] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * k)) }
            return bytes
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
        self.init(interval: interval)
        history = History(
            newest: state.newest, lastRecomputation: state.lastRecomputation, region: state.region.flatMap(region))
    }

    /// `state(in:)` for any way to identify a region.
    func state(identify: (Region) -> RegionID?) -> State? {
        guard let history else { return nil }
        return State(
            newest: history.newest, lastRecomputation: history.lastRecomputation,
            region: history.region.flatMap(identify))
    }
}
