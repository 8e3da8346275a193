import Hereabouts

extension Desk {
    // MARK: Devices

    /// How many devices there are.
    public var deviceCount: Int { devices.count }

    /// Adds a device.
    ///
    /// - Returns: its index, which is its own until it is removed.
    /// - Throws: `DeskError`: an invalid or taken name, or the limit.
    @discardableResult
    public mutating func addDevice(_ id: DeviceID) throws(DeskError) -> Int {
        let name = id.rawValue
        try validate(name: name)
        guard devices.index(of: name) == nil else { throw .nameTaken }
        guard devices.count < configuration.limits.devices else { throw .limitExceeded(.devices) }
        return devices.add(name)
    }

    /// The index of a device; nil for an unknown name.
    public func deviceIndex(_ id: DeviceID) -> Int? { devices.index(of: id) }

    /// The hash of a name with these bytes.
    package static func hash(ofUTF8 name: UnsafeBufferPointer<UInt8>) -> UInt64 { unsafe NameTable.hash(of: name) }

    /// Prefetches what fixes of devices need whose names have these hashes.
    package func prefetch(_ hashes: UnsafeBufferPointer<UInt64>) { unsafe devices.prefetch(hashes) }

    /// The device whose name has these bytes, which are UTF-8; added where it is new.
    ///
    /// - Parameter hash: the name's, where it is known.
    /// - Throws: as `addDevice(_:)`.
    package mutating func deviceIndex(
        addingUTF8 name: UnsafeBufferPointer<UInt8>, hash: UInt64? = nil
    ) throws(DeskError) -> Int {
        assert(unsafe hash == nil || hash == NameTable.hash(of: name))
        let hash = unsafe hash ?? NameTable.hash(of: name)
        if let index = unsafe devices.index(of: name, hash: hash) { return index }
        guard isValid(nameByteCount: name.count) else { throw .invalidName }
        guard devices.count < configuration.limits.devices else { throw .limitExceeded(.devices) }
        return unsafe devices.add(name, hash: hash)
    }

    /// Calls a function with the bytes of a device's name, which it must not keep; nil where there is no device with this
    /// index.
    package func withDeviceName<Result>(
        _ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        devices.isLive(index) ? unsafe devices.withName(index, body) : nil
    }

    /// The identifier of a device; nil where there is none with this index.
    public func deviceID(_ index: Int) -> DeviceID? {
        devices.isLive(index) ? devices.id(index) : nil
    }

    /// Removes a device, and all that consumers had of it.
    ///
    /// - Throws: `DeskError.unknownDevice`.
    /// - Complexity: linear in the devices whose fix waits for its tick.
    public mutating func removeDevice(_ id: DeviceID) throws(DeskError) {
        let index = try device(id)
        for relation in relationsOfDevice[index] ?? [] { removeRelation(relation) }
        relationsOfDevice[index] = nil
        sightings[index] = nil
        devices.remove(index)
    }

    /// Removes devices that were last answered at or before a moment, have sent nothing since, and with which no
    /// consumer has anything to do. No device gains an answer by it: answers come at ticks alone.
    ///
    /// - Returns: how many were removed.
    /// - Complexity: linear in the number of devices.
    @discardableResult
    public mutating func forgetDevices(silentSince cutoff: Timestamp) -> Int {
        let before = devices.count
        for index in devices.indices
        where devices.isLive(index) && !devices.hasFix(index) && relationsOfDevice[index] == nil {
            if let tick = devices.pacers.tick(index), tick > cutoff { continue }
            devices.remove(index)
        }
        return before - devices.count
    }

    /// Takes a fix of a device.
    ///
    /// Consumers with full accuracy have it at once. Reduced consumers have what the next tick makes of the newest one.
    /// A fix that comes after its tick, by at most an interval, counts for the next one, if its own tick had none.
    ///
    /// - Parameters:
    ///   - fix: where and when. A time in the future by at most `Configuration.futureTolerance` is taken for the
    ///     present.
    ///   - confirmation: a later moment at which the device says that it is still there, in the future as far as a fix may
    ///     be. The fix counts for reduced locations as one of that moment; where a newer one is kept, that one does. Consumers
    ///     with full accuracy have it with its own time.
    ///   - device: whose it is.
    ///   - time: the present.
    /// - Throws: `DeskError`: an unknown device or an invalid coordinate; damage in the atlas, if a tick was due.
    /// - Complexity: O(1), and what `advance(to:answered:)` takes; linear in the relations of a device whose grants
    ///   have full accuracy.
    @discardableResult
    public mutating func report(
        _ fix: Fix, confirmed confirmation: Timestamp? = nil, from device: DeviceID, at time: Timestamp
    ) throws(DeskError) -> Reception {
        try report(fix, confirmed: confirmation, fromDevice: try self.device(device), at: time)
    }

