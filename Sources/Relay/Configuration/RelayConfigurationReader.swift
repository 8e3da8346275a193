import HereaboutsLive

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a configuration out of a TOML document, and notes everything that is wrong.
struct RelayConfigurationReader {
    /// A string of the file and its line.
    private struct Text {
        let value: String
        let line: Int
    }

    /// A table whose keys are known.
    private struct Table {
        /// Its name in messages; empty for the root.
        let path: String
        let line: Int
        let members: [String: TOMLNode]

        func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
    }

    /// The longest title in bytes, and the longest name: names stand in URLs.
    private static let maximumTitleBytes = 256, maximumNameBytes = 64
    private static let limits = Desk.Limits()

    let looksAtFiles: Bool
    private(set) var problems: [RelayConfigurationProblem] = []
    private var configuration = RelayConfiguration()
    /// What is listened at, and where it is said.
    private var addresses: [RelayConfiguration.Address: Int] = [:]
    /// Names that are referred to are looked up when all are known.
    private var deviceNames: Set<String> = [], consumerNames: Set<String> = []

    init(looksAtFiles: Bool) { self.looksAtFiles = looksAtFiles }

    mutating func read(_ root: TOMLNode) -> RelayConfiguration {
        let known = ["listen", "proxy", "metrics", "zone", "interval", "stale", "tls", "devices", "consumers"]
        guard let table = table(root, path: "", known: known) else { return configuration }
        let devices = tables(table, "devices"), consumers = tables(table, "consumers")
        deviceNames = Set(devices.map(\.key))
        consumerNames = Set(consumers.map(\.key))
        readServer(table)
        for node in devices { readDevice(node) }
        for node in consumers { readConsumer(node) }
        if devices.isEmpty { complain(0, "there is no device: a table [devices.NAME] makes one") }
        checkLimits(devices, consumers)
        checkLinks(consumers)
        checkReceivers(devices)
        return configuration
    }

    // MARK: The server

    private mutating func readServer(_ table: Table) {
        if let proxy = string(table, "proxy") {
            if isIPAddress(proxy.value) {
                configuration.proxy = proxy.value
            } else {
                complain(proxy.line, "proxy is not an IP address, such as 127.0.0.1")
            }
        }
        if let node = table.members["tls"] { readTLS(node) }
        if let listen = address(table, "listen") {
            configuration.listen = listen.address
            note(listen.address, listen.line)
            if case .host(let host, _) = listen.address, host != "localhost", !isIPAddress(host) {
                complain(
                    listen.line, "listen is not an IP address and a port: this machine's addresses have no names here")
            } else if !listen.address.isLocal, table.members["tls"] == nil, table.members["proxy"] == nil {
                complain(
                    listen.line,
                    "listen is not this machine alone, and locations would go unencrypted: set [tls], or proxy")
            }
        }
        if let metrics = address(table, "metrics") {
            configuration.metrics = metrics.address
            note(metrics.address, metrics.line)
            if !metrics.address.isLocal {
                complain(metrics.line, "metrics is not this machine alone: it asks nobody who they are")
            }
        }
        if let zone = string(table, "zone") {
            if OwnerZone(zone.value) != nil {
                configuration.zone = zone.value
            } else {
                complain(zone.line, "zone is not a time zone of the system's database, such as Europe/Berlin")
            }
        }
        readTimes(table)
    }

    private mutating func readTimes(_ table: Table) {
        let interval = duration(table, "interval"), stale = duration(table, "stale")
        if let interval { configuration.interval = interval.duration }
        if let stale {
            configuration.stale = stale.duration
        } else if table.members["stale"] == nil {
            configuration.stale = max(configuration.stale, configuration.interval)
        }
        if configuration.stale < configuration.interval, let line = (stale ?? interval)?.line {
            complain(line, "stale is at least one interval")
        }
    }

