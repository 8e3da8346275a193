import Hereabouts

extension Desk {
    /// Adds a condition to a monitor, in place of the one with the same identifier. Its state is delivered at once
    /// unless it is the assumed one, and then whenever it changes.
    ///
    /// One that is over the limit or cannot be monitored is not added: an event says so.
    ///
    /// - Throws: `DeskError`: the monitor is closed, or the identifier is too long.
    public mutating func addCondition(
        _ condition: LocationMonitor.Condition, identifier: String,
        assuming state: LocationMonitor.Event.State? = nil, to monitor: SubscriptionID, at time: Timestamp
    ) throws(DeskError) {
        try validate(name: identifier)
        try advance(to: time)
        guard let subscription = subscriptions[monitor.number], subscription.kind == .events,
            let index = subscription.relation, let relation = relations[index]
        else { throw .ended }
        subscriptions[monitor.number]?.conditions.removeAll { $0.identifier == identifier }
        var refusal: Diagnostics = []
        if !isSupported(condition) {
            refusal = .conditionUnsupported
        } else if conditionCount(of: relation.consumer) >= configuration.limits.conditions {
            refusal = .conditionLimitExceeded
        }
        guard refusal.isEmpty else {
            offer(
                LocationMonitor.Event(
                    identifier: identifier, state: .unmonitored, date: now, beacons: [], diagnostics: refusal),
                to: monitor.number)
            return
        }
        subscriptions[monitor.number]?.conditions.append(
            Subscription.WatchedCondition(
                identifier: identifier, condition: condition, state: state ?? .unmonitored))
        refresh(index, .decision)
    }

    /// Removes a condition from a monitor; an event of it that waits is dropped.
    ///
    /// - Throws: `DeskError.ended`: the monitor is closed.
    public mutating func removeCondition(
        identifier: String, from monitor: SubscriptionID, at time: Timestamp
    ) throws(DeskError) {
        try advance(to: time)
        guard subscriptions[monitor.number]?.kind == .events else { throw .ended }
        subscriptions[monitor.number]?.conditions.removeAll { $0.identifier == identifier }
        subscriptions[monitor.number]?.waiting.removeAll { $0.identifier == identifier }
    }

    /// The identifiers of a monitor's conditions, in the order in which they were added; none of one that is closed.
    public func conditionIdentifiers(of monitor: SubscriptionID) -> [String] {
        subscriptions[monitor.number]?.conditions.map(\.identifier) ?? []
    }

    /// What a monitor knows of a condition; nil where it has none with the identifier.
    public func record(for identifier: String, of monitor: SubscriptionID) -> LocationMonitor.Record? {
        subscriptions[monitor.number]?.conditions.first { $0.identifier == identifier }.map {
            LocationMonitor.Record(condition: $0.condition, lastEvent: $0.lastEvent)
        }
    }

    private func conditionCount(of consumer: Int) -> Int {
        (consumers[consumer]?.relations ?? []).reduce(0) { count, index in
            count
                + (relations[index]?.subscriptions ?? []).reduce(0) { $0 + (subscriptions[$1]?.conditions.count ?? 0) }
        }
    }

    private func isSupported(_ condition: LocationMonitor.Condition) -> Bool {
        switch condition {
        case .circle(let circle):
            (try? circle.center.validate()) != nil && circle.radius > 0 && circle.radius <= 1_000_000
        case .region(let region): ((try? atlas.region(withID: region.region)) ?? nil) != nil
        case .country(let condition): (try? atlas.countries())?.contains(condition.country) == true
        case .beacon(let beacon): beacon.major != nil || beacon.minor == nil
        }
    }

