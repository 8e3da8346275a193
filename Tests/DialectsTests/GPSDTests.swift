import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("gpsd")
struct GPSDTests {
    private let version =
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n"

    private func report(_ line: String) -> GPSDReportReader.Report { GPSDReportReader().report(Array(line.utf8)) }

    @Test
    func `a TPV of gpsd 3.22`() {
        let line = #"""
            {"class":"TPV","device":"/dev/pts/1","status":2,"mode":3,"time":"2026-03-01T07:14:59.000Z","leapseconds":18,
            "ept":0.005,"lat":48.208333333,"lon":16.373333333,"altHAE":592.300,"altMSL":545.400,"alt":545.400,"epx":3.0,
            "epy":4.0,"epv":23.000,"track":84.4,"magtrack":87.5,"magvar":3.1,"speed":11.5,"climb":0.0,"eps":30,"epc":46,
            "ecefx":4000000.1,"geoidSep":46.9,"eph":19.000,"sep":24.7}
            """#.replacing("\n", with: " ")
        guard case .fix(let fix) = report(line) else { return #expect(Bool(false), "no fix") }
        #expect(fix.coordinate == Coordinate(latitude: 48.208333333, longitude: 16.373333333))
        #expect(fix.time == time(1_772_349_299) && fix.horizontalAccuracy == 19 && fix.device == "/dev/pts/1")
        guard case .fix(let axes) = report(line.replacing(",\"eph\":19.000", with: "")) else {
            return #expect(Bool(false), "no fix")
        }
        #expect(axes.horizontalAccuracy == 5)
    }

    @Test
    func `mode 3 without a time, modes without a position, and other reports`() {
        guard case .fix(let fix) = report(#"{"class":"TPV","mode":3,"lat":1,"lon":2}"#) else {
            return #expect(Bool(false), "no fix")
        }
        #expect(fix.time == nil && fix.horizontalAccuracy == nil)
        for line in [
            #"{"class":"TPV","mode":1,"lat":1,"lon":2}"#, #"{"class":"TPV","mode":0}"#, #"{"class":"TPV"}"#,
            #"{"class":"TPV","mode":1,"time":"x"}"#,
        ] {
            #expect(report(line) == .noFix)
        }
        for line in [
            #"{"class":"SKY","satellites":[{"PRN":4,"az":1,"el":2}]}"#, #"{"class":"DEVICES","devices":[]}"#,
            #"{"class":"GST"}"#, #"{"class":"WATCH","enable":true}"#, #"{"class":"AIS","lat":1,"lon":2}"#,
        ] {
            #expect(report(line) == .other)
        }
        #expect(report(#"{"class":"ERROR","message":"Unrecognized request '?FOO'"}"#) == .error)
        #expect(report(#"{"class":"TPV","mode":3}"#) == .unusable(.noPosition))
        #expect(report(#"{"class":"TPV","mode":3,"lat":1,"lon":2,"time":7}"#) == .unusable(.noTime))
        #expect(report("$GPRMC,081500.00,A,4812.5,N") == .unusable(.notJSON))
        #expect(report("{}") == .unusable(.unknownType))
    }

    @Test
    func `the handshake of a client, however its bytes are divided`() {
        let session =
            version + #"{"class":"DEVICES","devices":[]}"# + "\r\n" + #"{"class":"WATCH","enable":true}"# + "\r\n"
            + #"{"class":"TPV","mode":3,"lat":1,"lon":2}"# + "\r\n\r\n" + #"{"class":"TPV","mode":1}"# + "\n{\"class\""
        for step in [1, 7, 100, 10_000] {
            var client = GPSDClient()
            var request: [UInt8] = []
            var reports: [GPSDReportReader.Report] = []
            var rest = Array(session.utf8)[...]
            while !rest.isEmpty {
                let output = client.receive(rest.prefix(step))
                rest = rest.dropFirst(step)
                request += output.request
                reports += output.reports
                #expect(output.failure == nil)
            }
            #expect(text(request) == "?WATCH={\"enable\":true,\"json\":true};\n")
            #expect(reports.count == 5 && reports[0] == .version(major: 3, minor: 14) && reports[4] == .noFix)
        }
    }

    @Test
    func `what is no gpsd is left, and so is another protocol`() {
        var other = GPSDClient()
        #expect(other.receive(Array("HTTP/1.1 400 Bad Request\r\n".utf8)).failure == .notGPSD)
        #expect(other.receive(Array(version.utf8)).failure == .notGPSD)
        #expect(other.receive(Array(version.utf8)).request.isEmpty)
        var later = GPSDClient()
        #expect(
            later.receive(Array(version.replacing("\"proto_major\":3", with: "\"proto_major\":4").utf8)).failure
                == .unsupportedVersion)
    }

    @Test
    func `a line beyond the limit is skipped, and memory stays bounded`() {
        var client = GPSDClient()
        _ = client.receive(Array(version.utf8))
        for _ in 0..<100 {
            #expect(client.receive(repeatElement(UInt8(ascii: "{"), count: 100_000)).reports.isEmpty)
        }
        let output = client.receive(Array("\n{\"class\":\"TPV\",\"mode\":1}\n".utf8))
        #expect(output.reports == [.overLimit, .noFix])
    }

    private let now = time(1_772_349_400)

    private func lines(_ bytes: [UInt8]) -> [String] {
        text(bytes).components(separatedBy: "\r\n").filter { !$0.isEmpty }
    }

    @Test
    func `the reduced report, byte by byte`() throws {
        let location = try reduced(31.7619, -106.485)
        let center = location.coordinate
        let expected =
            #"{"class":"TPV","device":"hereabouts","mode":2,"time":"2026-03-01T07:15:00.000Z","lat":\#(fiveDecimals(center.latitude)),"#
            + #""lon":\#(fiveDecimals(center.longitude)),"eph":\#(location.accuracyMeters!)}"#
        #expect(text(GPSDMessage.position(location, device: "hereabouts")) == expected)
        #expect(
            text(GPSDMessage.position(nil, device: "hereabouts")) == #"{"class":"TPV","device":"hereabouts","mode":1}"#)
        var server = GPSDServer()
        #expect(server.report(location).isEmpty)
        #expect(text(server.greeting) == version)
        let answer = server.receive(
            Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8), standing: location, tick: now, now: now)
        #expect(
            lines(answer) == [
                #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"hereabouts"}]}"#,
                #"{"class":"WATCH","enable":true,"json":true,"nmea":false,"raw":0,"scaled":false,"timing":false,"#
                    + #""split24":false,"pps":false}"#, expected,
            ])
        #expect(lines(server.report(nil)) == [#"{"class":"TPV","device":"hereabouts","mode":1}"#])
        #expect(lines(server.report(location)) == [expected])
    }

    @Test
    func `requests: several on a line, without the semicolon, polls, and the end of watching`() throws {
        var server = GPSDServer(device: "d")
        func classes(_ request: String) -> [String] {
            lines(server.receive(Array((request + "\n").utf8), standing: nil, tick: now, now: now)).map {
                (try? json(Array($0.utf8)) as? [String: Any])?["class"] as? String ?? "none"
            }
        }
        #expect(classes("?VERSION;?DEVICES;") == ["VERSION", "DEVICES"])
        #expect(classes("?VERSION\r") == ["VERSION"])
        #expect(classes("?DEVICE={\"path\":\"/dev/ttyS0\",\"bps\":9600};?POLL;") == ["DEVICE", "POLL"])
        #expect(classes("") == [])
        #expect(!server.isWatching)
        #expect(classes("?WATCH;") == ["DEVICES", "WATCH"])
        #expect(!server.isWatching)
        // gpspipe -r; gpspipe -R.
        #expect(classes("?WATCH={\"enable\":true,\"nmea\":true};") == ["DEVICES", "WATCH", "TPV"])
        #expect(classes("?WATCH={\"enable\":true,\"raw\":2};") == ["DEVICES", "WATCH"])
        #expect(server.isWatching)
        #expect(classes("?WATCH={\"enable\":true,\"json\":false}") == ["DEVICES", "WATCH"])
        #expect(!server.isWatching)
        #expect(classes("?WATCH={\"device\":\"x;y}\",\"json\":true};?POLL;") == ["DEVICES", "WATCH", "TPV", "POLL"])
        #expect(classes("?WATCH={\"enable\":false}") == ["DEVICES", "WATCH"])
        #expect(!server.isWatching)
    }

    @Test(arguments: [1, 3, 1000])
    func `a request whose line does not end, as a gpsd sends that reads from another`(_ step: Int) throws {
        var server = GPSDServer()
        func classes(_ request: String) throws -> [String] {
            var bytes = Array(request.utf8)[...], answer: [UInt8] = []
            while !bytes.isEmpty {
                answer += server.receive(bytes.prefix(step), standing: nil, tick: now, now: now)
                bytes = bytes.dropFirst(step)
            }
            return try lines(answer).map { try #require((json(Array($0.utf8)) as? [String: Any])?["class"] as? String) }
        }
        #expect(try classes(#"?WATCH={"enable":true,"json":true};"#) == ["DEVICES", "WATCH", "TPV"])
        #expect(try classes("?VERSION;?POLL;") == ["VERSION", "POLL"])
        #expect(try classes(#"?WATCH={"device":"};{""#).isEmpty)
        #expect(try classes(#","enable":false};"#) == ["DEVICES", "WATCH"])
        #expect(!server.isWatching)
        #expect(try classes("?VERSION").isEmpty)
        #expect(try classes("\r\n") == ["VERSION"])
    }

    @Test
    func `polls have the reduced report with the last tick, and no satellites`() throws {
        var server = GPSDServer(device: "d")
        let location = try reduced(31.7619, -106.485)
        let answer = server.receive(Array("?POLL;\n".utf8), standing: location, tick: now, now: now)
        #expect(
            memberPaths(try json(answer)) == [
                "class", "time", "active", "tpv", "gst", "sky", "tpv[].class", "tpv[].device", "tpv[].mode",
                "tpv[].time",
                "tpv[].lat", "tpv[].lon", "tpv[].eph", "sky[].class", "sky[].device", "sky[].satellites",
            ])
        #expect(text(answer).contains("\"time\":\"2026-03-01T07:16:40.000Z\",\"active\""))
        #expect(text(answer).contains("\"satellites\":[]}]}"))
        let none = server.receive(Array("?POLL;\n".utf8), standing: nil, tick: now, now: now)
        #expect(text(none).contains("\"time\":\"2026-03-01T07:16:40.000Z\"") && text(none).contains("\"mode\":1}"))
    }

    @Test(arguments: [
        "hello", "?FOO;", "?", "?;", "?WATCH={\"enable\":1}", "?WATCH={", "?WATCH=[]", "?WATCH=", "?watch;",
        "?WATCH={\"enable\":true,\"enable\":false}", "{\"class\":\"TPV\"}", "?WATCH={\"json\":\"secret\"}",
        String(repeating: "?POLLsecret", count: 200),
    ])
    func `requests that are none get an error without their content`(_ request: String) {
        var server = GPSDServer(device: "d")
        let answer = lines(server.receive(Array((request + "\n").utf8), standing: nil, tick: now, now: now))
        #expect(answer.count == 1 && answer[0].hasPrefix("{\"class\":\"ERROR\",\"message\":\""))
        #expect(!answer[0].contains("secret") && !server.isWatching)
        #expect(lines(server.receive(Array("?VERSION;\n".utf8), standing: nil, tick: now, now: now)).count == 1)
    }

    @Test(arguments: [
        "?WATCH={\"enable\":true};?POLL;secret?POLL;\n?VERSION;\n", "?POLL;?DEVICES;?VERSION\n",
        " ?WAYCH={\"enable\"::16.3,\"epx\":3.0,\"epy\":4.0}\n{\n{\"true, json\":true};?POle\":true,\"json\":true};"
            + "?POLL;\n?DEVICES;?VERSION;?EEV{\"enable\":false}\n",
        "?DEVICE={\"a\":\"\\\"};\"};?POLL;\n", String(repeating: "?POLL", count: 500) + ";?POLL;\n?POLL;",
    ])
    func `requests are answered alike, however their bytes come`(_ text: String) {
        var whole = GPSDServer(device: "d")
        let bytes = Array(text.utf8)
        let expected = whole.receive(bytes, standing: nil, tick: now, now: now)
        for step in 1..<64 {
            var parted = GPSDServer(device: "d")
            var answer: [UInt8] = [], rest = bytes[...]
            while !rest.isEmpty {
                answer += parted.receive(rest.prefix(step), standing: nil, tick: now, now: now)
                rest = rest.dropFirst(step)
            }
            #expect(answer == expected && parted.isWatching == whole.isWatching)
        }
    }
}
