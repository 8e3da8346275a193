import Dialects
import Hereabouts
import HereaboutsLive

/// What requests mean: from a head, and later a body, to an answer or a stream. No I/O.
package final class RelayRoutes {
    private let relay: Relay
    private let reader = DialectReader()
    private let osmAnd = OsmAndReader()
    private let page = LivePage()

    /// The largest body whose sender is known only by what is in it.
    private static let unauthorizedBodyByteCount = 64 << 10

    package init(_ relay: Relay) { self.relay = relay }

    // MARK: Heads

    package func action(_ request: RelayRequest) -> RelayAction {
        let path = request.path
        if path.first == "v1" { return consumerAction(request) }
        if path == ["healthz"], request.method == .get { return health }
        let dialect = path.first.flatMap(DialectReader.Dialect.init(rawValue:))
        guard path.isEmpty || dialect != nil && path.count == 1 else { return .refuse(Self.notFound) }
        guard request.method != .other else { return .refuse(RelayAnswer(405)) }
        let mayBeOsmAnd = dialect == nil || dialect == .osmAnd
        var sender = SenderRequest(
            dialect: dialect, query: request.query, program: request.program, encoding: request.encoding)
        if let credential = credential(request) ?? Self.token(in: request.query) {
            guard case .device(let name)? = relay.holder(of: credential) else {
                return .refuse(unauthorized(.basic))
            }
            sender.device = name
            return .readBody(sender, limit: DialectLimits.bodyByteCount)
        }
        if request.method == .get, request.authorization == nil {
            let answer = dialect.map(Self.answer(toBrowserAt:)) ?? pageAnswer
            guard mayBeOsmAnd else { return .discardBody(then: .answer(answer)) }
            sender.otherwise = answer
        }
        guard mayBeOsmAnd, request.authorization == nil else { return .refuse(unauthorized(.basic)) }
        sender.dialect = .osmAnd
        return .readBody(sender, limit: Self.unauthorizedBodyByteCount)
    }

    private var health: RelayAction { .discardBody(then: .answer(RelayAnswer(relay.isHealthy() ? 204 : 503))) }

    /// What a request means at the address for monitoring, where nobody says who they are.
    package func monitoringAction(_ request: RelayRequest) -> RelayAction {
        guard request.method == .get else { return .refuse(RelayAnswer(405)) }
        switch request.path {
        case ["healthz"]: return health
        case ["metrics"]:
            return .discardBody(then: .answer(RelayAnswer(200, .metrics, Array(relay.status().metrics.utf8))))
        default: return .refuse(Self.notFound)
        }
    }

    /// The token in a sender's query, for apps whose address is all that can be set.
    private static func token(in query: [UInt8]) -> [UInt8]? {
        (try? FormText(query)).flatMap { try? $0["token", "access_token"] }
    }

    private static func answer(toBrowserAt dialect: DialectReader.Dialect) -> RelayAnswer {
        let apps =
            switch dialect {
            case .ownTracks: "OwnTracks posts"
            case .overland: "Overland posts"
            case .osmAnd: "OsmAnd, Traccar Client, GPSLogger and others like them send"
            }
        return RelayAnswer(
            200, .text, Array("Here \(apps) a device's position, with its token. There is nothing to see.\n".utf8))
    }

    private func consumerAction(_ request: RelayRequest) -> RelayAction {
        let path = Array(request.path.dropFirst())
        let query: FormText
        do throws(ExceededLimit) { query = try FormText(request.query) } catch { return .refuse(Self.badRequest) }
        if path == ["geolocate"] {
            guard request.method == .post else { return .refuse(RelayAnswer(405)) }
            return .discardBody(then: geolocate(query))
        }
        guard request.method == .get else { return .refuse(RelayAnswer(405)) }
        guard let credential = credential(request), let token = relay.token(of: credential) else {
            return .refuse(unauthorized(.bearer))
        }
        if case .consumer(let name) = token.holder, relay.consumer(name) == nil {
            return .refuse(unauthorized(.bearer))
        }
        switch (token.holder, path.first, path.count) {
        case (.device, _, _): return .refuse(unauthorized(.bearer))
        case (_, "regions", 1):
            guard let id = try? query["near"] else { return .refuse(Self.badRequest) }
            return .outlines(OutlinesRequest(near: String(decoding: id, as: UTF8.self), token: token.id))
        case (.owner, "owner", 2) where path[1] == "updates": return .stream(.views(token: token.id))
        case (.owner, "devices", 1): return .discardBody(then: .ownerDevices)
        case (.consumer(let consumer), "devices", 1): return .discardBody(then: .devices(consumer: consumer))
        case (.consumer(let consumer), "devices", 2...3):
            guard relay.device(path[1]) != nil else { return .refuse(unauthorized(.bearer)) }
            do throws(QueryProblem) {
                return try deviceAction(path, consumer, token.id, query, request.query)
            } catch {
                guard case .named(let sentence) = error else { return .refuse(Self.badRequest) }
                return .refuse(RelayAnswer(400, .text, Array("\(sentence)\n".utf8)))
            }
        default: return .refuse(unauthorized(.bearer))
        }
    }

    private enum QueryProblem: Error {
        case invalid
        /// What is wrong.
        case named(String)
    }

    private func deviceAction(
        _ path: [String], _ consumer: String, _ token: Int64, _ query: FormText, _ text: [UInt8]
    ) throws(QueryProblem) -> RelayAction {
        let device = path[1]
        let accuracy = try value(of: query, "accuracy") ?? "full"
        guard accuracy == "full" || accuracy == "reduced" else { throw .invalid }
        let isReduced = accuracy == "reduced"
        let purpose = try value(of: query, "purpose")
        if let purpose, relay.consumer(consumer)?.purposes[purpose] == nil {
            throw .named("the consumer's table has no such purpose")
        }
        if path.count == 2 {
            return .discardBody(then: .location(device: device, consumer: consumer, purpose: isReduced ? nil : purpose))
        }
        let stream: Relay.Stream
        switch path[2] {
        case "updates":
            let name = try value(of: query, "configuration") ?? "default"
            guard let configuration = LocationUpdate.LiveConfiguration.allCases.first(where: { "\($0)" == name }) else {
                throw .invalid
            }
            stream = .updates(reduced: isReduced, configuration: configuration)
        case "visits": stream = .visits
        case "authorization": stream = .authorization
        case "monitor": stream = .monitor(try conditions(text))
        case "session":
            switch try value(of: query, "authorization") ?? "whenInUse" {
            case "none": stream = .diagnostics(.none)
            case "whenInUse": stream = .diagnostics(.whenInUse)
            case "always": stream = .diagnostics(.always)
            default: throw .invalid
            }
        default: return .refuse(unauthorized(.bearer))
        }
        return .stream(.of(device: device, consumer: consumer, stream: stream, purpose: purpose, token: token))
    }

    private func value(of query: FormText, _ name: String) throws(QueryProblem) -> String? {
        do throws(Unusable) {
            return try query[name].map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw .invalid
        }
    }

    /// The conditions of a monitor: `country=`, `region=`, `circle=latitude,longitude,radius` and
    /// `beacon=uuid[,major[,minor]]`, each as often as wanted. A condition is named by its own text.
    private func conditions(_ query: [UInt8]) throws(QueryProblem) -> [Relay.NamedCondition] {
        guard let pairs = try? FormText.pairs(query) else { throw .invalid }
        var conditions: [Relay.NamedCondition] = []
        for (name, bytes) in pairs {
            let value = String(decoding: bytes, as: UTF8.self)
            let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let condition: LocationMonitor.Condition
            switch name {
            case "country": condition = .country(CountryCondition(try country(value)))
            case "region":
                guard let region = RegionID(value) else { throw .invalid }
                condition = .region(RegionCondition(region))
            case "circle":
                let numbers = parts.compactMap(Double.init)
                guard parts.count == 3, numbers.count == 3 else { throw .invalid }
                condition = .circle(
                    CircularGeographicCondition(
                        center: Coordinate(latitude: numbers[0], longitude: numbers[1]), radius: numbers[2]))
            case "beacon":
                let numbers = parts.dropFirst().compactMap { UInt16($0) }
                guard (1...3).contains(parts.count), numbers.count == parts.count - 1, let uuid = BeaconUUID(parts[0])
                else { throw .invalid }
                condition = .beacon(
                    BeaconIdentityCondition(
                        uuid: uuid, major: numbers.first, minor: numbers.count > 1 ? numbers[1] : nil))
            case "accuracy", "purpose": continue
            default: throw .invalid
            }
            conditions.append(Relay.NamedCondition("\(name)=\(value)", condition))
        }
        guard !conditions.isEmpty else { throw .invalid }
        return conditions
    }

    /// The code of a country of regions.
    private func country(_ text: String) throws(QueryProblem) -> Country {
        let countries = (try? relay.desk.atlas.countries()) ?? []
        if let country = Country(text), countries.contains(country) { return country }
        let meant = CountryNames.code(text, among: countries.map(\.code))
        throw .named(
            "a country is one of regions, by its code of two capital letters, as country="
                + (meant.map { "\($0): was that meant?" } ?? "MX"))
    }

    private func geolocate(_ query: FormText) -> BodylessRequest {
        let invalid = BodylessRequest.answer(Self.answer(GeolocateAnswer.invalidKey))
        guard let key = try? query["key"], case .consumer(let consumer)? = relay.holder(of: key),
            relay.consumer(consumer) != nil
        else {
            relay.countUnauthorized()
            return invalid
        }
        let named = (try? query["device"]).flatMap { $0.map { String(decoding: $0, as: UTF8.self) } }
        let only = relay.configuration.devices.count == 1 ? relay.configuration.devices.first?.name : nil
        guard let device = named ?? only else { return .answer(Self.answer(GeolocateAnswer.deviceMissing)) }
        guard relay.device(device) != nil else { return .answer(Self.answer(GeolocateAnswer.answer(nil))) }
        return .geolocate(device: device, consumer: consumer)
    }

    private var pageAnswer: RelayAnswer {
        var answer = RelayAnswer(200, nil, page.body)
        answer.headers = page.headers.map { [$0.name, $0.value] }
        return answer
    }

    // MARK: Bodies

    /// Takes a sender's message.
    ///
    /// - Parameter body: nil where it was longer than may be.
    package func receive(_ request: SenderRequest, _ body: [UInt8]?) -> RelayAnswer {
        var device = request.device
        // What a stranger has packed is not unpacked.
        let readable = request.encoding == .identity ? body : body.map { _ in [] }
        if device == nil, let readable, let text = osmAnd.identifier(query: request.query, body: readable),
            case .device(let name)? = relay.holder(of: text)
        {
            device = name
        }
        guard let device, relay.device(device) != nil else {
            if let answer = request.otherwise,
                readable.map({ !osmAnd.mayBeSender(query: request.query, body: $0) }) ?? false
            {
                return answer
            }
            return unauthorized(.basic)
        }
        let (dialect, received) = read(request, body)
        let told = relay.report(received, from: device, by: request.program)
        var answer = RelayAnswer(told.statusCode, dialect == .osmAnd ? nil : .json, DialectReader.answer(dialect))
        answer.isToHolder = true
        if dialect == .osmAnd, let outcome = relay.receipts(of: device)?.last?.outcome, outcome.isOfMessageAlone {
            // Apps show it, where OwnTracks and Overland would read it.
            (answer.contentType, answer.body) = (.text, Array("not used: \(outcome.words)\n".utf8))
        }
        if dialect == .ownTracks, let consumer = relay.device(device)?.consumer {
            answer.body = OwnTracksMessage.answer(friends: relay.friends(of: consumer, except: device))
        }
        return answer
    }

    /// What a sender's message is answered with while others take the room: that it is to come again.
    package func refuseForNow(_ request: SenderRequest) -> RelayAnswer {
        if let device = request.device { _ = relay.report(.retryLater, from: device, by: request.program) }
        return RelayAnswer(Received.retryLater.statusCode)
    }

    private func read(_ request: SenderRequest, _ body: [UInt8]?) -> (DialectReader.Dialect, Received) {
        let unread = request.dialect ?? .osmAnd
        guard let body else { return (unread, .overLimit(.body)) }
        do throws(BodyEncoding.Failure) {
            let content = try request.encoding.content(of: body, limit: DialectLimits.bodyByteCount)
            return reader.received(query: request.query, body: content, in: request.dialect, at: relay.now)
        } catch {
            return (unread, error == .tooLong ? .overLimit(.body) : .unusable(.encoding))
        }
    }

    /// Answers a request whose body does not matter.
    package func answer(_ request: BodylessRequest) -> RelayAnswer {
        if case .answer(let answer) = request { return answer }
        var answer = answer(toHolder: request)
        answer.isToHolder = true
        return answer
    }

    private func answer(toHolder request: BodylessRequest) -> RelayAnswer {
        switch request {
        case .answer(let answer): return answer
        case .devices(let consumer): return RelayAnswer(200, .json, RelayMessages.devices(relay, of: consumer))
        case .ownerDevices: return RelayAnswer(200, .json, RelayMessages.devices(relay, of: nil))
        case .location(let device, let consumer, let purpose):
            do throws(DeskError) {
                guard let update = try relay.current(of: device, for: consumer, purpose: purpose) else {
                    return RelayAnswer(503)
                }
                return RelayAnswer(
                    200, .geoJSON, RelayMessages.update(update, device: device, asOf: relay.desk.lastTick))
            } catch {
                return Self.refusal(error)
            }
        case .geolocate(let device, let consumer):
            do throws(DeskError) {
                guard let update = try relay.current(of: device, for: consumer) else { return RelayAnswer(503) }
                return Self.answer(GeolocateAnswer.answer(update.location.map(OutgoingLocation.init)))
            } catch {
                return Self.refusal(error)
            }
        }
    }

    /// What is said of a stream that the desk does not open.
    package static func refusal(_ error: DeskError) -> RelayAnswer {
        switch error {
        case .limitExceeded: RelayAnswer(429, .text, Array("\(error)\n".utf8))
        case .readOnlyLink: RelayAnswer(403, .text, Array("\(error)\n".utf8))
        case .unknownDevice, .unknownConsumer: unauthorizedAnswer(.bearer)
        default: RelayAnswer(400, .text, Array("\(error)\n".utf8))
        }
    }

    // MARK: Parts

    private enum Scheme: String { case basic = "Basic", bearer = "Bearer" }

    /// What stands for a token in the header; of a name and a password, the password.
    private func credential(_ request: RelayRequest) -> [UInt8]? {
        switch request.authorization.flatMap(Credential.init(authorization:)) {
        case .basic(_, let password): password
        case .token(let token): token
        case nil: nil
        }
    }

    private func unauthorized(_ scheme: Scheme) -> RelayAnswer {
        relay.countUnauthorized()
        return Self.unauthorizedAnswer(scheme)
    }

    private static func unauthorizedAnswer(_ scheme: Scheme) -> RelayAnswer {
        var answer = RelayAnswer(401, .text, Array("no such token or device\n".utf8))
        answer.headers = [["WWW-Authenticate", "\(scheme.rawValue) realm=\"hereabouts\""]]
        return answer
    }

    private static func answer(_ answer: GeolocateAnswer.Answer) -> RelayAnswer {
        RelayAnswer(answer.statusCode, .json, answer.body)
    }

    private static let notFound = RelayAnswer(404)
    private static let badRequest = RelayAnswer(400, .text, Array("the query cannot be read\n".utf8))
}
