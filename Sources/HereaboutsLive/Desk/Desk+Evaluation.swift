import Hereabouts

extension Desk {
    /// Why subscriptions are looked at anew.
    enum Cause { case tick, fix, decision }

    /// What a consumer may see of a device now.
    struct View {
        enum Source {
            case none
            case reduced(Region, Timestamp)
            case full(Fix)
        }

        var source = Source.none
        var diagnostics: Diagnostics = []
        /// Whether there may be a location at all.
        var isPermitted = false
        /// Whether accuracy is full.
        var isFull = false

        var key: Subscription.Key {
            switch source {
            case .none: .update(nil, fixTime: .min, diagnostics)
            case .reduced(let region, _): .update(region, fixTime: .min, diagnostics)
            case .full(let fix): .update(nil, fixTime: fix.time.nanosecondsSince1970, diagnostics)
            }
        }
    }

    // MARK: What may be seen

    /// The relation whose grants count for a consumer: a link's are those of the consumer that it derives from.
    private func granting(_ consumer: Int, _ device: Int) -> Relation? {
        let owner = consumers[consumer]?.parent ?? consumer
        return relationIndices[RelationKey(consumer: owner, device: device)].flatMap { relations[$0] }
    }

    func authorization(_ consumer: Int, _ device: Int) -> Authorization {
        let isLink = consumers[consumer]?.parent != nil
        let relation = granting(consumer, device)
        if isPaused { return Authorization(status: .denied, accuracy: .reduced) }
        var status = relation?.status ?? .notDetermined
        if status == .notDetermined, isLink { status = .restricted }
        if status == .authorizedWhenInUse, relation?.isProvisional == true { status = .authorizedAlways }
        if isLink { status = min(status, .authorizedWhenInUse) }
        return Authorization(status: status, accuracy: !isLink && relation?.hasFullAccuracy == true ? .full : .reduced)
    }

    /// Why a pair is not authorized; empty where it is.
    private func refusal(_ relation: Relation, _ entry: ConsumerEntry) -> Diagnostics {
        if isPaused { return [.authorizationDenied, .authorizationDeniedGlobally] }
        let grants = granting(relation.consumer, relation.device)
        switch grants?.status ?? .notDetermined {
        case .authorizedWhenInUse, .authorizedAlways: return []
        case .denied: return .authorizationDenied
        case .notDetermined, .restricted:
            if entry.parent != nil { return .authorizationRestricted }
            return relation.isRequested(.whenInUse) ? .authorizationRequestInProgress : .serviceSessionRequired
        }
    }

    /// What a consumer sees of a device.
    ///
    /// For reduced accuracy all of it comes from the answers at ticks, the grants, the sessions and the clock's last
    /// tick (law 1).
    ///
    /// - Parameters:
    ///   - purposes: the sessions whose purposes count.
    ///   - isPush: for a push target, which nobody's connection makes a session.
    func view(
        _ relation: Relation, desired: AccuracyAuthorization = .full, purposes: PurposeScope, isPush: Bool = false
    ) -> View {
        var view = View()
        guard let entry = consumers[relation.consumer] else { return view }
        view.diagnostics = refusal(relation, entry)
        guard view.diagnostics.isEmpty, let grants = granting(relation.consumer, relation.device) else { return view }
        let isLink = entry.parent != nil
        if entry.consumer.requiresExplicitServiceSession, relation.sessions.isEmpty, !isPush {
            view.diagnostics = .serviceSessionRequired
            return view
        }
        if isPush, grants.status < .authorizedAlways, !relation.isInUse {
            if relation.isProvisional, relation.isRequested(.always) {
                view.diagnostics = .authorizationRequestInProgress
            } else if relation.isProvisional, answer(relation) == nil {
                view.diagnostics = .locationUnavailable
            } else {
                view.diagnostics = .insufficientlyInUse
                if relation.always == .denied { view.diagnostics.insert(.alwaysAuthorizationDenied) }
            }
            return view
        }
        view.isPermitted = true
        if isLink || !grants.hasFullAccuracy { view.diagnostics.insert(.accuracyLimited) }
        if !isLink, desired == .full, let isGranted = relation.isPurposeGranted(purposes) {
            view.isFull = isGranted
            if !isGranted { view.diagnostics.insert(purposeRefusal(relation, purposes)) }
        }
        if view.isFull, let fix = devices.fix(relation.device), !isStale(devices.confirmation(relation.device)),
            grants.shows(fix.time)
        {
            view.source = .full(fix)
            if relation.rest?.isStationary == true { view.diagnostics.insert(.stationary) }
        } else if let (region, tick) = answer(relation), !isStale(tick) {
            view.source = .reduced(region, tick)
            if isAtRest(grants) { view.diagnostics.insert(.stationary) }
        } else {
            view.diagnostics.insert(.locationUnavailable)
        }
        return view
    }

