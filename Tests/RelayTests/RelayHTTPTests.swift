import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOEmbedded
import Testing

@testable import Relay

@Suite("Relay over HTTP") struct RelayHTTPTests {
    @Test func `a phone posts, and at the tick the family has its region`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        let first = try harness.written(stream)
        #expect(first.contains("text/event-stream"))
        #expect(first.contains("event: update"))
        #expect(first.contains("\"locationUnavailable\":true"))
        harness.pass(to: 300)
        #expect(try harness.post(Places.juarez, token: phone) == (200, "[]"))
        #expect(try !harness.written(stream).contains("data:"))
        harness.pass(to: 899)
        #expect(try !harness.written(stream).contains("data:"))
        harness.pass(to: 900)
        let update = try harness.written(stream)
        #expect(update.contains("\"country\":\"MX\""))
        #expect(update.contains("\"time\":\"2026-09-21T14:30:00Z\""))
        #expect(update.contains("\"accuracyLimited\":true"))
        #expect(!update.contains("31.7202"))
        let snapshot = try harness.ask("GET", "/v1/devices/phone", token: family)
        #expect(snapshot.status == 200)
        #expect(update.contains(snapshot.body))
    }

    @Test func `its health is that of its state`() throws {
        let harness = try Harness()
        func health() throws -> Int {
            harness.pass(11)
            return try harness.ask("GET", "/healthz").status
        }
        #expect(try health() == 204)
        harness.store.isInPlace = false
        #expect(try health() == 503)
        harness.store.isInPlace = true
        #expect(try health() == 204)
        harness.store.failure = .failed(13)
        #expect(try health() == 503)
        #expect(!harness.relay.status().isStateUsable)
        harness.store.failure = nil
        #expect(try health() == 204)
        // Who asks all the time has nothing written all the time.
        let count = harness.store.writeCount
        for _ in 0..<100 { _ = try harness.ask("GET", "/healthz") }
        #expect(harness.store.writeCount == count)
    }

    @Test func `numbers are given at their own address alone, and name nobody`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), owner = try harness.token(.owner)
        try harness.grant()
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(to: 901)
        #expect(try harness.ask("GET", "/metrics", token: owner).status == 404)
        let page = try harness.ask("GET", "/metrics", isMonitoring: true)
        #expect(page.status == 200)
        for line in ["state_usable 1", "devices 2", "tokens 2", "grants 1", "messages_total 1", "streams 0"] {
            #expect(page.body.contains("\nhereabouts_\(line)\n"), "\(line)")
        }
        for word in ["phone", "family", "Paso", "31.7", "r86e"] { #expect(!page.body.contains(word), "\(word)") }
        #expect(try harness.ask("GET", "/healthz", isMonitoring: true).status == 204)
        for target in ["/", "/owntracks", "/v1/devices", "/v1/owner/updates"] {
            #expect(try harness.ask("GET", target, token: owner, isMonitoring: true).status == 404)
        }
        #expect(try harness.ask("POST", "/owntracks", token: phone, isMonitoring: true).status == 405)
    }

    @Test func `nothing without a token, nothing without a grant, and both say so alike`() throws {
        let harness = try Harness()
        let family = try harness.token(.consumer("family")), phone = try harness.token(.device("phone"))
        let wrong = try harness.ask("GET", "/v1/devices/phone", token: "AAAAAAAAAAAAAAAAAAAAAA")
        #expect(wrong.status == 401)
        for (target, token) in [
            ("/v1/devices/nothing", family), ("/v1/devices/phone", phone), ("/v1/devices/nothing/updates", family),
            ("/v1/owner/updates", family), ("/v1/nothing", family), ("/v1/devices/phone/nothing", family),
        ] {
            #expect(try harness.ask("GET", target, token: token) == wrong)
        }
        #expect(try harness.ask("GET", "/v1/devices/phone").status == 401)
        #expect(try harness.post(Places.berlin, token: family).status == 401)
        #expect(try harness.ask("POST", "/owntracks", body: "{}").status == 401)
        let update = try harness.ask("GET", "/v1/devices/phone", token: family)
        #expect(update.status == 200)
        #expect(update.body.contains("\"geometry\":null"))
        #expect(update.body.contains("authorizationRequestInProgress"))
        try harness.revoke()
        let denied = try harness.ask("GET", "/v1/devices/phone", token: family)
        #expect(denied.body.contains("\"authorizationDenied\":true"))
    }

    @Test func `full accuracy for a purpose lasts as long as its stream, and is followed by what stands`()
        throws
    {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .duration(.seconds(60))))
        let reduced = try harness.stream("/v1/devices/phone/updates?accuracy=reduced", token: family)
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(to: 901)
        _ = try harness.post(Places.elPaso, token: phone)
        #expect(try !harness.written(reduced).contains("31.7619"))
        // The grant of a minute has lapsed by now.
        try harness.grant(.fullAccuracy("pickup", validity: .duration(.seconds(60))))
        let full = try harness.stream("/v1/devices/phone/updates?purpose=pickup", token: family)
        let position = try harness.written(full)
        #expect(position.contains("[-106.4850000,31.7619000]"))
        harness.pass(30)
        _ = try harness.post(Coordinate(latitude: 31.7629, longitude: -106.4851), token: phone)
        #expect(try harness.written(full).contains("31.7629000"))
        harness.pass(31)
        let after = try harness.written(full)
        #expect(after.contains("\"fullAccuracyDenied\":true"))
        #expect(after.contains("\"region\":"))
        #expect(!after.contains("31.7629000"))
        #expect(try harness.ask("GET", "/v1/devices/phone/updates?purpose=nothing", token: family).status == 400)
    }

    @Test func `a link has what its consumer has, reduced, and cannot ask`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), link = try harness.token(.consumer("link"))
        #expect(try harness.ask("GET", "/v1/devices", token: link).body.contains("\"devices\":[]"))
        let before = try harness.ask("GET", "/v1/devices/phone", token: link)
        #expect(before.body.contains("authorizationRestricted"))
        try harness.grant()
        _ = try harness.post(Places.berlin, token: phone)
        harness.pass(to: 900)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: link).body.contains("\"country\":\"DE\""))
        #expect(try harness.ask("GET", "/v1/devices/phone/session", token: link).status == 403)
        let devices = try harness.ask("GET", "/v1/devices", token: link).body
        #expect(devices.contains("\"name\":\"phone\"") && !devices.contains("tablet"))
    }

    @Test func `an explicit session is a stream of its diagnostics`() throws {
        let harness = try Harness()
        let strict = try harness.token(.consumer("strict"))
        try harness.grant(to: "strict")
        let updates = try harness.stream("/v1/devices/phone/updates", token: strict)
        #expect(try harness.written(updates).contains("serviceSessionRequired"))
        let session = try harness.stream("/v1/devices/phone/session?authorization=whenInUse", token: strict)
        #expect(try harness.written(session).contains("event: diagnostics\ndata: {\"device\":\"phone\"}"))
        #expect(try harness.written(updates).contains("locationUnavailable"))
        try session.close().wait()
        harness.pass(11)
        #expect(try harness.written(updates).contains("serviceSessionRequired"))
    }

    @Test func `a monitor of countries tells a reduced consumer when one is left`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(to: 900)
        let monitor = try harness.stream(
            "/v1/devices/phone/monitor?country=US&country=MX&circle=31.7,-106.4,500", token: family)
        let first = try harness.written(monitor)
        #expect(first.contains("\"condition\":\"country=US\",\"state\":\"satisfied\""))
        #expect(first.contains("\"condition\":\"country=MX\",\"state\":\"unsatisfied\""))
        #expect(first.contains("\"accuracyLimited\":true"))
        harness.pass(5)
        _ = try harness.post(Places.juarez, token: phone)
        harness.pass(to: 1800)
        let second = try harness.written(monitor)
        #expect(second.contains("\"condition\":\"country=MX\",\"state\":\"satisfied\""))
        #expect(try harness.ask("GET", "/v1/devices/phone/monitor?country=US&country", token: family).status != 500)
        #expect(try harness.ask("GET", "/v1/devices/phone/monitor", token: family).status == 400)
    }

    @Test func `geolocate answers with the region's center, and without one that there is none`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        let target = "/v1/geolocate?key=\(family)&device=phone"
        #expect(try harness.ask("POST", target, body: "{\"wifiAccessPoints\":[]}").status == 404)
        try harness.grant()
        _ = try harness.post(Places.juarez, token: phone)
        harness.pass(to: 900)
        let answer = try harness.ask("POST", target, body: "{}")
        #expect(answer.status == 200)
        #expect(answer.body.contains("\"accuracy\":"))
        #expect(try harness.ask("POST", "/v1/geolocate?key=wrong&device=phone").status == 400)
        #expect(try harness.ask("POST", "/v1/geolocate?key=\(family)&device=other").status == 404)
        let unnamed = try harness.ask("POST", "/v1/geolocate?key=\(family)")
        #expect(unnamed.status == 400 && unnamed.body.contains("add &device="))
    }

    @Test func `at a tick every reduced stream writes as much, whether anything has changed or not`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        let targets = ["updates", "visits", "monitor?country=MX", "authorization", "session"]
        let streams = try targets.map { try harness.stream("/v1/devices/phone/\($0)", token: family) }
        let exact = try harness.stream("/v1/devices/phone/updates?purpose=pickup", token: family)
        for stream in streams + [exact] { _ = try harness.written(stream) }
        var events = 0
        for tick in 1...12 {
            harness.pass(to: Double(tick) * 900 - 10)
            // Now and then it moves, or sends nothing; and it rests.
            if tick % 5 != 0 {
                _ = try harness.post(tick < 4 || tick > 10 ? Places.juarez : Places.elPaso, token: phone)
            }
            harness.pass(to: Double(tick) * 900 - 1)
            for stream in streams + [exact] { _ = try harness.written(stream) }
            harness.pass(1)
            for stream in streams {
                let written = try harness.written(stream)
                let keptAlive = written.components(separatedBy: "3\r\n:\n\n\r\n").count - 1
                // The size in hexadecimal digits, 512 bytes and two ends of lines.
                #expect(written.utf8.count - 8 * keptAlive == 5 + 512 + 2 && written.contains("200\r\n"))
                if written.contains("event: ") { events += 1 }
            }
            // One that may be exact is left as it is.
            #expect(try !harness.written(exact).contains("200\r\n"))
        }
        #expect((6...40).contains(events))
        // Between ticks, what the owner decides comes as it is.
        harness.pass(10)
        try harness.revoke()
        #expect(try harness.written(streams[0]).utf8.count < 200)
    }

    @Test func `when a phone last sent is not in the time of a reduced answer`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        _ = try harness.post(Places.juarez, token: phone)
        harness.pass(to: 900 * 5 + 10)
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        for text in [
            try harness.ask("GET", "/v1/devices/phone", token: family).body, try harness.written(stream),
            "\(harness.relay.friends(of: "family", except: "tablet").map(\.location.time))",
        ] {
            #expect(text.contains("2026-09-21T15:30:00Z") || text.contains("1790004600000000000"))
            #expect(!text.contains("14:30:00Z"))
        }
    }

    @Test func `OwnTracks gets its friends, each by its own grant`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), tablet = try harness.token(.device("tablet"))
        _ = try harness.post(Places.berlin, token: tablet)
        harness.pass(to: 900)
        #expect(try harness.post(Places.elPaso, token: phone).body == "[]")
        // Not even a request comes of it.
        #expect(harness.relay.desk.requests.isEmpty)
        try harness.grant(to: "anna", for: "tablet")
        harness.pass(to: 910)
        #expect(try harness.post(Places.elPaso, token: phone).body == "[]")
        _ = try harness.post(Places.berlin, token: tablet)
        harness.pass(to: 1800)
        let friends = try harness.post(Places.elPaso, token: phone).body
        #expect(friends.contains("\"_type\":\"location\""))
        #expect(friends.contains("\"tid\":\"et\""))
        #expect(!friends.contains("13.405"))
    }

    @Test func `a monitor of what is no country's code is refused, with the code that was meant`() throws {
        let harness = try Harness(), family = try harness.token(.consumer("family"))
        try harness.grant()
        func ask(_ text: String) throws -> (status: Int, body: String) {
            try harness.ask("GET", "/v1/devices/phone/monitor?country=\(text)", token: family)
        }
        for (text, code) in [("us", "US"), ("USA", "US"), ("Mexico", "MX"), ("mex", "MX"), ("United%20States", "US")] {
            let answer = try ask(text)
            #expect(answer.status == 400 && answer.body.contains("country=\(code): was that meant?"), "\(text)")
        }
        for text in ["", "QQ", "Atlantis", "%00", String(repeating: "x", count: 100)] {
            let answer = try ask(text)
            #expect(answer.status == 400 && !answer.body.contains("meant"), "\(text)")
        }
        let stream = try harness.stream("/v1/devices/phone/monitor?country=US&country=MX", token: family)
        #expect(try harness.written(stream).contains("\"condition\":\"country=US\",\"state\":\"unknown\""))
        let purpose = try harness.ask("GET", "/v1/devices/phone/updates?purpose=x", token: family)
        #expect(purpose.status == 400 && purpose.body.contains("purpose"))
    }

    @Test func `0, 0 is no position`() throws {
        let harness = try Harness(), phone = try harness.token(.device("phone"))
        _ = try harness.post(Coordinate(latitude: 0, longitude: 0), token: phone)
        #expect(harness.relay.counts.unusable == [.noPosition: 1])
        _ = try harness.post(Coordinate(latitude: 0, longitude: 1), token: phone)
        #expect(harness.relay.counts.messages == 1)
    }

    @Test func `what can never be used is answered 2xx and counted`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        for body in ["", "{", "[]", "{\"_type\":\"encrypted\",\"data\":\"x\"}", "{\"_type\":\"lwt\"}"] {
            #expect(try harness.ask("POST", "/owntracks", token: phone, body: body).status == 200)
        }
        #expect(harness.relay.counts.unusable.values.reduce(0, +) == 5)
        let large = String(repeating: " ", count: (2 << 20) + 1)
        #expect(try harness.ask("POST", "/owntracks", token: phone, body: large).status == 200)
        #expect(harness.relay.counts.overLimit == 1)
        let endless = String(repeating: " ", count: 9 << 20)
        #expect(try harness.ask("POST", "/owntracks", token: phone, body: endless).status == 200)
        #expect(try harness.ask("POST", "/owntracks", body: endless).status == 413)
        #expect(try harness.ask("GET", "/osmand?id=\(phone)&lat=100&lon=0").status == 200)
        #expect(try harness.ask("GET", "/?id=\(phone)&lat=52.52&lon=13.405").status == 200)
        #expect(try harness.ask("GET", "/?id=wrong&lat=52.52&lon=13.405").status == 401)
        #expect(harness.relay.counts.messages == 1)
    }

    @Test func `a link from a messenger is the page, a sender is one by any name that is read`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        let page = try harness.ask("GET", "/")
        #expect(page.status == 200 && page.body.hasPrefix("<!doctype html>"))
        for target in ["/?fbclid=IwAR0abc", "/?utm_source=x&utm_medium=y", "/?", "/?x"] {
            #expect(try harness.ask("GET", target) == page)
        }
        for target in ["/?id=1", "/?DeviceID=1", "/?lat=1", "/?LON=1&fbclid=1", "/?tst=1", "/?long=1", "/?token=wrong"]
        {
            #expect(try harness.ask("GET", target).status == 401)
        }
        #expect(try harness.ask("GET", "/", body: "lat=1&lon=2").status == 401)
        #expect(try harness.ask("GET", "/?fbclid=1", token: "wrong").status == 401)
        #expect(try harness.ask("POST", "/?fbclid=1").status == 401)
        let used = try harness.ask("GET", "/?fbclid=1&token=\(phone)&lat=52.52&lon=13.405")
        #expect(used == (200, ""))
        for (address, apps) in [("owntracks", "OwnTracks posts"), ("overland", "Overland posts"), ("osmand", "OsmAnd")]
        {
            let shown = try harness.ask("GET", "/\(address)?fbclid=1")
            #expect(shown.status == 200 && shown.body.contains("Here \(apps)"))
            #expect(try harness.ask("POST", "/\(address)").status == 401)
            #expect(try harness.ask("PUT", "/\(address)").status == 405)
        }
    }

    @Test func `of two phones on one token the first counts, until it is silent for two intervals`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), owner = try harness.token(.owner)
        let stream = try harness.stream("/v1/owner/updates", token: owner)
        func post(_ place: Coordinate, _ tracker: String) throws -> Receipts.Outcome? {
            let seconds = harness.clock.now.nanosecondsSince1970 / 1_000_000_000
            let answer = try harness.ask(
                "POST", "/owntracks", token: phone,
                body: "{\"_type\":\"location\",\"lat\":\(place.latitude),\"lon\":\(place.longitude),\"tst\":\(seconds),"
                    + "\"tid\":\"\(tracker)\",\"topic\":\"owntracks/a/\(tracker)\"}")
            #expect(answer == (200, "[]"))
            return harness.relay.receipts(of: "phone")?.last?.outcome
        }
        func country(at seconds: Double) throws -> String? {
            harness.pass(to: seconds)
            let index = try #require(harness.relay.desk.deviceIndex("phone"))
            return try harness.relay.desk.state(ofDevice: index)?.pacer.region
                .flatMap { try harness.relay.desk.atlas.region(withID: $0) }
                .map { try harness.relay.desk.atlas.reducedLocation(of: $0).country.code }
        }
        harness.pass(to: 100)
        #expect(try post(Places.juarez, "an") == .used)
        #expect(try post(Places.berlin, "bo") == .otherPhone)
        harness.pass(to: 800)
        #expect(try post(Places.berlin, "bo") == .otherPhone)
        #expect(try country(at: 900) == "MX")
        guard case .devices(let devices, _) = harness.relay.answer(.devices) else { return #expect(Bool(false)) }
        let entry = try #require(devices.first { $0.device == "phone" })
        #expect(entry.phone == "an" && entry.otherPhone == "bo")
        #expect(entry.counts == ["used": 1, "of a second phone on the same token": 2])
        #expect(entry.last?.outcome == "of a second phone on the same token" && entry.last?.program == .another)
        #expect(entry.lastUsed == "2026-09-21T14:16:40+00:00")
        let seen = try harness.written(stream)
        #expect(seen.contains("event: receipts") && seen.contains("\"phones\":[\"an\",\"bo\"]"))
        #expect(!seen.contains("52.5") && !seen.contains("31.7202"))
        // One that says less is not told apart.
        harness.pass(to: 910)
        #expect(try harness.post(Places.juarez, token: phone).status == 200)
        #expect(harness.relay.receipts(of: "phone")?.counts[.used] == 2)
        // Silent for two intervals, it counts no more; who sends other things than OwnTracks' is not told apart.
        harness.pass(to: 1_899)
        #expect(try post(Places.berlin, "bo") == .otherPhone)
        harness.pass(to: 1_901)
        #expect(try post(Places.berlin, "bo") == .used)
        #expect(try post(Places.juarez, "an") == .otherPhone)
        #expect(try country(at: 2_700) == "DE")
    }

    @Test func `a quiet pause is a phone that is switched off, over every way to a location`() throws {
        func told(isQuiet: Bool, restarts: Bool) throws -> [String] {
            var harness = try Harness()
            let phone = try harness.token(.device("phone")), tablet = try harness.token(.device("tablet"))
            let read = try harness.token(.consumer("family")), link = try harness.token(.consumer("link"))
            try harness.grant(.reduced(.authorizedAlways))
            try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
            try harness.grant(to: "anna")
            let targets = [
                "updates", "updates?purpose=pickup", "updates?accuracy=reduced", "visits", "authorization",
                "monitor?country=MX", "session?authorization=always&purpose=pickup",
            ]
            var streams: [EmbeddedChannel] = [], told: [String] = []
            func connect() throws {
                for target in targets { streams.append(try harness.stream("/v1/devices/phone/\(target)", token: read)) }
                streams.append(try harness.stream("/v1/devices/phone/updates", token: link))
            }
            try connect()
            for step in 0..<44 {
                harness.pass(298)
                // From the third hour to the fifth.
                if step == 9, isQuiet { #expect(harness.relay.answer(.pause(isQuiet: true)) == .done) }
                if step == 33, isQuiet { #expect(harness.relay.answer(.resume) == .done) }
                harness.pass(1)
                if step == 14, restarts {
                    harness = try Harness(store: harness.store, at: 299 * 15)
                    #expect(harness.relay.desk.pauseMode == (isQuiet ? .quiet : nil))
                    streams = []
                    try connect()
                }
                if isQuiet || !(9..<33).contains(step) {
                    // It leaves home, and comes back.
                    let place = (10..<20).contains(step) ? Places.juarez : Places.elPaso
                    #expect(try harness.post(place, token: phone) == (200, "[]"))
                    #expect(try harness.ask("GET", "/?id=\(phone)&lat=52.52&lon=13.405&valid=0").status == 200)
                    // One that is old, or comes again, is answered alike in a pause and out of it.
                    let old = try harness.ask("GET", "/?id=\(phone)&lat=52.52&lon=13.405&timestamp=1790000000")
                    #expect(old == (200, ""))
                }
                for stream in streams { told.append(try harness.written(stream)) }
                for target in ["phone", "phone?accuracy=reduced", "phone?purpose=pickup"] {
                    told.append(try harness.ask("GET", "/v1/devices/\(target)", token: read).body)
                }
                let geolocate = try harness.ask("POST", "/v1/geolocate?key=\(read)&device=phone", body: "{}")
                told.append(geolocate.body)
                // What OwnTracks on the other device shows.
                told += harness.relay.friends(of: "anna", except: "tablet").map { "\($0.location)" }
                _ = tablet
            }
            return told
        }
        for restarts in [false, true] {
            let one = try told(isQuiet: true, restarts: restarts), other = try told(isQuiet: false, restarts: restarts)
            let isSame = one == other
            #expect(isSame)
            let text = one.joined()
            #expect(text.contains("locationUnavailable") && !text.contains("DeniedGlobally"))
            #expect(!text.contains("\"country\":\"MX\"") && text.contains("\"country\":\"US\""))
        }
    }

    @Test func `a token has the days of its making and last use, written once a day, and may have an end`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        let owner = try harness.relay.addToken(.owner, for: 3_600).text
        let stream = try harness.stream("/v1/owner/updates", token: owner)
        func listed() -> [ControlAnswer.TokenEntry] {
            if case .tokens(let tokens) = harness.relay.answer(.tokens) { tokens } else { [] }
        }
        #expect(listed().map(\.made) == ["2026-09-21", "2026-09-21"])
        #expect(listed().map(\.used) == [nil, "2026-09-21"])
        #expect(listed().map(\.until) == [nil, "2026-09-21T15:15:00+00:00"])
        let before = harness.store.writeCount
        for _ in 0..<5 { _ = try harness.post(Places.berlin, token: phone) }
        #expect(harness.store.writeCount == before)
        #expect(listed().map(\.used) == ["2026-09-21", "2026-09-21"])
        #expect(try harness.ask("GET", "/v1/devices", token: owner).status == 200)
        harness.pass(901)
        #expect(harness.store.content.tokens.map(\.usedDay) == [20_717, 20_717])
        harness.pass(2_698)
        #expect(try harness.ask("GET", "/v1/devices", token: owner).status == 200)
        _ = try harness.written(stream)
        harness.pass(2)
        #expect(try harness.ask("GET", "/v1/devices", token: owner).status == 401)
        #expect(listed().map(\.id) == [1] && harness.store.content.tokens.map(\.id) == [1])
        #expect(try harness.written(stream).hasSuffix("0\r\n\r\n"))
        harness.pass(86_400)
        _ = try harness.post(Places.berlin, token: phone)
        #expect(listed().map(\.used) == ["2026-09-22"])
    }

    @Test func `each reason is logged once a day, for each device`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), tablet = try harness.token(.device("tablet"))
        var logged: [String] = []
        harness.relay.onUnused = { device, outcome in logged.append("\(device): \(outcome.words)") }
        for hour in 0..<30 {
            harness.pass(to: Double(hour) * 3_600)
            for token in hour < 2 ? [phone, tablet] : [phone] {
                _ = try harness.ask("GET", "/osmand?id=\(token)&lat=0&lon=0")
                _ = try harness.ask("GET", "/osmand?id=\(token)&lat=52.52&lon=13.405")
            }
        }
        // From 14:15 on: the next day begins before the eleventh hour.
        #expect(logged == ["phone: no position", "tablet: no position", "phone: no position"])
        #expect(harness.relay.receipts(of: "phone")?.counts == [.used: 30, .unusable(.noPosition): 30])
    }

    @Test func `what cannot be kept is not delivered, and the sender is to come again`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        _ = try harness.post(Places.berlin, token: phone)
        _ = try harness.written(stream)
        harness.store.failure = .failed(13)
        harness.pass(to: 905)
        #expect(try !harness.written(stream).contains("data:"))
        #expect(try harness.ask("GET", "/v1/devices/phone", token: family).status == 503)
        #expect(try harness.post(Places.berlin, token: phone).status == 503)
        harness.store.failure = nil
        harness.pass(2)
        #expect(try harness.written(stream).contains("\"country\":\"DE\""))
        #expect(try harness.post(Places.berlin, token: phone).status == 200)
    }

    @Test func `a relay that is started again has grants, tokens and regions, and asks nothing of the past`()
        throws
    {
        let store = MemoryStore()
        let phone: String, family: String
        do {
            let harness = try Harness(store: store)
            (phone, family) = (try harness.token(.device("phone")), try harness.token(.consumer("family")))
            try harness.grant()
            _ = try harness.post(Places.juarez, token: phone)
            harness.pass(to: 900)
        }
        let harness = try Harness(store: store, at: 910)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: family).body.contains("\"country\":\"MX\""))
        // A fix of the tick that was answered before is answered at the next one.
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(to: 1799)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: family).body.contains("\"country\":\"MX\""))
        harness.pass(to: 1801)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: family).body.contains("\"country\":\"US\""))
    }

    @Test
    func
        `of two relays whose phones are in the same regions at ticks, a reduced consumer sees the same bytes at the same times`()
        throws
    {
        var random = SplitMix64(seed: 15)
        for _ in 0..<20 {
            // A place for each tick; nil for none.
            let route = (0..<5).map { _ in Places.all.randomElement(using: &random) }
            #expect(try transcript(route, &random) == transcript(route, &random))
        }
    }

    /// All that a stream, a snapshot and a geolocate request see, with its times, while a phone moves about.
    private func transcript(_ route: [Coordinate?], _ random: inout some RandomNumberGenerator) throws -> [String] {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        var seen: [String] = []
        for (tick, place) in route.enumerated() {
            let moments = (0..<Int.random(in: 1...3, using: &random))
                .map { _ in Double.random(in: 1...898, using: &random) }.sorted()
            var next = 0
            for second in 1...900 {
                while let place, next < moments.count, moments[next] <= Double(second) {
                    next += 1
                    let isLast = next == moments.count
                    let position = try Places.other(
                        isLast ? place : Places.all.randomElement(using: &random) ?? place, &random)
                    _ = try harness.post(position, token: phone)
                }
                harness.pass(to: Double(tick * 900 + second))
                seen.append(try harness.written(stream))
                if second % 300 == 0 {
                    seen.append(try harness.ask("GET", "/v1/devices/phone?accuracy=reduced", token: family).body)
                    seen.append(try harness.ask("POST", "/v1/geolocate?key=\(family)&device=phone").body)
                }
            }
        }
        return seen
    }

    @Test func `a request may take ten seconds, and a connection that says nothing is closed`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        let slow = try harness.connect()
        try harness.send(
            "POST /owntracks HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer \(phone)\r\nContent-Length: 100\r\n\r\n{",
            to: slow)
        harness.pass(9)
        #expect(slow.isActive)
        try harness.send("\"", to: slow)
        harness.pass(2)
        #expect(!slow.isActive)
        let silent = try harness.connect()
        harness.pass(11)
        #expect(!silent.isActive)
    }

    @Test func `requests that are sent at once are answered in their order; two lengths are an error`()
        throws
    {
        let harness = try Harness()
        let family = try harness.token(.consumer("family"))
        let channel = try harness.connect()
        let request = "GET /healthz HTTP/1.1\r\nHost: r\r\n\r\n"
        try harness.send(
            request + "GET /v1/devices HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer \(family)\r\n\r\n" + request,
            to: channel)
        let answers = try harness.written(channel)
        #expect(answers.components(separatedBy: "HTTP/1.1 204").count == 3)
        #expect(answers.contains("\"name\":\"family\""))
        let smuggler = try harness.connect()
        try? harness.send(
            "POST /owntracks HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + request,
            to: smuggler)
        #expect(try !harness.written(smuggler).contains("204"))
    }

    @Test func `the owner sees what each consumer sees, and who asks`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), owner = try harness.token(.owner)
        let family = try harness.token(.consumer("family"))
        let stream = try harness.stream("/v1/owner/updates", token: owner)
        #expect(try harness.written(stream).contains("event: requests\ndata: {\"requests\":[]}"))
        _ = try harness.ask("GET", "/v1/devices/phone", token: family)
        harness.pass(2)
        #expect(try harness.written(stream).contains("\"kind\":\"whenInUse\""))
        try harness.grant()
        _ = try harness.post(Places.berlin, token: phone)
        harness.pass(to: 901)
        let views = try harness.written(stream)
        #expect(views.contains("\"consumer\":\"family\""))
        #expect(views.contains("\"consumer\":\"link\""))
        #expect(views.contains("\"status\":\"authorizedWhenInUse\""))
        #expect(views.contains("\"country\":\"DE\""))
        #expect(!views.contains("13.405"))
    }
}

