import Hereabouts

/// Why bytes cannot be restored as a desk.
public enum DeskSnapshotError: Error, Hashable, Sendable {
    /// The bytes do not begin as a snapshot does.
    case notASnapshot
    /// The bytes are of a version that is not known here.
    case unsupportedVersion
    /// The checksum does not match: the bytes are truncated or damaged.
    case damaged
    /// The checksum matches, but no desk has such a state, or none within these limits.
    case inconsistent
    /// It was taken with another atlas, or with a version of this library that did not say which; see `OtherAtlas`.
    case otherAtlas
    /// The configuration is none that a desk can have; see `Desk.Configuration`.
    case invalidConfiguration
    /// The atlas is damaged where a lookup reads it. An atlas that was validated as a whole never gives this.
    case atlas(AtlasError)
}

extension DeskSnapshotError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .notASnapshot: "the bytes are not a snapshot of a desk"
        case .unsupportedVersion: "the snapshot is of a version that is not known here"
        case .damaged: "the snapshot is truncated or damaged"
        case .inconsistent: "the snapshot contradicts itself or the limits"
        case .otherAtlas: "the snapshot was taken with another atlas"
        case .invalidConfiguration: "\(DeskError.invalidConfiguration)"
        case .atlas(let error): "the atlas \(error.predicate)"
        }
    }
}

/// What must be kept of a device over a restart: its pace and its regions, nothing finer (law 5).
public struct DeviceState: Hashable, Sendable {
    /// The size of the byte form: the tick since which the region stands (8, little-endian), and `Pacer.State`.
    public static let byteCount = 8 + Pacer.State.byteCount

    /// The tick at which the standing region was answered first.
    public let since: Timestamp
    /// The pace.
    public let pacer: Pacer.State

    init(since: Timestamp, pacer: Pacer.State) { (self.since, self.pacer) = (since, pacer) }

    /// Reads the byte form; nil for anything that `bytes` cannot have made.
    public init?(bytes: some Collection<UInt8>) {
        var reader = ByteReader(Array(bytes)[...])
        guard let since = reader.integer(Int64.self), let rest = reader.take(Pacer.State.byteCount), reader.isAtEnd,
            let pacer = try? Pacer.State(bytes: rest), since <= pacer.tick.nanosecondsSince1970
        else { return nil }
        self.init(since: Timestamp(nanosecondsSince1970: since), pacer: pacer)
    }

    /// With those regions alone that count in another atlas.
    package func taken(by states: inout StateImport) -> DeviceState {
        DeviceState(since: since, pacer: states.state(pacer))
    }

    /// The byte form, `byteCount` long.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: since.nanosecondsSince1970)
        return bytes + pacer.bytes
    }
}

/// The byte form of a desk, little-endian:
///
/// ```text
/// offset  size  content
///      0     8  "HEREDESK"
///      8     4  version, 5
///     12     4  1 if everything is paused, 2 if quietly, else 0
///     16     8  interval in nanoseconds
///     24     8  the latest moment, signed nanoseconds since 1970
///     32     8  fingerprint of the atlas; since version 5
///     40     8  number of numbers of the ticks that are over
///                 each: 8, signed: up to which all are; the last before the present run, and the last of it; how often the clock
///                 was followed back lately, and when; of each run that has ended the first and the last
///            8  number of pauses, the one that lasts last
///                 each: begin and end (8 each), of one that lasts the largest number
///            8  number of devices
///                 each: name, 1 and its DeviceState (184) or 0
///            8  number of consumers, those that links derive from first
///                 each: name; 1 if explicit sessions are required, else 0; the name it derives from, or an empty one;
///                 number of purposes (8), the purposes
///            8  number of relations
///                 each: consumer and device by position (8 each); flags (1): 1 denied, 2 was in use, 4 in background,
///                 8 an answer is held; always (1); tick of the held answer, the view's beginning and the tick of its first
///                 answer (8 each, the least number for none); four lists: denied purposes, lapsed
///                 purposes, grants, requests, each a number (8) and its entries
///    end     8  checksum: XXH64, seed 0, of everything before
/// ```
///
/// A text is its length in bytes (4) and UTF-8. It holds names, decisions, regions and ticks. Fixes, sightings of
/// beacons, monitors with their circles, and what waits to be delivered are in memory alone.
extension Desk {
    private static let magic = Array("HEREDESK".utf8)
    private static let version: UInt32 = 5