    /// Why none of the purposes that sessions ask for is granted.
    private func purposeRefusal(_ relation: Relation, _ purposes: PurposeScope) -> Diagnostics {
        let isAsked = relation.sessions(purposes).contains { session in
            session.purpose.map { relation.isRequested(.fullAccuracy(purposeKey: $0)) } ?? false
        }
        return isAsked ? .authorizationRequestInProgress : .fullAccuracyDenied
    }

    /// The last answer of a device, and its tick, where it is of the consumer's view.
    func answer(_ relation: Relation) -> (region: Region, tick: Timestamp)? {
        guard let answer = devices.answer(relation.device),
            granting(relation.consumer, relation.device)?.shows(answer.tick) ?? true
        else { return nil }
        return answer
    }

    /// Whether a device's region was the same at as many ticks of the view as make it stationary.
    ///
    /// - Parameter grants: the relation whose grants count.
    private func isAtRest(_ grants: Relation) -> Bool {
        let since = max(devices.since(grants.device), grants.firstTick ?? Timestamp(nanosecondsSince1970: .min))
        return lastTick.nanoseconds(after: since) / interval + 1 >= configuration.stationaryTicks
    }

    private func diagnostics(_ relation: Relation, session number: UInt64) -> Diagnostics {
        guard let entry = consumers[relation.consumer],
            let session = relation.sessions.first(where: { $0.id == number })
        else { return [] }
        var diagnostics = refusal(relation, entry)
        guard diagnostics.isEmpty else { return diagnostics }
        if let purpose = session.purpose, !relation.isGranted(purpose) {
            let isAsked = relation.isRequested(.fullAccuracy(purposeKey: purpose))
            diagnostics.insert(isAsked ? .authorizationRequestInProgress : .fullAccuracyDenied)
        }
        if session.requirement == .always, relation.status < .authorizedAlways {
            if relation.isRequested(.always) {
                diagnostics.insert(.authorizationRequestInProgress)
            } else if !relation.isProvisional {
                diagnostics.insert(.alwaysAuthorizationDenied)
            }
        }
        return diagnostics
    }

    // MARK: Refreshing

    /// Looks at all subscriptions of a relation, and of the links that derive from it.
    mutating func refresh(_ index: Int, _ cause: Cause) {
        guard let relation = relations[index] else { return }
        for number in relation.subscriptions { refresh(subscription: number, index, cause) }
        guard cause == .decision, let links = consumers[relation.consumer]?.links else { return }
        for link in links {
            guard let other = relationIndices[RelationKey(consumer: link, device: relation.device)] else { continue }
            for number in relations[other]?.subscriptions ?? [] { refresh(subscription: number, other, cause) }
        }
    }

    private mutating func refresh(subscription number: UInt64, _ index: Int, _ cause: Cause) {
        guard let subscription = subscriptions[number], let relation = relations[index] else { return }
        let purposes = subscription.purposes
        switch subscription.kind {
        case .updates(let configuration, let desired):
            offer(view(relation, desired: desired, purposes: purposes), to: number, configuration, cause)
        case .pushes(let desired):
            hold(index)
            guard let relation = relations[index] else { return }
            offer(view(relation, desired: desired, purposes: purposes, isPush: true), to: number, .default, cause)
        case .visits: refreshVisits(number, relation, view(relation, purposes: purposes), cause)
        case .events: refreshConditions(number, relation, view(relation, purposes: purposes))
        case .diagnostics(let session):
            let diagnostics = diagnostics(relation, session: session)
            offer(.diagnostics(diagnostics), key: .diagnostics(diagnostics), to: number)
        case .authorization:
            let authorization = authorization(relation.consumer, relation.device)
            offer(.authorization(authorization), key: .authorization(authorization), to: number)
        case .requests: break
        }
    }

