import Hereabouts

extension Desk {
    // MARK: Consumers

    /// How many consumers there are.
    public var consumerCount: Int { consumerIndices.count }

    /// Adds a consumer.
    ///
    /// - Throws: `DeskError`: an invalid or taken name, an unknown consumer to derive from, one that is a link itself,
    ///   or a limit.
    public mutating func addConsumer(_ consumer: Consumer) throws(DeskError) {
        try validate(name: consumer.id.rawValue)
        try validate(purposes: consumer.fullAccuracyPurposes)
        guard consumerIndices[consumer.id] == nil else { throw .nameTaken }
        guard consumerIndices.count < configuration.limits.consumers else { throw .limitExceeded(.consumers) }
        var entry = ConsumerEntry(consumer: consumer)
        if let origin = consumer.derivedFrom {
            let parent = try consumerIndex(origin)
            guard consumers[parent]?.parent == nil else { throw .readOnlyLink }
            entry.parent = parent
        }
        let index = consumers.firstIndex { $0 == nil } ?? consumers.count
        if index == consumers.count { consumers.append(nil) }
        consumers[index] = entry
        consumerIndices[consumer.id] = index
        if let parent = entry.parent { consumers[parent]?.links.append(index) }
    }

    /// Removes a consumer with all its grants, sessions and subscriptions, and the links that derive from it.
    ///
    /// - Throws: `DeskError.unknownConsumer`.
    public mutating func removeConsumer(_ id: ConsumerID) throws(DeskError) {
        let index = try consumerIndex(id)
        for link in consumers[index]?.links ?? [] { removeConsumer(link) }
        if let parent = consumers[index]?.parent { consumers[parent]?.links.removeAll { $0 == index } }
        removeConsumer(index)
    }

    private mutating func removeConsumer(_ index: Int) {
        guard let entry = consumers[index] else { return }
        for relation in entry.relations { removeRelation(relation) }
        consumerIndices[entry.consumer.id] = nil
        consumers[index] = nil
    }

    // MARK: Decisions

    /// Gives a grant, in place of the one for the same purpose (or for reduced accuracy). A decision that was no
    /// before is taken back. It takes effect on open streams at once.
    ///
    /// - Throws: `DeskError`: unknown names or purposes, a link, a status that is no grant's, an invalid validity.
    public mutating func grant(
        _ grant: Grant, of device: DeviceID, to consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        let entry = try consumerIndex(consumer)
        guard consumers[entry]?.parent == nil else { throw .readOnlyLink }
        let device = try self.device(device)
        guard grant.status.isAuthorized else { throw .notAGrant }
        if let purpose = grant.fullAccuracyPurposeKey {
            guard consumers[entry]?.consumer.fullAccuracyPurposes.contains(purpose) == true else {
                throw .unknownPurpose
            }
        }
        if grant.status == .authorizedAlways, !grant.validity.permitsAlways { throw .alwaysExcluded }
        try advance(to: time)
        let expiry = try expiry(of: grant.validity)
        let index = try relation(entry, device)
        if relations[index]?.layers.isEmpty == true { beginView(index) }
        guard var relation = relations[index] else { return }
        relation.layers.removeAll { $0.purpose == grant.fullAccuracyPurposeKey }
        var layer = Relation.Layer(
            purpose: grant.fullAccuracyPurposeKey, status: grant.status, given: now, expiry: expiry,
            isForSession: grant.validity.isForSession, permitsAlways: grant.validity.permitsAlways,
            hasExactVisitTimes: grant.hasExactVisitTimes)
        if layer.isForSession, layer.purpose == nil, let graceEnd = relation.graceEnd {
            (layer.hasBegun, layer.graceEnd) = (true, graceEnd)
        }
        relation.layers.append(layer)
        relation.isDenied = false
        relation.requests.removeAll { $0.kind == .whenInUse }
        if let purpose = grant.fullAccuracyPurposeKey {
            relation.deniedPurposes.remove(purpose)
            relation.lapsedPurposes.remove(purpose)
            relation.requests.removeAll { $0.kind == .fullAccuracy(purposeKey: purpose) }
        }
        var isLate = false
        if grant.status == .authorizedAlways {
            isLate = relation.always == .offered && relation.held == nil
            relation.requests.removeAll { $0.kind == .always }
            (relation.always, relation.held, relation.heldRegion) = (.notAsked, nil, nil)
        }
        relation.updateUse(at: now, grace: grace)
        relations[index] = relation
        if isLate { passOverPushes(index) }
        settle(index)
        requestsChanged()
    }