    /// All that must survive a restart, as bytes. Desks with the same state give the same bytes.
    ///
    /// Take one before the deliveries that it covers are sent, and after each of the owner's decisions.
    ///
    /// - Parameter includesDevices: whether devices have their states; without, they begin anew, or from
    ///   `restore(_:ofDevice:)`.
    /// - Complexity: linear in devices, consumers and relations.
    public func snapshot(includesDevices: Bool = true) -> [UInt8] {
        var writer = SnapshotWriter()
        writer.bytes = Self.magic
        writer.append(Self.version)
        writer.append(UInt32(pauseMode?.rawValue ?? 0))
        writer.append(interval)
        writer.append(now.nanosecondsSince1970)
        writer.append(atlas.fingerprint)
        let numbers = ticks.numbers(lastTick: lastTick)
        writer.append(UInt64(numbers.count))
        for number in numbers { writer.append(number) }
        writer.append(UInt64(pauses.count))
        for pause in pauses {
            writer.append(pause.begin.nanosecondsSince1970)
            writer.append(pause.end?.nanosecondsSince1970 ?? .max)
        }
        let live = devices.live
        writer.append(UInt64(live.count))
        for index in live {
            writer.append(devices.name(index))
            let state = includesDevices ? state(ofDevice: index) : nil
            writer.append(UInt8(state == nil ? 0 : 1))
            writer.bytes += state?.bytes ?? []
        }
        let order =
            consumers.indices.filter { consumers[$0]?.parent == nil && consumers[$0] != nil }
            + consumers.indices.filter { consumers[$0]?.parent != nil }
        writer.append(UInt64(order.count))
        for index in order { write(consumers[index], to: &writer) }
        var places: [Int: Int] = [:], devicePlaces: [Int: Int] = [:]
        for (place, index) in order.enumerated() { places[index] = place }
        for (place, index) in live.enumerated() { devicePlaces[index] = place }
        let kept = relations.compactMap(\.self)
        writer.append(UInt64(kept.count))
        for relation in kept {
            writer.append(UInt64(places[relation.consumer] ?? 0))
            writer.append(UInt64(devicePlaces[relation.device] ?? 0))
            write(relation, to: &writer)
        }
        writer.append(XXH64.hash(writer.bytes))
        return writer.bytes
    }

    /// What to keep of one device; nil before its first answer. For who stores devices one by one.
    public func state(ofDevice index: Int) -> DeviceState? {
        guard devices.isLive(index), let pacer = devices.pacers.state(index, in: atlas) else { return nil }
        return DeviceState(since: devices.since(index), pacer: pacer)
    }

    /// Restores a device that is new to this desk.
    ///
    /// - Parameters:
    ///   - state: what `state(ofDevice:)` gave.
    ///   - index: the device.
    ///   - fingerprint: of the atlas that it was kept with; `snapshotFingerprint` of a desk that was restored with it.
    ///   - otherAtlas: what becomes of a state of another atlas.
    /// - Throws: `DeskError.unknownDevice`; `.atlas(.otherAtlas)`; or damage in an atlas that was not validated as a whole.
    public mutating func restore(
        _ state: DeviceState, ofDevice index: Int, from fingerprint: UInt64?, otherAtlas: OtherAtlas = .refused
    ) throws(DeskError) {
        var states: StateImport
        do throws(AtlasError) { states = try StateImport(from: fingerprint, to: atlas, otherAtlas) } catch {
            throw .atlas(error)
        }
        try restore(state, ofDevice: index, &states)
    }

    private mutating func restore(
        _ state: DeviceState, ofDevice index: Int, _ states: inout StateImport
    ) throws(DeskError) {
        guard devices.isLive(index) else { throw .unknownDevice }
        do throws(AtlasError) {
            try devices.restore(index, states.state(state.pacer), since: state.since, in: atlas)
        } catch {
            throw .atlas(error)
        }
        let tick = state.pacer.tick
        // It may have been kept before this desk's own state was.
        ticks.note(tick, lastTick: lastTick)
        if tick > now.advanced(by: clockTolerance) { devices.stepBack(index, to: lastTick, now: now) }
    }

