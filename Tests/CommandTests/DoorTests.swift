import CommandSupport
import Foundation
import Testing

/// What lies beside an input or in a folder: others than the user may have put it there.
@Suite struct DoorTests {
    let place = Workplace()

    private static let table = "time,lat,lon\n2026-03-01T08:00:00Z,48.208234,16.373721\n"

    // MARK: Beside an input

    @Test func `what is no file beside a table is passed over with a notice`() throws {
        place.write(Self.table, as: "points.csv")
        let expected = try place.runBriefly(["snap", "--crs", "auto", "points.csv"])
        #expect(expected.status == 0 && !expected.output.isEmpty)
        place.makePipe("pipe")
        for (name, target) in [
            ("points.prj", nil), ("points.PRJ", nil), ("points.prj", "pipe"), ("points.prj", "/dev/zero"),
            ("points.prj", "/dev/tty"), ("points.prj", "/"),
        ] {
            if let target {
                try FileManager.default.createSymbolicLink(atPath: place.path(name), withDestinationPath: target)
            } else {
                place.makePipe(name)
            }
            for verb in [["snap"], ["convert", "--to", "csv"]] {
                let result = try place.runBriefly(verb + ["--crs", "auto", "points.csv"])
                #expect(result.status == 0, "\(name) \(target ?? "") \(result.status)")
                #expect(result.errors.contains("\(name): is no file"), "\(result.errors)")
                if verb == ["snap"] { #expect(result.output == expected.output) }
            }
            try FileManager.default.removeItem(atPath: place.path(name))
        }
    }

    @Test func `a projection file may be a link and has 64 KiB at most`() throws {
        place.write(Reference.utm, as: "points.csv")
        place.write(Reference.zone13, as: "real.prj")
        let expected = try place.runBriefly(["snap", "--crs", "EPSG:32613", "points.csv"])
        try FileManager.default.createSymbolicLink(atPath: place.path("points.prj"), withDestinationPath: "real.prj")
        let linked = try place.runBriefly(["snap", "--crs", "auto", "points.csv"])
        #expect(linked.status == 0 && linked.output == expected.output, "\(linked.errors)")
        place.write(
            Reference.zone13 + String(repeating: " ", count: (1 << 16) - Reference.zone13.utf8.count), as: "real.prj")
        #expect(try place.runBriefly(["snap", "--crs", "auto", "points.csv"]).output == expected.output)
        place.write(Reference.zone13 + String(repeating: " ", count: 1 << 16), as: "real.prj")
        #expect(try place.runBriefly(["snap", "--crs", "auto", "points.csv"]).status == 2)
    }

    /// What cannot be read may declare anything: it is not taken for nothing.
    @Test func `a projection file that cannot be read is refused`() throws {
        place.write(Reference.utm, as: "points.csv")
        // Reading it is an error of input and output.
        try FileManager.default.createSymbolicLink(
            atPath: place.path("points.prj"), withDestinationPath: "/proc/self/mem")
        #expect(try place.runBriefly(["snap", "--crs", "auto", "points.csv"]).status == 2)
        try FileManager.default.removeItem(atPath: place.path("points.prj"))
        try FileManager.default.createSymbolicLink(atPath: place.path("points.prj"), withDestinationPath: "points.prj")
        #expect(try place.runBriefly(["snap", "--crs", "auto", "points.csv"]).status == 2)
    }

    // MARK: In a folder

    @Test func `nothing in a folder makes a run wait`() throws {
        try place.makeFolder("in/sub")
        place.write(Self.table, as: "in/a.csv")
        place.write(Self.table, as: "in/sub/b.csv")
        for name in ["in/pipe.csv", "in/sub/c.gpx", "in/a.prj", "in/sub/b.prj"] { place.makePipe(name) }
        let result = try place.runBriefly(["convert", "in", "-o", "out", "--to", "csv", "--crs", "auto"])
        #expect(result.status == 0, "\(result.status) \(result.errors)")
        #expect(place.read("out/a.csv") != nil && place.read("out/sub/b.csv") != nil)
        #expect(result.errors.contains("is no file"))
    }

    @Test func `what is no file among the outputs is refused and makes no run wait`() throws {
        try place.makeFolder("in")
        try place.makeFolder("out")
        for name in ["a", "b"] { place.write(Self.table, as: "in/\(name).csv") }
        place.makePipe("out/a.csv")
        let result = try place.runBriefly(["convert", "in", "-o", "out", "--to", "csv"])
        #expect(result.status == 2 && result.errors.contains("is no file"), "\(result.status) \(result.errors)")
        #expect(place.read("out/b.csv") != nil)
    }

    @Test(arguments: ["pipe", "hard link", "link", "folder", "device"])
    func `a mark is a file of its own`(_ kind: String) throws {
        try place.makeFolder("in")
        try place.makeFolder("out")
        place.write(Self.table, as: "in/a.csv")
        place.write("precious\n", as: "precious")
        let path = place.path("out/.hereabouts-run")
        switch kind {
        case "pipe": place.makePipe("out/.hereabouts-run")
        case "hard link": try FileManager.default.linkItem(atPath: place.path("precious"), toPath: path)
        case "link":
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: place.path("precious"))
        case "folder": try place.makeFolder("out/.hereabouts-run")
        default: guard unsafe mknod(path, S_IFCHR | 0o666, 0x103) == 0 else { return }
        }
        for more in [[], ["--dry-run"]] {
            let result = try place.runBriefly(["convert", "in", "-o", "out", "--to", "csv"] + more)
            #expect(result.status == 2, "\(more) \(result.status)")
            #expect(result.errors.contains("out/.hereabouts-run"), "\(result.errors)")
            #expect(place.read("out/a.csv") == nil && place.read("precious") == "precious\n")
        }
    }

