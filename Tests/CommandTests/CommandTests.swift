import CommandSupport
import Foundation
import Testing

private let header = "latitude,longitude,horizontal_accuracy,region,country,place\n"

/// Serialized: each test waits for processes, and two cores have enough with one.
@Suite(.serialized) struct CommandTests {
    let place = Workplace()

    @Test func `version`() throws {
        let result = try place.hereabouts("--version")
        #expect(result.output == "hereabouts 0.2.0\n" && result.complaints.isEmpty && result.status == 0)
    }

    @Test(arguments: [[], ["snap"], ["convert"], ["region"]])
    func `help goes to standard output`(_ arguments: [String]) throws {
        let result = try place.run(command, arguments + ["--help"])
        #expect(result.status == 0 && result.complaints.isEmpty)
        #expect(result.output.contains("\n  hereabouts "))
        let longest = result.output.split(separator: "\n").filter { !$0.hasPrefix("USAGE") }.map(\.count).max()
        #expect(longest! <= 80)
    }

    @Test func `every example of the help runs`() throws {
        let table = "id,time,lat,lon,species,count\n1,1772323200,31.7,-106.4,x,2\n"
        for name in ["positions.csv", "visits.csv", "sightings.csv", "fleet.csv"] { place.write(table, as: name) }
        place.write("breite;laenge\n48.2;16.3\n", as: "orte.csv")
        try FileManager.default.createDirectory(atPath: place.path("traces"), withIntermediateDirectories: true)
        for name in ["ride.gpx", "ride.fit", "monday.gpx", "tuesday.gpx", "today.gpx", "week.gpx", "traces/ride.gpx"] {
            place.write(ride, as: name)
        }
        let record =
            "{\"time\":1772323200,\"lat\":31.7,\"lon\":-106.4,\"sensor\":{\"name\":\"x\"},\"user\":{\"id\":1}}\n"
        for name in ["events.ndjson.gz", "log.ndjson.zst"] { place.write(record, as: name) }
        place.write(
            #"{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[-106.4,31.7]}}"#,
            as: "stations.geojson")
        place.write(
            #"{"type":"Feature","properties":{"radius":200},"geometry":{"type":"Point","coordinates":[-106.4,31.7]}}"#,
            as: "places.geojson")
        var examples = 0
        for arguments in [[], ["snap"], ["convert"], ["region"]] {
            let help = try place.run(command, arguments + ["--help"]).output
            let usage = try #require(help.range(of: "USAGE"))
            for line in help[..<usage.lowerBound].split(separator: "\n") where line.hasPrefix("  ") {
                let result = try place.shell(String(line))
                #expect(result.status == 0, "\(line): \(result.errors)")
                examples += 1
            }
        }
        #expect(examples >= 12)
        let convertedFiles = ["around.gpx", "week.geojson", "fleet-around.csv", "every-fix.csv", "reduced.csv"]
        #expect(convertedFiles.allSatisfy { place.read($0)?.isEmpty == false })
    }

    @Test func `snap reads standard input and files`() throws {
        place.write("31.7619 -106.4850\n", as: "a")
        let expected = header + (try reducedColumns(31.7619, -106.485)) + "\n"
        for arguments in [["snap", "a"], ["snap", "-"], ["snap"], ["snap", "a", "-o", "out"]] {
            let result = try place.run(command, arguments, input: "31.7619,-106.4850")
            #expect((place.read("out") ?? result.output) == expected)
            #expect(result.status == 0 && result.complaints.isEmpty)
        }
    }

    @Test func `threads are the user's choice and make no difference`() throws {
        let rows = (0..<20_000).map {
            "\($0 % 7),\(1_772_323_200 + $0 * 5),\(Double($0 % 1700) / 10 - 84.95),\(Double($0 % 3590) / 10 - 178.95)\n"
        }
        place.write("id,time,lat,lon\n" + rows.joined(), as: "fixes.csv")
        for words in [["snap"], ["convert", "--to", "csv", "--accept-jumps"]] {
            let one = try place.run(command, words + ["fixes.csv", "--threads", "1"])
            #expect(one.status == 0 && one.output.count > 10_000)
            for choice in [[], ["--threads", "2"], ["--threads", "256"]] {
                let more = try place.run(command, words + ["fixes.csv"] + choice)
                #expect(more.status == 0 && more.output == one.output && more.errors == one.errors)
            }
            for wrong in ["0", "-1", "257", "many"] {
                #expect(try place.run(command, words + ["fixes.csv", "--threads", wrong]).status == 2)
            }
        }
    }