    private mutating func readTLS(_ node: TOMLNode) {
        guard let table = table(node, path: "tls", known: ["certificate", "key"]) else { return }
        guard let certificate = file(table, "certificate", isSecret: false),
            let key = file(table, "key", isSecret: true)
        else {
            for name in ["certificate", "key"] { require(table, name) }
            return
        }
        configuration.tls = RelayConfiguration.TLS(certificate: certificate, key: key)
    }

    // MARK: Devices

    private mutating func readDevice(_ node: TOMLNode) {
        let known = ["title", "tracker", "consumer", "gpsd", "gpsd-device"]
        guard name(node, "device"), let table = table(node, path: "devices.\(node.key)", known: known) else { return }
        var device = RelayConfiguration.Device(node.key)
        if let title = title(table) { device.title = title }
        if let tracker = string(table, "tracker") {
            device.tracker = tracker.value
            let isShort = (1...2).contains(tracker.value.count) && tracker.value.utf8.count <= 16
            if !isShort || hasControlCharacters(tracker.value) {
                complain(tracker.line, "\(table.path).tracker has one or two characters")
            }
        }
        device.consumer = reference(table, "consumer", "consumer", consumerNames)
        if let gpsd = address(table, "gpsd") { device.gpsd = RelayConfiguration.GPSDSource(gpsd.address) }
        if let receiver = string(table, "gpsd-device") {
            if table.members["gpsd"] == nil {
                complain(receiver.line, "\(table.path).gpsd-device is a receiver of a gpsd, and no gpsd is set")
            }
            device.gpsd?.receiver = receiver.value
        }
        configuration.devices.append(device)
    }

    // MARK: Consumers

    private mutating func readConsumer(_ node: TOMLNode) {
        let known = ["title", "explicit-sessions", "purposes", "gpsd", "push", "link-of"]
        guard name(node, "consumer"), let table = table(node, path: "consumers.\(node.key)", known: known) else {
            return
        }
        var consumer = RelayConfiguration.Consumer(node.key)
        if let title = title(table) { consumer.title = title }
        if let node = table.members["explicit-sessions"] {
            if case .boolean(let value) = node.content {
                consumer.requiresExplicitSession = value
            } else {
                complain(node.line, "\(table.path("explicit-sessions")) is true or false, not \(node.kind)")
            }
        }
        consumer.linkOf = reference(table, "link-of", "consumer", consumerNames)
        if table.members["link-of"] != nil {
            for key in ["purposes", "push"] {
                guard let node = table.members[key] else { continue }
                complain(node.line, "\(table.path) is a read-only link, which has no \(key): it cannot ask")
            }
        }
        if let node = table.members["purposes"] { consumer.purposes = purposes(node, table.path) }
        let purposes = Set(table.members["purposes"]?.members?.map(\.key) ?? [])
        for (place, node) in elements(table, "gpsd") {
            if let port = gpsdPort(node, place, purposes) { consumer.gpsd.append(port) }
        }
        for (place, node) in elements(table, "push") {
            guard let push = push(node, place, purposes) else { continue }
            if consumer.pushes.contains(where: { $0.device == push.device && $0.url == push.url }) {
                complain(node.line, "\(place) pushes the same device to the same URL as another")
            }
            consumer.pushes.append(push)
        }
        configuration.consumers.append(consumer)
    }

    private mutating func purposes(_ node: TOMLNode, _ path: String) -> [String: String] {
        guard let members = node.members else {
            complain(node.line, "\(path).purposes is a table of keys and texts, not \(node.kind)")
            return [:]
        }
        if members.count > Self.limits.purposes {
            complain(node.line, "\(path) has more than \(Self.limits.purposes) purposes")
        }
        var purposes: [String: String] = [:]
        for member in members {
            guard name(member, "purpose") else { continue }
            if case .string(let text) = member.content {
                purposes[member.key] = text
                checkTitle(Text(value: text, line: member.line), "\(path).purposes.\(member.key)")
            } else {
                complain(member.line, "\(path).purposes.\(member.key) is a string, not \(member.kind)")
            }
        }
        return purposes
    }

