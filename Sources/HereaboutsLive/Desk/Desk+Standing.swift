import Hereabouts

/// What stands between a consumer and a device, for the owner.
public struct Standing: Hashable, Sendable {
    /// A grant that holds.
    public struct HeldGrant: Hashable, Sendable {
        /// The purpose of full accuracy; nil for reduced accuracy.
        public let fullAccuracyPurposeKey: PurposeKey?
        /// Under what circumstances.
        public let status: AuthorizationStatus
        /// When it was given; nil in states from before that was kept.
        public let given: Timestamp?
        /// The first moment at which it does not hold; nil where only the owner or its session ends it.
        public let end: Timestamp?
        /// Whether it ends with its session.
        public let isForSession: Bool
        /// Whether visits have exact times.
        public let hasExactVisitTimes: Bool
    }

    /// Who asks.
    public let consumer: ConsumerID
    /// What is located.
    public let device: DeviceID
    /// What the consumer may have; of a link, what it derives from its consumer.
    public let authorization: Authorization
    /// Its grants; of a link, none of its own.
    public let grants: [HeldGrant]
    /// Whether a session is open, or ended less than `Desk.Configuration.grace` ago.
    public let isInUse: Bool
    /// Whether it holds a background session.
    public let isInBackground: Bool
}

extension Desk {
    /// All pairs of a consumer and a device that a decision, a session or a subscription has brought together, ordered
    /// by their names.
    ///
    /// - Complexity: O(n log n) in their number.
    public var standings: [Standing] {
        relations.compactMap { relation in
            guard let relation, let entry = consumers[relation.consumer] else { return nil }
            return Standing(
                consumer: entry.consumer.id, device: devices.id(relation.device),
                authorization: authorization(relation.consumer, relation.device),
                grants: relation.layers.map {
                    Standing.HeldGrant(
                        fullAccuracyPurposeKey: $0.purpose, status: $0.status, given: $0.given, end: $0.end,
                        isForSession: $0.isForSession, hasExactVisitTimes: $0.hasExactVisitTimes)
                },
                isInUse: relation.isInUse, isInBackground: relation.isInBackground)
        }.sorted { ($0.consumer, $0.device) < ($1.consumer, $1.device) }
    }

    /// What a consumer's stream of updates would give now, for the owner: by the purposes of these sessions. It opens no session
    /// and asks nothing.
    ///
    /// - Throws: `DeskError`: unknown names.
    public func preview(
        of device: DeviceID, for consumer: ConsumerID, purposes: PurposeScope = .allSessions
    ) throws(DeskError) -> LocationUpdate {
        let key = RelationKey(consumer: try consumerIndex(consumer), device: try self.device(device))
        let relation =
            relationIndices[key].flatMap { relations[$0] } ?? Relation(consumer: key.consumer, device: key.device)
        let view = view(relation, purposes: purposes)
        return LocationUpdate(location: location(view.source), diagnostics: view.diagnostics)
    }

    /// Whether a purpose of full accuracy is granted to a consumer now.
    ///
    /// - Throws: `DeskError`: unknown names.
    public func isGranted(
        fullAccuracyPurposeKey purpose: PurposeKey, of device: DeviceID, for consumer: ConsumerID
    ) throws(DeskError) -> Bool {
        let key = RelationKey(consumer: try consumerIndex(consumer), device: try self.device(device))
        return !isPaused && relationIndices[key].flatMap { relations[$0] }?.isGranted(purpose) == true
    }

    /// Whether a consumer, though it is authorized, gets no location of a device before that reports again: its view has begun
    /// since.
    ///
    /// - Throws: `DeskError`: unknown names.
    public func awaitsReport(of device: DeviceID, for consumer: ConsumerID) throws(DeskError) -> Bool {
        let key = RelationKey(consumer: try consumerIndex(consumer), device: try self.device(device))
        guard let relation = relationIndices[key].flatMap({ relations[$0] }),
            authorization(key.consumer, key.device).status.isAuthorized
        else { return false }
        return answer(relation) == nil && !devices.isPending(key.device)
    }

    /// Whether a grant of a pair ends with its session ("once").
    public func hasGrantForSession(of device: DeviceID, for consumer: ConsumerID) -> Bool {
        relationIndex(of: device, for: consumer).flatMap { relations[$0] }?.layers
            .contains(where: \.isForSession) ?? false
    }

