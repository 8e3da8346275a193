import Hereabouts

extension Desk {
    // MARK: Sessions

    /// Opens an explicit session: the consumer is in use until it ends, and the owner is asked for what it needs.
    ///
    /// Sessions are layered: of those that are open the strongest goal counts, and each ends alone.
    ///
    /// - Parameters:
    ///   - device: whose location.
    ///   - consumer: who is in use.
    ///   - authorization: the goal.
    ///   - fullAccuracyPurposeKey: a purpose of the consumer's own table, for full accuracy while the session is open.
    ///   - time: the present.
    /// - Throws: `DeskError`: unknown names or purposes, a link, a limit.
    public mutating func openSession(
        of device: DeviceID, for consumer: ConsumerID, authorization: SessionRequirement,
        fullAccuracyPurposeKey: PurposeKey? = nil, at time: Timestamp
    ) throws(DeskError) -> SessionID {
        let entry = try consumerIndex(consumer)
        guard let found = consumers[entry], found.parent == nil else { throw .readOnlyLink }
        if let key = fullAccuracyPurposeKey, !found.consumer.fullAccuracyPurposes.contains(key) {
            throw .unknownPurpose
        }
        let device = try self.device(device)
        try advance(to: time)
        let index = try relation(entry, device)
        guard let count = relations[index]?.sessions.count, count < configuration.limits.sessionsPerRelation else {
            throw .limitExceeded(.sessions)
        }
        lastNumber += 1
        relations[index]?.sessions.append(
            Relation.Session(id: lastNumber, requirement: authorization, purpose: fullAccuracyPurposeKey))
        sessionRelations[lastNumber] = index
        if let key = fullAccuracyPurposeKey { relations[index]?.lapsedPurposes.remove(key) }
        relations[index]?.updateUse(at: now, grace: grace)
        let id = SessionID(number: lastNumber)
        settle(index)
        return id
    }

    /// Ends a session, and the subscriptions to its diagnostics.
    ///
    /// - Throws: `DeskError.ended`: it has ended before.
    public mutating func closeSession(_ id: SessionID, at time: Timestamp) throws(DeskError) {
        try advance(to: time)
        guard let index = sessionRelations.removeValue(forKey: id.number), let relation = relations[index] else {
            throw .ended
        }
        relations[index]?.sessions.removeAll { $0.id == id.number }
        for number in relation.subscriptions where subscriptions[number]?.kind == .diagnostics(session: id.number) {
            markReady(number)
            drop(number, index)
        }
        relations[index]?.updateUse(at: now, grace: grace)
        settle(index)
    }

    /// Begins to push to a consumer while nobody is connected, or takes that up again after a restart. As
    /// `CLBackgroundActivitySession`.
    ///
    /// It begins only while the consumer is in use; one that is held can be taken up at any time.
    ///
    /// - Throws: `DeskError`: unknown names, a link, `insufficientlyInUse`.
    public mutating func openBackgroundSession(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        let index = try actingRelation(of: device, for: consumer, at: time)
        guard let relation = relations[index], relation.isInBackground || relation.isInUse else {
            throw .insufficientlyInUse
        }
        relations[index]?.isInBackground = true
    }

    /// The relation of a consumer that is no link and of a device, at the present.
    mutating func actingRelation(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) -> Int {
        let entry = try consumerIndex(consumer)
        guard consumers[entry]?.parent == nil else { throw .readOnlyLink }
        let device = try self.device(device)
        try advance(to: time)
        return try relation(entry, device)
    }

    /// Ends a background session and its subscriptions.
    ///
    /// - Throws: `DeskError`: unknown names, or that none is held.
    public mutating func closeBackgroundSession(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        let key = RelationKey(consumer: try consumerIndex(consumer), device: try self.device(device))
        try advance(to: time)
        guard let index = relationIndices[key], let relation = relations[index], relation.isInBackground else {
            throw .ended
        }
        relations[index]?.isInBackground = false
        relations[index]?.held = nil
        relations[index]?.heldRegion = nil
        for number in relation.subscriptions {
            guard case .pushes = subscriptions[number]?.kind else { continue }
            markReady(number)
            drop(number, index)
        }
    }