    /// Restores a desk. Background sessions are held as before; of other sessions, consumers have
    /// `Configuration.grace` to return. Streams and monitors are opened anew by those who want them.
    ///
    /// - Parameters:
    ///   - snapshot: what `snapshot()` gave.
    ///   - configuration: how it works from now on. With another interval than before, ticks are those of the new one.
    ///   - atlas: the atlas from now on.
    ///   - otherAtlas: what becomes of a snapshot that was taken with another atlas. Decisions, requests and sessions are kept
    ///     wherever it is not refused.
    ///   - now: the present; one before the snapshot's is taken as `advance(to:answered:)` takes it.
    /// - Throws: `DeskSnapshotError` for any bytes that `snapshot()` cannot have made, and for another atlas.
    public init(
        snapshot: some Collection<UInt8>, configuration: Configuration = Configuration(), atlas: Atlas,
        otherAtlas: OtherAtlas = .refused, now: Timestamp
    ) throws(DeskSnapshotError) {
        let snapshot = Array(snapshot)
        guard snapshot.starts(with: Self.magic) else { throw .notASnapshot }
        guard snapshot.count >= Self.magic.count + 8 else { throw .damaged }
        let end = snapshot.count - 8
        var checksum = ByteReader(snapshot[end...])
        guard checksum.integer(UInt64.self) == XXH64.hash(Array(snapshot[..<end])) else { throw .damaged }
        var header = ByteReader(snapshot[Self.magic.count..<end])
        guard let version = header.integer(UInt32.self), (1...Self.version).contains(version) else {
            throw .unsupportedVersion
        }
        guard let mode = header.integer(UInt32.self), mode <= (version < 3 ? 1 : 2),
            let interval = header.integer(Int64.self),
            interval > 0,
            let last = header.integer(Int64.self)
        else { throw .inconsistent }
        let moment = Timestamp(nanosecondsSince1970: last)
        let fingerprint = version > 4 ? header.integer(UInt64.self) : nil
        guard version < 5 || fingerprint != nil else { throw .inconsistent }
        var states: StateImport
        do throws(AtlasError) { states = try StateImport(from: fingerprint, to: atlas, otherAtlas) } catch {
            throw error == .otherAtlas ? .otherAtlas : .atlas(error)
        }
        var reader = SnapshotReader(header, version: version)
        do throws(DeskError) {
            try self.init(configuration: configuration, atlas: atlas, now: max(now, moment))
        } catch { throw .invalidConfiguration }
        snapshotFingerprint = fingerprint
        do throws(DeskError) {
            try readTicks(&reader, moment, now)
            try readPauses(&reader, PauseMode(rawValue: UInt8(mode)))
            try readDevices(&reader, &states)
            try readConsumers(&reader)
            try readRelations(&reader)
        } catch {
            if case .atlas(let damage) = error { throw .atlas(damage) }
            throw .inconsistent
        }
        guard reader.isAtEnd else { throw .inconsistent }
        followBack(to: now)
    }

    // MARK: Parts

    private func write(_ entry: ConsumerEntry?, to writer: inout SnapshotWriter) {
        guard let consumer = entry?.consumer else { return }
        writer.append(consumer.id.rawValue)
        writer.append(UInt8(consumer.requiresExplicitServiceSession ? 1 : 0))
        writer.append(consumer.derivedFrom?.rawValue ?? "")
        writer.append(consumer.fullAccuracyPurposes)
    }

