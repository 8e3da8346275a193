import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import RelaySetup

@Suite("Configuration file") struct ConfigurationTests {
    private static let example = """
        listen = "127.0.0.1:8737"
        proxy = "127.0.0.1"
        zone = "Europe/Berlin"
        interval = "5m"
        stale = "1h"
        [tls]
        certificate = "/etc/relay/fullchain.pem"
        key = "/etc/relay/key.pem"
        [devices.phone]
        title = "Anna's phone"
        tracker = "AN"
        consumer = "family"
        [devices.boat]
        gpsd = "127.0.0.1:2947"
        gpsd-device = "/dev/ttyUSB0"
        [consumers.family]
        title = "The family"
        explicit-sessions = true
        [consumers.family.purposes]
        pickup = "Fetching you from the station"
        [[consumers.family.gpsd]]
        device = "phone"
        listen = "127.0.0.1:2950"
        accuracy = "reduced"
        [[consumers.family.gpsd]]
        device = "boat"
        listen = "unix:/run/hereabouts/family.sock"
        purpose = "pickup"
        [[consumers.family.push]]
        device = "phone"
        to = "owntracks"
        url = "https://recorder.example/pub"
        credential-file = "/etc/relay/secret"
        accuracy = "full"
        purpose = "pickup"
        [consumers.page]
        link-of = "family"
        """

    private func parse(_ text: String) throws(RelayConfigurationError) -> RelayConfiguration {
        try RelayConfiguration.parse(Array(text.utf8), file: "relay.toml")
    }

    /// What is wrong, with its line.
    private func problems(_ text: String) -> [String] {
        do throws(RelayConfigurationError) {
            _ = try parse(text)
            return []
        } catch {
            return error.problems.map { "\($0.line): \($0.message)" }
        }
    }

    /// What is wrong with something besides a device.
    private func problems(with text: String) -> [String] { problems("devices.phone = {}\n" + text) }

    @Test func `all that there is`() throws {
        var expected = RelayConfiguration()
        expected.listen = .host("127.0.0.1", port: 8737)
        expected.proxy = "127.0.0.1"
        expected.zone = "Europe/Berlin"
        expected.interval = .seconds(300)
        expected.stale = .seconds(3600)
        expected.tls = .init(certificate: "/etc/relay/fullchain.pem", key: "/etc/relay/key.pem")
        var boat = RelayConfiguration.Device("boat"), phone = RelayConfiguration.Device("phone")
        boat.gpsd = .init(.host("127.0.0.1", port: 2947), receiver: "/dev/ttyUSB0")
        (phone.title, phone.tracker, phone.consumer) = ("Anna's phone", "AN", "family")
        expected.devices = [boat, phone]
        var family = RelayConfiguration.Consumer("family"), page = RelayConfiguration.Consumer("page")
        (family.title, family.requiresExplicitSession) = ("The family", true)
        family.purposes = ["pickup": "Fetching you from the station"]
        var first = RelayConfiguration.GPSDPort(device: "phone", address: .host("127.0.0.1", port: 2950))
        first.isReduced = true
        var second = RelayConfiguration.GPSDPort(device: "boat", address: .unix("/run/hereabouts/family.sock"))
        second.purpose = "pickup"
        family.gpsd = [first, second]
        var push = RelayConfiguration.Push(
            device: "phone", dialect: .owntracks, url: try PushURL("https://recorder.example/pub"))
        (push.credentialFile, push.purpose) = ("/etc/relay/secret", "pickup")
        family.pushes = [push]
        page.linkOf = "family"
        expected.consumers = [family, page]
        #expect(try parse(Self.example) == expected)
    }

    @Test func `what is left out has its default`() throws {
        let configuration = try parse("[devices.phone]\n[consumers.family]")
        #expect(configuration.listen == .host("127.0.0.1", port: 8737))
        #expect(configuration.interval == .seconds(900) && configuration.stale == .seconds(7200))
        #expect(configuration.zone == "UTC" && configuration.proxy == nil && configuration.tls == nil)
        #expect(configuration.devices == [RelayConfiguration.Device("phone")])
        #expect(configuration.consumers == [RelayConfiguration.Consumer("family")])
        #expect(try parse("interval = '12h'\n[devices.phone]").stale == .seconds(43_200))
    }