    private mutating func gpsdPort(
        _ node: TOMLNode, _ path: String, _ purposes: Set<String>
    ) -> RelayConfiguration.GPSDPort? {
        guard let table = table(node, path: path, known: ["device", "listen", "accuracy", "purpose"]) else {
            return nil
        }
        for key in ["device", "listen"] { require(table, key) }
        let device = reference(table, "device", "device", deviceNames), listen = address(table, "listen")
        let (isReduced, purpose) = accuracy(table, purposes)
        if let listen {
            note(listen.address, listen.line)
            if !listen.address.isLocal {
                complain(
                    listen.line,
                    "\(path).listen is not this machine alone: gpsd's protocol asks nobody who they are")
            }
        }
        guard let device, let listen else { return nil }
        var port = RelayConfiguration.GPSDPort(device: device, address: listen.address)
        (port.isReduced, port.purpose) = (isReduced, purpose)
        return port
    }

    private mutating func push(
        _ node: TOMLNode, _ path: String, _ purposes: Set<String>
    ) -> RelayConfiguration.Push? {
        let known = ["device", "to", "url", "credential-file", "accuracy", "purpose"]
        guard let table = table(node, path: path, known: known) else { return nil }
        for key in ["device", "to", "url"] { require(table, key) }
        let device = reference(table, "device", "device", deviceNames)
        var dialect: RelayConfiguration.Push.Dialect?
        if let to = string(table, "to") {
            let names = RelayConfiguration.Push.Dialect.allCases.map(\.rawValue)
            dialect = RelayConfiguration.Push.Dialect(rawValue: to.value)
            if dialect == nil { complain(to.line, "\(path).to is \(Self.list(names))") }
        }
        var url: PushURL?
        if let text = string(table, "url") {
            do throws(PushURL.Failure) {
                url = try PushURL(text.value)
            } catch {
                complain(text.line, "\(path).url \(error)")
            }
        }
        let credential = table.members["credential-file"].map { _ in file(table, "credential-file", isSecret: true) }
        let (isReduced, purpose) = accuracy(table, purposes)
        guard let device, let dialect, let url else { return nil }
        var push = RelayConfiguration.Push(device: device, dialect: dialect, url: url)
        (push.credentialFile, push.isReduced, push.purpose) = (credential ?? nil, isReduced, purpose)
        return push
    }

    /// Reads what a port or push asks for.
    private mutating func accuracy(_ table: Table, _ purposes: Set<String>) -> (isReduced: Bool, purpose: String?) {
        let purpose = string(table, "purpose"), accuracy = string(table, "accuracy")
        if let purpose, !purposes.contains(purpose.value) {
            complain(
                purpose.line,
                "\(table.path).purpose is not in the consumer's table of purposes" + Self.hint(purpose.value, purposes))
        }
        switch accuracy?.value {
        case nil: break
        case "reduced":
            if let purpose {
                complain(purpose.line, "\(table.path).purpose is for full accuracy, and accuracy is reduced")
            }
        case "full":
            if purpose == nil { complain(accuracy?.line ?? 0, "\(table.path).accuracy is full, which needs a purpose") }
        default: complain(accuracy?.line ?? 0, "\(table.path).accuracy is reduced or full")
        }
        return (accuracy?.value == "reduced", purpose?.value)
    }

    // MARK: What depends on several tables

    private mutating func checkLimits(_ devices: [TOMLNode], _ consumers: [TOMLNode]) {
        if devices.count > Self.limits.devices { complain(0, "there are more than \(Self.limits.devices) devices") }
        if consumers.count > Self.limits.consumers {
            complain(0, "there are more than \(Self.limits.consumers) consumers")
        }
        for consumer in configuration.consumers {
            var counts: [String: Int] = [:]
            for push in consumer.pushes { counts[push.device, default: 0] += 1 }
            guard let device = counts.filter({ $0.value > Self.limits.sessionsPerRelation }).keys.min() else {
                continue
            }
            complain(
                consumers.first { $0.key == consumer.name }?.line ?? 0,
                "consumers.\(consumer.name) has more than \(Self.limits.sessionsPerRelation) pushes of '\(device)'")
        }
    }