    /// Holds an answer for which a push target waits for the owner's decision on always, and asks, once.
    private mutating func hold(_ index: Int) {
        guard var relation = relations[index], relation.isProvisional, relation.status == .authorizedWhenInUse,
            !relation.isInUse, !isPaused, let (region, tick) = answer(relation), !isStale(tick),
            region != relation.heldRegion, let entry = consumers[relation.consumer]
        else { return }
        (relation.held, relation.heldRegion) = (tick, region)
        let isFirst = relation.always == .provisional
        if isFirst {
            relation.always = .offered
            relation.requests.append(
                Authorization.Request(
                    consumer: entry.consumer.id, device: devices.id(relation.device), kind: .always, time: now))
        }
        relations[index] = relation
        schedule(index)
        guard isFirst else { return }
        requestsChanged()
        for number in relation.subscriptions {
            if case .diagnostics = subscriptions[number]?.kind { refresh(subscription: number, index, .decision) }
        }
    }

    /// Takes the standing answers of a relation's push targets as delivered: what was held was too old.
    mutating func passOverPushes(_ index: Int) {
        guard let relation = relations[index] else { return }
        for number in relation.subscriptions {
            guard let subscription = subscriptions[number], case .pushes(let desired) = subscription.kind else {
                continue
            }
            let key = view(relation, desired: desired, purposes: subscription.purposes, isPush: true).key
            subscriptions[number]?.waiting = []
            subscriptions[number]?.waitingKey = nil
            subscriptions[number]?.takenKey = key
        }
    }

    private mutating func offer(
        _ view: View, to number: UInt64, _ configuration: LocationUpdate.LiveConfiguration, _ cause: Cause
    ) {
        guard let subscription = subscriptions[number] else { return }
        let key = view.key
        guard key != subscription.newestKey else { return }
        var fixTime: Int64?
        if case .full(let fix) = view.source {
            fixTime = fix.time.nanosecondsSince1970
            if cause != .decision, case .update(_, _, let diagnostics) = subscription.newestKey,
                diagnostics == view.diagnostics, let last = subscription.lastFixTime
            {
                // Paused while stationary, or sooner than the consumer wants.
                if diagnostics.contains(.stationary)
                    || fix.time.nanosecondsSince1970 - last < configuration.spacingNanoseconds
                {
                    return
                }
            }
        }
        subscriptions[number]?.lastFixTime = fixTime
        let isTick = cause == .tick && fixTime == nil
        offer(
            .update(LocationUpdate(location: location(view.source), diagnostics: view.diagnostics)), key: key,
            to: number, time: isTick ? lastTick : now, isSpread: isTick)
    }

    /// What is delivered of a view.
    func location(_ source: View.Source) -> Location? {
        switch source {
        case .none: nil
        case .full(let fix): Location(fix)
        case .reduced(let region, let tick):
            // The region is of this atlas; one that is damaged since has no location.
            (try? atlas.reducedLocation(of: region)).map { Location($0, tick: tick) }
        }
    }

    /// Puts an answer in the place of the one that waits; one that equals what was taken last leaves none.
    mutating func offer(
        _ content: Delivery.Content, key: Subscription.Key, to number: UInt64, time: Timestamp? = nil,
        isSpread: Bool = false
    ) {
        guard var subscription = subscriptions[number], key != subscription.newestKey else { return }
        if key == subscription.takenKey {
            (subscription.waiting, subscription.waitingKey) = ([], nil)
            subscriptions[number] = subscription
            return
        }
        let id = SubscriptionID(number: number)
        subscription.waiting = [Delivery(subscription: id, time: time ?? now, content: content)]
        subscription.waitingKey = key
        var delay: Int64 = 0
        if case .pushes = subscription.kind, isSpread, let relation = subscription.relation {
            delay = pushDelay(relation)
        }
        subscription.due = (time ?? now).advanced(by: delay)
        subscriptions[number] = subscription
        if subscription.due > now {
            deadlines.insert(.subscription(number), at: subscription.due)
        } else {
            markReady(number)
        }
    }

