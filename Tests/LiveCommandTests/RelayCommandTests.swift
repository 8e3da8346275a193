import CommandSupport
import Foundation
import Testing

/// `hereabouts serve` and its owner's verbs as processes.
@Suite(.serialized) struct RelayCommandTests {
    let place = Workplace()

    private static let configuration = """
        listen = "127.0.0.1:0"
        zone = "Europe/Berlin"
        [devices.phone]
        [consumers.family]
        [consumers.family.purposes]
        pickup = "Fetching you from the station"
        [consumers.page]
        link-of = "family"

        """

    /// A relay that runs; its standard error goes to the file `log`.
    private func serve(_ arguments: [String] = []) throws -> Process {
        place.write(Self.configuration, as: "relay.toml")
        place.write("", as: "log")
        let process = place.process(command, ["serve", "--config", "relay.toml", "--state", "state"] + arguments)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: place.folder.appendingPathComponent("log"))
        try process.run()
        for _ in 0..<300 where place.read("log")?.contains("listening at") != true { usleep(100_000) }
        try #require(place.read("log")?.contains("listening at 127.0.0.1:") == true)
        return process
    }

    private func withRelay(_ body: () throws -> Void) throws {
        let process = try serve()
        do {
            try body()
        } catch {
            process.terminate()
            throw error
        }
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    private func verb(_ text: String) throws -> CommandResult { try place.shell("hereabouts \(text) --state state") }

    @Test func `its status is that of its state`() throws {
        try withRelay {
            let status = try verb("status")
            #expect(status.status == 0 && status.output.contains("  Devices of the configuration\n"))
            let json = try verb("status --json").output
            #expect(
                json.contains("\"devices\":1,") && json.contains("\"isStateUsable\":true") && !json.contains("phone"))
        }
        let process = try serve()
        #expect(try place.shell("rm state/relay.sqlite").status == 0)
        let gone = try verb("status")
        #expect(gone.status == 2 && gone.errors.hasSuffix("the relay's state is gone, or cannot be written\n"))
        process.terminate()
        process.waitUntilExit()
        #expect(try verb("status").status == 2)
    }

    @Test func `grants are listed and revoked`() throws {
        try withRelay {
            #expect(try verb("grant family phone --for 2h").status == 0)
            #expect(try verb("grant family phone --full --purpose pickup --always").status == 0)
            let lines = try verb("consumers").output.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("CONSUMER"))
            #expect(lines[1].hasPrefix("family") && lines[1].contains("exact for pickup, pushed"))
            #expect(lines[1].contains("around-here since 20") && lines[1].contains(" until 20"))
            #expect(lines[2].hasPrefix("page (link of family)"))
            let json = try JSONSerialization.jsonObject(with: Data(try verb("consumers --json").output.utf8))
            let consumers = (json as? [String: Any])?["consumers"] as? [[String: Any]]
            #expect(consumers?.map { $0["accuracy"] as? String } == ["full", "reduced"])
            #expect(try verb("pause").status == 0)
            #expect(try verb("consumers").errors.contains("everything is paused"))
            #expect(try verb("resume --json").output == "{\"done\":true}\n")
            #expect(try verb("revoke family phone").status == 0)
            #expect(try verb("consumers").output.contains("nothing: denied"))
            #expect(try verb("revoke family phone --reset").status == 0)
            #expect(try verb("requests").output == "ID  CONSUMER  DEVICE  ASKS FOR  SINCE\n")
        }
        // Decisions outlast the relay.
        try withRelay {
            let granted = try verb("grant family phone")
            #expect(granted.status == 0)
        }
        try withRelay {
            let listed = try verb("consumers")
            #expect(listed.output.contains("around-here"))
        }
    }

    @Test func `tokens are shown once`() throws {
        try withRelay {
            let made = try verb("token send phone")
            let token = made.output.trimmingCharacters(in: .newlines)
            #expect(made.output == token + "\n" && token.utf8.count == 22)
            #expect(made.complaints == "token 1; it is shown this once\n")
            #expect(try verb("token owner --json").output.hasPrefix("{\"id\":2,\"token\":\""))
            #expect(try verb("token read page").status == 0)
            let listed = try verb("token list").output
            let today = String(Date.now.ISO8601Format().prefix(10))
            #expect(
                listed == "ID  FOR    OF     MADE        LAST USED  UNTIL\n1   send   phone  \(today)  never\n"
                    + "2   owner         \(today)  never\n3   read   page   \(today)  never\n")
            #expect(try verb("token owner --for 1h").status == 0)
            #expect(try verb("token revoke 4").status == 0)
            #expect(try verb("token revoke 2").status == 0)
            #expect(try verb("token revoke 2").complaints == "hereabouts: there is no token 2\n")
            for name in ["relay.sqlite", "relay.sqlite-wal"] {
                let bytes = try Data(contentsOf: place.folder.appendingPathComponent("state/\(name)"))
                #expect(bytes.range(of: Data(token.utf8)) == nil)
            }
            #expect(place.read("log")?.contains(token) == false)
        }
    }

    @Test func `what a grant came to is printed`() throws {
        try withRelay {
            let first = try verb("grant family phone --for 2h")
            #expect(
                first.output.contains("around-here since ") && first.complaints.contains("nothing is known of phone"))
            let second = try verb("grant family phone --once")
            #expect(
                second.output.contains(" once until ")
                    && second.complaints.contains("ended: around-here since "))
            #expect(try verb("devices").output == "DEVICE  LAST MESSAGE  FROM  CAME TO  LAST USED\nphone   none yet\n")
            #expect(try verb("devices --json").output.hasPrefix("{\"devices\":[{"))
            #expect(try verb("pause --quiet").status == 0)
            #expect(try verb("consumers").errors.contains("paused quietly"))
        }
    }

    @Test func `a backup is restored paused and printed`() throws {
        var running: [String] = []
        try withRelay {
            running.append(try verb("token send phone").output)
            #expect(try verb("grant family phone").status == 0)
            #expect(try verb("backup copy").status == 0)
            let attributes = try FileManager.default.attributesOfItem(
                atPath: place.folder.appendingPathComponent("copy").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try verb("backup missing/copy").status == 2)
            // It does not take the state of a relay that runs.
            #expect(try verb("restore copy").complaints.contains("the relay runs: stop it"))
            #expect(try verb("token revoke 1").status == 0)
            #expect(try verb("revoke family phone").status == 0)
        }
        let restored = try verb("restore copy")
        #expect(restored.status == 0 && restored.output.contains("1   send  phone"))
        #expect(restored.output.contains("around-here") && restored.complaints.contains("begins paused quietly"))
        #expect(restored.complaints.contains("relay.sqlite.replaced-"))
        place.write("text", as: "text")
        #expect(try verb("restore text").complaints.contains("is not a state"))
        try withRelay {
            #expect(try verb("token list").output.contains("send"))
            let consumers = try verb("consumers")
            #expect(consumers.output.contains("around-here") && consumers.errors.contains("paused quietly"))
        }
    }

    @Test func `tokens are imported while no relay runs`() throws {
        try withRelay { () throws in #expect(try verb("token send phone").status == 0) }
        place.write(
            "phone \(String(repeating: "a", count: 22))\nphone \(String(repeating: "b", count: 22))\n", as: "tokens")
        place.write("phone \(String(repeating: "a", count: 22))\nphone b\n", as: "wrong")
        #expect(try verb("token import tokens").status == 0)
        let wrong = try verb("token import wrong")
        #expect(wrong.status == 2 && wrong.complaints.contains("wrong:2: "))
        try withRelay { () throws in
            #expect(try verb("token list").output.split(separator: "\n").count == 4)
            #expect(try verb("token import tokens").complaints.contains("another run has it"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make another user's files"))
    func `a state that another user made is neither served nor asked`() throws {
        place.write(Self.configuration, as: "relay.toml")
        let serve = "hereabouts serve --config relay.toml --state"
        #expect(try place.shell("mkdir -m 700 taken && chown 65534 taken && \(serve) taken").status == 2)
        #expect(try place.shell("\(serve) taken").complaints.contains("taken: is another user's"))
        #expect(
            try place.shell("mkdir -m 777 open && chmod 777 open && \(serve) open").complaints.contains(
                "written to by others"))
        #expect(
            try place.shell("ln -s /tmp link && chown -h 65534 link && \(serve) link").complaints.contains(
                "symbolic link"))
        #expect(
            try place.shell("hereabouts live --state taken/x </dev/null").complaints.contains("folder where others"))
        #expect(
            try place.shell("touch file && chown 65534 file && hereabouts live --state file </dev/null").status == 2)
        // As systemd makes it: a folder elsewhere, and root's link to it.
        #expect(try place.shell("mkdir -m 700 private && ln -s private state").status == 0)
        try withRelay { () throws in #expect(try verb("consumers").status == 0) }
        try withRelay { () throws in
            #expect(try place.shell("chown 65534 state/control.sock").status == 0)
            let asked = try verb("consumers")
            #expect(asked.status == 2 && asked.complaints.contains("not of the folder's owner"))
            #expect(try place.shell("chown 0 state/control.sock").status == 0)
        }
    }

    @Test func `what cannot be done has status two`() throws {
        try withRelay {
            for (arguments, words) in [
                ("grant famly phone", "is 'family' meant?"), ("grant family phon", "is 'phone' meant?"),
                ("grant page phone", "read-only link"), ("grant family phone --full", "go together"),
                ("grant family phone --purpose pickup", "go together"),
                ("grant family phone --full --purpose x", "there is 'pickup'"),
                ("grant family phone --once --always", "never for '--always'"),
                ("grant family phone --until tomorrow --always", "never for '--always'"),
                ("grant family phone --once --until tomorrow", "neither"),
                ("grant family phone --for 2h --until 18:00", "neither"), ("grant family phone --for 0s", "--for"),
                ("grant family phone --until 24:00", "--until"), ("grant family phone --until 8:00", "--until"),
                ("grant family phone --until 2026-13-01T10:00", "--until"),
                ("grant family phone --until 2026-02-30T10:00", "no such day"),
                ("grant family phone --until 2020-01-01T10:00", "ends before it begins"),
                ("requests --accept nothing", "no request 'nothing' waits"),
                ("token send nobody", "no device 'nobody'"),
                ("token revoke 7", "no token 7"), ("token revoke seven", "seven"),
            ] {
                let result = try verb(arguments)
                #expect(result.status == 2, "\(arguments)")
                #expect((result.errors + result.output).contains(words), "\(arguments): \(result.errors)")
            }
            #expect(try verb("consumers").output.contains("undecided"))
            // A second relay in the same folder.
            let second = try place.shell("hereabouts serve --config relay.toml --state state < /dev/null")
            #expect(second.status == 2 && second.errors.contains("another run has it"))
        }
    }

    @Test func `a relay that was killed leaves nothing in the way`() throws {
        let process = try serve()
        #expect(try verb("grant family phone").status == 0)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let result = try verb("consumers")
        #expect(result.status == 2 && result.errors.contains("no relay is running here; start 'hereabouts serve'"))
        try withRelay {
            let listed = try verb("consumers")
            #expect(listed.output.contains("around-here"))
        }
        #expect(!FileManager.default.fileExists(atPath: place.path("state/control.sock")))
    }

    @Test func `a configuration is checked without a state`() throws {
        place.write(Self.configuration, as: "relay.toml")
        let good = try place.shell("hereabouts serve --check --config relay.toml --state state")
        #expect(good.status == 0)
        #expect(good.output == "relay.toml: valid; devices: 1; consumers: 2; listens at 127.0.0.1:0\n")
        #expect(!FileManager.default.fileExists(atPath: place.path("state")))
        place.write("listen = 1\ninterval = 2\n[devices.a]\n", as: "relay.toml")
        for arguments in ["--check", "--state state"] {
            let bad = try place.shell("hereabouts serve --config relay.toml \(arguments) < /dev/null")
            #expect(bad.status == 2)
            #expect(
                bad.complaints == """
                    hereabouts: relay.toml:1: listen is a string, not a number
                    hereabouts: relay.toml:2: interval is a string, not a number

                    """)
        }
        #expect(try place.shell("hereabouts serve --check --config nothing").status == 2)
    }
}
