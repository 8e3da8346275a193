import RelaySetup

/// Any bytes as the relay's configuration file: a configuration, which is read again as it is written, or sentences with
/// lines of the file.
func fuzzRelayConfiguration(_ input: [UInt8]) {
    do throws(RelayConfigurationError) {
        let configuration = try RelayConfiguration.parse(input, file: "relay.toml")
        checkIsClosed(configuration)
        let again = try? RelayConfiguration.parse(Array(toml(configuration).utf8), file: "relay.toml")
        check(again == configuration, "a configuration is not read again as it is written")
    } catch {
        let lines = input.split(separator: 10, omittingEmptySubsequences: false).count
        check(!error.problems.isEmpty, "an error without a problem")
        check(error.problems.allSatisfy { (0...lines).contains($0.line) }, "a line that is not in the file")
        check(error.problems.allSatisfy { !$0.message.isEmpty }, "a problem without a sentence")
    }
}

/// Nobody from elsewhere gets in without encryption, nothing goes elsewhere without it, and no name leads nowhere.
private func checkIsClosed(_ configuration: RelayConfiguration) {
    let devices = Set(configuration.devices.map(\.name)), consumers = Set(configuration.consumers.map(\.name))
    check(
        configuration.listen.isLocal || configuration.tls != nil || configuration.proxy != nil, "it listens in the open"
    )
    check(configuration.interval >= .seconds(1) && configuration.stale >= configuration.interval, "times of no desk")
    check(configuration.devices.allSatisfy { $0.consumer.map(consumers.contains) ?? true }, "an unknown consumer")
    for consumer in configuration.consumers {
        check(consumer.linkOf.map { consumers.contains($0) && $0 != consumer.name } ?? true, "an unknown origin")
        check(consumer.linkOf == nil || consumer.pushes.isEmpty && consumer.purposes.isEmpty, "a link that asks")
        check(consumer.gpsd.allSatisfy { devices.contains($0.device) && $0.address.isLocal }, "an open gpsd port")
        let asked = consumer.gpsd.compactMap(\.purpose) + consumer.pushes.compactMap(\.purpose)
        check(asked.allSatisfy { consumer.purposes[$0] != nil }, "an unknown purpose")
        for push in consumer.pushes {
            let isHere = ["localhost", "127.", "::1", "0:"].contains { push.url.host.hasPrefix($0) }
            check(
                devices.contains(push.device) && (push.url.isSecure || isHere || push.url.host.contains(":")),
                "an open push")
        }
    }
}

private func quoted(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { "\\U" + String(repeating: "0", count: 8 - hex($0).count) + hex($0) }.joined()
        + "\""
}

private func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16) }

/// A configuration as TOML.
private func toml(_ configuration: RelayConfiguration) -> String {
    func seconds(_ duration: Duration) -> String { quoted("\(duration.components.seconds)s") }
    func asked(_ isReduced: Bool, _ purpose: String?) -> String {
        (isReduced ? "accuracy = \"reduced\"\n" : "") + (purpose.map { "purpose = \(quoted($0))\n" } ?? "")
    }
    var text = "listen = \(quoted(configuration.listen.description))\nzone = \(quoted(configuration.zone))\n"
    text += "interval = \(seconds(configuration.interval))\nstale = \(seconds(configuration.stale))\n"
    if let proxy = configuration.proxy { text += "proxy = \(quoted(proxy))\n" }
    if let tls = configuration.tls {
        text += "[tls]\ncertificate = \(quoted(tls.certificate))\nkey = \(quoted(tls.key))\n"
    }
    for device in configuration.devices {
        text +=
            "[devices.\(quoted(device.name))]\ntitle = \(quoted(device.title))\ntracker = \(quoted(device.tracker))\n"
        if let consumer = device.consumer { text += "consumer = \(quoted(consumer))\n" }
        if let gpsd = device.gpsd {
            text += "gpsd = \(quoted(gpsd.address.description))\n"
            if let receiver = gpsd.receiver { text += "gpsd-device = \(quoted(receiver))\n" }
        }
    }
    for consumer in configuration.consumers {
        let name = "consumers.\(quoted(consumer.name))"
        text += "[\(name)]\ntitle = \(quoted(consumer.title))\n"
        text += "explicit-sessions = \(consumer.requiresExplicitSession)\n"
        if let origin = consumer.linkOf { text += "link-of = \(quoted(origin))\n" }
        if !consumer.purposes.isEmpty { text += "[\(name).purposes]\n" }
        for (key, words) in consumer.purposes { text += "\(quoted(key)) = \(quoted(words))\n" }
        for port in consumer.gpsd {
            text += "[[\(name).gpsd]]\ndevice = \(quoted(port.device))\nlisten = \(quoted(port.address.description))\n"
            text += asked(port.isReduced, port.purpose)
        }
        for push in consumer.pushes {
            text += "[[\(name).push]]\ndevice = \(quoted(push.device))\nto = \(quoted(push.dialect.rawValue))\n"
            text += "url = \(quoted(push.url.text))\n" + asked(push.isReduced, push.purpose)
            if let file = push.credentialFile { text += "credential-file = \(quoted(file))\n" }
        }
    }
    return text
}
