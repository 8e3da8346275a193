import Dialects
import Hereabouts
import HereaboutsLive

/// Takes what a subscription delivers. Called on the relay's event loop.
package protocol RelayListener: AnyObject {
    /// Whether it takes more now. What comes meanwhile waits in the desk, the newest, until `onWork` is called and it does.
    var isWritable: Bool { get }
    /// Something came: the newest. Never called from within `Relay.open`.
    func deliver(_ delivery: Delivery)
    /// The subscription was ended by the owner or the configuration; nothing comes any more.
    func end()
}

extension RelayListener {
    package var isWritable: Bool { true }
}

/// Why the relay cannot begin, or cannot do what it was asked. No case carries a position, a name or a token.
package enum RelayError: Error, Hashable, Sendable {
    case desk(DeskError)
    case store(RelayStoreError)
    /// A decision was not begun, since a restart amid it could not be told of. Everything is paused.
    case unmarked(RelayStoreError)
    /// What is kept is no desk's state.
    case state(DeskSnapshotError)
}

/// The relay's state machine: a desk, who may use it, and what must be kept. Confined to one event loop; it does no I/O but
/// through its store.
///
/// What a tick came to is kept before anybody gets it. While it cannot be kept nothing is delivered, and senders are told to
/// try again later.
package final class Relay {
    /// What a listener listens to.
    package enum Stream: Hashable, Sendable {
        case updates(reduced: Bool, configuration: LocationUpdate.LiveConfiguration = .default)
        case pushes(reduced: Bool)
        case visits
        case monitor([NamedCondition])
        case authorization
        /// The diagnostics of the session that is opened with it.
        case diagnostics(SessionRequirement)
    }

    /// A condition of a monitor, under the name that its events have.
    package struct NamedCondition: Hashable, Sendable {
        package let name: String
        package let condition: LocationMonitor.Condition
        package init(_ name: String, _ condition: LocationMonitor.Condition) {
            (self.name, self.condition) = (name, condition)
        }
    }

    /// A listener's subscription, with the explicit session that lasts as long.
    package struct Opening: Hashable, Sendable {
        package let subscription: SubscriptionID
        package let session: SessionID?
    }

    /// A consumer and a device, by their names.
    package struct Pair: Hashable, Sendable {
        package let consumer: String
        package let device: String
        package init(consumer: String, device: String) { (self.consumer, self.device) = (consumer, device) }
    }

    /// What became of senders' messages so far.
    package struct Counts: Hashable, Sendable {
        /// Messages with fixes.
        package var messages = 0
        /// Messages and parts of batches that can never be used, by reason.
        package var unusable: [Unusable: Int] = [:]
        /// Messages beyond a limit.
        package var overLimit = 0
        /// Messages that were to be sent again.
        package var retried = 0
        /// Requests without a token that holds.
        package var unauthorized = 0
    }

    package let configuration: RelayConfiguration
    package private(set) var desk: Desk
    package private(set) var tokens: TokenTable
    package private(set) var counts = Counts()
    /// What came of each device's messages, by the desk's indices.
    private var receipts: [Receipts] = []
    /// Called with a device's name and what became of a message of its, for a log: each once a day.
    package var onUnused: (String, Receipts.Outcome) -> Void = { _, _ in }
    /// When each pair was last given a location.
    package private(set) var served: [Pair: Timestamp] = [:]
    /// Grows with whatever may change what a consumer would see.
    package private(set) var revision: UInt64 = 0
    /// Called with a token that holds no more: what was opened with it is to be closed.
    package var onTokenRemoved: (Int64) -> Void = { _ in }
    /// Called when the clock was set back and is followed, for a log.
    package var onClockStep: () -> Void = {}
    /// Called when there is something for `turn` to do.
    package var onWork: () -> Void = {}

    /// How many connections and streams there are.
    package var openCounts: () -> (connections: Int, streams: Int) = { (0, 0) }

    private let store: any RelayStore
    private let clock: () -> Timestamp
    private struct Listening { let listener: any RelayListener, pair: Pair }
    private var listeners: [SubscriptionID: Listening] = [:]
    /// Subscriptions with something to take whose listeners take no more yet.
    private var stalled: Set<SubscriptionID> = []
    /// The beacons that each device named lately; in memory alone.
    private var sightings: [String: [(time: Timestamp, beacon: HereaboutsLive.BeaconSighting)]] = [:]
    /// Devices that were answered and are not kept yet.
    private var unkept: Set<Int> = []
    private var haveDecisionsChanged = false
    private var decisionsDue = Timestamp(nanosecondsSince1970: .max)
    /// Whether the store says that a decision is under way.
    private var isMarked = false
    /// Tokens that hold no more, and are yet to be removed from what is kept.
    private var unremoved: [Int64] = []
    /// Whether everything is paused because a decision may be lost that was under way when the last run ended.
    package private(set) var hasBegunPaused = false
    /// Tokens that were used for the first time on a day that is not kept yet, and when it is to be: many in one transaction.
    private var usedTokens: [Int64] = []
    private var usesDue = Timestamp(nanosecondsSince1970: .max)
    /// The present when it was asked for last.
    private var lastTime = Timestamp(nanosecondsSince1970: .min)
    /// Why what must be kept could not be; nothing is delivered meanwhile.
    package private(set) var withheld: RelayStoreError?

    /// Whether the state could be used when that was tried last, and until when this counts.
    private var health = (until: Timestamp(nanosecondsSince1970: .min), isUsable: true)

    /// In nanoseconds.
    private static let healthLifetime: Int64 = 10_000_000_000
    /// States of devices in one transaction.
    private static let keptAtOnce = 4096
    private static let fewPairs = 256
    /// A beacon counts as seen for so long after it was named, in nanoseconds.
    private static let sightingLifetime: Int64 = 30_000_000_000
    /// Sessions and requests are kept so long after they changed, in nanoseconds; decisions of the owner at once.
    private static let keepingDelay: Int64 = 1_000_000_000

    /// Takes up what the store has, as far as the configuration still knows it.
    ///
    /// - Parameter clock: the present; called on the event loop.
    /// - Throws: `RelayError`.
    package init(
        configuration: RelayConfiguration, atlas: Atlas, store: any RelayStore, clock: @escaping () -> Timestamp
    ) throws(RelayError) {
        (self.configuration, self.store, self.clock) = (configuration, store, clock)
        var options = Desk.Configuration()
        (options.interval, options.stale) = (configuration.interval, configuration.stale)
        options.spread = min(options.spread, configuration.interval / 2)
        // As many as the server has streams: a family may look all at once.
        options.limits.subscriptionsPerRelation = RelayServer.Limits.streams
        options.spreadKey = try Self.kept { () throws(RelayStoreError) in try store.spreadKey() }
        tokens = TokenTable(try Self.kept { () throws(RelayStoreError) in try store.loadTokens() })
        let decisions = try Self.kept { () throws(RelayStoreError) in try store.loadDecisions() }
        desk = try Self.desk(decisions, options, atlas, clock())
        try Self.kept { () throws(RelayStoreError) in
            try Self.takeOver(store, from: desk.snapshotFingerprint, to: atlas)
        }
        try Self.attempt { () throws(DeskError) in try reconcile() }
        var gone: [String] = []
        for (name, state) in try Self.kept({ () throws(RelayStoreError) in try store.loadDevices() }) {
            guard let index = desk.deviceIndex(DeviceID(name)) else {
                gone.append(name)
                continue
            }
            try Self.attempt { () throws(DeskError) in
                try desk.restore(state, ofDevice: index, from: atlas.fingerprint)
            }
        }
        if !gone.isEmpty { try Self.kept { () throws(RelayStoreError) in try store.forgetDevices(gone) } }
        if let mode = store.loadMark() {
            hasBegunPaused = true
            if desk.pauseMode == nil { try Self.attempt { () throws(DeskError) in try desk.pause(mode, at: clock()) } }
        }
        try Self.kept { () throws(RelayStoreError) in try keepDecisions() }
        // From here on it can be written without more room.
        try Self.kept { () throws(RelayStoreError) in try store.keepMark(nil) }
    }

    // MARK: Time

    /// The present.
    package var now: Timestamp { clock() }

    /// Lets happen what is due, keeps it, and delivers it.
    ///
    /// - Returns: when it is to be called again, at the latest.
    package func turn() -> Timestamp {
        advance()
        keep()
        if withheld == nil { deliver() }
        let retry = withheld == nil ? decisionsDue : now.advanced(by: Self.keepingDelay)
        return min(desk.nextEvent, retry, usesDue, endTokens())
    }

    private func advance() {
        let time = now, isEarlier = time < lastTime
        let steps = isEarlier ? desk.clockStepCount : 0
        lastTime = time
        let hasEvent = time >= desk.nextEvent
        // Damage in an atlas that was validated as a whole does not come; a device in it keeps its answer.
        try? desk.advance(to: time) { unkept.insert($0.device) }
        if hasEvent {
            revision += 1
            changed(at: time)
        }
        if isEarlier, desk.clockStepCount > steps { followClockBack() }
    }

    /// The clock was ahead: what is of a time to come is of now.
    private func followClockBack() {
        let time = now
        sightings = sightings.mapValues { $0.filter { $0.time <= time } }
        // Of a token that was made meanwhile nobody knows when it is to end.
        for token in tokens.tokens where token.end != nil && token.madeDay.map({ $0 > time.day }) ?? false {
            endToken(token.id)
        }
        if !usedTokens.isEmpty { usesDue = time }
        revision += 1
        decisionsDue = min(decisionsDue, time)
        haveDecisionsChanged = true
        onClockStep()
    }

    private func changed(at time: Timestamp) {
        haveDecisionsChanged = true
        decisionsDue = min(decisionsDue, time.advanced(by: Self.keepingDelay))
    }

    /// Keeps what ticks came to, and decisions that are due.
    private func keep() {
        if usesDue <= now { keepUses() }
        guard !unkept.isEmpty || !unremoved.isEmpty || haveDecisionsChanged && decisionsDue <= now else { return }
        do throws(RelayStoreError) {
            // In pieces: what they take of memory is bounded, and nothing is delivered before the last.
            while !unkept.isEmpty {
                let piece = Array(unkept.prefix(Self.keptAtOnce))
                try store.keepDevices(
                    piece.compactMap { index in
                        desk.deviceID(index).flatMap { device in
                            desk.state(ofDevice: index).map { (name: device.rawValue, state: $0) }
                        }
                    })
                unkept.subtract(piece)
            }
            if decisionsDue <= now || !unremoved.isEmpty { try keepDecisions() }
            withheld = nil
        } catch {
            withheld = error
        }
    }

    /// A day that cannot be kept is noted again after the next start.
    private func keepUses() {
        try? store.noteUse(ofTokens: usedTokens, day: now.day)
        (usedTokens, usesDue) = ([], Timestamp(nanosecondsSince1970: .max))
    }

    private func keepDecisions() throws(RelayStoreError) {
        for id in unremoved { _ = try store.removeToken(id) }
        unremoved = []
        try store.keepDecisions(desk.snapshot(includesDevices: false))
        haveDecisionsChanged = false
        decisionsDue = Timestamp(nanosecondsSince1970: .max)
        guard isMarked else { return }
        try store.keepMark(nil)
        isMarked = false
    }

    /// Says of a decision that it is under way, before anything of it holds: if what it came to cannot be kept, the next start
    /// begins paused. Where it cannot be said, everything is paused now.
    private func mark() throws(RelayError) {
        do throws(RelayStoreError) {
            try store.keepMark(desk.pauseMode ?? .quiet)
            isMarked = true
        } catch {
            if desk.pauseMode == nil {
                try Self.attempt { () throws(DeskError) in try desk.pause(.told, at: now) }
                changed(at: now)
                onWork()
            }
            throw .unmarked(error)
        }
    }

    private func deliver() {
        let ready = desk.takeReady() + stalled
        stalled = []
        for id in ready {
            guard let listening = listeners[id] else { continue }
            if desk.isOpen(id), !listening.listener.isWritable {
                stalled.insert(id)
                continue
            }
            for delivery in desk.take(id) {
                if case .update(let update) = delivery.content, update.location != nil { served[listening.pair] = now }
                listening.listener.deliver(delivery)
            }
            if !desk.isOpen(id), listeners.removeValue(forKey: id) != nil { listening.listener.end() }
        }
    }

    /// Keeps everything, and ends all listeners: the end of the relay.
    package func close() {
        advance()
        keep()
        if withheld == nil { deliver() }
        keepUses()
        try? keepDecisions()
        for listening in listeners.values { listening.listener.end() }
        listeners = [:]
        store.close()
    }

    // MARK: Health

    /// Whether what must be kept is where it was, and can be written. It is tried once in ten seconds: anybody may ask.
    package func isHealthy() -> Bool {
        let time = now
        if time >= health.until || time < health.until.advanced(by: -Self.healthLifetime) {
            health = (time.advanced(by: Self.healthLifetime), store.isInPlace && (try? keepDecisions()) != nil)
        }
        return health.isUsable && withheld == nil
    }

    /// How the relay does.
    package func status() -> RelayStatus {
        var status = RelayStatus()
        (status.isStateUsable, status.isPaused) = (isHealthy(), desk.pauseMode != nil)
        (status.devices, status.consumers) = (configuration.devices.count, configuration.consumers.count)
        (status.tokens, status.requests) = (tokens.tokens.count, desk.requests.count)
        status.grants = desk.standings.reduce(0) { $0 + $1.grants.count }
        (status.connections, status.streams) = openCounts()
        (status.messages, status.overLimit, status.retried) = (counts.messages, counts.overLimit, counts.retried)
        (status.unusable, status.unauthorized) = (counts.unusable.values.reduce(0, +), counts.unauthorized)
        status.lastTick = desk.lastTick.nanosecondsSince1970 / 1_000_000_000
        return status
    }

    // MARK: Senders

    /// Takes what a device's sender sent.
    ///
    /// - Returns: what the sender is to be told: `received` itself, or `retryLater`.
    package func report(_ received: Received, from device: String, by program: SenderProgram) -> Received {
        let outcomes = take(received, from: device)
        note(outcomes, from: device, by: program)
        return outcomes == [.failed] ? .retryLater : received
    }

    /// Takes fixes of a device, from who does not send messages.
    package func report(_ fixes: [ClaimedFix], from device: String, by program: SenderProgram) {
        _ = report(.fixes(ReceivedFixes(fixes: fixes, unusable: [:])), from: device, by: program)
    }

    /// What came of a device's messages; nil where none came.
    package func receipts(of device: String) -> Receipts? {
        desk.deviceIndex(DeviceID(device)).flatMap {
            $0 < receipts.count && receipts[$0].last != nil ? receipts[$0] : nil
        }
    }

    private func withReceipts<Result>(of device: String, _ body: (inout Receipts) -> Result) -> Result? {
        guard let index = desk.deviceIndex(DeviceID(device)) else { return nil }
        while receipts.count <= index { receipts.append(Receipts()) }
        return body(&receipts[index])
    }

    private func note(_ outcomes: [Receipts.Outcome], from device: String, by program: SenderProgram) {
        let time = now
        for outcome in withReceipts(of: device, { $0.note(outcomes, at: time, from: program) }) ?? [] {
            onUnused(device, outcome)
        }
        // The owner's page shows them.
        revision += 1
        onWork()
    }

    private func take(_ received: Received, from device: String) -> [Receipts.Outcome] {
        switch received {
        case .fixes(let batch):
            counts.messages += 1
            for (reason, count) in batch.unusable { counts.unusable[reason, default: 0] += count }
            let unusable = batch.unusable.sorted { $0.key.rawValue < $1.key.rawValue }
                .flatMap { Array(repeating: Receipts.Outcome.unusable($0.key), count: $0.value) }
            let outcomes = take(batch.fixes, from: device)
            return outcomes == [.failed] ? outcomes : unusable + outcomes
        case .sighting(let sighting):
            guard isOfPhoneThatCounts(sighting.phone, device) else { return [.otherPhone] }
            guard let uuid = BeaconUUID(sighting.uuid) else { return [.unusable(.noBeacon)] }
            let beacon = HereaboutsLive.BeaconSighting(
                uuid: uuid, major: sighting.major, minor: sighting.minor, accuracy: sighting.distance)
            advance()
            guard withheld == nil, report(beacon, from: device) else { return failed() }
            hear(sighting.phone, device, isUsed: true)
            counts.messages += 1
            return [.noted]
        case .unusable(let reason):
            counts.unusable[reason, default: 0] += 1
            return [.unusable(reason)]
        case .overLimit:
            counts.overLimit += 1
            return [.overLimit]
        case .retryLater: return failed()
        }
    }

    /// What became of each fix; one `failed` if they are to be sent again later.
    private func take(_ fixes: [ClaimedFix], from device: String) -> [Receipts.Outcome] {
        advance()
        guard withheld == nil, let index = desk.deviceIndex(DeviceID(device)) else { return failed() }
        return fixes.map { claimed in
            guard isOfPhoneThatCounts(claimed.phone, device) else { return .otherPhone }
            do throws(DeskError) {
                let fix = claimed.fix(receivedAt: now)
                let reception = try desk.report(fix, confirmed: claimed.confirmation, fromDevice: index, at: now)
                hear(claimed.phone, device, isUsed: reception == .kept)
                switch reception {
                case .kept: return .used
                case .late: return .late
                case .future: return .ahead
                case .paused: return .paused
                }
            } catch {
                // Its coordinate was validated before; damage in the atlas is the tick's, not the fix's.
                return .used
            }
        }
    }

    private func isOfPhoneThatCounts(_ phone: OwnTracksPhone?, _ device: String) -> Bool {
        // Of a pause nothing is remembered.
        guard let phone, desk.pauseMode == nil else { return true }
        let time = now, silence = 2 * Pacer.nanoseconds(in: configuration.interval)
        return withReceipts(of: device) { $0.admits(phone, at: time, silence: silence) } ?? true
    }

    private func hear(_ phone: OwnTracksPhone?, _ device: String, isUsed: Bool) {
        guard let phone, desk.pauseMode == nil else { return }
        let time = now
        _ = withReceipts(of: device) { $0.hear(phone, at: time, isUsed: isUsed) }
    }

    /// Takes a beacon that a device sees, with those that it named shortly before: apps send one at a time.
    private func report(_ beacon: HereaboutsLive.BeaconSighting, from device: String) -> Bool {
        if desk.pauseMode != nil { return true }
        let cutoff = now.advanced(by: -Self.sightingLifetime)
        var seen = (sightings[device] ?? []).filter { sighting in
            sighting.time > cutoff
                && (sighting.beacon.uuid, sighting.beacon.major, sighting.beacon.minor)
                    != (beacon.uuid, beacon.major, beacon.minor)
        }
        seen.append((now, beacon))
        seen = seen.suffix(desk.configuration.limits.beacons)
        sightings[device] = seen
        return (try? desk.report(beacons: seen.map(\.beacon), from: DeviceID(device), at: now)) != nil
    }

    private func failed() -> [Receipts.Outcome] {
        counts.retried += 1
        return [.failed]
    }

    /// Counts a request without a token that holds.
    package func countUnauthorized() { counts.unauthorized += 1 }

    // MARK: Consumers

    /// A device of the configuration.
    package func device(_ name: String) -> RelayConfiguration.Device? { configuration.device(name) }

    /// A consumer of the configuration.
    package func consumer(_ name: String) -> RelayConfiguration.Consumer? { configuration.consumer(name) }

    /// The devices that a consumer is told of: those that it is authorized for or has asked for, and the only one where there
    /// is but one; for a link those that its consumer is authorized for; for the owner, nil, all.
    package func devices(for consumer: String?) -> [RelayConfiguration.Device] {
        guard let consumer else { return configuration.devices }
        let isLink = self.consumer(consumer)?.linkOf != nil
        if !isLink, configuration.devices.count == 1 { return configuration.devices }
        let id = ConsumerID(consumer)
        let devices = try? isLink ? desk.authorizedDevices(for: id) : desk.relatedDevices(of: id)
        return (devices ?? []).compactMap { device($0.rawValue) }
    }

    /// Opens a stream: a session for as long as it is open.
    ///
    /// - Parameter purpose: of full accuracy, from the consumer's table; its explicit session is opened first, and counts for
    ///   this stream alone.
    /// - Throws: `DeskError`.
    package func open(
        _ stream: Stream, of device: String, for consumer: String, purpose: String? = nil,
        listener: any RelayListener
    ) throws(DeskError) -> Opening {
        advance()
        let opening = try begin(stream, of: device, for: consumer, purpose: purpose)
        listeners[opening.subscription] = Listening(
            listener: listener, pair: Pair(consumer: consumer, device: device))
        sessionChanged(device, consumer)
        onWork()
        return opening
    }

    private func begin(
        _ stream: Stream, of device: String, for consumer: String, purpose: String?
    ) throws(DeskError) -> Opening {
        let device = DeviceID(device), consumer = ConsumerID(consumer), purpose = purpose.map { PurposeKey($0) }
        var session: SessionID?
        if case .diagnostics(let requirement) = stream {
            session = try desk.openSession(
                of: device, for: consumer, authorization: requirement, fullAccuracyPurposeKey: purpose, at: now)
        } else if let purpose {
            session = try desk.openSession(
                of: device, for: consumer, authorization: .whenInUse, fullAccuracyPurposeKey: purpose, at: now)
        }
        let subscription: SubscriptionID
        do throws(DeskError) {
            subscription = try subscribe(stream, device, consumer, session)
        } catch {
            if let session { try? desk.closeSession(session, at: now) }
            throw error
        }
        return Opening(subscription: subscription, session: session)
    }

    private func end(_ opening: Opening) {
        try? desk.close(opening.subscription, at: now)
        if let session = opening.session { try? desk.closeSession(session, at: now) }
    }

    private func subscribe(
        _ stream: Stream, _ device: DeviceID, _ consumer: ConsumerID, _ session: SessionID?
    ) throws(DeskError) -> SubscriptionID {
        let purposes = session.map { PurposeScope.session($0) } ?? .none
        switch stream {
        case .updates(let isReduced, let configuration):
            return try desk.subscribeToUpdates(
                of: device, for: consumer, configuration: configuration,
                desiredAccuracy: isReduced ? .reduced : .full, purposes: purposes, at: now)
        case .pushes(let isReduced):
            return try desk.subscribeToPushes(
                of: device, for: consumer, desiredAccuracy: isReduced ? .reduced : .full, purposes: purposes, at: now)
        case .visits: return try desk.subscribeToVisits(of: device, for: consumer, purposes: purposes, at: now)
        case .authorization: return try desk.subscribeToAuthorization(of: device, for: consumer, at: now)
        case .monitor(let conditions):
            let id = try desk.openMonitor(of: device, for: consumer, purposes: purposes, at: now)
            do throws(DeskError) {
                for named in conditions {
                    try desk.addCondition(named.condition, identifier: named.name, to: id, at: now)
                }
            } catch {
                try? desk.close(id, at: now)
                throw error
            }
            return id
        case .diagnostics:
            guard let session else { throw .ended }
            return try desk.subscribeToDiagnostics(of: session, at: now)
        }
    }

    /// Closes a stream and its session; one that was ended changes nothing.
    package func close(_ opening: Opening) {
        guard let listening = listeners.removeValue(forKey: opening.subscription) else { return }
        advance()
        end(opening)
        sessionChanged(listening.pair.device, listening.pair.consumer)
        onWork()
    }

    /// A grant for one session must not begin twice: that it has is kept at once.
    private func sessionChanged(_ device: String, _ consumer: String) {
        revision += 1
        changed(at: now)
        guard desk.hasGrantForSession(of: DeviceID(device), for: ConsumerID(consumer)) else { return }
        decisionsDue = now
        keep()
    }

    /// What a consumer has of a device now, as a stream that is opened and closed gives it.
    ///
    /// - Parameter purpose: of full accuracy, from the consumer's table. It counts where it is granted now; else nobody is
    ///   asked for it.
    /// - Returns: nil while answers cannot be kept.
    /// - Throws: `DeskError`.
    package func current(
        of device: String, for consumer: String, purpose: String? = nil
    ) throws(DeskError) -> LocationUpdate? {
        advance()
        keep()
        guard withheld == nil else { return nil }
        let granted = try purpose.flatMap { purpose throws(DeskError) in
            try desk.isGranted(
                fullAccuracyPurposeKey: PurposeKey(purpose), of: DeviceID(device), for: ConsumerID(consumer))
                ? purpose : nil
        }
        let opening = try begin(.updates(reduced: false), of: device, for: consumer, purpose: granted)
        let deliveries = desk.take(opening.subscription)
        end(opening)
        sessionChanged(device, consumer)
        onWork()
        guard withheld == nil, case .update(var update)? = deliveries.last?.content else { return nil }
        if purpose != granted,
            try desk.authorization(of: DeviceID(device), for: ConsumerID(consumer)).status.isAuthorized
        {
            update = LocationUpdate(
                location: update.location, diagnostics: update.diagnostics.union(.fullAccuracyDenied))
        }
        if update.location != nil { served[Pair(consumer: consumer, device: device)] = now }
        return update
    }

    /// The locations of those devices that a consumer may have, for OwnTracks; reduced, by its grants.
    package func friends(
        of consumer: String, except sender: String
    ) -> [(identity: OwnTracksIdentity, location: OutgoingLocation)] {
        ((try? desk.authorizedDevices(for: ConsumerID(consumer))) ?? []).compactMap { id in
            // As the owner sees it: a phone that posts is nobody's session.
            guard id.rawValue != sender, withheld == nil, let device = configuration.device(id.rawValue),
                let location = try? desk.preview(of: id, for: ConsumerID(consumer), purposes: .none).location
            else { return nil }
            served[Pair(consumer: consumer, device: device.name)] = now
            return (
                OwnTracksIdentity(tracker: device.tracker, name: device.title),
                OutgoingLocation(location).asOf(desk.lastTick)
            )
        }
    }

    // MARK: The owner

    /// What the owner's page shows: all pairs of a consumer and a device, where these are few, else `pairs`. Ordered.
    package var shownPairs: [Pair] {
        guard configuration.consumers.count * configuration.devices.count <= Self.fewPairs else { return pairs }
        return configuration.consumers.flatMap { consumer in
            configuration.devices.map { Pair(consumer: consumer.name, device: $0.name) }
        }
    }

    /// The pairs of a consumer and a device that have anything to do with each other, those of links with what their
    /// consumers have; ordered.
    package var pairs: [Pair] {
        let standings = desk.standings.map { Pair(consumer: $0.consumer.rawValue, device: $0.device.rawValue) }
        let links = configuration.consumers.filter { $0.linkOf != nil }
        let derived = standings.flatMap { pair in
            links.filter { $0.linkOf == pair.consumer }.map { Pair(consumer: $0.name, device: pair.device) }
        }
        return Set(standings + derived).sorted { ($0.consumer, $0.device) < ($1.consumer, $1.device) }
    }

    /// Carries out a decision of the owner, and keeps it.
    ///
    /// - Throws: `RelayError`: what the desk said; or that it could not be kept, though it is in force.
    package func decide<Result>(_ body: (inout Desk, Timestamp) throws(DeskError) -> Result) throws(RelayError)
        -> Result
    {
        advance()
        try mark()
        revision += 1
        let pauseBefore = desk.pauseMode
        let result = try Self.attempt { () throws(DeskError) in try body(&desk, now) }
        // Nothing from before a pause that is told is put together with what comes after it.
        if desk.pauseMode != pauseBefore, pauseBefore == .told || desk.isPaused { sightings = [:] }
        armPushes()
        defer { onWork() }
        // What cannot be kept now is tried again.
        changed(at: now)
        try Self.kept { () throws(RelayStoreError) in try keepDecisions() }
        return result
    }

    /// Makes a token; its text is given once, here.
    ///
    /// - Parameter seconds: how long it holds; nil for no end.
    package func addToken(
        _ holder: KeptToken.Holder, for seconds: Int64? = nil
    ) throws(RelayError) -> (id: Int64, text: String) {
        let token = Token(), day = now.day
        let end = seconds.map { seconds in
            let (end, overflow) = (now.nanosecondsSince1970 / 1_000_000_000).addingReportingOverflow(seconds)
            return overflow ? .max : end
        }
        let id = try Self.kept { () throws(RelayStoreError) in
            try store.addToken(holder, digest: token.digest, madeDay: day, end: end)
        }
        tokens.add(KeptToken(id: id, holder: holder, digest: token.digest, madeDay: day, end: end))
        onWork()
        return (id, token.text)
    }

    /// The token that a presented text is, where it holds; nil for any other text.
    package func token(of text: some Collection<UInt8>) -> KeptToken? {
        guard let token = tokens.token(of: text),
            token.end.map({ $0 > now.nanosecondsSince1970 / 1_000_000_000 }) ?? true
        else { return nil }
        if tokens.noteUse(of: token, day: now.day) {
            if usedTokens.isEmpty { usesDue = now.advanced(by: Pacer.nanoseconds(in: configuration.interval)) }
            usedTokens.append(token.id)
        }
        return token
    }

    /// Whose token a presented text is; nil for any other text.
    package func holder(of text: some Collection<UInt8>) -> KeptToken.Holder? { token(of: text)?.holder }

    /// Removes the tokens that hold no more, with what was opened by them.
    ///
    /// - Returns: the moment of the next.
    private func endTokens() -> Timestamp {
        let seconds = now.nanosecondsSince1970 / 1_000_000_000
        while let end = tokens.nextEnd, end <= seconds {
            for token in tokens.tokens where token.end.map({ $0 <= seconds }) ?? false {
                endToken(token.id)
            }
        }
        return tokens.nextEnd.flatMap { Timestamp(secondsSince1970: $0) } ?? Timestamp(nanosecondsSince1970: .max)
    }

    private func endToken(_ id: Int64) {
        _ = tokens.remove(id)
        onTokenRemoved(id)
        unremoved.append(id)
    }

    /// All that is kept, at this moment, as the bytes of a file.
    package func backup() throws(RelayError) -> [UInt8] {
        advance()
        keep()
        keepUses()
        return try Self.kept { () throws(RelayStoreError) in
            try keepDecisions()
            return try store.backup()
        }
    }

    /// Removes a token, which holds no more from now on; false where there is none.
    ///
    /// - Throws: `RelayError`: it could not be removed from what is kept.
    package func removeToken(_ id: Int64) throws(RelayError) -> Bool {
        try mark()
        let isKnown = tokens.remove(id)
        onTokenRemoved(id)
        if isKnown { unremoved.append(id) }
        try Self.kept { () throws(RelayStoreError) in try keepDecisions() }
        return isKnown
    }

    // MARK: Beginning

    private static func desk(
        _ snapshot: [UInt8]?, _ options: Desk.Configuration, _ atlas: Atlas, _ now: Timestamp
    ) throws(RelayError) -> Desk {
        guard let snapshot else {
            return try attempt { () throws(DeskError) in try Desk(configuration: options, atlas: atlas, now: now) }
        }
        do throws(DeskSnapshotError) {
            return try Desk(
                snapshot: snapshot, configuration: options, atlas: atlas, otherAtlas: .keepingPaces, now: now)
        } catch {
            throw .state(error)
        }
    }

    /// Has the devices of a store keep their paces, and forget the regions of another atlas. To be called before decisions are kept
    /// under the atlas: they say which one all of it is of.
    ///
    /// - Parameter fingerprint: of the atlas that the decisions were kept with; nil where they do not say.
    package static func takeOver(
        _ store: any RelayStore, from fingerprint: UInt64?, to atlas: Atlas
    ) throws(RelayStoreError) {
        // It refuses none.
        guard var states = try? StateImport(from: fingerprint, to: atlas, .keepingPaces), !states.isWhole else {
            return
        }
        let devices = try store.loadDevices().map { (name: $0.name, state: $0.state.taken(by: &states)) }
        for start in stride(from: 0, to: devices.count, by: keptAtOnce) {
            try store.keepDevices(Array(devices[start..<min(devices.count, start + keptAtOnce)]))
        }
    }

    private static func attempt<Result>(_ body: () throws(DeskError) -> Result) throws(RelayError) -> Result {
        do throws(DeskError) { return try body() } catch { throw .desk(error) }
    }

    private static func kept<Result>(_ body: () throws(RelayStoreError) -> Result) throws(RelayError) -> Result {
        do throws(RelayStoreError) { return try body() } catch { throw .store(error) }
    }

    /// Makes the desk's devices and consumers those of the configuration.
    private func reconcile() throws(DeskError) {
        for id in desk.allDevices where device(id.rawValue) == nil { try desk.removeDevice(id) }
        for device in configuration.devices where desk.deviceIndex(DeviceID(device.name)) == nil {
            try desk.addDevice(DeviceID(device.name))
        }
        for consumer in desk.allConsumers where self.consumer(consumer.id.rawValue) == nil {
            // A link goes with the consumer it derives from.
            try? desk.removeConsumer(consumer.id)
        }
        // A link derives from a consumer that is there.
        let ordered =
            configuration.consumers.filter { $0.linkOf == nil } + configuration.consumers.filter { $0.linkOf != nil }
        for consumer in ordered {
            let known = Set(desk.allConsumers.map(\.id))
            let value = Consumer(
                ConsumerID(consumer.name), fullAccuracyPurposes: Set(consumer.purposes.keys.map { PurposeKey($0) }),
                requiresExplicitServiceSession: consumer.requiresExplicitSession,
                derivedFrom: consumer.linkOf.map { ConsumerID($0) })
            if known.contains(value.id) {
                try desk.updateConsumer(value, at: now)
            } else {
                try desk.addConsumer(value)
            }
        }
        armPushes()
    }

    /// Pushes begin by the configuration, which is the owner's.
    private func armPushes() {
        for consumer in configuration.consumers {
            for push in consumer.pushes {
                try? desk.armBackgroundSession(of: DeviceID(push.device), for: ConsumerID(consumer.name), at: now)
            }
        }
    }
}

extension Timestamp {
    /// Days since 1970, in UTC.
    var day: Int64 {
        let second = nanosecondsSince1970 / 1_000_000_000
        return (second - (second % 86_400 + 86_400) % 86_400) / 86_400
    }
}