    /// Takes a fix of a device by its index, as `report(_:confirmed:from:at:)`.
    @discardableResult
    public mutating func report(
        _ fix: Fix, confirmed confirmation: Timestamp? = nil, fromDevice index: Int, at time: Timestamp
    ) throws(DeskError) -> Reception {
        guard devices.isLive(index) else { throw .unknownDevice }
        try advance(to: time)
        do throws(CoordinateError) {
            try fix.coordinate.validate()
        } catch {
            counts.invalid += 1
            throw .coordinate(error)
        }
        let claimed = confirmation.map { max($0, fix.time) } ?? fix.time
        guard claimed <= now.advanced(by: futureTolerance) else {
            counts.future += 1
            return .future
        }
        let moment = min(claimed, now), fixTime = min(fix.time, now)
        guard pauseMode == nil, !pauses.contains(where: { $0.contains(moment) || $0.contains(fixTime) })
        else {
            counts.paused += 1
            return .paused
        }
        // A position from before the region that stands is older than the fix that was answered with it.
        let isNewest =
            fixTime.nanosecondsSince1970 > devices.fixTime(index)
            && fixTime > devices.since(index).advanced(by: -interval)
        guard isNewest || moment > fixTime, fixTime > now.advanced(by: -max(interval, Self.oldestConfirmed)),
            moment > lastTick.advanced(by: -interval),
            devices.pacers.tick(index).map({ moment > $0 }) ?? true
        else {
            counts.late += 1
            return .late
        }
        counts.kept += 1
        guard isNewest else {
            devices.confirm(index, moment)
            return .kept
        }
        guard devices.isWatched(index) else {
            devices.keep(index, fix.coordinate, fixTime, fix.horizontalAccuracy)
            devices.confirm(index, moment)
            return .kept
        }
        let last = devices.fix(index)
        devices.keep(index, fix.coordinate, fixTime, fix.horizontalAccuracy)
        devices.confirm(index, moment)
        if let newest = devices.fix(index) { move(index, from: last, to: newest) }
        for relation in relationsOfDevice[index] ?? [] { refresh(relation, .fix) }
        return .kept
    }

    /// A place is confirmed for so long after it was fixed, in nanoseconds: 30 days. So long pauses are remembered.
    static let oldestConfirmed: Int64 = 30 * 86_400_000_000_000

    /// Looks whether a device is at rest, for each consumer that may know it.
    private mutating func move(_ device: Int, from last: Fix?, to newest: Fix) {
        for index in relationsOfDevice[device] ?? [] {
            guard let relation = relations[index], relation.needsFixes, relation.shows(newest.time) else { continue }
            if let last { relations[index]?.rest?.move(from: last, to: newest) } else { relations[index]?.rest = nil }
            if relations[index]?.rest == nil { relations[index]?.rest = Rest(newest) }
        }
    }

    /// Takes the beacons that a device sees now, in place of those it saw before. They are kept while a grant of full
    /// accuracy needs them, and no longer than `Configuration.stale`.
    ///
    /// - Throws: `DeskError`: an unknown device, or more than `Limits.beacons`; damage in the atlas, if a tick was due.
    public mutating func report(
        beacons: [BeaconSighting], from device: DeviceID, at time: Timestamp
    ) throws(DeskError) {
        let index = try self.device(device)
        guard beacons.count <= configuration.limits.beacons else { throw .limitExceeded(.beacons) }
        try advance(to: time)
        guard devices.isWatched(index), pauseMode == nil else { return }
        let sorted = beacons.sorted(by: BeaconSighting.isNearer)
        sightings[index] = sorted.isEmpty ? nil : Sightings(time: now, beacons: sorted)
        for relation in relationsOfDevice[index] ?? [] { refresh(relation, .fix) }
    }

    func device(_ id: DeviceID) throws(DeskError) -> Int {
        guard let index = devices.index(of: id) else { throw .unknownDevice }
        return index
    }

    func validate(name: String) throws(DeskError) {
        guard isValid(nameByteCount: name.utf8.count) else { throw .invalidName }
    }

    private func isValid(nameByteCount count: Int) -> Bool {
        (1...min(configuration.limits.nameByteCount, NameTable.longest)).contains(count)
    }
}
