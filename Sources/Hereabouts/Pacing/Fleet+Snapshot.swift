/// Why bytes cannot be restored as a fleet.
public enum FleetSnapshotError: Error, Hashable, Sendable {
    /// The bytes do not begin as a snapshot does.
    case notASnapshot
    /// The bytes are of a version that is not known here.
    case unsupportedVersion
    /// The checksum does not match: the bytes are truncated or damaged.
    case damaged
    /// The checksum matches, but no fleet has such a state.
    case inconsistent
    /// There are more devices than the capacity.
    case exceedsCapacity
    /// It was taken with another atlas, or with a version of this library that did not say which; see `OtherAtlas`.
    case otherAtlas
    /// The atlas is damaged where a lookup reads it. An atlas that was validated as a whole never gives this.
    case atlas(AtlasError)
}

extension FleetSnapshotError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .notASnapshot: "the bytes are not a snapshot of a fleet"
        case .unsupportedVersion: "the snapshot is of a version that is not known here"
        case .damaged: "the snapshot is truncated or damaged"
        case .inconsistent: "the snapshot contradicts itself"
        case .exceedsCapacity: "the snapshot has more devices than the capacity"
        case .otherAtlas: "the snapshot was taken with another atlas"
        case .atlas(let error): "the atlas \(error.predicate)"
        }
    }
}

/// The byte form of a fleet, little-endian:
///
/// ```text
/// offset  size  content
///      0     8  "HEREFLEE"
///      8     4  version, 3
///     12     4  zero
///     16     8  interval in nanoseconds, not negative
///     24     8  time before which unknown devices are not answered, signed nanoseconds since 1970
///     32     8  fingerprint of the atlas; not in version 2
///     40     8  number of devices
///     48        for each device, in the order of the keys' bytes: length of the key (4), `Pacer.State` (176), the key
///    end     8  checksum: XXH64, seed 0, of everything before
/// ```
///
/// It holds keys, regions and ticks, and nothing of a fix: one that waits for its tick is not in it.
extension Fleet {
    private static let magic = Array("HEREFLEE".utf8)
    private static let version: UInt32 = 3
    private static let headerByteCount = 40
    private static let checksumByteCount = 8

    /// All devices that were answered, as bytes. The same devices give the same bytes.
    ///
    /// - Complexity: O(n log n) in the number of devices.
    public func snapshot() -> [UInt8] {
        let records = pacers.compactMap { key, pacer in
            pacer.state(in: atlas).map { (key: Array(key.utf8), state: $0) }
        }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var bytes = Self.magic
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Pacer.nanoseconds(in: interval))
        bytes.append(littleEndian: floor.nanosecondsSince1970)
        bytes.append(littleEndian: atlas.fingerprint)
        bytes.append(littleEndian: UInt64(records.count))
        for record in records {
            bytes.append(littleEndian: UInt32(truncatingIfNeeded: record.key.count))
            bytes += record.state.bytes
            bytes += record.key
        }
        bytes.append(littleEndian: XXH64.hash(bytes))
        return bytes
    }

    /// Restores a fleet. Its devices and its interval are as they were.
    ///
    /// - Parameters:
    ///   - snapshot: what `snapshot()` gave.
    ///   - capacity: the largest number of devices from now on; not negative.
    ///   - atlas: the atlas from now on.
    ///   - otherAtlas: what becomes of a snapshot that was taken with another atlas.
    /// - Throws: `FleetSnapshotError` for any bytes that `snapshot()` cannot have made, and for another atlas.
    /// - Complexity: linear, with one lookup for each device.
    public init(
        snapshot: some Collection<UInt8>, capacity: Int, atlas: Atlas, otherAtlas: OtherAtlas = .refused
    ) throws(FleetSnapshotError) {
        precondition(capacity >= 0, "a capacity is not negative")
        let snapshot = Array(snapshot)
        guard snapshot.starts(with: Self.magic) else { throw .notASnapshot }
        guard snapshot.count >= Self.headerByteCount + Self.checksumByteCount else { throw .damaged }
        let end = snapshot.count - Self.checksumByteCount
        var checksum = ByteReader(snapshot[end...])
        // The version decides what the rest means, but the checksum is where every version has it.
        guard checksum.integer(UInt64.self) == XXH64.hash(Array(snapshot[..<end])) else { throw .damaged }
        var reader = ByteReader(snapshot[Self.magic.count..<end])
        guard let version = reader.integer(UInt32.self), (2...Self.version).contains(version) else {
            throw .unsupportedVersion
        }
        guard reader.integer(UInt32.self) == 0, let interval = reader.integer(Int64.self), interval >= 0,
            let floor = reader.integer(Int64.self)
        else { throw .inconsistent }
        let fingerprint = version > 2 ? reader.integer(UInt64.self) : nil
        guard version == 2 || fingerprint != nil, let count = reader.integer(UInt64.self) else { throw .inconsistent }
        var states: StateImport
        do throws(AtlasError) { states = try StateImport(from: fingerprint, to: atlas, otherAtlas) } catch {
            throw error == .otherAtlas ? .otherAtlas : .atlas(error)
        }
        guard count <= UInt64(capacity) else { throw .exceedsCapacity }
        self.init(interval: .nanoseconds(interval), capacity: capacity, atlas: atlas)
        self.floor = Timestamp(nanosecondsSince1970: floor)
        for _ in 0..<count {
            let (key, state) = try Self.record(&reader)
            let pacer: Pacer
            do throws(AtlasError) {
                pacer = try Pacer(interval: self.interval, state: states.state(state), in: atlas)
            } catch {
                throw .atlas(error)
            }
            guard pacers.updateValue(pacer, forKey: key) == nil else { throw .inconsistent }
        }
        guard reader.isAtEnd else { throw .inconsistent }
    }

    /// The next device's key and state.
    private static func record(_ reader: inout ByteReader) throws(FleetSnapshotError) -> (String, Pacer.State) {
        guard let length = reader.integer(UInt32.self), length <= UInt32(maximumKeyByteCount),
            let stateBytes = reader.take(Pacer.State.byteCount), let keyBytes = reader.take(Int(length)),
            let key = String(validating: keyBytes, as: UTF8.self),
            let state = try? Pacer.State(bytes: stateBytes)
        else { throw .inconsistent }
        return (key, state)
    }
}
