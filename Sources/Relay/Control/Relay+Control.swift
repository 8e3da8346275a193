import Hereabouts
import HereaboutsLive

extension Relay {
    /// Does what the owner asks. Called on the event loop.
    package func answer(_ request: ControlRequest) -> ControlAnswer {
        do throws(Refusal) {
            return try carryOut(request)
        } catch {
            return .failed(error.sentence)
        }
    }

    /// Why something was not done.
    private struct Refusal: Error {
        let sentence: String
        init(_ sentence: String) { self.sentence = sentence }
    }

    private var zone: OwnerZone { OwnerZone(configuration.zone) ?? .utc }

    private func carryOut(_ request: ControlRequest) throws(Refusal) -> ControlAnswer {
        switch request {
        case .grant(let grant):
            return try granted(grant.consumer, grant.device) { () throws(Refusal) in try carryOut(grant) }
        case .revoke(let consumer, let device):
            try validate(consumer, device)
            try decided { (desk, now) throws(DeskError) in
                try desk.revoke(of: DeviceID(device), from: ConsumerID(consumer), at: now)
            }
        case .reset(let consumer, let device):
            try validate(consumer, device)
            try decided { (desk, now) throws(DeskError) in
                try desk.reset(of: DeviceID(device), for: ConsumerID(consumer), at: now)
            }
        case .accept(let id, let validity):
            let request = try pending(id), validity = try self.validity(validity)
            return try granted(request.consumer.rawValue, request.device.rawValue) { () throws(Refusal) in
                try decided { (desk, now) throws(DeskError) in try desk.accept(request, validity: validity, at: now) }
            }
        case .decline(let id):
            let request = try pending(id)
            try decided { (desk, now) throws(DeskError) in try desk.decline(request, at: now) }
        case .requests: return .requests(desk.requests.map { entry($0) })
        case .consumers:
            return .consumers(entries, isPaused: desk.pauseMode != nil, isQuiet: desk.pauseMode == .quiet)
        case .devices: return .devices(configuration.devices.map { entry($0) }, unauthorized: counts.unauthorized)
        case .pause(let isQuiet):
            try decided { (desk, now) throws(DeskError) in try desk.pause(isQuiet ? .quiet : .told, at: now) }
        case .resume: try decided { (desk, now) throws(DeskError) in try desk.resume(at: now) }
        case .addToken(let holder, let seconds): return try makeToken(holder, for: seconds)
        case .backup: return .backup(try backupText())
        case .status: return .status(status())
        case .tokens: return .tokens(tokens.tokens.map { Self.entry($0, zone) })
        case .removeToken(let id):
            let isGone = try attempt("the token holds no more, but") { () throws(RelayError) in try removeToken(id) }
            guard isGone else { throw Refusal("there is no token \(id)") }
        }
        return .done
    }

    // MARK: Decisions

    private func carryOut(_ grant: ControlRequest.Grant) throws(Refusal) {
        try validate(grant.consumer, grant.device)
        if let purpose = grant.purpose, let purposes = consumer(grant.consumer)?.purposes, purposes[purpose] == nil {
            let known = purposes.keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw Refusal(
                "'\(grant.consumer)' has no purpose '\(purpose)' in its table"
                    + (known.isEmpty ? ", which is empty" : "; there is \(known)"))
        }
        let value = Grant(
            grant.isAlways ? .authorizedAlways : .authorizedWhenInUse,
            fullAccuracyPurposeKey: grant.purpose.map { PurposeKey($0) }, validity: try validity(grant.validity),
            hasExactVisitTimes: grant.hasExactVisitTimes)
        try decided { (desk, now) throws(DeskError) in
            try desk.grant(value, of: DeviceID(grant.device), to: ConsumerID(grant.consumer), at: now)
        }
    }

    /// What a grant came to.
    private func granted(
        _ consumer: String, _ device: String, _ grant: () throws(Refusal) -> Void
    ) throws(Refusal) -> ControlAnswer {
        let before = standing(consumer, device)?.grants ?? []
        try grant()
        guard let after = standing(consumer, device) else { return .done }
        return .granted(
            after, ended: before.filter { !after.grants.contains($0) },
            links: configuration.consumers.filter { $0.linkOf == consumer }.map(\.name),
            awaitsReport: (try? desk.awaitsReport(of: DeviceID(device), for: ConsumerID(consumer))) == true,
            isPaused: desk.pauseMode != nil)
    }

    private func standing(_ consumer: String, _ device: String) -> ControlAnswer.Standing? {
        entries.first { $0.consumer == consumer && $0.device == device }
    }