    /// Whether a consumer holds a background session.
    public func hasBackgroundSession(of device: DeviceID, for consumer: ConsumerID) -> Bool {
        relationIndex(of: device, for: consumer).flatMap { relations[$0] }?.isInBackground ?? false
    }

    /// What a consumer may have of a device; of a link, what it derives from its consumer.
    ///
    /// - Throws: `DeskError`: unknown names.
    public func authorization(of device: DeviceID, for consumer: ConsumerID) throws(DeskError) -> Authorization {
        authorization(try consumerIndex(consumer), try self.device(device))
    }

    // MARK: Subscriptions

    /// Opens a stream of updates; the first is ready at once. An implicit session, in use and never more than reduced.
    ///
    /// - Parameters:
    ///   - device: whose location.
    ///   - consumer: who has it.
    ///   - configuration: a hint, for full accuracy alone.
    ///   - desiredAccuracy: the consumer has the lesser of this and what is granted.
    ///   - purposes: the sessions whose purposes count for it.
    ///   - time: the present.
    /// - Throws: `DeskError`: unknown names, or a limit.
    public mutating func subscribeToUpdates(
        of device: DeviceID, for consumer: ConsumerID, configuration: LocationUpdate.LiveConfiguration = .default,
        desiredAccuracy: AccuracyAuthorization = .full, purposes: PurposeScope = .allSessions, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        try subscribe(.updates(configuration, desiredAccuracy), device, consumer, purposes, time)
    }

    /// Opens the stream of a push target: updates of a background session, which mean no session.
    ///
    /// - Throws: `DeskError`: unknown names, a limit, or `ended`: there is no background session.
    public mutating func subscribeToPushes(
        of device: DeviceID, for consumer: ConsumerID, desiredAccuracy: AccuracyAuthorization = .full,
        purposes: PurposeScope = .allSessions, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        guard hasBackgroundSession(of: device, for: consumer) else { throw .ended }
        return try subscribe(.pushes(desiredAccuracy), device, consumer, purposes, time)
    }

    /// Opens a stream of visits. An implicit session.
    ///
    /// - Throws: `DeskError`: unknown names, or a limit.
    public mutating func subscribeToVisits(
        of device: DeviceID, for consumer: ConsumerID, purposes: PurposeScope = .allSessions, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        try subscribe(.visits, device, consumer, purposes, time)
    }

    /// Opens a monitor without conditions. An implicit session.
    ///
    /// - Throws: `DeskError`: unknown names, or a limit.
    public mutating func openMonitor(
        of device: DeviceID, for consumer: ConsumerID, purposes: PurposeScope = .allSessions, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        try subscribe(.events, device, consumer, purposes, time)
    }

    /// Opens the stream of a consumer's authorization; the present one is ready at once. No session.
    ///
    /// - Throws: `DeskError`: unknown names, or a limit.
    public mutating func subscribeToAuthorization(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        try subscribe(.authorization, device, consumer, .none, time)
    }

    /// Opens the stream of a session's diagnostics; the present ones are ready at once.
    ///
    /// - Throws: `DeskError`: the session has ended, or a limit.
    public mutating func subscribeToDiagnostics(
        of session: SessionID, at time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        try advance(to: time)
        guard let index = sessionRelations[session.number] else { throw .ended }
        return try subscribe(.diagnostics(session: session.number), index, .none)
    }

    /// Opens the owner's stream of requests; those that wait are ready at once.
    ///
    /// - Throws: `DeskError.limitExceeded`.
    public mutating func subscribeToRequests(at time: Timestamp) throws(DeskError) -> SubscriptionID {
        try advance(to: time)
        guard subscriptions.count < configuration.limits.subscriptions else { throw .limitExceeded(.subscriptions) }
        lastNumber += 1
        let number = lastNumber
        subscriptions[number] = Subscription(kind: .requests, relation: nil)
        ownerSubscriptions.append(number)
        offerRequests(to: number)
        return SubscriptionID(number: number)
    }