    @Test func `every problem is reported, each with its line`() {
        let text = """
            lisen = "127.0.0.1:1"
            interval = 15
            [devices.phone]
            consumer = "famly"
            [consumers.family]
            titel = "x"
            [[consumers.family.push]]
            device = "phon"
            to = "owntrack"
            """
        #expect(
            problems(text) == [
                "1: there is no key 'lisen'; is 'listen' meant?",
                "2: interval is a string, not a number",
                "4: devices.phone.consumer: there is no consumer 'famly'; is 'family' meant?",
                "6: there is no key 'titel' in consumers.family; is 'title' meant?",
                "7: consumers.family.push[1] has no 'url'",
                "8: consumers.family.push[1].device: there is no device 'phon'; is 'phone' meant?",
                "9: consumers.family.push[1].to is owntracks, overland or osmand",
            ])
    }

    @Test func `an error names file and line`() {
        do throws(RelayConfigurationError) {
            _ = try parse("\nlisten = 1\nproxy = 2")
            Issue.record("a number as an address")
        } catch {
            #expect(
                "\(error)" == """
                    relay.toml: there is no device: a table [devices.NAME] makes one
                    relay.toml:2: listen is a string, not a number
                    relay.toml:3: proxy is a string, not a number
                    """)
        }
    }

    @Test(arguments: ["listen = ", "a = 1\nlisten = \"x\nb = 1", "[a]\n[a]", "a = 1\na = 2"])
    func `a syntax error is the only one`(_ text: String) {
        let found = problems("\n" + text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("0:") == false && found.first?.contains("\n") == false)
    }

    /// Each one thing that is wrong, in the line after the device, and a word of what is said.
    @Test(arguments: [
        ("listen = '0.0.0.0:80'", "set [tls], or proxy"), ("listen = '[::]:80'", "set [tls], or proxy"),
        ("listen = '192.0.2.1:80'", "set [tls], or proxy"), ("listen = 'relay.example:80'", "not an IP address"),
        ("listen = '127.0.0.1'", "not an address"), ("listen = '127.0.0.1:70000'", "not an address"),
        ("listen = '127.0.0.1:-1'", "not an address"), ("listen = '127.0.0.256:80'", "not an address"),
        ("listen = '::1:80'", "not an address"), ("listen = '[::1'", "not an address"),
        ("listen = 'unix:relative'", "not an address"), ("listen = ''", "not an address"),
        ("listen = 'unix:/\(String(repeating: "a", count: 103))'", "not an address"),
        ("proxy = 'nginx'", "not an IP address"), ("zone = 'Mars/Phobos'", "not a time zone"),
        ("zone = ''", "not a time zone"), ("zone = '../../etc/passwd'", "not a time zone"),
        ("interval = '0s'", "not a duration"), ("interval = '-1m'", "not a duration"),
        ("interval = '15'", "not a duration"), ("interval = '1.5h'", "not a duration"),
        ("interval = 'm'", "not a duration"), ("interval = '9999999h'", "not a duration"),
        ("interval = '169h'", "not a duration"), ("interval = 07:32:00", "not a date or time"),
        ("stale = '5m'", "at least one interval"), ("interval = '3h'\nstale = '2h'", "at least one interval"),
        ("tls = true", "a table, not true or false"), ("tls.key = '/a'", "tls has no 'certificate'"),
        ("tls = { key = 'a', certificate = '/b' }", "not an absolute path"),
        ("nonsense = 1", "; there is listen, "),
        ("devices.a = 1", "devices.a is a table, not a number"), ("consumers = []", "table of tables"),
        ("devices.\"a b\" = {}", "letters A to Z"), ("devices.\"..\" = {}", "letters A to Z"),
        ("devices.\"\" = {}", "letters A to Z"), ("devices.\"a/b\" = {}", "letters A to Z"),
        ("devices.\(String(repeating: "a", count: 65)) = {}", "1 to 64 characters"),
        ("consumers.\"ä\" = {}", "the name of a consumer"),
        ("devices.a.title = ''", "1 to 256 bytes"), ("devices.a.title = \"x\\ny\"", "on one line"),
        ("devices.a.tracker = 'abc'", "one or two characters"), ("devices.a.tracker = ''", "one or two"),
        ("devices.a.gpsd-device = '/dev/tty'", "no gpsd is set"), ("devices.a.gpsd = 'host'", "not an address"),
        ("devices.a.gpsd = 'h:1'\ndevices.b.gpsd = 'h:1'", "another device the same fixes"),
        (
            "devices.a = {gpsd = 'h:1', gpsd-device = 'x'}\ndevices.b = {gpsd = 'h:1', gpsd-device = 'x'}",
            "another device the same fixes"
        ),
        (
            "devices.a = {gpsd = 'h:1', gpsd-device = 'x'}\ndevices.b = {gpsd = 'h:1'}",
            "another device the same fixes"
        ),
        ("consumers.a.explicit-sessions = 1", "true or false, not a number"),
        ("consumers.a.link-of = 'b'", "no consumer 'b'"),
        ("consumers.a.link-of = 'a'", "is a link itself"),
        ("consumers = {a = {}, b = {link-of = 'a'}, c = {link-of = 'b'}}", "consumers.c.link-of is a link itself"),
        ("consumers = {a = {}, b = {link-of = 'a', purposes = {}}}", "has no purposes"),
        ("consumers = {a = {}, b = {link-of = 'a', push = []}}", "has no push"),
        ("consumers.a.purposes = 'x'", "a table of keys and texts"), ("consumers.a.purposes.b = 1", "is a string"),
        ("consumers.a.purposes.\"\" = 'x'", "name of a purpose"), ("consumers.a.purposes.b = ''", "1 to 256 bytes"),
        (
            "consumers.a.purposes = {\((0..<17).map { "p\($0) = 'x'" }.joined(separator: ", "))}",
            "more than 16 purposes"
        ),
        ("consumers.a.gpsd = {}", "an array of tables"), ("consumers.a.gpsd = [1]", "gpsd[1] is a table"),
        ("consumers.a.gpsd = [{device = 'phone'}]", "has no 'listen'"),
        ("consumers.a.gpsd = [{listen = '127.0.0.1:9'}]", "has no 'device'"),
        ("consumers.a.gpsd = [{device = 'phone', listen = '0.0.0.0:9'}]", "asks nobody"),
        (
            "consumers.a.gpsd = [{device = 'phone', listen = '127.0.0.1:8737'}]\nlisten = '127.0.0.1:8737'",
            "already"
        ),
        (
            """
            consumers.a.gpsd = [{device = 'phone', listen = 'localhost:9'}, {device = 'phone', listen = 'localhost:9'}]
            """, "listened at already, line 2"
        ),
        ("metrics = '192.0.2.1:9'", "metrics is not this machine alone"),
        (
            "consumers.a.gpsd = [{device = 'phone', listen = '127.0.0.1:9', accuracy = 'exact'}]", "reduced or full"
        ),
        (
            "consumers.a.gpsd = [{device = 'phone', listen = '127.0.0.1:9', accuracy = 'full'}]", "needs a purpose"
        ),
        (
            "consumers.a.gpsd = [{device = 'phone', listen = '127.0.0.1:9', purpose = 'x'}]",
            "not in the consumer's table"
        ),
        (
            """
            consumers.a = {purposes = {x = 'y'}, gpsd = [{device = 'phone', listen = '127.0.0.1:9', purpose = 'x', \
            accuracy = 'reduced'}]}
            """, "accuracy is reduced"
        ),
        ("consumers.a.push = [{device = 'phone', to = 'osmand'}]", "has no 'url'"),
        (
            """
            consumers.a.push = [{device = 'phone', to = 'osmand', url = 'https://a/'}, {device = 'phone', to = \
            'osmand', url = 'https://a/'}]
            """, "the same URL as another"
        ),
        (
            "consumers.a.push = [\((0..<17).map { "{device = 'phone', to = 'osmand', url = 'https://a/\($0)'}" }.joined(separator: ", "))]",
            "more than 16 pushes of 'phone'"
        ),
        (
            "consumers.a.push = [{device = 'phone', to = 'osmand', url = 'https://a/', credential-file = 'b'}]",
            "not an absolute path"
        ),
    ]) func `what is refused`(_ text: String, _ words: String) {
        let found = problems(with: text)
        #expect(found.count == 1 && found[0].contains(words), "\(found)")
        #expect(found.first?.hasPrefix("0:") == false, "\(found)")
    }

    @Test(arguments: [
        ("", "neither https"), ("ftp://a/", "neither https"),
        ("https://", "no valid host"), ("https:///x", "no valid host"), ("https://a b/", "not a URL"),
        ("https://a\\u007F/", "not a URL"), ("https://ä.example/", "not a URL"), ("https://u:p@a/", "names a user"),
        ("https://a/#x", "fragment"), ("https://a:0/", "invalid port"), ("https://a:x/", "invalid port"),
        ("https://a:/", "invalid port"), ("https://a:65536/", "invalid port"), ("http://a/", "not encrypted"),
        ("http://192.0.2.1/", "not encrypted"), ("http://127.0.0.1.example/", "not encrypted"),
        ("http://localhost.example/", "not encrypted"), ("http://[2001:db8::1]/", "not encrypted"),
        ("http://127.1/", "no valid host"), ("https://[::1/", "no valid host"),
        ("https://\(String(repeating: "a", count: 300))/", "no valid host"),
        ("https://a/\(String(repeating: "a", count: 2048))", "not a URL"),
    ]) func `URLs that are refused`(_ url: String, _ words: String) {
        let found = problems(
            with: "consumers.a.push = [{device = 'phone', to = 'osmand', url = \"\(url)\"}]")
        #expect(found.count == 1 && found[0].contains(".url ") && found[0].contains(words), "\(found)")
    }

    @Test(arguments: [
        "https://a.example", "HTTPS://a.example/", "https://a.example:8443/x?y=z", "https://192.0.2.1/",
        "https://[2001:db8::1]:444/x",
        "http://localhost:8080/", "http://127.9.9.9/", "http://[::1]/pub",
    ]) func `URLs and addresses that are taken`(_ url: String) throws {
        let configuration = try parse(
            "devices.phone = {}\nconsumers.a.push = [{device = 'phone', to = 'osmand', url = '\(url)'}]")
        #expect(configuration.consumers[0].pushes.map(\.url.text) == [url])
    }

    @Test func `addresses`() throws {
        #expect(try parse("listen = '[::1]:80'\n[devices.a]").listen == .host("::1", port: 80))
        #expect(try parse("listen = 'localhost:0'\n[devices.a]").listen == .host("localhost", port: 0))
        #expect(try parse("listen = 'unix:/run/x'\n[devices.a]").listen == .unix("/run/x"))
        #expect(try parse("listen = '0.0.0.0:80'\nproxy = '::1'\n[devices.a]").proxy == "::1")
        #expect(
            try parse("devices.a.gpsd = 'boat.local:2947'").devices[0].gpsd?.address == .host("boat.local", port: 2947))
        for text in ["127.0.0.1:80", "[::1]:0", "unix:/run/x", "a.example:65535"] {
            #expect(RelayConfiguration.Address(text)?.text == text)
        }
    }

    @Test func `files that it names are there, and closed to others`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ mode: Int, _ text: String) -> String {
            let path = folder.appendingPathComponent(name).path
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
            return path
        }
        func problems(_ credential: String, _ key: String) -> [String] {
            let path = file(
                "relay.toml", 0o644,
                """
                [devices.phone]
                [tls]
                certificate = "\(file("certificate", 0o644, "x"))"
                key = "\(key)"
                [[consumers.a.push]]
                device = "phone"
                to = "osmand"
                url = "https://a/"
                credential-file = "\(credential)"
                """)
            do throws(RelayConfigurationError) {
                _ = try RelayConfiguration(file: path)
                return []
            } catch {
                return error.problems.map { "\($0.line): \($0.message)" }
            }
        }
        let good = file("good", 0o600, "x"), forGroup = file("group", 0o640, "x"), open = file("open", 0o644, "x")
        #expect(problems(good, forGroup) == [])
        let words = "names a file that others may read or write; chmod g-w,o= it"
        #expect(problems(open, good) == ["9: consumers.a.push[1].credential-file \(words)"])
        #expect(problems(good, open) == ["4: tls.key \(words)"])
        #expect(problems(folder.path, good).first?.hasSuffix("names something that is no file") == true)
        #expect(
            problems(good, "/nonexistent").first?.hasSuffix("names a file that is not there or cannot be read") == true)
        #expect(throws: RelayConfigurationError.self) { try RelayConfiguration(file: folder.path) }
        #expect(throws: RelayConfigurationError.self) { try RelayConfiguration(file: "/nonexistent") }
    }

    @Test func `hostile files end in a sentence`() {
        let deep = Array(repeating: "a", count: 2000).joined(separator: ".")
        for text in [
            deep + " = 1", "[\(deep)]\n\(deep) = 1", String(repeating: "[", count: 4000),
            "a = " + String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000),
            "a = " + String(repeating: "{b = ", count: 500) + "1" + String(repeating: "}", count: 500),
            "a = \"\(String(repeating: "x", count: 5000))\"", String(repeating: "# a\n", count: 1 << 18) + "#",
            "a = 99999999999999999999", "a = \"\\uD800\"", "\u{0}", "a = '\u{0}'", "[[[1]]]", "[[=",
        ] {
            #expect(!problems(text).isEmpty)
        }
        #expect(throws: RelayConfigurationError.self) { try RelayConfiguration.parse([0xFF, 0xFE], file: "x") }
        #expect(throws: RelayConfigurationError.self) { try RelayConfiguration.parse([], file: "x") }
    }

    @Test func `mutations of a good file end in a configuration or a sentence`() {
        var random = SplitMix64(seed: 9)
        let good = Array(Self.example.utf8)
        for _ in 0..<3000 {
            var text = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                case 2: text.insert(UInt8.random(in: 32...126, using: &random), at: place)
                default: text.removeSubrange(place..<min(text.count, place + 20))
                }
            }
            do throws(RelayConfigurationError) {
                let configuration = try RelayConfiguration.parse(text, file: "x")
                #expect(!configuration.devices.isEmpty)
            } catch {
                #expect(!error.problems.isEmpty)
                let lines = text.split(separator: 10, omittingEmptySubsequences: false).count
                #expect(error.problems.allSatisfy { (0...lines).contains($0.line) })
            }
        }
    }

    @Test(arguments: [
        ("lisen", "listen"), ("listne", "listen"), ("lsiten", "listen"), ("Listen", "listen"), ("proxxy", "proxy"),
        ("listening", nil), ("x", nil), ("", nil), ("zo", nil),
    ]) func `the nearest name`(_ typed: String, _ expected: String?) {
        #expect(nearestName(to: typed, among: ["zone", "proxy", "listen"]) == expected)
    }
}