    mutating func refreshConditions(_ number: UInt64, _ relation: Relation, _ view: View) {
        guard let conditions = subscriptions[number]?.conditions else { return }
        let region: ReducedLocation?
        if view.isPermitted, let (standing, tick) = answer(relation), !isStale(tick) {
            region = location(.reduced(standing, tick))?.reduced
        } else {
            region = nil
        }
        for (place, watched) in conditions.enumerated() {
            let (state, diagnostics, beacons) = state(of: watched.condition, relation, view, region)
            guard
                state != watched.state || diagnostics != watched.diagnostics
                    || beacons.first?.isSameBeacon(as: watched.nearest) == false
            else { continue }
            let isAssumed =
                watched.state == state && watched.diagnostics.isEmpty && diagnostics.isEmpty
                && watched.nearest == nil && beacons.isEmpty
            subscriptions[number]?.conditions[place].state = state
            subscriptions[number]?.conditions[place].diagnostics = diagnostics
            subscriptions[number]?.conditions[place].nearest = beacons.first
            if isAssumed { continue }
            var date = now
            switch watched.condition {
            case .region, .country: date = lastTick
            case .circle, .beacon: break
            }
            let event = LocationMonitor.Event(
                identifier: watched.identifier, state: state, date: date, beacons: beacons, diagnostics: diagnostics)
            subscriptions[number]?.conditions[place].lastEvent = event
            offer(event, to: number)
        }
    }

    private func state(
        of condition: LocationMonitor.Condition, _ relation: Relation, _ view: View, _ published: ReducedLocation?
    ) -> (LocationMonitor.Event.State, Diagnostics, [BeaconSighting]) {
        guard view.isPermitted else { return (.unknown, view.diagnostics, []) }
        func found(_ isSatisfied: Bool) -> (LocationMonitor.Event.State, Diagnostics, [BeaconSighting]) {
            (isSatisfied ? .satisfied : .unsatisfied, [], [])
        }
        switch condition {
        case .region(let condition):
            guard let published else { return (.unknown, .locationUnavailable, []) }
            return found(published.region == condition.region)
        case .country(let condition):
            guard let published else { return (.unknown, .locationUnavailable, []) }
            return found(published.country == condition.country)
        case .circle(let circle):
            guard view.isFull else { return (.unknown, .accuracyLimited, []) }
            guard case .full(let fix) = view.source else { return (.unknown, .locationUnavailable, []) }
            return found(circle.contains(fix.coordinate))
        case .beacon(let condition):
            guard view.isFull else { return (.unknown, .accuracyLimited, []) }
            let seen = sightings[relation.device].flatMap { relation.shows($0.time) ? $0.beacons : nil } ?? []
            let beacons = seen.filter(condition.matches)
            return (beacons.isEmpty ? .unsatisfied : .satisfied, [], beacons)
        }
    }

    /// Puts an event with those that wait, in place of one of the same condition.
    private mutating func offer(_ event: LocationMonitor.Event, to number: UInt64) {
        let id = SubscriptionID(number: number)
        subscriptions[number]?.waiting.removeAll { $0.identifier == event.identifier }
        // Refused conditions are not counted elsewhere.
        let limit = 2 * configuration.limits.conditions
        if let count = subscriptions[number]?.waiting.count, count >= limit {
            subscriptions[number]?.waiting.removeFirst(count - limit + 1)
        }
        subscriptions[number]?.waiting.append(Delivery(subscription: id, time: now, content: .event(event)))
        markReady(number)
    }
}

extension Delivery {
    /// Of an event, its condition's.
    fileprivate var identifier: String? {
        if case .event(let event) = content { event.identifier } else { nil }
    }
}

extension BeaconSighting {
    fileprivate func isSameBeacon(as other: BeaconSighting?) -> Bool {
        other.map { $0.uuid == uuid && $0.major == major && $0.minor == minor } ?? false
    }
}

extension CircularGeographicCondition {
    /// Whether a position lies in the circle, on a sphere of the mean radius 6,371,008.8 m (IUGG): distances err by at
    /// most 0.6 %.
    func contains(_ coordinate: Coordinate) -> Bool {
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: coordinate.latitude)
        let (centerSine, centerCosine) = Trigonometry.sineAndCosine(degrees: center.latitude)
        let east = (coordinate.longitude - center.longitude).remainder(dividingBy: 360)
        let eastSine = Trigonometry.sineAndCosine(degrees: east / 2).sine
        let (north, outward) = (sine - centerSine, cosine - centerCosine)
        let chordSquared = north * north + outward * outward + 4 * cosine * centerCosine * eastSine * eastSine
        // The chord of an arc: 2 sin(arc / 2).
        let degrees = radius / 6_371_008.8 / Trigonometry.radiansPerDegree
        let chord = 2 * Trigonometry.sineAndCosine(degrees: degrees / 2).sine
        return chordSquared <= chord * chord
    }
}