    private func validity(_ validity: ControlRequest.Validity) throws(Refusal) -> Validity {
        guard let value = zone.validity(validity, at: now) else {
            throw Refusal("the calendar has no such day or time")
        }
        return value
    }

    private func decided(_ body: (inout Desk, Timestamp) throws(DeskError) -> Void) throws(Refusal) {
        try attempt("it holds, but") { () throws(RelayError) in try decide(body) }
    }

    private func attempt<Result>(
        _ prefix: String, _ body: () throws(RelayError) -> Result
    ) throws(Refusal) -> Result {
        do throws(RelayError) {
            return try body()
        } catch {
            switch error {
            case .desk(let error): throw Refusal("\(error)")
            case .store(let error):
                throw Refusal(
                    "\(prefix) could not be kept: the state \(error). It is tried again; until that succeeds, a restart begins paused"
                )
            case .unmarked(let error):
                throw Refusal(
                    "nothing was changed, and everything is paused now: the state cannot be written: \(error)")
            case .state(let error): throw Refusal("\(error)")
            }
        }
    }

    /// Refuses unknown names, and links, which have no decisions of their own.
    private func validate(_ consumer: String, _ device: String) throws(Refusal) {
        try validate(consumer: consumer)
        try validate(device: device)
        if let origin = self.consumer(consumer)?.linkOf {
            throw Refusal("'\(consumer)' is a read-only link: it has what '\(origin)' is granted")
        }
    }

    private func validate(consumer: String) throws(Refusal) {
        if self.consumer(consumer) == nil {
            throw unknown("consumer", consumer, configuration.consumers.map(\.name))
        }
    }

    private func validate(device: String) throws(Refusal) {
        if self.device(device) == nil { throw unknown("device", device, configuration.devices.map(\.name)) }
    }

    private func unknown(_ what: String, _ name: String, _ names: [String]) -> Refusal {
        let hint = nearestName(to: name, among: names).map { "; is '\($0)' meant?" } ?? ""
        return Refusal("the configuration has no \(what) '\(name)'\(hint)")
    }

    // MARK: Requests

    private func pending(_ id: String) throws(Refusal) -> Authorization.Request {
        let found = desk.requests.filter { entry($0).id == id }
        guard let request = found.first, found.count == 1 else {
            throw Refusal("no request '\(id)' waits; see 'hereabouts requests'")
        }
        return request
    }

    private func entry(_ request: Authorization.Request) -> ControlAnswer.PendingRequest {
        let kind: String
        var purpose: String?
        switch request.kind {
        case .whenInUse: kind = "whenInUse"
        case .always: kind = "always"
        case .fullAccuracy(let key): (kind, purpose) = ("fullAccuracy", key.rawValue)
        }
        // Names have no zeros. 30 bits, and two that are the same are never mixed up: neither is found.
        let (consumer, device) = (request.consumer.rawValue, request.device.rawValue)
        let text = [consumer, device, kind, purpose ?? "", "\(request.time.nanosecondsSince1970)"]
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let id = Token.digest(of: Array(text.joined(separator: "\0").utf8)).prefix(6).map { alphabet[Int($0 & 31)] }
        return ControlAnswer.PendingRequest(
            id: String(id), consumer: consumer, device: device, kind: kind, purpose: purpose,
            reason: purpose.flatMap { self.consumer(consumer)?.purposes[$0] }, time: zone.text(request.time))
    }

    // MARK: Consumers

    private var entries: [ControlAnswer.Standing] {
        let zone = zone, standings = Dictionary(grouping: desk.standings, by: \.consumer.rawValue)
        let pairs = Dictionary(grouping: pairs, by: \.consumer)
        return configuration.consumers.flatMap { consumer in
            let known = standings[consumer.name] ?? []
            let rows = (pairs[consumer.name] ?? []).map { pair in
                let standing = known.first { $0.device.rawValue == pair.device }
                let authorization = try? desk.authorization(
                    of: DeviceID(pair.device), for: ConsumerID(consumer.name))
                var entry =
                    standing.map { Self.entry($0, zone) }
                    ?? ControlAnswer.Standing(
                        consumer: consumer.name, title: consumer.title, device: pair.device,
                        status: "\(authorization?.status ?? .notDetermined)",
                        accuracy: "\(authorization?.accuracy ?? .reduced)")
                (entry.title, entry.linkOf) = (consumer.title, consumer.linkOf)
                entry.lastServed = served[pair].map(zone.text)
                return entry
            }
            guard rows.isEmpty else { return rows }
            return [
                ControlAnswer.Standing(
                    consumer: consumer.name, title: consumer.title, linkOf: consumer.linkOf,
                    status: "\(AuthorizationStatus.notDetermined)", accuracy: "\(AccuracyAuthorization.reduced)")
            ]
        }
    }

