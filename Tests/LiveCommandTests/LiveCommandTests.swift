import CommandSupport
import FixedRandom
import Foundation
import Testing

/// `hereabouts live` as a process.
@Suite(.serialized) struct LiveCommandTests {
    let place = Workplace()

    @Test func `a replay is what convert writes`() throws {
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

    private static let program = command.deletingLastPathComponent().appendingPathComponent("hereabouts-live")

    @Test func `the live program leaves no positions in a core file`() throws {
        #if os(Linux)
            #expect(try Workplace().dumpRefusal(of: Self.program) == nil)
        #endif
    }

    @Test func `limits too low for the live program are said`() throws {
        try Workplace().checkLimits(of: Self.program)
    }

    /// The outlines of the relay's maps need GEOS alone; PROJ brings fifty libraries.
    @Test func `the live program does not link PROJ`() throws {
        let list = try Workplace().run(URL(fileURLWithPath: "/usr/bin/ldd"), [Self.program.path])
        try #require(list.status == 0)
        #expect(list.output.contains("libgeos") && !list.output.contains("libproj"))
    }

    @Test func `the live program states the versions of what it links`() throws {
        let result = try place.run(Self.program, ["version", "--all"], environment: ["HEREABOUTS_ATLAS": atlasPath])
        #expect(result.status == 0)
        for name in ["GEOS", "GRDB.swift", "SQLite", "libxml2", "swift-nio", "swift-nio-ssl", "toml++"] {
            #expect(result.output.contains(try Regex("(?m)^\\Q\(name)\\E +[0-9]+\\.[0-9]+")), "\(name)")
        }
        #expect(!result.output.contains("PROJ"))
    }

    @Test func `a report comes while the input stays open`() throws {
        place.write("{\"id\":\"a\",\"latitude\":48.2082,\"longitude\":16.3738}\n", as: "fixes.ndjson")
        place.write("", as: "seen")
        let hasJQ = try place.shell("command -v jq").status == 0
        let process = place.process(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "sleep 30 & echo $! > holder; tail -n +1 -f --pid=$! fixes.ndjson | hereabouts live --interval 1s"
                    + (hasJQ ? " | jq --unbuffered -c ." : "") + " > seen",
            ])
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            if let holder = place.read("holder").flatMap({ pid_t($0.dropLast()) }) { kill(holder, SIGKILL) }
            process.waitUntilExit()
        }
        for _ in 0..<250 where place.read("seen")?.isEmpty != false { usleep(100_000) }
        #expect(process.isRunning)
        #expect(place.read("seen")?.contains("\"country\":\"AT\"") == true)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func `a signal ends the run without an answer`(_ number: Int32) throws {
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
        #expect(place.names.filter { $0.hasPrefix("state") } == ["state", "state.lock"])
    }

    @Test func `a closed pipe ends the run`() throws {
        // The input stays open; whoever read the output has gone.
        // The programs that a test starts have its signal mask, so only SIGKILL is sure to end them.
        let result = try place.shell(
            """
            mkfifo input; sleep 60 > input & holder=$!
            { hereabouts live < input; echo $? > status; } | true &
            for _ in $(seq 300); do [ -s status ] && break; sleep 0.1; done
            cat status; kill -9 $holder
            """)
        #expect(result.output == "0\n")
    }

    @Test func `mistakes have status two`() throws {
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

    private static let everyTick = ["live", "--replay", "--from", "csv", "--to", "csv", "--emit", "recomputations"]

    /// Twenty devices somewhere else at each of 120 ticks.
    private func writeWanderers() {
        var random = SplitMix64(seed: 23)
        var text = "id,time,latitude,longitude\n"
        for round in 0..<120 {
            for device in 0..<20 {
                text += "d\(device),\(1_700_000_100 + round * 900 + device),"
                text += String(format: "%.4f,%.4f\n", random.uniform(-60, 60), random.uniform(-180, 180))
            }
        }
        place.write(text, as: "fixes.csv")
    }

    private func lines(_ text: String) -> [String] {
        // The last one may be cut off.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.map(String.init).filter { !$0.hasPrefix("id,") }
    }

    /// A folder for states in memory, where there is one: what is tested does not depend on the disk, which takes most of
    /// the time.
    private final class Shelf {
        let path: String
        var state: String { path + "/state" }

        init(_ place: Workplace) throws {
            let memory = "/dev/shm"
            path =
                FileManager.default.isWritableFile(atPath: memory)
                ? memory + "/hereabouts-\(UUID().uuidString)" : place.path("shelf")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func clear() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
        }
    }

    /// Kills at random moments: no tick is answered twice with different answers, none that was published is lost, and
    /// the runs together give what one gives that nothing disturbs. HEREABOUTS_KILLS says how many; default 15.
    @Test func `kills neither buy answers nor lose them`() throws {
        var random = SplitMix64(seed: 29)
        writeWanderers()
        let shelf = try Shelf(place)
        func run(_ more: [String], killedAfter microseconds: UInt32?) throws -> (lines: [String], isWhole: Bool) {
            let process = place.process(command, Self.everyTick + more)
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
            return (
                lines(place.read("out") ?? ""),
                process.terminationReason == .exit && process.terminationStatus == 0
            )
        }
        let clean = try run([], killedAfter: nil)
        #expect(clean.isWhole && clean.lines.count > 1000)
        var numbers: [String: Int] = [:]
        for (number, line) in clean.lines.enumerated() { numbers[line] = number }
        #expect(numbers.count == clean.lines.count)
        let start = ContinuousClock.now
        _ = try run(["--state", shelf.state], killedAfter: nil)
        let microseconds = Double((ContinuousClock.now - start) / .microseconds(1))
        let wanted = ProcessInfo.processInfo.environment["HEREABOUTS_KILLS"].flatMap(Int.init) ?? 15
        var kills = 0
        while kills < wanted {
            try shelf.clear()
            // How many reports came out so far. Each run goes on where the one before was, but for its last tick.
            var published = 0, attempts = 0, isDone = false
            while !isDone {
                let isLast = attempts == 5 || kills == wanted
                attempts += 1
                let result = try run(
                    ["--state", shelf.state],
                    killedAfter: isLast ? nil : UInt32(random.uniform(0.02, 0.5) * microseconds))
                if !result.isWhole { kills += 1 }
                #expect(!isLast || result.isWhole)
                isDone = result.isWhole
                let places = result.lines.map { numbers[$0] ?? -1 }
                guard let first = places.first else { continue }
                #expect(places == Array(first..<first + places.count), "another answer, or another order")
                #expect(first <= published, "a report is lost")
                #expect(first >= published - 20, "more than the last tick again")
                published = max(published, first + places.count)
            }
            #expect(published == clean.lines.count)
        }
    }

    /// Where a state or an output cannot grow: status 2, why, and the next run has what did not come out.
    @Test func `a full disk loses nothing`() throws {
        writeWanderers()
        let shelf = try Shelf(place)
        let words = Self.everyTick.joined(separator: " ")
        let clean = lines(try place.shell("hereabouts \(words) < fixes.csv").output)
        let whole = try place.shell("hereabouts \(words) --state \(shelf.state) < fixes.csv > /dev/full")
        #expect(whole.status == 2 && whole.errors.contains("standard output: No space left on device"))
        #expect(lines(try place.shell("hereabouts \(words) --state \(shelf.state) < fixes.csv").output) == clean)
        // The largest size of a file, in blocks of 512 bytes.
        for blocks in [0, 16, 40, 64, 128, 300, 1000] {
            try shelf.clear()
            // Neither reports nor messages go to a file that is limited.
            let line = "ulimit -f \(blocks); hereabouts \(words) --state \(shelf.state) < fixes.csv; echo status $? >&2"
            let first = try place.shell("( ( \(line) ) 2>&1 >&3 | cat > why ) 3>&1 | cat")
            let published = lines(first.output)
            let why = place.read("why") ?? ""
            #expect(Array(clean.prefix(published.count)) == published)
            if published == clean {
                #expect(why.hasSuffix("status 0\n"))
            } else {
                #expect(why.contains("state: cannot be written") && why.hasSuffix("status 2\n"), "\(blocks): \(why)")
            }
            let second = try place.shell("hereabouts \(words) --state \(shelf.state) < fixes.csv")
            #expect(second.status == 0)
            // The last tick may come twice.
            let rest = lines(second.output)
            let repeated = published.count + rest.count - clean.count
            #expect((0...20).contains(repeated) && Array(clean.suffix(rest.count)) == rest, "\(blocks)")
        }
    }
}
