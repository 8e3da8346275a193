import CommandSupport
import FixedRandom
import Foundation
import Testing

/// `convert` of a folder: kills, faults, and what the run says of itself.
@Suite(.serialized) struct FolderCommandTests {
    let place = Workplace()

    /// `HEREABOUTS_FILES` says how many files; a run of the tests takes few.
    private static let files = ProcessInfo.processInfo.environment["HEREABOUTS_FILES"].flatMap { Int($0) } ?? 120
    private static let kills = ProcessInfo.processInfo.environment["HEREABOUTS_KILLS"].flatMap { Int($0) } ?? 12

    /// Files of one person on the way east, each of two hours, which overlap by one.
    private func makeFolder(_ name: String = "in", count: Int = files) throws {
        for file in 0..<count {
            let folder = place.folder.appendingPathComponent("\(name)/\(file % 7)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var text = "time,lat,lon\n"
            for minute in 0..<120 {
                let seconds = 1_700_000_000 + (file * 60 + minute) * 60 + file % 2
                text += "\(seconds),\(10 + Double(file) / 50),\(20 + Double(file * 60 + minute) / 5_000)\n"
            }
            place.write(text, as: "\(name)/\(file % 7)/\((file * 37) % 1000)-\(file).csv")
        }
    }

    /// What is below a folder, by its path.
    private func contents(_ name: String) -> [String: String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: place.path(name))) ?? []
        return Dictionary(
            uniqueKeysWithValues: paths.compactMap { path in place.read("\(name)/\(path)").map { (path, $0) } })
    }

    private static let words = ["convert", "in", "-o", "out", "--emit", "recomputations"]

    @Test func `kills lose nothing and give nothing twice`() throws {
        try makeFolder()
        let start = ContinuousClock.now
        #expect(try place.run(command, Self.words).status == 0)
        let microseconds = Int((ContinuousClock.now - start) / .microseconds(1))
        let expected = contents("out")
        #expect(expected.count == Self.files)
        let times = expected.values.flatMap {
            $0.split(separator: "\n").dropFirst().map { $0.split(separator: ",")[1] }
        }
        #expect(Set(times).count == times.count && times.count > Self.files * 4)
        var random = SplitMix64(seed: 8)
        for _ in 0..<Self.kills {
            try FileManager.default.removeItem(atPath: place.path("out"))
            for _ in 0..<3 {
                let process = place.process(command, Self.words + ["--skip-existing"])
                process.standardError = FileHandle.nullDevice
                try process.run()
                usleep(UInt32.random(in: 0...UInt32(microseconds), using: &random))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                // No half file has a name.
                for (name, text) in contents("out") where name.hasSuffix(".csv") { #expect(expected[name] == text) }
            }
            #expect(try place.run(command, Self.words + ["--skip-existing"]).status == 0)
            let outputs = contents("out").filter { !$0.key.hasSuffix(".partial") }
            #expect(outputs == expected)
        }
    }

    @Test func `a full disk fails files and not the others`() throws {
        try makeFolder(count: 20)
        #expect(try place.run(command, Self.words).status == 0)
        let expected = contents("out")
        try FileManager.default.removeItem(atPath: place.path("out"))
        // Files of at most 512 bytes: of those outputs some fit and some do not.
        let sizes = expected.values.map(\.utf8.count)
        #expect(sizes.contains { $0 <= 512 } && sizes.contains { $0 > 512 })
        let full = try place.shell("ulimit -f 1; exec hereabouts \(Self.words.joined(separator: " "))")
        let large = expected.filter { $0.value.utf8.count > 512 }
        #expect(full.status == (large.isEmpty ? 0 : 2))
        // Standard error is a file, too.
        #expect(large.isEmpty || full.errors.contains(".csv: File too large"))
        let kept = contents("out").filter { $0.key != ".hereabouts-run" }
        #expect(kept == expected.filter { large[$0.key] == nil })
        // The others are written when there is room, with the answers they would have had.
        #expect(try place.run(command, Self.words + ["--skip-existing"]).status == 0)
        #expect(contents("out") == expected)
    }

    @Test func `bad files are told of and the others converted`() throws {
        try makeFolder(count: 5)
        place.write([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3], as: "in/torn.gpx.gz")
        place.write("<gpx version=\"1.1\"><trk>", as: "in/torn.gpx")
        place.write([0xff, 0xd8, 0xff, 0xe0], as: "in/photo.jpg")
        // A file stands where a folder of outputs is to be.
        try FileManager.default.createDirectory(atPath: place.path("out"), withIntermediateDirectories: true)
        place.write("in the way", as: "out/3")
        let result = try place.run(command, Self.words)
        #expect(result.status == 2)
        #expect(result.errors.contains("hereabouts: 4 files converted"))
        #expect(
            result.errors.contains("3 files failed: Not a directory (1), not well-formed XML (1), the compressed data ")
        )
        #expect(result.errors.contains("not read: an image (1)"))
        #expect(contents("out").keys.count { $0.hasSuffix(".csv") } == 4)
        #expect(place.read("out/3") == "in the way")
        // Where it cannot be made, nothing is.
        let nowhere = try place.run(command, ["convert", "in", "-o", "/proc/none/out"])
        #expect(nowhere.status == 2 && nowhere.errors.contains("/proc/none"))
        if getuid() != 0 {
            // SAFETY: the path is a NUL-terminated copy for the time of the call.
            _ = unsafe chmod(place.path("in/torn.gpx"), 0)
            #expect(try place.run(command, Self.words).errors.contains("torn.gpx: Permission denied"))
        }
    }

    @Test func `arguments that do not go together are refused`() throws {
        try makeFolder(count: 1)
        place.write("time,lat,lon\n", as: "a.csv")
        for words in [
            ["in"], ["in", "a.csv", "-o", "out"], ["in", "-o", "out", "--state", "s"], ["in", "-o", "in"],
            ["a.csv", "--to", "csv", "--skip-existing"], ["a.csv", "--to", "csv", "--devices", "folder"],
            ["a.csv", "--to", "csv", "--dry-run", "--state", "s"], ["in", "-o", "out", "--stats", "in/0/s.json"],
            ["in", "-o", "out", "--on-error", "blank"], ["in", "-o", "out", "--keep-names"],
            ["a.csv", "--to", "csv", "--keep-names"],
        ] {
            let result = try place.run(command, ["convert"] + words)
            #expect(result.status == 2 && result.output.isEmpty, "\(words)")
        }
        #expect(place.names == ["a.csv", "in"])
    }

    // MARK: What the run says of itself

    @Test(arguments: [true, false]) func `statistics are no finer than the output`(_ isFolder: Bool) throws {
        try makeFolder(count: 3)
        place.write("time,lat,lon\n1772323207,48.2,16.3\n1772323217,99,16.3\n1772326777,49.2,16.3\n", as: "in/a.csv")
        let words = isFolder ? ["in", "-o", "out"] : ["in/a.csv", "-o", "out.csv"]
        let result = try place.run(
            command, ["convert"] + words + ["--emit", "fixes", "--to", "csv", "--stats", "stats.json"])
        #expect(result.status == 1)
        let text = try #require(place.read("stats.json"))
        let stats = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(stats["files"] as? Int == (isFolder ? 4 : 1) && stats["devices"] as? Int == 1)
        #expect(stats["records"] as? Int == (isFolder ? 363 : 3) && stats["bad_records"] as? Int == 1)
        #expect((stats["bad_records_by_reason"] as? [String: Int])?.values.reduce(0, +) == 1)
        #expect(stats["last_tick"] as? String == "2026-03-01T01:00:00Z")
        let least = (stats["accuracy_meters"] as? [String: Int])?["least"]
        #expect(least.map { $0 >= 2000 } == true)
        #expect(!text.contains("48.2") && !text.contains("1772323") && !text.contains("00:00:07"))
    }

    @Test func `a dry run says what it would do`() throws {
        try makeFolder(count: 3)
        place.write("id,time,lat,lon,heart_rate\nx,1772323207,48.2,16.3,99\nx,1772323217,99,16.3,98\n", as: "in/a.csv")
        let words = ["convert", "in", "-o", "out", "--to", "gpx", "--stats", "stats.json"]
        let dry = try place.run(command, words + ["--dry-run"])
        #expect(dry.status == 1 && place.names == ["in"])
        let line = try #require(dry.output.split(separator: "\n").first { $0.hasPrefix("in/a.csv") })
        #expect(line == "in/a.csv: csv, devices by id, to a.gpx: 1 reports; dropped: heart_rate")
        let wet = try place.run(command, words)
        #expect(wet.status == 1 && contents("out").count == 4)
        let one = try place.run(command, ["convert", "in/a.csv", "-o", "one.gpx", "--dry-run"])
        #expect(one.status == 1 && one.output.contains("1 devices, 2 fixes, to one.gpx: 1 reports"))
        #expect(one.errors.contains("; dropped: heart_rate") && !place.names.contains("one.gpx"))
    }

    @Test func `a run of records says the same of itself`() throws {
        place.write(
            "id,time,lat,lon,heart_rate\nx,1772323207,48.2,16.3,99\nx,1772323217,99,16.3,98\ny,1772323218,0.5,-30.5,9\n",
            as: "a.csv")
        let dry = try place.run(command, ["snap", "a.csv", "-o", "out.csv", "--stats", "s.json", "--dry-run"])
        #expect(dry.status == 1 && place.names == ["a.csv"])
        #expect(dry.output == "1 inputs, 3 records, to out.csv: 3 records\nkept columns: id, time\n")
        #expect(dry.errors.contains("; dropped: heart_rate"))
        for format in ["csv", "kml"] {
            let result = try place.run(command, ["snap", "a.csv", "-o", "out.\(format)", "--stats", "s.json"])
            #expect(result.status == 1)
            let text = try #require(place.read("s.json"))
            let stats = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(stats["records"] as? Int == 3 && stats["bad_records"] as? Int == 1)
            #expect(stats["written"] as? Int == (format == "csv" ? 3 : 2) && stats["regions"] as? Int == 2)
            let accuracies = try #require(stats["accuracy_meters"] as? [String: Int])
            #expect(accuracies["least"]! < accuracies["greatest"]! && stats["devices"] == nil)
            #expect(!text.contains("48.2") && !text.contains("1772323"))
        }
        // Of the regions around a zone nothing is counted.
        place.write("48.2,16.3,200\n", as: "zones.csv")
        let zones = try place.run(
            command, ["snap", "a.csv", "-o", "out.csv", "--stats", "s.json", "--zones", "zones.csv"])
        #expect(zones.status == 1 && place.read("s.json")?.contains("\"regions\": 1,") == true)
        #expect(try place.run(command, ["snap", "a.csv", "--stats", "a.csv"]).status == 2)
    }

    @Test(.full) func `what is written at the end waits in a file`() throws {
        // More than wait in memory, of devices that take turns.
        let rows = (0..<600_000).map { "\($0 % 7),1772323207,\($0 % 89).5,\($0 % 177).5" }
        place.write("id,time,lat,lon\n" + rows.joined(separator: "\n") + "\n", as: "a.csv")
        for format in ["gpx", "kml"] {
            #expect(try place.run(command, ["snap", "a.csv", "-o", "spilled.\(format)"]).status == 0)
            #expect(try place.shell("TMPDIR=/nonexistent hereabouts snap a.csv -o held.\(format)").status == 0)
            let held = try Data(contentsOf: place.folder.appendingPathComponent("held.\(format)"))
            #expect(held == (try Data(contentsOf: place.folder.appendingPathComponent("spilled.\(format)"))))
            #expect(held.count { $0 == 0x0a } > 600_000)
        }
    }

    // MARK: The reference

    /// All options that a program's description of itself has, by subcommand.
    private func options(_ program: URL) throws -> [String: Set<String>] {
        let dump = try place.run(program, ["--experimental-dump-help"]).output
        let root = try #require(try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
        var found: [String: Set<String>] = [:]
        func visit(_ command: [String: Any], _ path: [String]) {
            let path = path + [command["commandName"] as? String ?? ""]
            for case let argument as [String: Any] in command["arguments"] as? [Any] ?? [] {
                for case let name as [String: String] in argument["names"] as? [Any] ?? [] where name["kind"] == "long"
                {
                    found[path.joined(separator: "-"), default: []].insert("--" + (name["name"] ?? ""))
                }
            }
            for case let child as [String: Any] in command["subcommands"] as? [Any] ?? [] { visit(child, path) }
        }
        visit(try #require(root["command"] as? [String: Any]), [])
        return found
    }

    @Test func `the manual has every option and the documents no other`() throws {
        let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")
        let options = try options(companion)
        #expect(options["hereabouts-convert"]?.contains("--skip-existing") == true)
        #expect(options["hereabouts-atlas-build"]?.isEmpty == false)
        // What the documents show of the command.
        let all = options.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        let documents = try FileManager.default.contentsOfDirectory(atPath: projectFolder.path + "/docs")
            .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        for name in ["README.md", "CONTRIBUTING.md"] + documents {
            let text = try String(contentsOf: projectFolder.appendingPathComponent(name), encoding: .utf8)
            for match in text.matches(of: /hereabouts [a-z][^`\n]*/) {
                for option in match.output.matches(of: /\s(--[a-z][a-z-]+)/) {
                    #expect(all.contains(String(option.output.1)), "\(name): \(option.output.1)")
                }
            }
        }
        let script = projectFolder.appendingPathComponent("scripts/make-manual.py").path
        let result = try place.shell("python3 '\(script)' manual '\(command.path)' '\(companion.path)'")
        guard result.status == 0 else { return print("skipped: there is no python3") }
        for (path, names) in options where !path.hasSuffix("-help") {
            let page = try #require(place.read("manual/\(path).1")).replacing("\\-", with: "-")
            for name in names where name != "--help" && name != "--version" {
                #expect(page.contains("\\fB\(name)\\fR"))
            }
        }
    }

    @Test func `a name that is not UTF-8 is named`() throws {
        let result = try place.shell(
            """
            mkdir in && printf 'time,lat,lon\\n1700000000,48.2,16.3\\n' | tee in/a.csv > "in/$(printf 'caf\\351.csv')" && \
            hereabouts convert in -o out --to csv --atlas '\(atlasPath)'
            """)
        #expect(result.status == 2)
        #expect(result.errors.contains("in/caf\u{FFFD}.csv: its name is not UTF-8"))
        #expect(contents("out").keys.sorted() == ["a.csv"])
    }

    @Test func `completions offer files, and the formats of --to and --from`() throws {
        let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")
        for (shell, words) in [
            ("zsh", [":file:_files", "___to=('gpx' 'kml'", "___from=('gpsbabel' 'gpx'"]),
            ("fish", ["-rF", "-l 'to'", "-rfka 'gpx kml kmz geojson ndjson csv'", "-rfka 'gpsbabel gpx kml"]),
        ] {
            let script = try place.run(companion, ["--generate-completion-script", shell]).output
            for word in words { #expect(script.contains(word), "\(shell): \(word)") }
        }
        let bash = try place.run(companion, ["--generate-completion-script", "bash"]).output
        place.write(
            bash + """

                offers() {
                    COMP_WORDS=(hereabouts "$@") COMP_CWORD=$# COMP_LINE="hereabouts $*" COMPREPLY=()
                    COMP_POINT=${#COMP_LINE}
                    _hereabouts hereabouts "${@: -1}" "${@: -2:1}"
                    echo "${COMPREPLY[*]}"
                }
                touch drive.csv
                offers snap --to g; offers convert --from geo; offers snap -o dr; offers convert dr

                """, as: "complete.bash")
        #expect(
            try place.shell("bash complete.bash").output == "gpx geojson\ngeojson geolife\ndrive.csv\ndrive.csv\n")
    }

    @Test func `completions know all subcommands and options`() throws {
        let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")
        for shell in ["bash", "zsh", "fish"] {
            let script = try place.run(companion, ["--generate-completion-script", shell])
            #expect(script.status == 0)
            for word in ["skip-existing", "geojson", "verify", "hereabouts"] {
                #expect(script.output.contains(word), "\(shell): \(word)")
            }
        }
    }
}