    @Test(.enabled(if: getuid() == 0, "skipped: only root can make another user's file"))
    func `another user's mark is refused`() throws {
        try place.makeFolder("in")
        try place.makeFolder("out")
        place.write(Self.table, as: "in/a.csv")
        place.write("", as: "out/.hereabouts-run")
        #expect(unsafe chown(place.path("out/.hereabouts-run"), 65534, 65534) == 0)
        let result = try place.runBriefly(["convert", "in", "-o", "out", "--to", "csv"])
        #expect(result.status == 2 && result.errors.contains("another user"), "\(result.errors)")
    }

    @Test func `a pipe beside the command is no atlas, and one among the time zones no zone`() throws {
        try FileManager.default.copyItem(at: command, to: place.folder.appendingPathComponent("hereabouts"))
        place.makePipe("world.atlas")
        place.write(Self.table, as: "points.csv")
        let result = try place.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["timeout", "-k", "1", "20", place.path("hereabouts"), "snap", "points.csv"])
        #expect(result.status == 2 && result.errors.contains("no atlas found"), "\(result.status)")
        place.makePipe("Zone")
        let zone = try place.runBriefly(
            ["convert", "--to", "csv", "--time-zone", "Zone", "points.csv"],
            environment: ["TZDIR": place.folder.path])
        #expect(zone.status == 2, "\(zone.status)")
    }

    // MARK: gpsbabel

    @Test func `gpsbabel gets nothing of the environment but where programs are`() throws {
        try place.makeFolder("bin")
        place.write(
            """
            #!/bin/sh
            env | grep -v '^_=\\|^PWD=\\|^SHLVL=\\|^OLDPWD=' | sort > "${0%/*}/../env"
            echo '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2"/></gpx>'
            """, as: "bin/gpsbabel")
        #expect(unsafe chmod(place.path("bin/gpsbabel"), 0o755) == 0)
        place.write(Array("anything".utf8), as: "a.bin")
        let path = place.path("bin") + ":/usr/bin:/bin"
        let result = try place.runBriefly(
            ["snap", "--from", "gpsbabel:ozi", "--to", "csv", "a.bin"],
            environment: ["PATH": path, "SECRET": "x", "TZ": "Asia/Tokyo", "LC_ALL": "de_DE", "LD_BIND_NOW": "1"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(place.read("env") == "LC_ALL=C\nPATH=\(path)\nTZ=UTC\n")
    }

    /// A group of its own gets no signal from the terminal.
    @Test func `a signal that ends the command ends what it started`() throws {
        try place.makeFolder("bin")
        place.write("#!/bin/sh\necho $$ >\"${0%/*}/../pid\"\nsleep 300\n", as: "bin/gpsbabel")
        #expect(unsafe chmod(place.path("bin/gpsbabel"), 0o755) == 0)
        place.write(Array("anything".utf8), as: "a.bin")
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let process = place.process(
                command, ["snap", "--from", "gpsbabel:ozi", "--to", "csv", "a.bin"],
                environment: ["PATH": place.path("bin") + ":/usr/bin:/bin", "HEREABOUTS_ATLAS": atlasPath])
            process.standardError = FileHandle.nullDevice
            try process.run()
            var child: pid_t?
            for _ in 0..<1000 where child == nil {
                usleep(10_000)
                child = place.read("pid").flatMap { pid_t($0.trimmingCharacters(in: .newlines)) }
            }
            let group = try #require(child)
            kill(process.processIdentifier, number)
            process.waitUntilExit()
            var isGone = false
            for _ in 0..<500 where !isGone {
                let state = try? String(contentsOfFile: "/proc/\(group)/stat", encoding: .utf8)
                isGone = kill(group, 0) != 0 || state?.contains(") Z ") == true
                if !isGone { usleep(10_000) }
            }
            #expect(isGone, "\(number)")
            try FileManager.default.removeItem(atPath: place.path("pid"))
        }
    }
}