    /// Says no, finally: all grants and requests of the pair are gone, until a new grant.
    ///
    /// - Throws: `DeskError`: unknown names, or a link.
    public mutating func revoke(
        of device: DeviceID, from consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        try decide(consumer, device, at: time) { relation in
            relation.isDenied = true
            relation.always = .notAsked
        }
    }

    /// Takes the decision back, whatever it was: the status is `notDetermined`, and the consumer may ask again.
    ///
    /// - Throws: `DeskError`: unknown names, or a link.
    public mutating func reset(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        try decide(consumer, device, at: time) { relation in
            relation.isDenied = false
            relation.deniedPurposes = []
            relation.always = .notAsked
        }
    }

    private mutating func decide(
        _ consumer: ConsumerID, _ device: DeviceID, at time: Timestamp, _ body: (inout Relation) -> Void
    ) throws(DeskError) {
        let entry = try consumerIndex(consumer)
        guard consumers[entry]?.parent == nil else { throw .readOnlyLink }
        let device = try self.device(device)
        try advance(to: time)
        let index = try relation(entry, device)
        guard var relation = relations[index] else { return }
        relation.layers = []
        relation.requests = []
        relation.lapsedPurposes = []
        (relation.held, relation.heldRegion) = (nil, nil)
        body(&relation)
        relations[index] = relation
        settle(index)
        requestsChanged()
    }

    /// Says no to one request. The rest of what was granted remains: after a no to always, in use; after a no to full
    /// accuracy, reduced.
    ///
    /// - Throws: `DeskError.ended`: there is no such request.
    public mutating func decline(_ request: Authorization.Request, at time: Timestamp) throws(DeskError) {
        try advance(to: time)
        guard let index = relationIndex(of: request.device, for: request.consumer),
            var relation = relations[index], relation.requests.contains(request)
        else { throw .ended }
        relation.requests.removeAll { $0 == request }
        switch request.kind {
        case .whenInUse: relation.isDenied = true
        case .always: (relation.always, relation.held, relation.heldRegion) = (.denied, nil, nil)
        case .fullAccuracy(let purpose): relation.deniedPurposes.insert(purpose)
        }
        relations[index] = relation
        settle(index)
        requestsChanged()
    }

    /// Grants one request.
    ///
    /// - Parameters:
    ///   - request: one of `requests`.
    ///   - validity: how long.
    ///   - time: the present.
    /// - Throws: `DeskError`: there is no such request, or the validity is not possible for it.
    public mutating func accept(
        _ request: Authorization.Request, validity: Validity, at time: Timestamp
    ) throws(DeskError) {
        guard requests.contains(request) else { throw .ended }
        let grant: Grant =
            switch request.kind {
            case .whenInUse: .reduced(validity: validity)
            case .always: .reduced(.authorizedAlways, validity: validity)
            case .fullAccuracy(let purpose): .fullAccuracy(purpose, validity: validity)
            }
        try self.grant(grant, of: request.device, to: request.consumer, at: time)
    }

