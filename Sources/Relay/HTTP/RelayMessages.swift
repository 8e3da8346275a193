import Dialects
import Hereabouts
import HereaboutsLive

/// The relay's own JSON: written from names of the configuration, from locations that may be sent and from constants.
enum RelayMessages {
    /// An update as a GeoJSON feature.
    ///
    /// - Parameter tick: the last one, which is the time of a reduced location.
    static func update(_ update: LocationUpdate, device: String, asOf tick: Timestamp) -> [UInt8] {
        GeoJSONAnswer.feature(
            update.location.map { OutgoingLocation($0).asOf(tick) }, device: device,
            diagnostics: Set(update.diagnostics))
    }

    /// The devices that a consumer may ask for, the seconds between two ticks, and the consumer's purposes; for a link, which
    /// cannot ask, the devices that its consumer is authorized for; for the owner all devices, and no consumer.
    static func devices(_ relay: Relay, of consumer: String?) -> [UInt8] {
        var text = MessageText()
        text.append("{\"devices\":[")
        for (place, device) in relay.devices(for: consumer).enumerated() {
            if place > 0 { text.append(",") }
            text.append("{\"name\":")
            text.append(json: device.name)
            text.append(",\"title\":")
            text.append(json: device.title)
            text.append("}")
        }
        text.append("],\"interval\":")
        text.append(relay.configuration.interval.components.seconds)
        if let consumer = consumer.flatMap({ relay.consumer($0) }) {
            text.append(",\"consumer\":{\"name\":")
            text.append(json: consumer.name)
            text.append(",\"title\":")
            text.append(json: consumer.title)
            text.append("},\"purposes\":{")
            for (place, purpose) in consumer.purposes.sorted(by: { $0.key < $1.key }).enumerated() {
                if place > 0 { text.append(",") }
                text.append(json: purpose.key)
                text.append(":")
                text.append(json: purpose.value)
            }
            text.append("}")
        }
        text.append("}")
        return text.bytes
    }

    /// What a delivery is in a stream of events.
    ///
    /// - Parameter interval: of ticks, in nanoseconds.
    static func event(_ delivery: Delivery, device: String, interval: Int64) -> [UInt8] {
        switch delivery.content {
        case .update(let update):
            let tick = Desk.lastTick(delivery.time, interval: interval)
            return ServerSentEvent.update(Self.update(update, device: device, asOf: tick))
        case .visit(let visit): return ServerSentEvent.event("visit", Self.visit(visit, device: device))
        case .event(let event): return ServerSentEvent.event("event", Self.event(event))
        case .diagnostics(let diagnostics):
            var text = MessageText()
            text.append("{\"device\":")
            text.append(json: device)
            text.append(Set(diagnostics))
            text.append("}")
            return ServerSentEvent.event("diagnostics", text.bytes)
        case .authorization(let authorization):
            var text = MessageText()
            text.append("{\"device\":")
            text.append(json: device)
            append(authorization, &text)
            text.append("}")
            return ServerSentEvent.event("authorization", text.bytes)
        case .requests: return []
        }
    }

    private static func visit(_ visit: Visit, device: String) -> [UInt8] {
        var text = MessageText()
        text.append("{\"arrival\":")
        if let arrival = visit.arrivalDate {
            text.append("\"")
            text.append(arrival)
            text.append("\"")
        } else {
            text.append("null")
        }
        if let departure = visit.departureDate {
            text.append(",\"departure\":\"")
            text.append(departure)
            text.append("\"")
        }
        text.append(",\"location\":")
        text.append(GeoJSONAnswer.feature(OutgoingLocation(visit.location), device: device))
        text.append("}")
        return text.bytes
    }

    private static func event(_ event: LocationMonitor.Event) -> [UInt8] {
        var text = MessageText()
        text.append("{\"condition\":")
        text.append(json: event.identifier)
        text.append(",\"state\":\"")
        switch event.state {
        case .unknown: text.append("unknown")
        case .satisfied: text.append("satisfied")
        case .unsatisfied: text.append("unsatisfied")
        case .unmonitored: text.append("unmonitored")
        }
        text.append("\",\"time\":\"")
        text.append(event.date)
        text.append("\"")
        for (place, beacon) in event.beacons.enumerated() {
            text.append(place == 0 ? ",\"beacons\":[{\"uuid\":" : ",{\"uuid\":")
            text.append(json: "\(beacon.uuid)")
            text.append(",\"major\":")
            text.append(Int64(beacon.major))
            text.append(",\"minor\":")
            text.append(Int64(beacon.minor))
            text.append("}")
        }
        if !event.beacons.isEmpty { text.append("]") }
        text.append(Set(event.diagnostics))
        text.append("}")
        return text.bytes
    }