    /// The devices that a consumer is authorized for, by the grants that it or, for a link, its consumer has; ordered.
    ///
    /// - Throws: `DeskError.unknownConsumer`.
    /// - Complexity: O(n log n) in the devices with which it has anything to do.
    public func authorizedDevices(for consumer: ConsumerID) throws(DeskError) -> [DeviceID] {
        let index = try consumerIndex(consumer)
        return (consumers[consumers[index]?.parent ?? index]?.relations ?? [])
            .compactMap { relations[$0]?.device }
            .filter { authorization(index, $0).status.isAuthorized }
            .map { devices.id($0) }.sorted()
    }

    /// The devices with which a consumer has anything to do: it asked for them, or the owner decided about them; ordered.
    ///
    /// - Throws: `DeskError.unknownConsumer`.
    package func relatedDevices(of consumer: ConsumerID) throws(DeskError) -> [DeviceID] {
        (consumers[try consumerIndex(consumer)]?.relations ?? [])
            .compactMap { relations[$0].map { devices.id($0.device) } }.sorted()
    }

    /// The consumers that hold a grant, or derive from one that does. A pause changes nothing of it.
    ///
    /// - Complexity: O(n) in the relations.
    package var grantedConsumers: Set<ConsumerID> {
        Set(
            consumers.compactMap { entry in
                guard let entry else { return nil }
                let holder = entry.parent.flatMap { consumers[$0] } ?? entry
                let isGranted = holder.relations.contains { relations[$0].map { !$0.layers.isEmpty } ?? false }
                return isGranted ? entry.consumer.id : nil
            })
    }

    /// The consumers, in no particular order.
    public var allConsumers: [Consumer] { consumers.compactMap { $0?.consumer } }

    /// The devices, in no particular order.
    public var allDevices: [DeviceID] { devices.live.map { devices.id($0) } }

    /// Changes what is known of a consumer. Grants, requests and sessions for purposes that it has no more are gone; so is
    /// everything, if it derives from another consumer than before.
    ///
    /// - Throws: `DeskError`: as `addConsumer(_:)`, and `unknownConsumer`.
    public mutating func updateConsumer(_ consumer: Consumer, at time: Timestamp) throws(DeskError) {
        let index = try consumerIndex(consumer.id)
        guard let old = consumers[index]?.consumer, old != consumer else { return }
        guard consumer.derivedFrom == old.derivedFrom else {
            try removeConsumer(consumer.id)
            try addConsumer(consumer)
            return
        }
        try validate(purposes: consumer.fullAccuracyPurposes)
        try advance(to: time)
        consumers[index]?.consumer = consumer
        let gone = old.fullAccuracyPurposes.subtracting(consumer.fullAccuracyPurposes)
        for place in consumers[index]?.relations ?? [] {
            guard var relation = relations[place] else { continue }
            for session in relation.sessions where session.purpose.map(gone.contains) ?? false {
                sessionRelations[session.id] = nil
            }
            relation.sessions.removeAll { $0.purpose.map(gone.contains) ?? false }
            relation.layers.removeAll { $0.purpose.map(gone.contains) ?? false }
            relation.requests.removeAll { request in
                if case .fullAccuracy(let purpose) = request.kind { gone.contains(purpose) } else { false }
            }
            relation.deniedPurposes.subtract(gone)
            relation.lapsedPurposes.subtract(gone)
            relation.updateUse(at: now, grace: grace)
            relations[place] = relation
            settle(place)
        }
    }

    /// Begins to push to a consumer by the owner's own act, as by a configuration: no session of the consumer is needed.
    /// Where it is authorized in use alone, always is provisional: the first answer waits for the owner, who is asked.
    ///
    /// - Throws: `DeskError`: unknown names, a link, or a limit.
    public mutating func armBackgroundSession(
        of device: DeviceID, for consumer: ConsumerID, at time: Timestamp
    ) throws(DeskError) {
        let index = try actingRelation(of: device, for: consumer, at: time)
        guard var relation = relations[index] else { return }
        let mayAsk =
            relation.status == .authorizedWhenInUse && relation.always == .notAsked
            && relation.layers.contains(where: \.permitsAlways)
        // Where nothing changes nothing is looked at: a fix that waits for its turn would leave now.
        guard mayAsk || !relation.isInBackground else { return }
        relation.isInBackground = true
        if mayAsk { relation.always = .provisional }
        relations[index] = relation
        settle(index)
    }
}