    /// What stands between a consumer and a device, by the decisions alone, its times in a zone.
    package static func entry(_ standing: Standing, _ zone: OwnerZone) -> ControlAnswer.Standing {
        ControlAnswer.Standing(
            consumer: standing.consumer.rawValue, title: standing.consumer.rawValue, device: standing.device.rawValue,
            status: "\(standing.authorization.status)", accuracy: "\(standing.authorization.accuracy)",
            grants: standing.grants.map { entry($0, zone) },
            isInUse: standing.isInUse, isInBackground: standing.isInBackground)
    }

    private static func entry(_ grant: Standing.HeldGrant, _ zone: OwnerZone) -> ControlAnswer.HeldGrant {
        ControlAnswer.HeldGrant(
            purpose: grant.fullAccuracyPurposeKey?.rawValue, isAlways: grant.status == .authorizedAlways,
            given: grant.given.map(zone.text), until: grant.end.map(zone.text), isForSession: grant.isForSession,
            hasExactVisitTimes: grant.hasExactVisitTimes)
    }

    // MARK: Devices

    private func entry(_ device: RelayConfiguration.Device) -> ControlAnswer.Device {
        let receipts = receipts(of: device.name) ?? Receipts(), zone = zone
        return ControlAnswer.Device(
            device: device.name, title: device.title,
            last: receipts.last.map { message in
                ControlAnswer.Device.Message(
                    time: zone.text(message.time), program: message.program, outcome: message.outcome.words)
            },
            lastUsed: receipts.lastUsed.map(zone.text),
            counts: Dictionary(receipts.counts.map { ($0.key.words, $0.value) }, uniquingKeysWith: +),
            phone: receipts.phones?.used, otherPhone: receipts.phones?.other)
    }

    // MARK: Tokens

    private func makeToken(_ holder: KeptToken.Holder, for seconds: Int64?) throws(Refusal) -> ControlAnswer {
        switch holder {
        case .device(let name): try validate(device: name)
        case .consumer(let name): try validate(consumer: name)
        case .owner: break
        }
        do throws(RelayError) {
            let (id, text) = try addToken(holder, for: seconds)
            return .token(id: id, token: Token(text: text))
        } catch {
            throw Refusal("the token could not be kept")
        }
    }

    /// A token in a list, its times in a zone.
    package static func entry(_ token: KeptToken, _ zone: OwnerZone) -> ControlAnswer.TokenEntry {
        func day(_ day: Int64?) -> String? {
            day.flatMap { Timestamp(secondsSince1970: $0 * 86_400) }.map { String(OwnerZone.utc.text($0).prefix(10)) }
        }
        let (kind, name): (String, String?) =
            switch token.holder {
            case .device(let name): ("send", name)
            case .consumer(let name): ("read", name)
            case .owner: ("owner", nil)
            }
        return ControlAnswer.TokenEntry(
            id: token.id, kind: kind, name: name, made: day(token.madeDay), used: day(token.usedDay),
            until: token.end.flatMap { Timestamp(secondsSince1970: $0) }.map(zone.text))
    }

    private func backupText() throws(Refusal) -> String {
        let bytes: [UInt8]
        do throws(RelayError) { bytes = try backup() } catch { throw Refusal("the state could not be copied") }
        let text = Base64.text(bytes)
        guard text.utf8.count < ControlServer.Limits.answerBytes - 1024 else {
            throw Refusal("the state is too large for this; copy it by 'sqlite3 relay.sqlite .backup'")
        }
        return text
    }
}

extension OwnerZone {
    /// A validity from a moment on; nil for a time that there is not.
    package func validity(_ validity: ControlRequest.Validity, at now: Timestamp) -> Validity? {
        switch validity {
        case .untilRevoked: .untilRevoked
        case .session(let seconds): .sessionWithin(.seconds(seconds))
        case .duration(let seconds): .duration(.seconds(seconds))
        case .untilMorning: .untilMorning(secondsFromGMT: secondsFromGMTInTheMorning(after: now))
        case .untilTime(let hour, let minute): moment(hour: hour, minute: minute, after: now).map { .until($0) }
        case .untilDate(let year, let month, let day, let hour, let minute):
            moment(year: year, month: month, day: day, hour: hour, minute: minute).map { .until($0) }
        }
    }
}