extension RelayHTTPTests {
    @Test func `a stream ends with the token that it was opened with`() throws {
        let harness = try Harness()
        let family = try harness.relay.addToken(.consumer("family")), other = try harness.token(.consumer("family"))
        let streams = try [family.text, other].map { try harness.stream("/v1/devices/phone/updates", token: $0) }
        _ = try harness.relay.removeToken(family.id)
        harness.loop.run()
        #expect(!streams[0].isActive)
        #expect(streams[1].isActive)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: family.text).status == 401)
    }
}

extension RelayHTTPTests {
    @Test
    func `what a configuration no longer names is gone with its grants, and the rest stays`() throws {
        let store = MemoryStore()
        let phone: String, family: String, anna: String
        do {
            let harness = try Harness(store: store)
            (phone, family) = (try harness.token(.device("phone")), try harness.token(.consumer("family")))
            anna = try harness.token(.consumer("anna"))
            try harness.grant()
            try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
            try harness.grant(to: "anna")
            try harness.grant(to: "anna", for: "tablet")
            _ = try harness.post(Places.elPaso, token: phone)
            _ = try harness.post(Places.berlin, token: try harness.token(.device("tablet")))
            harness.pass(to: 900)
        }
        #expect(Set(store.content.devices.keys) == ["phone", "tablet"])
        var changed = Harness.configuration
        changed.devices.removeAll { $0.name == "tablet" }
        changed.consumers[1].purposes = ["visit": "Visiting you"]
        changed.consumers.removeAll { $0.name == "anna" }
        do {
            let harness = try Harness(changed, store: store, at: 901)
            #expect(harness.relay.desk.standings.map(\.consumer) == ["family"])
            #expect(Array(store.content.devices.keys) == ["phone"])
            #expect(harness.relay.desk.standings[0].grants.map(\.fullAccuracyPurposeKey) == [nil])
            #expect(try harness.ask("GET", "/v1/devices/phone", token: family).body.contains("\"country\":\"US\""))
            #expect(try harness.ask("GET", "/v1/devices/phone", token: anna).status == 401)
            #expect(try harness.ask("GET", "/v1/devices", token: anna).status == 401)
            #expect(try harness.ask("GET", "/v1/devices/tablet", token: family).status == 401)
            #expect(try harness.ask("GET", "/v1/devices/phone/updates?purpose=pickup", token: family).status == 400)
        }
        // What was gone does not come back with its name.
        let harness = try Harness(store: store, at: 902)
        #expect(harness.relay.desk.standings.map(\.consumer) == ["family"])
        let again = try harness.ask("GET", "/v1/devices/phone", token: anna)
        #expect(again.status == 200)
        #expect(again.body.contains("authorizationRequestInProgress"))
    }