    /// What a consumer would see, for the owner.
    static func view(_ relay: Relay, _ pair: Relay.Pair) -> [UInt8]? {
        guard let consumer = relay.consumer(pair.consumer), let device = relay.device(pair.device),
            let update = try? relay.desk.preview(of: DeviceID(device.name), for: ConsumerID(consumer.name)),
            let authorization = try? relay.desk.authorization(
                of: DeviceID(device.name), for: ConsumerID(consumer.name))
        else { return nil }
        var text = MessageText()
        text.append("{\"consumer\":")
        text.append(json: consumer.name)
        text.append(",\"consumerTitle\":")
        text.append(json: consumer.title)
        text.append(",\"device\":")
        text.append(json: device.name)
        text.append(",\"deviceTitle\":")
        text.append(json: device.title)
        append(authorization, &text)
        text.append(",\"update\":")
        text.append(Self.update(update, device: device.name, asOf: relay.desk.lastTick))
        text.append("}")
        return text.bytes
    }

    /// What came of each device's last message, for the owner.
    static func receipts(_ relay: Relay) -> [UInt8] {
        var text = MessageText()
        text.append("{\"receipts\":[")
        var isFirst = true
        for device in relay.configuration.devices {
            guard let receipts = relay.receipts(of: device.name), let last = receipts.last else { continue }
            text.append(isFirst ? "{\"device\":" : ",{\"device\":")
            isFirst = false
            text.append(json: device.name)
            text.append(",\"title\":")
            text.append(json: device.title)
            text.append(",\"program\":")
            text.append(json: last.program.rawValue)
            text.append(",\"outcome\":")
            text.append(json: last.outcome.words)
            text.append(",\"time\":\"")
            text.append(last.time)
            text.append("\"")
            if let phones = receipts.phones {
                text.append(",\"phones\":[")
                text.append(json: phones.used)
                text.append(",")
                text.append(json: phones.other)
                text.append("]")
            }
            text.append("}")
        }
        switch relay.desk.pauseMode {
        case .told: text.append("],\"pause\":\"told\"}")
        case .quiet: text.append("],\"pause\":\"quiet\"}")
        case nil: text.append("]}")
        }
        return text.bytes
    }

    /// What waits for the owner's decision.
    static func requests(_ requests: [Authorization.Request]) -> [UInt8] {
        var text = MessageText()
        text.append("{\"requests\":[")
        for (place, request) in requests.enumerated() {
            text.append(place == 0 ? "{\"consumer\":" : ",{\"consumer\":")
            text.append(json: request.consumer.rawValue)
            text.append(",\"device\":")
            text.append(json: request.device.rawValue)
            switch request.kind {
            case .whenInUse: text.append(",\"kind\":\"whenInUse\"")
            case .always: text.append(",\"kind\":\"always\"")
            case .fullAccuracy(let purpose):
                text.append(",\"kind\":\"fullAccuracy\",\"purpose\":")
                text.append(json: purpose.rawValue)
            }
            text.append(",\"time\":\"")
            text.append(request.time)
            text.append("\"}")
        }
        text.append("]}")
        return text.bytes
    }

    private static func append(_ authorization: Authorization, _ text: inout MessageText) {
        text.append(",\"status\":\"")
        switch authorization.status {
        case .notDetermined: text.append("notDetermined")
        case .restricted: text.append("restricted")
        case .denied: text.append("denied")
        case .authorizedWhenInUse: text.append("authorizedWhenInUse")
        case .authorizedAlways: text.append("authorizedAlways")
        }
        text.append("\",\"accuracy\":\"")
        text.append(authorization.accuracy == .full ? "full" : "reduced")
        text.append("\"")
    }
}