    /// Closes a subscription.
    ///
    /// - Throws: `DeskError.ended`: it is closed.
    public mutating func close(_ id: SubscriptionID, at time: Timestamp) throws(DeskError) {
        try advance(to: time)
        guard let subscription = subscriptions[id.number] else { throw .ended }
        guard let index = subscription.relation else {
            subscriptions[id.number] = nil
            ownerSubscriptions.removeAll { $0 == id.number }
            return
        }
        drop(id.number, index)
        relations[index]?.updateUse(at: now, grace: grace)
        settle(index)
    }

    private mutating func subscribe(
        _ kind: Subscription.Kind, _ device: DeviceID, _ consumer: ConsumerID, _ purposes: PurposeScope,
        _ time: Timestamp
    ) throws(DeskError) -> SubscriptionID {
        let entry = try consumerIndex(consumer)
        let device = try self.device(device)
        try advance(to: time)
        return try subscribe(kind, try relation(entry, device), purposes)
    }

    private mutating func subscribe(
        _ kind: Subscription.Kind, _ index: Int, _ purposes: PurposeScope
    ) throws(DeskError) -> SubscriptionID {
        guard subscriptions.count < configuration.limits.subscriptions,
            relations[index].map({ $0.subscriptions.count < configuration.limits.subscriptionsPerRelation }) ?? false
        else { throw .limitExceeded(.subscriptions) }
        lastNumber += 1
        let number = lastNumber
        subscriptions[number] = Subscription(kind: kind, relation: index, purposes: purposes)
        relations[index]?.subscriptions.append(number)
        if kind.isImplicitSession { relations[index]?.implicitSessionCount += 1 }
        relations[index]?.updateUse(at: now, grace: grace)
        settle(index)
        return SubscriptionID(number: number)
    }

    /// Takes a subscription out of its relation.
    private mutating func drop(_ number: UInt64, _ index: Int) {
        guard let subscription = subscriptions.removeValue(forKey: number) else { return }
        relations[index]?.subscriptions.removeAll { $0 == number }
        if subscription.kind.isImplicitSession { relations[index]?.implicitSessionCount -= 1 }
    }

    // MARK: Requests

    /// Asks the owner for what the open sessions need and nobody has decided.
    mutating func ask(_ index: Int) {
        guard var relation = relations[index], let entry = consumers[relation.consumer], entry.parent == nil,
            !relation.isDenied
        else { return }
        let count = relation.requests.count
        func add(_ kind: Authorization.Request.Kind) {
            guard !relation.isRequested(kind) else { return }
            relation.requests.append(
                Authorization.Request(
                    consumer: entry.consumer.id, device: devices.id(relation.device), kind: kind, time: now))
        }
        let asks =
            relation.sessions.contains { $0.requirement != .none }
            || relation.implicitSessionCount > 0 && relation.sessions.isEmpty
                && !entry.consumer.requiresExplicitServiceSession
        if relation.layers.isEmpty {
            if asks { add(.whenInUse) }
        } else {
            for purpose in relation.sessions.compactMap(\.purpose)
            where !relation.isGranted(purpose) && !relation.deniedPurposes.contains(purpose)
                && !relation.lapsedPurposes.contains(purpose)
            { add(.fullAccuracy(purposeKey: purpose)) }
            if relation.status < .authorizedAlways, relation.always == .notAsked,
                relation.sessions.contains(where: { $0.requirement == .always }),
                relation.layers.contains(where: \.permitsAlways)
            {
                relation.always = .provisional
            }
        }
        relations[index] = relation
        if relation.requests.count != count { requestsChanged() }
    }

    mutating func requestsChanged() {
        for number in ownerSubscriptions { offerRequests(to: number) }
    }

    private mutating func offerRequests(to number: UInt64) {
        let id = SubscriptionID(number: number)
        let delivery = Delivery(subscription: id, time: now, content: .requests(requests))
        subscriptions[number]?.waiting = [delivery]
        markReady(number)
    }
}
