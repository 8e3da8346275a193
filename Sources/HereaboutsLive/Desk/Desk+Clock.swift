import Hereabouts

/// A clock that was wrong.
extension Desk {
    /// How often the clock was followed back, since this desk began.
    package var clockStepCount: Int { ticks.stepBackCount }

    /// A clock that is set back by more than this was ahead, in nanoseconds. Smaller steps are waited for.
    var clockTolerance: Int64 { interval.addingReportingOverflow(300_000_000_000).partialValue }

    /// What must be kept of the ticks that are over, beside devices that are stored one by one; see `restoreTicks(_:)`.
    package var tickNumbers: [Int64] { ticks.numbers(lastTick: lastTick) }

    /// Takes up the ticks that were over when another desk ended, before its devices are restored.
    ///
    /// - Parameter numbers: what `tickNumbers` gave; nil of a desk of an earlier version, whose devices then are answered from
    ///   the tick after the next on: it is not known whether the next was.
    /// - Returns: false for numbers that no desk can have given.
    package mutating func restoreTicks(_ numbers: [Int64]?) -> Bool {
        guard let numbers else {
            ticks = TickLog(lastTick: lastTick, floor: lastTick.advanced(by: interval), interval: interval)
            return true
        }
        guard let log = TickLog(numbers: numbers, lastTick: lastTick, interval: interval) else { return false }
        ticks = log
        return true
    }

    /// Follows a clock that was far ahead until now, if it was.
    mutating func followBack(to time: Timestamp) {
        if time < now.advanced(by: -clockTolerance), ticks.mayStepBack(to: time) { stepBack(to: time) }
    }

    /// Devices that were answered in those ticks to come go on at the clock's next tick that is not over. What was granted
    /// meanwhile is as of now; what lapsed has lapsed.
    private mutating func stepBack(to time: Timestamp) {
        let last = Self.lastTick(time, interval: interval)
        ticks.stepBack(from: lastTick, to: last, at: time)
        let before = ticks.last(before: time)
        (now, lastTick) = (time, last)
        devices.stepBack(to: last, now: now)
        stepBackPauses(to: before)
        sightings = sightings.filter { $0.value.time <= now }
        deadlines.removeAll()
        for index in relations.indices where relations[index] != nil {
            relations[index]?.stepBack(to: now, lastTick: last, grace: grace)
            schedule(index)
        }
        for number in subscriptions.keys {
            subscriptions[number]?.lastFixTime = nil
            subscriptions[number]?.stay = nil
            guard let due = subscriptions[number]?.due else { continue }
            if due > now { subscriptions[number]?.due = now }
            if subscriptions[number]?.waiting.isEmpty == false { markReady(number) }
        }
        for index in relations.indices { refresh(index, .decision) }
    }

    /// A pause that began in the time to come began, by this clock, after the last tick before it.
    private mutating func stepBackPauses(to before: Timestamp) {
        guard let last = pauses.last, pauses.contains(where: { $0.begin > now }) else { return }
        if last.end == nil { pauses.removeLast() }
        // Nothing of this time is ever used.
        pauses.append(Pause(mode: last.mode, begin: min(before, now), end: last.end == nil ? nil : now))
    }
}

extension Relation {
    /// Has what is of a time to come be of now.
    fileprivate mutating func stepBack(to now: Timestamp, lastTick: Timestamp, grace: Int64) {
        for place in layers.indices {
            if let given = layers[place].given, given > now {
                layers[place].given = now
                layers[place].expiry = layers[place].expiry.map { now.advanced(by: $0.nanoseconds(after: given)) }
            }
            layers[place].graceEnd = layers[place].graceEnd.map { min($0, now.advanced(by: grace)) }
        }
        graceEnd = graceEnd.map { min($0, now.advanced(by: grace)) }
        begin = begin.map { min($0, now) }
        if let firstTick, firstTick > lastTick { self.firstTick = nil }
        held = held.map { min($0, lastTick) }
        (rest, scheduled) = (nil, nil)
        requests = requests.map {
            Authorization.Request(consumer: $0.consumer, device: $0.device, kind: $0.kind, time: min($0.time, now))
        }
    }
}