    private func write(_ relation: Relation, to writer: inout SnapshotWriter) {
        let flags: [Bool] = [
            relation.isDenied, relation.isInUse, relation.isInBackground, relation.held != nil,
        ]
        writer.append(UInt8(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }))
        writer.append(relation.always.rawValue)
        writer.append(relation.held?.nanosecondsSince1970 ?? 0)
        writer.append(relation.begin?.nanosecondsSince1970 ?? .min)
        writer.append(relation.firstTick?.nanosecondsSince1970 ?? .min)
        writer.append(relation.deniedPurposes)
        writer.append(relation.lapsedPurposes)
        writer.append(UInt64(relation.layers.count))
        for layer in relation.layers {
            writer.append(layer.purpose?.rawValue ?? "")
            writer.append(layer.status.rawValue)
            writer.append(layer.expiry?.nanosecondsSince1970 ?? .max)
            writer.append(layer.given?.nanosecondsSince1970 ?? .min)
            let flags = [layer.isForSession, layer.hasBegun, layer.permitsAlways, layer.hasExactVisitTimes]
            writer.append(UInt8(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }))
        }
        writer.append(UInt64(relation.requests.count))
        for request in relation.requests {
            switch request.kind {
            case .whenInUse: writer.append(UInt8(0))
            case .always: writer.append(UInt8(1))
            case .fullAccuracy(let purpose):
                writer.append(UInt8(2))
                writer.append(purpose.rawValue)
            }
            writer.append(request.time.nanosecondsSince1970)
        }
    }

    /// Before version 4 it was not kept which ticks are over: all up to the last, or, where the clock was ahead, to the next one.
    private mutating func readTicks(
        _ reader: inout SnapshotReader, _ moment: Timestamp, _ now: Timestamp
    ) throws(DeskError) {
        guard reader.version > 3 else {
            let last = Self.lastTick(moment, interval: interval)
            let next = Self.lastTick(now, interval: interval).advanced(by: interval)
            ticks = TickLog(lastTick: lastTick, floor: min(last, next), interval: interval)
            ticks.note(last, lastTick: last)
            return
        }
        var numbers: [Int64] = []
        for _ in 0..<(try reader.count()) { numbers.append(try reader.integer(Int64.self)) }
        guard let log = TickLog(numbers: numbers, lastTick: lastTick, interval: interval) else { throw .ended }
        ticks = log
    }

    /// Version 1 does not say when a pause began.
    private mutating func readPauses(_ reader: inout SnapshotReader, _ mode: PauseMode?) throws(DeskError) {
        if reader.version == 1 {
            if let mode { pauses = [Pause(mode: mode, begin: Timestamp(nanosecondsSince1970: .min))] }
            return
        }
        for _ in 0..<(try reader.count()) {
            let begin = try reader.integer(Int64.self), end = try reader.integer(Int64.self)
            guard begin <= end, pauseMode == nil else { throw .ended }
            pauses.append(
                Pause(
                    // How one was that has ended, nobody asks.
                    mode: mode ?? .told, begin: Timestamp(nanosecondsSince1970: begin),
                    end: end == .max ? nil : Timestamp(nanosecondsSince1970: end)))
        }
        guard pauseMode == mode else { throw .ended }
    }

    private mutating func readDevices(
        _ reader: inout SnapshotReader, _ states: inout StateImport
    ) throws(DeskError) {
        for _ in 0..<(try reader.count()) {
            let index = try addDevice(DeviceID(rawValue: try reader.text()))
            guard try reader.flag(UInt8.self) else { continue }
            guard let state = DeviceState(bytes: try reader.take(DeviceState.byteCount)) else { throw .ended }
            try restore(state, ofDevice: index, &states)
        }
    }

    private mutating func readConsumers(_ reader: inout SnapshotReader) throws(DeskError) {
        for _ in 0..<(try reader.count()) {
            var consumer = Consumer(ConsumerID(rawValue: try reader.text()))
            consumer.requiresExplicitServiceSession = try reader.flag(UInt8.self)
            let origin = try reader.text()
            consumer.derivedFrom = origin.isEmpty ? nil : ConsumerID(rawValue: origin)
            consumer.fullAccuracyPurposes = try reader.purposes()
            try addConsumer(consumer)
        }
    }

    private mutating func readRelations(_ reader: inout SnapshotReader) throws(DeskError) {
        for _ in 0..<(try reader.count()) {
            let consumer = try reader.integer(UInt64.self), device = try reader.integer(UInt64.self)
            guard consumer < UInt64(consumers.count), device < UInt64(devices.indices.count) else { throw .ended }
            let key = RelationKey(consumer: Int(consumer), device: Int(device))
            guard relationIndices[key] == nil else { throw .ended }
            let index = try relation(key.consumer, key.device)
            var relation = Relation(consumer: key.consumer, device: key.device)
            try read(&relation, &reader)
            relations[index] = relation
            updateWatch(key.device)
            relations[index]?.lapse(at: now, heldLifetime: heldLifetime)
            schedule(index)
        }
    }

    private func read(_ relation: inout Relation, _ reader: inout SnapshotReader) throws(DeskError) {
        guard let entry = consumers[relation.consumer] else { throw .ended }
        let flags = try reader.integer(UInt8.self)
        guard flags < 16, let always = Relation.Always(rawValue: try reader.integer(UInt8.self)) else { throw .ended }
        let held = Timestamp(nanosecondsSince1970: try reader.integer(Int64.self))
        // Grants of version 1 have no beginning.
        if reader.version > 1 {
            let begin = try reader.integer(Int64.self), first = try reader.integer(Int64.self)
            guard begin <= first || first == .min else { throw .ended }
            relation.begin = begin == .min ? nil : Timestamp(nanosecondsSince1970: begin)
            relation.firstTick = first == .min ? nil : Timestamp(nanosecondsSince1970: first)
        }
        relation.isDenied = flags & 1 != 0
        relation.isInBackground = flags & 4 != 0
        relation.always = always
        if flags & 8 != 0 { relation.held = held }
        if always == .offered { relation.heldRegion = devices.answer(relation.device)?.region }
        relation.deniedPurposes = try reader.purposes()
        relation.lapsedPurposes = try reader.purposes()
        for _ in 0..<(try reader.count()) {
            let purpose = PurposeKey(rawValue: try reader.text())
            guard let status = AuthorizationStatus(rawValue: try reader.integer(UInt8.self)), status.isAuthorized,
                purpose.rawValue.isEmpty || entry.consumer.fullAccuracyPurposes.contains(purpose)
            else { throw .ended }
            let expiry = try reader.integer(Int64.self)
            // Before version 3 it was not kept when a grant was given.
            let given = reader.version > 2 ? try reader.integer(Int64.self) : .min
            let flags = try reader.integer(UInt8.self)
            guard flags < 16 else { throw .ended }
            let layer = Relation.Layer(
                purpose: purpose.rawValue.isEmpty ? nil : purpose, status: status,
                given: given == .min ? nil : Timestamp(nanosecondsSince1970: given),
                expiry: expiry == .max ? nil : Timestamp(nanosecondsSince1970: expiry), isForSession: flags & 1 != 0,
                hasBegun: flags & 2 != 0, permitsAlways: flags & 4 != 0, hasExactVisitTimes: flags & 8 != 0)
            guard !relation.layers.contains(where: { $0.purpose == layer.purpose }) else { throw .ended }
            relation.layers.append(layer)
        }
        for _ in 0..<(try reader.count()) {
            let kind: Authorization.Request.Kind
            switch try reader.integer(UInt8.self) {
            case 0: kind = .whenInUse
            case 1: kind = .always
            case 2: kind = .fullAccuracy(purposeKey: PurposeKey(rawValue: try reader.text()))
            default: throw .ended
            }
            guard !relation.isRequested(kind) else { throw .ended }
            relation.requests.append(
                Authorization.Request(
                    consumer: entry.consumer.id, device: devices.id(relation.device), kind: kind,
                    time: Timestamp(nanosecondsSince1970: try reader.integer(Int64.self))))
        }
        // Whoever was in use has the grace to return.
        relation.wasInUse = flags & 2 != 0
        relation.updateUse(at: now, grace: grace)
    }
}