    private mutating func checkLinks(_ nodes: [TOMLNode]) {
        for consumer in configuration.consumers {
            guard let origin = consumer.linkOf else { continue }
            let isChained = configuration.consumers.contains { $0.name == origin && $0.linkOf != nil }
            guard isChained else { continue }
            let members = nodes.first { $0.key == consumer.name }?.members ?? []
            complain(
                members.first { $0.key == "link-of" }?.line ?? 0,
                "consumers.\(consumer.name).link-of is a link itself: a link derives from a consumer that is none")
        }
    }

    private mutating func checkReceivers(_ nodes: [TOMLNode]) {
        var seen: Set<RelayConfiguration.GPSDSource> = []
        for device in configuration.devices {
            guard let gpsd = device.gpsd else { continue }
            let isAmbiguous =
                !seen.insert(gpsd).inserted
                || seen.contains { $0.address == gpsd.address && ($0.receiver == nil) != (gpsd.receiver == nil) }
            guard isAmbiguous else { continue }
            let members = nodes.first { $0.key == device.name }?.members ?? []
            complain(
                members.first { $0.key == "gpsd" }?.line ?? 0,
                "devices.\(device.name).gpsd gives another device the same fixes: tell them apart by gpsd-device")
        }
    }

    /// Notes an address that is listened at.
    private mutating func note(_ address: RelayConfiguration.Address, _ line: Int) {
        if case .host(_, 0) = address { return }
        if let other = addresses[address] {
            complain(line, "\(address.text) is listened at already, line \(other)")
        } else {
            addresses[address] = line
        }
    }

    // MARK: Values

    private mutating func complain(_ line: Int, _ message: String) {
        problems.append(RelayConfigurationProblem(line: line, message))
    }

    private mutating func require(_ table: Table, _ key: String) {
        if table.members[key] == nil { complain(table.line, "\(table.path) has no '\(key)'") }
    }

    private mutating func table(_ node: TOMLNode, path: String, known: [String]) -> Table? {
        guard let members = node.members else {
            complain(node.line, "\(path) is a table, not \(node.kind)")
            return nil
        }
        for member in members where !known.contains(member.key) {
            let hint = Self.hint(member.key, known)
            let place = path.isEmpty ? "" : " in \(path)"
            complain(
                member.line,
                "there is no key '\(member.key)'\(place)" + (hint.isEmpty ? "; there is \(Self.list(known))" : hint))
        }
        return Table(
            path: path, line: node.line, members: Dictionary(members.map { ($0.key, $0) }) { first, _ in first })
    }

    /// The tables of a table, which are named freely.
    private mutating func tables(_ table: Table, _ key: String) -> [TOMLNode] {
        guard let node = table.members[key] else { return [] }
        guard let members = node.members else {
            complain(node.line, "\(key) is a table of tables, [\(key).NAME], not \(node.kind)")
            return []
        }
        return members
    }

    /// The elements of an array of tables, and their names in messages.
    private mutating func elements(_ table: Table, _ key: String) -> [(path: String, node: TOMLNode)] {
        guard let node = table.members[key] else { return [] }
        guard case .array(let nodes) = node.content else {
            complain(node.line, "\(table.path(key)) is an array of tables, [[\(table.path(key))]], not \(node.kind)")
            return []
        }
        return nodes.enumerated().map { ("\(table.path(key))[\($0.offset + 1)]", $0.element) }
    }

    private mutating func string(_ table: Table, _ key: String) -> Text? {
        guard let node = table.members[key] else { return nil }
        guard case .string(let value) = node.content else {
            complain(node.line, "\(table.path(key)) is a string, not \(node.kind)")
            return nil
        }
        return Text(value: value, line: node.line)
    }