    /// All requests that wait for the owner, in order of their times.
    ///
    /// - Complexity: O(n log n) in the number of relations.
    public var requests: [Authorization.Request] {
        relations.flatMap { $0?.requests ?? [] }.enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    /// Stops everything for everybody. What devices report until `resume(at:)`, and fixes whose own time lies before it, are
    /// dropped: nobody ever gets anything of a pause.
    ///
    /// Another mode than the present one ends that pause and begins another.
    public mutating func pause(_ mode: PauseMode = .told, at time: Timestamp) throws(DeskError) {
        try setPause(mode, at: time)
    }

    /// Takes up what `pause(_:at:)` stopped. After one that was told all views begin anew: consumers get what comes from now
    /// on. A quiet one ends as devices do that are switched on again.
    public mutating func resume(at time: Timestamp) throws(DeskError) { try setPause(nil, at: time) }

    private mutating func setPause(_ mode: PauseMode?, at time: Timestamp) throws(DeskError) {
        try advance(to: time)
        let before = pauseMode
        guard before != mode else { return }
        if before != nil { pauses[pauses.count - 1].end = now }
        if let mode { pauses.append(Pause(mode: mode, begin: now)) }
        guard before == .told || mode == .told else { return }
        if before == .told {
            for index in relations.indices where relations[index]?.layers.isEmpty == false { beginView(index) }
        }
        for index in relations.indices { refresh(index, .decision) }
    }

    /// Begins what a consumer sees of a device.
    private mutating func beginView(_ index: Int) {
        relations[index]?.begin = now
        relations[index]?.firstTick = nil
        relations[index]?.rest = nil
    }

    // MARK: Insides

    func validate(purposes: Set<PurposeKey>) throws(DeskError) {
        for purpose in purposes { try validate(name: purpose.rawValue) }
        guard purposes.count <= configuration.limits.purposes else { throw .limitExceeded(.purposes) }
    }

    /// What stands between a consumer and a device; nil where there is nothing, or no such name.
    func relationIndex(of device: DeviceID, for consumer: ConsumerID) -> Int? {
        guard let consumer = consumerIndices[consumer], let device = devices.index(of: device) else { return nil }
        return relationIndices[RelationKey(consumer: consumer, device: device)]
    }

    func consumerIndex(_ id: ConsumerID) throws(DeskError) -> Int {
        guard let index = consumerIndices[id] else { throw .unknownConsumer }
        return index
    }

    /// The relation of a consumer and a device, which is made if there is none.
    mutating func relation(_ consumer: Int, _ device: Int) throws(DeskError) -> Int {
        let key = RelationKey(consumer: consumer, device: device)
        if let index = relationIndices[key] { return index }
        guard relationIndices.count < configuration.limits.relations else { throw .limitExceeded(.relations) }
        let index = freeRelations.popLast() ?? relations.count
        if index == relations.count { relations.append(nil) }
        relations[index] = Relation(consumer: consumer, device: device)
        relationIndices[key] = index
        relationsOfDevice[device, default: []].append(index)
        consumers[consumer]?.relations.append(index)
        return index
    }

    mutating func removeRelation(_ index: Int) {
        guard let relation = relations[index] else { return }
        for number in relation.subscriptions {
            markReady(number)
            subscriptions[number] = nil
        }
        for session in relation.sessions { sessionRelations[session.id] = nil }
        relations[index] = nil
        relationIndices[RelationKey(consumer: relation.consumer, device: relation.device)] = nil
        consumers[relation.consumer]?.relations.removeAll { $0 == index }
        relationsOfDevice[relation.device]?.removeAll { $0 == index }
        if relationsOfDevice[relation.device]?.isEmpty == true { relationsOfDevice[relation.device] = nil }
        freeRelations.append(index)
        updateWatch(relation.device)
        if !relation.requests.isEmpty { requestsChanged() }
    }

    /// The end of a validity that begins now; nil for one that does not end at a known moment.
    private func expiry(of validity: Validity) throws(DeskError) -> Timestamp? {
        let expiry: Timestamp
        switch validity {
        case .untilRevoked, .session: return nil
        case .until(let moment): expiry = moment
        case .duration(let duration), .sessionWithin(let duration):
            guard duration > .zero else { throw .invalidValidity }
            expiry = now.advanced(by: Pacer.nanoseconds(in: duration))
        case .untilMorning(let offset):
            guard abs(offset) <= 64_800 else { throw .invalidValidity }
            let day: Int64 = 86_400_000_000_000, morning: Int64 = 4 * 3_600_000_000_000
            let local = now.nanosecondsSince1970.addingReportingOverflow(Int64(offset) * 1_000_000_000 - morning)
            guard !local.overflow else { throw .invalidValidity }
            let remainder = local.partialValue % day
            expiry = now.advanced(by: day - (remainder < 0 ? remainder + day : remainder))
        }
        guard expiry > now else { throw .invalidValidity }
        return expiry
    }

    /// Keeps whether the fixes of a device are needed by someone.
    mutating func updateWatch(_ device: Int) {
        let isWatched = (relationsOfDevice[device] ?? []).contains { relations[$0]?.needsFixes ?? false }
        guard isWatched != devices.isWatched(device) else { return }
        devices.setWatched(device, isWatched)
        if !isWatched { sightings[device] = nil }
    }

    /// After a change of a relation: asks the owner for what is needed, and refreshes what depends on it.
    mutating func settle(_ index: Int) {
        guard let relation = relations[index] else { return }
        updateWatch(relation.device)
        ask(index)
        refresh(index, .decision)
        schedule(index)
    }

    /// Puts the relation's next deadline into the queue.
    mutating func schedule(_ index: Int) {
        guard let next = relations[index]?.nextDeadline(heldLifetime: heldLifetime) else { return }
        if let scheduled = relations[index]?.scheduled, scheduled <= next { return }
        relations[index]?.scheduled = next
        deadlines.insert(.relation(index), at: next)
        guard deadlines.count > 4 * (relationIndices.count + subscriptions.count) + 64 else { return }
        // Most entries do not hold anymore.
        deadlines.removeAll()
        for (index, relation) in relations.enumerated() {
            if let time = relation?.scheduled { deadlines.insert(.relation(index), at: time) }
        }
        for (number, subscription) in subscriptions where !subscription.waiting.isEmpty && subscription.due > now {
            deadlines.insert(.subscription(number), at: subscription.due)
        }
    }
}