private struct SnapshotWriter {
    var bytes: [UInt8] = []

    mutating func append(_ number: some FixedWidthInteger) { bytes.append(littleEndian: number) }

    mutating func append(_ text: String) {
        append(UInt32(text.utf8.count))
        bytes += Array(text.utf8)
    }

    mutating func append(_ purposes: Set<PurposeKey>) {
        append(UInt64(purposes.count))
        for purpose in purposes.sorted() { append(purpose.rawValue) }
    }
}

/// Throws `DeskError.ended` where the bytes do.
private struct SnapshotReader {
    private var reader: ByteReader
    let version: UInt32

    init(_ reader: ByteReader, version: UInt32) { (self.reader, self.version) = (reader, version) }

    var isAtEnd: Bool { reader.isAtEnd }

    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws(DeskError) -> Number {
        guard let number = reader.integer(type) else { throw .ended }
        return number
    }

    mutating func flag<Number: FixedWidthInteger>(_ type: Number.Type) throws(DeskError) -> Bool {
        let number = try integer(type)
        guard number == 0 || number == 1 else { throw .ended }
        return number == 1
    }

    mutating func take(_ count: Int) throws(DeskError) -> ArraySlice<UInt8> {
        guard let bytes = reader.take(count) else { throw .ended }
        return bytes
    }

    /// A number of entries: each takes a byte or more.
    mutating func count() throws(DeskError) -> UInt64 { try integer(UInt64.self) }

    mutating func text() throws(DeskError) -> String {
        let length = try integer(UInt32.self)
        guard let text = String(validating: try take(Int(length)), as: UTF8.self) else { throw .ended }
        return text
    }

    mutating func purposes() throws(DeskError) -> Set<PurposeKey> {
        var purposes: Set<PurposeKey> = []
        for _ in 0..<(try count()) {
            guard purposes.insert(PurposeKey(rawValue: try text())).inserted else { throw .ended }
        }
        return purposes
    }
}