    private mutating func address(
        _ table: Table, _ key: String
    ) -> (address: RelayConfiguration.Address, line: Int)? {
        guard let text = string(table, key) else { return nil }
        guard let address = RelayConfiguration.Address(text.value) else {
            complain(
                text.line,
                "\(table.path(key)) is not an address: HOST:PORT, [IPV6]:PORT, or unix:/PATH of at most "
                    + "\(RelayConfiguration.Address.maximumPathBytes) bytes")
            return nil
        }
        return (address, text.line)
    }

    /// Reads seconds (90s), minutes (15m) or hours (2h), from a second to a week.
    private mutating func duration(_ table: Table, _ key: String) -> (duration: Duration, line: Int)? {
        guard let text = string(table, key) else { return nil }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
        let digits = text.value.dropLast()
        guard let unit = text.value.last.flatMap({ units[$0] }), (1...6).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits),
            (1...604_800).contains(number * unit)
        else {
            complain(
                text.line,
                "\(table.path(key)) is not a duration of 1s to 168h: a whole number of s, m or h, such as 15m")
            return nil
        }
        return (.seconds(number * unit), text.line)
    }

    /// Reads a reference to a device or consumer.
    private mutating func reference(
        _ table: Table, _ key: String, _ what: String, _ names: Set<String>
    ) -> String? {
        guard let text = string(table, key) else { return nil }
        if !names.contains(text.value) {
            complain(
                text.line,
                "\(table.path(key)): there is no \(what) '\(text.value)'" + Self.hint(text.value, names))
        }
        return text.value
    }

    /// Whether the key of a table can be a name, which is noted if not.
    private mutating func name(_ node: TOMLNode, _ what: String) -> Bool {
        let isPlain = node.key.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        let isName =
            isPlain && (1...Self.maximumNameBytes).contains(node.key.utf8.count)
            && node.key.utf8.contains { $0 != 0x2E }
        if !isName {
            complain(
                node.line,
                "the name of a \(what) has 1 to \(Self.maximumNameBytes) characters, letters A to Z, digits, - . and _")
        }
        return isName
    }

    private mutating func title(_ table: Table) -> String? {
        guard let text = string(table, "title") else { return nil }
        checkTitle(text, "\(table.path).title")
        return text.value
    }

    private mutating func checkTitle(_ text: Text, _ path: String) {
        guard !(1...Self.maximumTitleBytes).contains(text.value.utf8.count) || hasControlCharacters(text.value) else {
            return
        }
        complain(text.line, "\(path) has 1 to \(Self.maximumTitleBytes) bytes on one line")
    }

    private func hasControlCharacters(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// Reads the absolute path of a file.
    private mutating func file(_ table: Table, _ key: String, isSecret: Bool) -> String? {
        guard let text = string(table, key) else { return nil }
        guard text.value.hasPrefix("/"), !text.value.utf8.contains(0) else {
            complain(text.line, "\(table.path(key)) is not an absolute path")
            return nil
        }
        if looksAtFiles, let reason = Self.whyUnusable(file: text.value, isSecret: isSecret) {
            complain(text.line, "\(table.path(key)) \(reason)")
        }
        return text.value
    }

    private static func whyUnusable(file: String, isSecret: Bool) -> String? {
        var status = stat()
        // SAFETY: the calls read the path, which is a NUL-terminated copy, and write the status.
        guard unsafe stat(file, &status) == 0, unsafe access(file, R_OK) == 0 else {
            return "names a file that is not there or cannot be read"
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return "names something that is no file" }
        if isSecret, status.st_mode & 0o027 != 0 {
            return "names a file that others may read or write; chmod g-w,o= it"
        }
        return nil
    }

    // MARK: Words

    private static func hint(_ name: String, _ names: some Sequence<String>) -> String {
        nearestName(to: name, among: names).map { "; is '\($0)' meant?" } ?? ""
    }

    /// The names with commas, and "or" before the last one.
    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}