@Suite("The owner's time zone") struct OwnerZoneTests {
    private func moment(_ seconds: Int64) -> Timestamp { Timestamp(nanosecondsSince1970: seconds * 1_000_000_000) }

    /// Berlin went from +1 to +2 h at 2026-03-29 01:00 UTC, and back at 2026-10-25 01:00 UTC.
    private let springs: Int64 = 1_774_746_000, falls: Int64 = 1_792_890_000

    @Test func `the offset of the coming morning, summer time included`() throws {
        let berlin = try #require(OwnerZone("Europe/Berlin"))
        for (now, offset) in [
            (springs - 86_400, 3600), (springs - 7200, 7200), (springs - 1, 7200), (springs, 7200),
            (springs + 86_400, 7200), (falls - 86_400, 7200), (falls - 7200, 3600), (falls - 1, 3600), (falls, 3600),
        ] {
            #expect(berlin.secondsFromGMTInTheMorning(after: moment(now)) == offset)
        }
        #expect(try #require(OwnerZone("Asia/Kathmandu")).secondsFromGMTInTheMorning(after: moment(0)) == 19_800)
        #expect(try #require(OwnerZone("UTC")).secondsFromGMTInTheMorning(after: moment(springs)) == 0)
    }

    @Test func `a time of day comes next, skipped or repeated hours included`() throws {
        let berlin = try #require(OwnerZone("Europe/Berlin"))
        // Noon of the day before, in winter time: 11:00 UTC.
        let noon = springs - 14 * 3600
        #expect(berlin.moment(hour: 18, minute: 30, after: moment(noon)) == moment(noon + 6 * 3600 + 1800))
        #expect(berlin.moment(hour: 12, minute: 0, after: moment(noon)) == moment(noon + 23 * 3600))
        #expect(berlin.moment(hour: 2, minute: 30, after: moment(noon)) == moment(springs))
        #expect(berlin.moment(hour: 24, minute: 0, after: moment(noon)) == nil)
        #expect(berlin.moment(hour: -1, minute: 0, after: moment(noon)) == nil)
    }

    @Test func `a date and time`() throws {
        let berlin = try #require(OwnerZone("Europe/Berlin"))
        #expect(berlin.moment(year: 2026, month: 12, day: 1, hour: 18, minute: 0) == moment(1_796_144_400))
        #expect(berlin.text(moment(1_796_144_400)) == "2026-12-01T18:00:00+01:00")
        #expect(OwnerZone("America/St_Johns")?.text(moment(1_796_144_400)) == "2026-12-01T13:30:00-03:30")
        #expect(berlin.moment(year: 2026, month: 2, day: 29, hour: 18, minute: 0) == nil)
        #expect(berlin.moment(year: 2026, month: 13, day: 1, hour: 18, minute: 0) == nil)
        #expect(berlin.moment(year: 1, month: 1, day: 1, hour: 18, minute: 0) == nil)
    }

    @Test(arguments: ["", "Nowhere", "Europe/Berlino", "/etc/localtime", "\u{0}"]) func `unknown`(_ name: String) {
        #expect(OwnerZone(name) == nil)
    }
}
