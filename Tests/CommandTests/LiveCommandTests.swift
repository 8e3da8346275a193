import FixedRandom
import Foundation
import Testing

/// `hereabouts live` as a process.
@Suite(.serialized) struct LiveCommandTests {
    let place = Workplace()

    @Test func aReplayIsWhatConvertWrites() throws {
        for format in ["csv", "ndjson"] {
            let live = try place.shell("hereabouts live --replay --from csv --to \(format) < '\(commute)'")
            let converted = try place.shell("hereabouts convert --to \(format) '\(commute)'")
            #expect(live.status == 0 && converted.status == 0)
            #expect(!live.output.isEmpty && live.output == converted.output)
        }
    }

    private var commute: String {
        var text = "device_id,time,latitude,longitude\n"
        for fix in 0..<200 {
            text += "bus,\(1_772_352_000 + fix * 60),\(48.2 + Double(fix) / 500),\(16.3 + Double(fix) / 700)\n"
        }
        place.write(text, as: "commute.csv")
        return place.path("commute.csv")
    }

    @Test func aReportComesWhileTheInputStaysOpen() throws {
        place.write("{\"id\":\"a\",\"latitude\":48.2082,\"longitude\":16.3738}\n", as: "fixes.ndjson")
        place.write("", as: "seen")
        let hasJQ = try place.shell("command -v jq").status == 0
        let process = place.process(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "sleep 8 & tail -n +1 -f --pid=$! fixes.ndjson | hereabouts live --interval 1s"
                    + (hasJQ ? " | jq --unbuffered -c ." : "") + " > seen",
            ])
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { process.waitUntilExit() }
        for _ in 0..<70 where place.read("seen")?.isEmpty != false { usleep(100_000) }
        #expect(process.isRunning)
        #expect(place.read("seen")?.contains("\"country\":\"AT\"") == true)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func aSignalEndsTheRunWithoutAnAnswer(_ number: Int32) throws {
        let process = place.process(command, ["live", "--interval", "1h", "--state", "state"])
        let input = Pipe()
        place.write("", as: "out")
        place.write("", as: "err")
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: place.folder.appendingPathComponent("out"))
        process.standardError = try FileHandle(forWritingTo: place.folder.appendingPathComponent("err"))
        try process.run()
        try input.fileHandleForWriting.write(
            contentsOf: Data("{\"id\":\"a\",\"latitude\":48.2082,\"longitude\":16.3738}\nno JSON\n".utf8))
        for _ in 0..<100 where place.read("err")?.isEmpty != false { usleep(100_000) }
        kill(process.processIdentifier, number)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        #expect(place.read("out") == "")
        #expect(place.read("err")?.contains("2 records; 1 bad: not JSON (1); 0 reports; 1 devices") == true)
        let mode = try FileManager.default.attributesOfItem(atPath: place.path("state"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(place.names.filter { $0.hasPrefix("state") } == ["state"])
    }

    @Test func aClosedPipeEndsTheRun() throws {
        // The input stays open; whoever read the output has gone.
        let result = try place.shell(
            """
            { sleep 5 | { hereabouts live; echo $? > status; } | true; } & sleep 2; cat status
            """)
        #expect(result.output == "0\n")
    }

    @Test func mistakesHaveStatusTwo() throws {
        place.write(
            "foreign, and long enough to be no database of any kind at all, whatever it may seem", as: "foreign")
        for arguments in [
            "--from gpx", "--to gpx", "--interval 0s", "--max-devices 0", "--interval 1h --forget-after 1h",
            "--state foreign", "--state .",
        ] {
            #expect(try place.shell("hereabouts live \(arguments) < /dev/null").status == 2, "\(arguments)")
        }
        #expect(try place.shell("printf 'a,b\\n1,2\\n' | hereabouts live --from csv").status == 2)
    }

    /// Kills at random moments: no tick is answered twice with different answers, none that was published is lost, and
    /// the runs together give what one gives that nothing disturbs.
    @Test func killsNeitherBuyAnswersNorLoseThem() throws {
        var random = SplitMix64(seed: 23)
        var text = "id,time,latitude,longitude\n"
        for round in 0..<120 {
            for device in 0..<20 {
                text += "d\(device),\(1_700_000_100 + round * 900 + device),"
                text += String(format: "%.4f,%.4f\n", random.uniform(-60, 60), random.uniform(-180, 180))
            }
        }
        place.write(text, as: "fixes.csv")
        let arguments = ["live", "--replay", "--from", "csv", "--to", "csv", "--emit", "recomputations"]
        func run(_ more: [String], killedAfter microseconds: UInt32?) throws -> (lines: [String], isWhole: Bool) {
            let process = place.process(command, arguments + more)
            place.write("", as: "out")
            process.standardInput = try FileHandle(forReadingFrom: place.folder.appendingPathComponent("fixes.csv"))
            process.standardOutput = try FileHandle(forWritingTo: place.folder.appendingPathComponent("out"))
            process.standardError = FileHandle.nullDevice
            try process.run()
            if let microseconds {
                usleep(microseconds)
                kill(process.processIdentifier, SIGKILL)
            }
            process.waitUntilExit()
            var lines = (place.read("out") ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            lines.removeLast()
            return (
                lines.map(String.init).filter { !$0.hasPrefix("id,") },
                process.terminationReason == .exit && process.terminationStatus == 0
            )
        }
        let clean = try run([], killedAfter: nil)
        #expect(clean.isWhole && clean.lines.count > 1000)
        let start = ContinuousClock.now
        _ = try run(["--state", "timed"], killedAfter: nil)
        let microseconds = Double((ContinuousClock.now - start) / .microseconds(1))
        for _ in 0..<3 {
            for name in place.names where name.hasPrefix("state") {
                try FileManager.default.removeItem(atPath: place.path(name))
            }
            var seen: [String] = []
            var kills = 0
            while true {
                let isLast = kills == 4
                let result = try run(
                    ["--state", "state"],
                    killedAfter: isLast ? nil : UInt32(random.uniform(0.05, 0.6) * microseconds))
                seen += result.lines
                if isLast { #expect(result.isWhole) }
                if isLast || result.isWhole { break }
                kills += 1
            }
            #expect(Set(seen) == Set(clean.lines))
            // Only the reports of the last tick before a kill are written twice.
            #expect(seen.count <= clean.lines.count + kills * 20)
        }
    }
}