    @Test func `a consumer that becomes a link loses what it was granted itself`() throws {
        let store = MemoryStore()
        let anna: String
        do {
            let harness = try Harness(store: store)
            anna = try harness.token(.consumer("anna"))
            try harness.grant(to: "anna")
        }
        var changed = Harness.configuration
        changed.consumers[0].linkOf = "family"
        let harness = try Harness(changed, store: store, at: 1)
        #expect(try harness.ask("GET", "/v1/devices/phone", token: anna).body.contains("authorizationRestricted"))
    }

    @Test(arguments: [3600, -3600, -1000])
    func `a clock that is set answers no tick twice, and decisions hold at once`(_ seconds: Int64)
        throws
    {
        let harness = try Harness(at: 10_000)
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        _ = try harness.post(Places.juarez, token: phone)
        harness.pass(900)
        #expect(try harness.written(stream).contains("\"country\":\"MX\""))
        let now = harness.clock.now.nanosecondsSince1970
        harness.clock.now = Timestamp(nanosecondsSince1970: now + seconds * 1_000_000_000)
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(950)
        // The next tick is as near as ever; set back a little, it comes when the clock is there again.
        let isWaiting = seconds == -1000
        #expect(try harness.written(stream).contains("\"country\":\"US\"") == !isWaiting)
        let standing = try harness.ask("GET", "/v1/devices/phone", token: family).body
        #expect(standing.contains(isWaiting ? "\"country\":\"MX\"" : "\"country\":\"US\""))
        try harness.revoke()
        #expect(try harness.written(stream).contains("\"authorizationDenied\":true"))
        try harness.grant()
        if seconds < 0 {
            harness.pass(3600)
            _ = try harness.post(Places.elPaso, token: phone)
            harness.pass(900)
            #expect(try harness.written(stream).contains("\"country\":\"US\""))
        }
    }
}

extension RelayHTTPTests {
    @Test func `the proxy is known by its address, of either family`() {
        #expect(RelayServer.isSame("127.0.0.1", "127.0.0.1"))
        #expect(RelayServer.isSame("::ffff:10.0.0.1", "10.0.0.1"))
        #expect(RelayServer.isSame("FE80::1", "fe80::1"))
        #expect(!RelayServer.isSame("10.0.0.1", "10.0.0.11"))
        #expect(!RelayServer.isSame("::ffff:10.0.0.2", "10.0.0.1"))
    }
}