    /// How long after a tick a target is pushed to, in nanoseconds: a hash of its names, the same at every tick.
    private func pushDelay(_ index: Int) -> Int64 {
        guard spread > 0, let relation = relations[index], let entry = consumers[relation.consumer] else { return 0 }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: configuration.spreadKey)
        bytes += Array(entry.consumer.id.rawValue.utf8) + [0] + Array(devices.name(relation.device).utf8)
        return Int64(XXH64.hash(bytes) % UInt64(spread))
    }

    // MARK: Visits

    private mutating func refreshVisits(_ number: UInt64, _ relation: Relation, _ view: View, _ cause: Cause) {
        guard let subscription = subscriptions[number] else { return }
        guard view.isPermitted else {
            endVisits(number)
            return
        }
        let hasExactTimes = view.isFull || relation.hasExactVisitTimes
        // A reduced consumer's visits begin and end at ticks.
        guard view.isFull || cause != .fix else { return }
        let present = present(relation, view, hasExactTimes, isTold: subscription.stay != nil)
        if let stay = subscription.stay,
            stay.isExact != hasExactTimes || stay.location.accuracy == .full && !view.isFull
        {
            endVisits(number)
        } else if let stay = subscription.stay, present != .stay(stay.arrival) {
            subscriptions[number]?.stay = nil
            let end = hasExactTimes ? relation.rest?.since ?? now : devices.since(relation.device)
            let visit = Visit(
                location: stay.location, arrivalDate: stay.arrival, departureDate: max(end, stay.arrival ?? end))
            offer(visit, to: number, cause)
        }
        guard case .stay(let arrival) = present, subscriptions[number]?.stay == nil,
            let location = location(view.source)
        else { return }
        subscriptions[number]?.stay = Subscription.Stay(arrival: arrival, location: location, isExact: hasExactTimes)
        offer(Visit(location: location, arrivalDate: arrival, departureDate: nil), to: number, cause)
    }

    /// Whether a consumer sees a device stay somewhere, and since when; nil where that was before the view began.
    private enum Presence: Equatable { case none, stay(Timestamp?) }

    /// - Parameter isTold: whether the arrival of a stay was told that may be this one.
    private func present(
        _ relation: Relation, _ view: View, _ hasExactTimes: Bool, isTold: Bool
    ) -> Presence {
        let answered = answer(relation)?.tick
        if hasExactTimes {
            guard answered.map({ !isStale($0) || isTold }) ?? view.isFull, let rest = relation.rest, rest.isStationary
            else { return .none }
            return .stay(rest.hasArrived ? rest.since : nil)
        }
        guard let answered, !isStale(answered) || isTold, let grants = granting(relation.consumer, relation.device),
            isAtRest(grants)
        else { return .none }
        let since = devices.since(relation.device)
        return .stay(grants.firstTick.map { since > $0 } ?? true ? since : nil)
    }

    /// Forgets a stay, and what waits of it: nothing more of it is told.
    private mutating func endVisits(_ number: UInt64) {
        subscriptions[number]?.stay = nil
        subscriptions[number]?.waiting = []
    }

    /// The departure of the stay that was told waits, and the newest arrival. Of a stay whose arrival was not taken when it
    /// ended nothing is told.
    private mutating func offer(_ visit: Visit, to number: UInt64, _ cause: Cause) {
        let waits = subscriptions[number]?.waiting.last?.content.visit
        if let waits, waits.departureDate == nil {
            subscriptions[number]?.waiting.removeLast()
            if visit.departureDate != nil { return }
        }
        let delivery = Delivery(
            subscription: SubscriptionID(number: number), time: cause == .tick ? lastTick : now, content: .visit(visit))
        subscriptions[number]?.waiting.append(delivery)
        markReady(number)
    }
}