    @Test func `bad records give status one and their lines`() throws {
        let lines = (1...30).map { $0 % 2 == 0 ? "31.7619,-106.485" : "91.123456,-106.485" }
        place.write("lat,lon\n" + lines.joined(separator: "\n") + "\n", as: "half.csv")
        let result = try place.hereabouts("snap", "half.csv")
        #expect(result.status == 1)
        #expect(result.output.split(separator: "\n").count == 31)
        #expect(result.complaints.hasPrefix("half.csv:2: the latitude is out of range\nhalf.csv:4: "))
        #expect(result.errors.hasSuffix("hereabouts: 15 of 30 records were bad: the latitude is out of range (15)\n"))
        #expect(result.complaints.split(separator: "\n").count == 12)
        #expect(!result.errors.contains("123") && !result.output.contains("91.1"))
        let many = String(repeating: "x,y\n", count: 1000)
        let counted = try place.hereabouts("snap", "--on-error", "skip", input: "1 2\n" + many)
        #expect(counted.status == 1 && counted.output.split(separator: "\n").count == 2)
        #expect(counted.errors.split(separator: "\n").count == 12)
        let verbose = try place.hereabouts("snap", "--on-error", "skip", "--verbose", input: "1 2\n" + many)
        #expect(verbose.errors.split(separator: "\n").count == 1001)
        // Ten for each reason and file.
        place.write("lat,lon\n" + String(repeating: "91,1\n1,x\n1,2,3\n1,2,3,4\n", count: 20), as: "mixed.csv")
        let mixed = try place.hereabouts("snap", "mixed.csv", "half.csv")
        #expect(mixed.complaints.split(separator: "\n").count == 3 * 11 + 11 + 1)
        #expect(
            mixed.errors.hasSuffix(
                "95 of 110 records were bad: another number of columns than the header has (40), "
                    + "the latitude is out of range (35), the longitude is not a number (20)\n"))
        let stopped = try place.hereabouts("snap", "--on-error", "stop", "-o", "out", input: "1 2\n" + many)
        #expect(stopped.status == 1 && place.read("out") == nil)
    }

    @Test func `dropped columns are named`() throws {
        let result = try place.hereabouts(
            "snap", "--keep", "note", "-", input: "id,lat,lon,speed,note,x\u{1b}[31m\n7,1,2,3,\"a,b\",4\n")
        #expect(result.output == "id,note,\(header)7,\"a,b\",\(try reducedColumns(1, 2))\n")
        #expect(
            result.errors
                == "hereabouts: standard input: read as: latitude lat, longitude lon, key id (1 key in the first record), "
                + "copied note; dropped: speed, x?[31m\n")
    }

    @Test func `intervals beside others are asked for`() throws {
        place.write(ride, as: "ride.gpx")
        let words = ["convert", "ride.gpx", "--to", "csv", "--interval"]
        let refused = try place.run(command, words + ["10m"])
        #expect(refused.status == 2 && refused.errors.contains("add '--any-interval'"))
        #expect(try place.run(command, words + ["10m", "--any-interval"]).status == 0)
        for interval in ["1s", "5m", "30m", "0.25h", "24h"] {
            #expect(try place.run(command, words + [interval]).status == 0, "\(interval)")
        }
    }

    @Test(arguments: [
        [], ["snap", "no-such-file"], ["snap", "--on-error", "ignore"], ["snap", "--delimiter", "ab"], ["unknown"],
        ["convert"], ["convert", "ride.gpx"], ["convert", "ride.gpx", "-o", "out.shp"],
        ["convert", "ride.gpx", "--to", "gpx", "--interval", "0.5s"],
        ["convert", "ride.gpx", "--to", "gpx", "--interval", "soon"],
        ["convert", "ride.gpx", "--to", "gpx", "--interval", "10m"], ["live", "--interval", "20m"],
        ["convert", "ride.gpx", "--to", "gpx", "--rename-every", "30d"],
        ["convert", "ride.gpx", "--to", "gpx", "--pad"],
        ["convert", "ride.gpx", "--to", "gpx", "--state-from", "world.atlas"], ["live", "--to", "csv", "--pad"],
        ["convert", "ride.gpx", "--to", "gpx", "--one-track", "--emit", "fixes"],
        ["snap", "--least", "0", "table.csv"],
        ["convert", "ride.gpx", "--to", "gpx", "--on-error", "blank"], ["convert", "broken.gpx", "-o", "out.gpx"],
        ["convert", "ride.gpx", "broken.gpx", "-o", "out.gpx"], ["snap", "--keep", "name", "ride.gpx"],
        ["snap", "--keep", "lat", "table.csv"],
        ["region"], ["region", "xyz"], ["region", "1,2", "3,4"], ["region", "1", "2", "3"], ["region", "1 2", "3"],
        ["region", "91.5,2"],
        ["snap", "picture.csv"], ["convert", "picture.csv", "-o", "out.csv"],
        ["convert", "table.csv", "--to", "csv", "--time-zone", "Middle/Earth"],
        ["convert", "table.csv", "--to", "csv", "--date-order", "ymd"],
        ["snap", "table.csv", "--position-column", "a", "--latitude-column", "b"],
        ["convert", "--to", "csv", "31.7619,-106.4850"],
        ["snap", "31.7619", "-106.4850", "table.csv"], ["snap", "31.7619"], ["snap", "31.7619", "106.485W"],
        ["snap", "--threads", "31.7619"], ["snap", "--delimiter=-106.485", "table.csv"],
        ["region", "--frobnicate", "31.7619,-106.4850"], ["--atlas"], ["snap", "."],
    ])
    func `mistakes give status two and no output`(_ arguments: [String]) throws {
        place.write(ride, as: "ride.gpx")
        place.write(String(ride.dropLast(20)), as: "broken.gpx")
        place.write("lat,lon\n1,2\n", as: "table.csv")
        place.write("GIF89a", as: "picture.csv")
        let result = try place.run(command, arguments)
        // Without arguments the help is shown, which is what was asked for.
        if arguments.isEmpty {
            #expect(result.status == 0 && result.output.contains("USAGE"))
            return
        }
        #expect(result.status == 2)
        #expect(result.output.isEmpty && !result.complaints.isEmpty)
        #expect(!result.errors.contains("31.76") && !result.errors.contains("106.48") && !result.errors.contains("3,4"))
        #expect(place.names == ["broken.gpx", "picture.csv", "ride.gpx", "table.csv"])
    }

    @Test func `convert writes the format that is asked for`() throws {
        place.write(ride, as: "ride.gpx")
        for name in ["out.gpx", "out.csv", "out.geojson", "OUT.GPX"] {
            #expect(try place.hereabouts("convert", "ride.gpx", "-o", name).status == 0)
        }
        #expect(place.read("out.gpx")?.hasPrefix("<?xml") == true && place.read("OUT.GPX") == place.read("out.gpx"))
        #expect(place.read("out.geojson")?.hasPrefix("{\"type\":\"FeatureCollection\"") == true)
        let expected = """
            track,time,\(header)1,2026-03-01T08:00:00Z,\(try reducedColumns(31.761934, -106.485021))
            1,2026-03-01T08:30:00Z,\(try reducedColumns(48.208234, 16.373721))

            """
        #expect(place.read("out.csv") == expected)
        #expect(try place.hereabouts("convert", "--to", "csv", input: ride).output == expected)
        #expect(try place.shell("cat ride.gpx | hereabouts convert --to csv | cat").output == expected)
    }

    @Test func `a file of another kind is called what it is with what to do`() throws {
        place.write("<kml/>", as: "a.kml")
        for words in [["snap"], ["convert", "--to", "csv"]] {
            let result = try place.run(command, words + ["a.kml"])
            #expect(result.status == 0 && result.complaints == "hereabouts: a.kml: contains no points\n")
        }
        // Without gpsbabel, an error says what to install.
        place.write("\u{e}\u{10}\0\0\0\0\0\0.FIT", as: "ride.fit")
        let missing = try place.shell("PATH=/nonexistent \"$(command -v hereabouts)\" convert --to csv ride.fit")
        #expect(
            missing.status == 2
                && missing.errors
                    == "hereabouts: ride.fit: this format is read with gpsbabel, which is not installed; install the package gpsbabel\n"
        )
        #expect(try place.hereabouts("snap", input: "{\"lat\":1}\n").errors.contains("no longitude member"))
    }

    @Test func `local times and dates are as the options say`() throws {
        let input = "Date,Time,lat,lon\n03/01/2019,22:09:56,1,2\n"
        let refused = try place.hereabouts("convert", "--to", "csv", input: input)
        #expect(refused.status == 1 && refused.errors.contains("--date-order"))
        let local = try place.hereabouts(
            "convert", "--to", "csv", "--emit", "recomputations", "--date-order", "mdy", "--time-zone", "Europe/Vienna",
            input: input)
        #expect(local.status == 0 && local.output.contains("\n1,2019-03-01T21:15:00Z,"))
        #expect(try place.hereabouts("convert", "--to", "csv", "--time-zone", "../passwd", input: input).status == 2)
    }

    @Test func `untimed traces are warned of`() throws {
        for (input, option) in [("1 2\n50 10\n", "--untimed"), ("lat,lon,when\n1,2,\n50,10,\n", "--time-column")] {
            let refused = try place.hereabouts("convert", "--to", "csv", input: input)
            #expect(refused.status == 2 && refused.output.isEmpty && refused.errors.contains(option))
            let result = try place.hereabouts("convert", "--untimed", "--to", "csv", input: input)
            #expect(result.status == 0 && result.errors.contains("cannot be paced"))
        }
    }

    @Test func `inputs are never overwritten`() throws {
        place.write(ride, as: "ride.gpx")
        let result = try place.hereabouts("convert", "ride.gpx", "-o", "./ride.gpx")
        #expect(result.status == 2 && place.read("ride.gpx") == ride)
        let redirected = try place.shell("hereabouts convert --to gpx -o ride.gpx < ride.gpx")
        #expect(redirected.status == 2 && place.read("ride.gpx") == ride)
    }

    @Test func `a failed run leaves the old output`() throws {
        place.write("old", as: "out.gpx")
        place.write("<gpx><trk>", as: "broken.gpx")
        #expect(try place.hereabouts("convert", "broken.gpx", "-o", "out.gpx").status == 2)
        #expect(place.read("out.gpx") == "old" && place.names == ["broken.gpx", "out.gpx"])
    }

    @Test func `a closed pipe is a success`() throws {
        place.write(String(repeating: "31.7619,-106.485\n", count: 200_000), as: "long")
        let result = try place.shell("{ hereabouts snap long; echo $? > status; } | head -n 2")
        #expect(result.output == header + (try reducedColumns(31.7619, -106.485)) + "\n")
        #expect(place.read("status") == "0\n" && result.complaints.isEmpty)
    }

    @Test func `an interrupt leaves no half written file`() throws {
        // Where the tests themselves run in the background, Ctrl-C is ignored, and the command respects that.
        let isInterruptIgnored = signal(SIGINT, SIG_DFL).map { unsafe unsafeBitCast($0, to: Int.self) == 1 } ?? false
        if isInterruptIgnored { signal(SIGINT, SIG_IGN) }
        for signal in isInterruptIgnored ? [SIGTERM] : [SIGINT, SIGTERM] {
            let process = place.process(command, ["snap", "-o", "out.csv"])
            let input = Pipe()
            process.standardInput = input
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data("31.7619 -106.485\n".utf8))
            let deadline = Date().addingTimeInterval(20)
            while place.names.isEmpty && Date() < deadline { usleep(10_000) }
            #expect(place.names.count == 1 && place.names.first?.hasSuffix(".partial") == true)
            kill(process.processIdentifier, signal)
            while process.isRunning && Date() < deadline { usleep(10_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            try input.fileHandleForWriting.close()
            #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
            #expect(place.names.isEmpty)
        }
    }

    #if os(Linux)
        @Test func `a signal at the files creation leaves none`() throws {
            let watch = inotify_init1(Int32(IN_CLOEXEC))
            defer { close(watch) }
            #expect(unsafe inotify_add_watch(watch, place.folder.path, UInt32(IN_CREATE)) >= 0)
            var event = [UInt8](repeating: 0, count: 4096)
            for _ in 0..<40 {
                let process = place.process(command, ["snap", "-o", "out.csv"])
                let input = Pipe()
                process.standardInput = input
                try process.run()
                // The signal is sent the moment that the file is there.
                #expect(unsafe read(watch, &event, event.count) > 0)
                kill(process.processIdentifier, SIGTERM)
                process.waitUntilExit()
                try input.fileHandleForWriting.close()
                #expect(process.terminationStatus == SIGTERM && place.names.isEmpty)
            }
        }
    #endif

    @Test func `records come out as they come in`() throws {
        // The second line is sent only when the first one's answer is there.
        let process = place.process(command, ["snap"])
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        for line in ["31.7619 -106.485\n", "48.2082 16.3737\n"] {
            try input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
            #expect(!output.fileHandleForReading.availableData.isEmpty)
        }
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `regions are told by position and by id`() throws {
        for (latitude, longitude) in [(31.7619, -106.485), (-33.92, 18.42), (0.5, -0.5)] {
            let location = try worldAtlas.reducedLocation(
                of: try worldAtlas.snap(latitude: latitude, longitude: longitude))
            let byPosition = try place.hereabouts("region", "\(latitude),\(longitude)")
            let byID = try place.hereabouts("region", "\(location.region)")
            for words in [
                ["\(latitude)", "\(longitude)"], ["\(latitude) \(longitude)"], ["\(latitude), \(longitude)"],
                ["--", "\(latitude)", "\(longitude)"],
            ] {
                #expect(try place.run(command, ["region"] + words).output == byID.output)
            }
            #expect(byPosition.status == 0 && byPosition.output == byID.output)
            #expect(
                byPosition.output.contains("\(location.region)") && byPosition.output.contains("\(location.country)"))
            #expect(byPosition.output.contains(String(format: "%.5f", location.coordinate.latitude)))
        }
        #expect(try place.hereabouts("region", "86e75a4bc1ffffff").status == 2)
    }

    @Test(arguments: [
        (["region", "--help"], "USAGE: hereabouts region <id | lat,lon | lat lon>"),
        (["help", "region"], "USAGE: hereabouts region <id | lat,lon | lat lon>"),
        (["help", "atlas", "build"], "USAGE: hereabouts atlas build [<options>] --borders <file>"),
        (["atlas", "verify", "--help"], "USAGE: hereabouts atlas verify"),
    ])
    func `both programs speak as one`(_ arguments: [String], _ usage: String) throws {
        let result = try place.run(command, arguments)
        #expect(result.status == 0 && result.output.contains(usage) && result.complaints.isEmpty)
    }

    @Test func `mistakes in the other program name the command`() throws {
        let result = try place.hereabouts("atlas", "build", "--bogus")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.contains("hereabouts atlas build") && !result.errors.contains("hereabouts-atlas"))
        // Without residents there is nothing to promise.
        let unpopulated = try place.hereabouts("atlas", "build", "--borders", "a.geojson", "-o", "a.atlas")
        #expect(unpopulated.status == 2 && unpopulated.errors.contains("Missing expected argument '--population"))
        #expect(unpopulated.errors.contains("A population surface, or rows of longitude, latitude and people"))
        place.write("HBPEOPLE, but no more", as: "people.surface")
        let damaged = try place.hereabouts("atlas", "verify", atlasPath, "--population", "people.surface")
        #expect(damaged.status == 2)
        #expect(damaged.errors.contains("people.surface: a population surface of another version"))
        place.write("no atlas", as: "broken.atlas")
        let broken = try place.hereabouts("atlas", "info", "broken.atlas")
        #expect(broken.status == 2 && broken.output.isEmpty && broken.errors.hasPrefix("hereabouts: broken.atlas "))
    }

    @Test func `a damaged atlas gives the right answer or none`() throws {
        let sound = try Data(contentsOf: URL(fileURLWithPath: atlasPath))
        let input = "31.7587 -106.4869\n48.2082 16.3738\n", expected = try place.hereabouts("snap", input: input)
        #expect(expected.status == 0)
        var statuses: Set<Int32> = []
        for damage in 1...8 {
            var bytes = sound
            // A byte in every chunk, or in every 128th, and in the last case one of the header's.
            for offset in stride(from: damage * 20_000, to: bytes.count, by: damage < 4 ? 1 << 14 : 1 << 21) {
                bytes[offset] ^= 1
            }
            if damage == 8 { bytes[0x21] ^= 1 }
            try bytes.write(to: place.folder.appendingPathComponent("damaged.atlas"))
            let result = try place.hereabouts("snap", "--atlas", "damaged.atlas", "-o", "out.csv", input: input)
            statuses.insert(result.status)
            if result.status == 0 {
                #expect(place.read("out.csv") == expected.output && damage != 8)
                try FileManager.default.removeItem(at: place.folder.appendingPathComponent("out.csv"))
            } else {
                #expect(result.complaints == "hereabouts: damaged.atlas is damaged: its checksum does not match\n")
                #expect(place.names == ["damaged.atlas"])
            }
        }
        #expect(statuses == [0, 2])
    }

    @Test func `a signal ends the other program`() throws {
        // It waits for a reader of its input, and it is the very process that was started.
        #expect(try place.shell("mkfifo fifo.atlas").status == 0)
        let process = place.process(command, ["region", "1,2", "--atlas", "fifo.atlas"])
        process.standardError = FileHandle.nullDevice
        try process.run()
        usleep(200_000)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
    }

    @Test func `the atlas is found where it is installed`() throws {
        let files = FileManager.default
        func folder(_ name: String) throws -> URL {
            let url = place.folder.appendingPathComponent(name)
            try files.createDirectory(at: url, withIntermediateDirectories: true)
            return url
        }
        let installed = try folder("bin").appendingPathComponent("hereabouts")
        try files.copyItem(at: command, to: installed)
        let run = { (arguments: [String], environment: [String: String]) in
            try self.place.run(installed, ["snap"] + arguments, input: "1 2", environment: environment).status
        }
        #expect(try run([], [:]) == 2)
        #expect(try run(["--atlas", atlasPath], [:]) == 0)
        #expect(try run([], ["HEREABOUTS_ATLAS": atlasPath]) == 0)
        #expect(try run(["--atlas", "missing"], ["HEREABOUTS_ATLAS": atlasPath]) == 2)
        #expect(try run([], ["HEREABOUTS_ATLAS": "missing"]) == 2)
        let shared = try folder("share/hereabouts").appendingPathComponent("world.atlas")
        try files.createSymbolicLink(atPath: shared.path, withDestinationPath: atlasPath)
        #expect(try run([], [:]) == 0)
        try files.removeItem(at: shared)
        try files.createSymbolicLink(
            atPath: place.folder.appendingPathComponent("bin/world.atlas").path, withDestinationPath: atlasPath)
        #expect(try run([], [:]) == 0)
    }

    @Test func `the other program is found where it is installed`() throws {
        let files = FileManager.default
        for folder in ["bin", "libexec/hereabouts", "share/hereabouts", "elsewhere"] {
            let url = place.folder.appendingPathComponent(folder)
            try files.createDirectory(at: url, withIntermediateDirectories: true)
        }
        func file(_ path: String) -> URL { place.folder.appendingPathComponent(path) }
        try files.copyItem(at: command, to: file("bin/hereabouts"))
        try files.createSymbolicLink(
            atPath: file("share/hereabouts/world.atlas").path, withDestinationPath: atlasPath)
        let arguments = ["region", "31.7619,-106.485"]
        let missing = try place.run(file("bin/hereabouts"), arguments)
        #expect(missing.status == 2 && missing.output.isEmpty)
        #expect(missing.errors.contains("the program hereabouts-atlas is missing"))
        #expect(try place.run(file("bin/hereabouts"), ["snap"], input: "1 2").status == 0)
        #expect(try place.run(file("bin/hereabouts"), ["--help"]).output.contains("\n  atlas "))

        let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")
        for path in ["libexec/hereabouts/hereabouts-atlas", "bin/hereabouts-atlas"] {
            try files.copyItem(at: companion, to: file(path))
            #expect(try place.run(file("bin/hereabouts"), arguments).output.contains("El Paso"))
            let link = file("elsewhere/around")
            try files.createSymbolicLink(at: link, withDestinationURL: file("bin/hereabouts"))
            #expect(try place.run(link, arguments).output.contains("El Paso"))
            try files.removeItem(at: link)
            try files.removeItem(at: file(path))
        }
    }
}
