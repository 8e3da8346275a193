import CommandSupport
import FixedRandom
import Foundation
import Testing

private let header = "latitude,longitude,horizontal_accuracy,region,country,place\n"

/// Input that means harm, or that nobody meant: no failure passes for success, and no content reaches a message.
@Suite(.serialized) struct HostileTests {
    let place = Workplace()

    // MARK: Tables

    @Test(arguments: ["\r", "\r\n", "\n", "\r\r\n"])
    func `lines end as they will`(_ end: String) throws {
        let rows = (0..<2_000).map { "31.7619,-106.4850,x\($0)" }
        let table = { (end: String) in (["lat,lon,n"] + rows).map { $0 + end }.joined() }
        let expected = try place.hereabouts("snap", "--keep", "n", input: table("\n"))
        #expect(expected.status == 0 && expected.output.split(separator: "\n").count == 2_001)
        let found = try place.hereabouts("snap", "--keep", "n", input: table(end))
        #expect(found.status == 0 && found.output == expected.output && found.complaints.isEmpty)
        let bare = try place.hereabouts("snap", input: "31.76 -106.48\(end)31.77 -106.48\(end)")
        #expect(bare.status == 0 && bare.output.split(separator: "\n").count == 3)
    }

    @Test func `a long table of returns is read whole`() throws {
        let input = "lat,lon,n\r" + String(repeating: "31.7619,-106.4850,x\r", count: 100_000)
        let result = try place.hereabouts("snap", input: input)
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 100_001)
        #expect(result.errors.hasSuffix("; dropped: n\n"))
    }

    @Test func `notices name few columns and no data`() throws {
        let many = (0..<500).map { "c\($0)x" }.joined(separator: ",")
        let result = try place.hereabouts("snap", input: "lat,lon,\(many)\n1,2\(String(repeating: ",x", count: 500))\n")
        #expect(result.status == 0 && result.errors.hasSuffix(", c19x and 480 more\n"))
        let long = String(repeating: "n", count: 41)
        let odd = try place.hereabouts("snap", input: "lat,lon,31.761934,2026-03-01T08:00:00Z,\(long),B-52\n1,2,,,,\n")
        #expect(odd.errors.hasSuffix("; dropped: column 3, column 4, column 5, B-52\n"))
        for arguments in [["--keep", "31.761934"], ["--latitude-column", "31.761934"]] {
            let unknown = try place.run(command, ["snap"] + arguments, input: "lat,lon\n1,2\n")
            #expect(unknown.status == 2 && !unknown.errors.contains("31.7"))
        }
    }

    @Test(arguments: ["snap", "convert --to csv"])
    func `a header of many columns takes little memory`(_ words: String) throws {
        place.write("lat,lon" + String(repeating: ",id", count: 340_000) + "\n", as: "wide.csv")
        let wide = try place.shell("ulimit -v 1000000; hereabouts \(words) wide.csv")
        #expect(wide.status == 2 && wide.errors.contains("columns"), "\(wide.errors)")
        guard words == "snap" else { return }
        let most = 16_382
        let rows = String(repeating: "1,2" + String(repeating: ",7", count: most) + "\n", count: 20)
        place.write("lat,lon" + String(repeating: ",id", count: most) + "\n" + rows, as: "widest.csv")
        let widest = try place.shell("ulimit -v 1000000; hereabouts snap --threads 2 widest.csv")
        #expect(widest.status == 0 && widest.output.split(separator: "\n").count == 21, "\(widest.errors)")
    }

    @Test func `a quote left open in the header is refused`() throws {
        for input in ["lat,lon,\"note\n1,2,x\n", "\"lat,lon\n1,2\n", "lat,lon,\"a\"\"\n1,2,\"b\n"] {
            let result = try place.hereabouts("snap", input: input)
            #expect(result.status == 2 && result.output.isEmpty && result.errors.contains("input:1: a quote"))
        }
        #expect(try place.hereabouts("snap", input: "lat,\"lon\",\"a\"\"b\"\n1,2,3\n").status == 0)
    }

    @Test func `hemispheres give the signs`() throws {
        for (row, latitude, longitude) in [
            ("41.8,N,12.68,W", 41.8, -12.68), ("41.8, s ,12.68,\"e\"", -41.8, 12.68), ("0,N,12.68,W", 0, -12.68),
        ] {
            for names in [
                "LATITUDE,N/S,LONGITUDE,E/W", "lat,lat_ref,lon,lon_ref", "lat,N / S,lon,E-W", "lat,LatRef,lon,LonRef",
                "lat,N/S Indicator,lon,E/W Indicator", "latitude,LATITUDE_N/S,longitude,LONGITUDE_E/W",
                "latitude,latitude_hemi,longitude,longitude_hemi", "lat,GPS:GPSLatitudeRef,lon,GPS:GPSLongitudeRef",
            ] {
                let result = try place.hereabouts("snap", input: "\(names)\n\(row)\n")
                #expect(
                    result.output == header + (try reducedColumns(latitude, longitude)) + "\n" && result.status == 0)
                #expect(result.complaints.isEmpty)
                let converted = try place.hereabouts("convert", "--untimed", "--to", "csv", input: "\(names)\n\(row)\n")
                #expect(converted.output.hasSuffix(",\(try reducedColumns(latitude, longitude))\n"))
            }
        }
        for row in ["41.8,,12.68,W", "41.8,N,-12.68,W", "41.8,N,12.68,N", "41.8,north,12.68,W", "41.8,N,12.68,NE"] {
            let result = try place.hereabouts("snap", "--on-error", "skip", input: "lat,N/S,lon,E/W\n\(row)\n")
            #expect(result.status == 1 && result.output == header)
        }
        let one = try place.hereabouts("snap", input: "lat,lon,E/W\n-41.8,12.68,W\n")
        #expect(one.output == header + (try reducedColumns(-41.8, -12.68)) + "\n")
        let nanoseconds = try place.hereabouts("snap", input: "lat,lon,ns\n-41.8,12.68,500\n")
        #expect(nanoseconds.output == header + (try reducedColumns(-41.8, 12.68)) + "\n")
        #expect(try place.hereabouts("snap", "--keep", "E/W", input: "lat,lon,E/W\n1,2,W\n").status == 2)
        #expect(try place.hereabouts("snap", input: "lat,lon,E/W,E-W\n1,2,W,W\n").status == 2)
    }

    // MARK: XML

    private func document(_ encoding: String, _ name: [UInt8], points: Int = 3_000) -> [UInt8] {
        let point = "<trkpt lat=\"31.761934\" lon=\"-106.485021\"><time>2026-03-01T08:00:00Z</time></trkpt>\n"
        let track = "<trk><trkseg>\n" + String(repeating: point, count: points) + "</trkseg></trk>\n"
        return Array("<?xml version=\"1.0\" encoding=\"\(encoding)\"?>\n<gpx>\n\(track)<trk><name>".utf8) + name
            + Array("</name></trk>\n\(track)</gpx>\n".utf8)
    }

    /// Bytes that are no text in the encoding.
    @Test(
        arguments: [
            ("windows-1252", [0x81]), ("Shift_JIS", [0x81, 0x20]), ("GB18030", [0xff]), ("GBK", [0xff]),
            ("ISO-8859-7", [0xff]), ("EUC-JP", [0xa4, 0x20]), ("UTF-8", [0x41, 0xc3, 0x28]), ("US-ASCII", [0xe9]),
            ("Big5", [0xfe, 0x20]), ("no-such-encoding", [0x20]),
        ] as [(String, [UInt8])])
    func `text in another encoding is refused`(_ encoding: String, _ bytes: [UInt8]) throws {
        place.write("old", as: "out.gpx")
        place.write(document(encoding, bytes), as: "ride.gpx")
        let result = try place.hereabouts("convert", "ride.gpx", "-o", "out.gpx")
        #expect(result.status == 2 && place.read("out.gpx") == "old")
        #expect(result.errors.hasPrefix("hereabouts: ride.gpx:") && result.errors.split(separator: "\n").count == 1)
    }

    @Test func `a lone surrogate is refused`() throws {
        let text = String(decoding: document("UTF-16", Array("?".utf8)), as: UTF8.self)
        for units in [[UInt16](), [0xd800], [0xdc00], [0xd800, 0xd800]] {
            var bytes: [UInt8] = [0xff, 0xfe]
            for unit in text.utf16 {
                let units = unit == UInt16(UInt8(ascii: "?")) && bytes.count > 200 ? units : [unit]
                for unit in units { bytes += [UInt8(unit & 0xff), UInt8(unit >> 8)] }
            }
            place.write("old", as: "out.gpx")
            place.write(bytes, as: "ride.gpx")
            let result = try place.hereabouts("convert", "ride.gpx", "-o", "out.gpx", "--emit", "fixes")
            if units.isEmpty {
                #expect(result.status == 0 && place.read("out.gpx")!.split(separator: "<trkpt").count == 6_001)
            } else {
                #expect(result.status == 2 && place.read("out.gpx") == "old")
                #expect(result.errors.hasPrefix("hereabouts: ride.gpx:") && result.errors.count < 120)
            }
        }
    }

    @Test func `text in its encoding is read`() throws {
        for (encoding, name) in [
            ("windows-1252", [0x80, 0xe9]), ("Shift_JIS", [0x93, 0xfa]), ("GB18030", [0xc8, 0xd5]),
            ("ISO-8859-7", [0xe1]),
        ] as [(String, [UInt8])] {
            place.write(document(encoding, name, points: 10), as: "ride.gpx")
            let result = try place.hereabouts("convert", "ride.gpx", "--to", "csv", "--emit", "fixes")
            #expect(result.status == 0 && result.output.split(separator: "\n").count == 21, "\(result.errors)")
        }
        // Prefixes that nobody declared are common.
        let odd = "<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"2\"><a:b c:d=\"1\"/></trkpt></trkseg></trk></gpx>"
        #expect(try place.hereabouts("convert", "--to", "csv", input: odd).status == 0)
    }

    /// What follows the document, in an encoding that cannot be converted, is not dropped in silence.
    @Test func `text behind the document in another encoding is refused`() throws {
        let whole = "<gpx><wpt lat=\"1\" lon=\"2\"/></gpx>"
        for (encoding, bytes) in [
            ("US-ASCII", [0x80]), ("ASCII", [0x0a, 0xe9]), ("Shift_JIS", [0x81]), ("EUC-JP", [0xa4]),
        ]
            as [(String, [UInt8])]
        {
            for rest in ["", String(repeating: whole, count: 5_000)] {
                let text = "<?xml version=\"1.0\" encoding=\"\(encoding)\"?>\(whole)"
                place.write(Array(text.utf8) + bytes + Array(rest.utf8), as: "ride.gpx")
                let result = try place.hereabouts("convert", "ride.gpx", "-o", "out.gpx")
                #expect(result.status == 2 && place.read("out.gpx") == nil, "\(encoding)")
            }
        }
    }

    @Test func `points out of place are bad records`() throws {
        let point = "<trkpt lat=\"1\" lon=\"2\"><time>2026-03-01T08:00:00Z</time></trkpt>"
        for lost in [
            "<trk>\(point)</trk>", "<trk><trkseg><wpt lat=\"1\" lon=\"2\"/></trkseg></trk>", point,
            "<trk><trkseg><trkpt lat=\"1\" lon=\"2\"><trkpt>x</trkpt></trkpt></trkseg></trk>", "<rte>\(point)</rte>",
        ] {
            let input = "<gpx>\n<trk><trkseg>\(point)</trkseg></trk>\n\(lost)</gpx>"
            let result = try place.hereabouts("convert", "--to", "csv", input: input)
            #expect(
                result.status == 1 && result.errors.hasPrefix("standard input:3: a point where none belongs\n"),
                "\(lost)")
        }
    }

    @Test func `a document without points says so`() throws {
        place.write("", as: "empty.gpx")
        for words in [["snap", "empty.gpx"], ["convert", "--to", "csv", "empty.gpx"]] {
            #expect(try place.run(command, words).complaints == "hereabouts: empty.gpx: contains no points\n")
        }
        let result = try place.hereabouts("convert", "--to", "csv", input: "<gpx><trk/></gpx>")
        #expect(result.status == 0 && result.complaints == "hereabouts: standard input: contains no points\n")
    }

    /// What takes a parser more than linear time.
    @Test func `names and tags are bounded`() throws {
        let names = (0..<400_000).map { "<n\($0)x/>" }.joined()
        let attributes = (0..<200_000).map { "a\($0)x=\"\"" }.joined(separator: " ")
        let spaces = (0..<5_000).map { "xmlns:s\($0)x=\"u\"" }.joined(separator: " ")
        let nested = (0..<90).map { level in
            "<a " + (0..<200).map { "xmlns:s\(level)x\($0)x=\"u\"" }.joined(separator: " ") + ">"
        }.joined()
        for (input, words) in [
            (names, "too many names of elements and attributes"), ("<a \(attributes)/>", "a tag is too long"),
            ("<a \(spaces)/>", "a tag is too long"),
            (nested, "a tag is too long"), ("<a b=\"" + String(repeating: "x", count: 1 << 20), "a tag is too long"),
        ] {
            let result = try place.hereabouts("convert", "--to", "csv", input: "<gpx>\n\(input)</gpx>")
            #expect(result.status == 2 && result.complaints == "hereabouts: standard input:2: \(words)\n")
        }
    }

    // MARK: Arguments and descriptors

    @Test func `positions as arguments are answered`() throws {
        let expected = header + (try reducedColumns(31.7619, -106.485)) + "\n"
        for arguments in [["31.7619", "-106.4850"], ["31.7619,-106.4850"], ["31.7619, -106.4850"]] {
            let result = try place.run(command, ["snap"] + arguments)
            #expect(result.output == expected && result.status == 0 && result.complaints.isEmpty)
        }
        let both = try place.hereabouts("snap", "-33.92", "18.42", "31.7619,-106.4850", "-o", "out")
        let first = try reducedColumns(-33.92, 18.42)
        #expect(both.status == 0 && place.read("out") == header + first + "\n" + expected.dropFirst(header.count))
        let bad = try place.hereabouts("snap", "95.123456", "18.42")
        #expect(bad.status == 1 && bad.errors.hasPrefix("arguments:1: the latitude is out of range\n"))
        // A file of that name is a file.
        place.write("48.2 16.3\n", as: "31")
        #expect(try place.hereabouts("snap", "31").output == header + (try reducedColumns(48.2, 16.3)) + "\n")
    }

    @Test(arguments: [
        "snap 31.7619", "snap 31.7619 -106.4850 x.csv", "snap --bogus=31.7619 1 2", "snap --threads 31.7619",
        "convert 31.7619 -106.4850", "convert --to csv 31.7619,-106.4850", "convert --interval 31.7619 x.csv",
        "convert --to csv --time-zone 31.7619 x.csv",
        "region 31.7619 -106.4850 7", "region --atlas 31.7619,-106.4850 1,2", "31.7619 -106.4850",
        "snap 31.7619N 106.4850W",
        "atlas info 31.7619", "atlas map --bounds 31.7619,-106.4850 -o x.svg", "region 31°45.7619 106°29.4850",
        "snap --delimiter 31.7619 1 2", "snap geo:31.7619,-106.4850",
        "snap POINT(31.7619:-106.4850)", "snap 31.7619,-106.4850,12m", "snap -106.4850x", "snap --x31.7619=1",
        "snap geo:31.7619,-106.4850 31.7619", "snap -o 31.7619/x 1 2", "snap --threads 76194850",
    ])
    func `positions in mistakes are not repeated`(_ words: String) throws {
        let result = try place.run(command, words.split(separator: " ").map(String.init))
        #expect(result.status == 2 && !result.complaints.isEmpty)
        #expect(!result.errors.contains("7619") && !result.errors.contains("4850"), "\(result.errors)")
    }

    @Test func `names of files are repeated`() throws {
        for name in ["ride-20260509.gpx", "log.20260509", "./s5"] {
            #expect(try place.hereabouts("snap", name).errors.contains("\(name): cannot be read"))
        }
    }

    @Test func `what is printed on closed descriptors lands in no file`() throws {
        place.write("id,time,lat,lon,x\na,1772323200,north,1,y\na,1772323200,31.76,-106.48,y\n", as: "table.csv")
        let expected = try place.hereabouts("convert", "--to", "csv", "table.csv").output
        for closed in ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"] {
            let result = try place.shell("hereabouts convert table.csv --state state -o out.csv \(closed)")
            #expect(result.status == 1 && place.read("out.csv") == expected)
            #expect(try place.shell("hereabouts convert table.csv --state state --to csv").status == 1)
            try FileManager.default.removeItem(atPath: place.path("state"))
        }
        // What there is to write does not get lost in silence.
        for line in [
            "hereabouts snap 1 2 >&-", "hereabouts snap <&-", "hereabouts region 1,2 >&-", "hereabouts --help >&-",
        ] {
            #expect(try place.shell(line).status == 2, "\(line)")
        }
    }

    @Test(arguments: [
        "snap 1 2", "convert --to csv table.csv", "convert --to gpx table.csv", "convert --to geojson table.csv",
        "region 1,2", "region --wkt 1,2", "atlas info", "--help", "help convert", "--version", "snap 1 2 -o /dev/full",
    ])
    func `a full disk is a failure`(_ words: String) throws {
        place.write("id,time,lat,lon\na,1772323200,31.76,-106.48\n", as: "table.csv")
        let result = try place.shell("hereabouts \(words) > /dev/full")
        #expect(result.status == 2 && result.errors.contains("No space left on device"))
    }

    // MARK: Files that are not what they seem

    @Test func `no file of the run is replaced`() throws {
        let table = "id,time,lat,lon\na,1772323200,31.76,-106.48\n"
        place.write(table, as: "table.csv")
        try FileManager.default.copyItem(atPath: atlasPath, toPath: place.path("my.atlas"))
        try FileManager.default.linkItem(atPath: place.path("my.atlas"), toPath: place.path("same.csv"))
        let convert = "hereabouts convert table.csv --to csv"
        for line in [
            "\(convert) --state s -o ./s", "\(convert) --state new -o $PWD/new", "\(convert) --state table.csv",
            "\(convert) --atlas my.atlas -o same.csv", "\(convert) --atlas my.atlas --state my.atlas",
            "hereabouts snap table.csv --atlas my.atlas -o my.atlas",
            "hereabouts snap 1 2 --atlas my.atlas -o same.csv",
            "hereabouts snap table.csv -o table.csv",
            "hereabouts atlas map --bounds 1,1,2,2 --atlas my.atlas -o same.csv",
            "hereabouts atlas build --borders table.csv --population x -o ./table.csv",
        ] {
            if line.contains(" s ") { #expect(try place.shell("\(convert) --state s").status == 0) }
            let result = try place.shell(line)
            #expect(result.status == 2 && result.errors.contains("of this run"), "\(line): \(result.errors)")
        }
        #expect(place.read("table.csv") == table && place.names == ["my.atlas", "s", "same.csv", "table.csv"])
        #expect(FileManager.default.contentsEqual(atPath: place.path("my.atlas"), andPath: atlasPath))
        #expect(try place.shell("\(convert) --state s").output.split(separator: "\n").count == 1)
    }

    /// A process keeps its number over `exec`, so the shell can plant what the command would have opened.
    @Test func `planted temporary files are not opened`() throws {
        place.write("id,time,lat,lon\na,1772323200,31.76,-106.48\n", as: "table.csv")
        place.write("precious", as: "victim")
        let plant = "for f in s out.csv; do ln -s victim $f.$$.partial; done"
        let result = try place.shell("\(plant); exec hereabouts convert table.csv --state s -o out.csv")
        #expect(result.status == 0, "\(result.errors)")
        #expect(place.read("victim") == "precious" && place.read("out.csv")?.contains("El Paso") == true)
        // What a killed run of the same number left behind is in nobody's way.
        let again = try place.shell("touch s.$$.partial out.csv.$$.partial; exec hereabouts snap table.csv -o out.csv")
        #expect(again.status == 0)
    }

    /// A path to a descriptor is not the path of the file behind it, which others write to as well.
    @Test func `descriptors are written in place`() throws {
        let answer = header + (try reducedColumns(1, 2)) + "\n"
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
            let line = """
                ln -sf /dev/stdout link; echo prior > log
                { echo before; hereabouts snap 1 2 -o \(name); echo after; } >> log
                """
            #expect(try place.shell(line).status == 0)
            #expect(place.read("log") == "prior\nbefore\n\(answer)after\n")
        }
        #expect(
            try place.shell("hereabouts atlas map --bounds 1,1,1.1,1.1 -o /dev/stdout | head -c 4").output == "<svg")
    }

    @Test func `a run does not read its own output`() throws {
        place.write("31.7619 -106.485\n", as: "f")
        for line in ["hereabouts snap f >> f", "hereabouts snap < f >> f", "hereabouts snap f -o /dev/stdout >> f"] {
            let result = try place.shell("ulimit -f 100; \(line)")
            #expect(result.status == 2 && result.errors.contains("is an input of this run"), "\(line)")
        }
        #expect(place.read("f") == "31.7619 -106.485\n")
    }

    @Test func `modes of replaced files are kept`() throws {
        place.write("old", as: "out.csv")
        let line = "chmod 600 out.csv; umask 022; hereabouts snap 1 2 -o out.csv; hereabouts snap 1 2 -o new.csv"
        #expect(try place.shell("\(line); stat -c %a out.csv new.csv").output == "600\n644\n")
    }

    // MARK: Signals

    /// A run that waits for more input with half of its output written.
    ///
    /// - Returns: the process, which has ended by then.
    private func waiting(_ arguments: [String], _ body: (Process, Pipe) throws -> Void) throws -> Process {
        let process = place.process(command, arguments)
        let input = Pipe()
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("31.7619 -106.485\n".utf8))
        let deadline = Date().addingTimeInterval(20)
        while !place.names.contains(where: { $0.hasSuffix(".partial") }) && Date() < deadline { usleep(5_000) }
        usleep(20_000)
        try body(process, input)
        while process.isRunning && Date() < deadline { usleep(5_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try input.fileHandleForWriting.close()
        return process
    }

    @Test(arguments: [
        SIGTERM, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGSEGV, SIGABRT, SIGBUS,
    ])
    func `signals leave no half written file`(_ signal: Int32) throws {
        let process = try waiting(["snap", "-o", "out.csv"]) { process, _ in
            kill(process.processIdentifier, signal)
        }
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
        #expect(place.names.isEmpty)
    }

    @Test func `a file that may not grow is a failure`() throws {
        place.write(String(repeating: "31.7619 -106.485\n", count: 50_000), as: "long")
        place.write("old", as: "out.csv")
        let result = try place.shell("ulimit -f 100; hereabouts snap long -o out.csv")
        #expect(result.status == 2 && result.errors.contains("File too large"))
        #expect(place.read("out.csv") == "old" && place.names == ["long", "out.csv"])
    }

    /// The kernel does not end process 1 of a container by a signal's default action.
    @Test func `as process one a signal ends it`() throws {
        guard try place.shell("unshare --pid --fork true").status == 0 else {
            print("skipped: no process namespaces can be made here")
            return
        }
        place.write("#!/bin/sh\nexec hereabouts snap -o out.csv < fifo\n", as: "run")
        let line = """
            mkfifo fifo; unshare --pid --fork sh ./run & sleep 1000 > fifo & writer=$!
            while ! ls *.partial > /dev/null 2>&1; do sleep 0.05; done
            child=$(pgrep -P $(pgrep -P $$ unshare)); kill -TERM $child; sleep 0.5
            kill -0 $child 2> /dev/null && echo runs; ls; kill $writer; kill -9 $child 2> /dev/null
            true
            """
        let result = try place.shell(line)
        #expect(result.output == "fifo\nrun\n", "\(result.output)\(result.errors)")
    }

    // MARK: The atlas

    @Test(arguments: ["overwritten", "truncated"])
    func `an atlas that is changed in use ends the run`(_ how: String) throws {
        let sound = try Data(contentsOf: URL(fileURLWithPath: atlasPath))
        try sound.write(to: place.folder.appendingPathComponent("my.atlas"))
        let arguments = ["snap", "--atlas", "my.atlas", "-o", "out.csv"]
        let process = place.process(command, arguments)
        let (input, errors) = (Pipe(), Pipe())
        (process.standardInput, process.standardError) = (input, errors)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("31.7619 -106.485\n".utf8))
        let deadline = Date().addingTimeInterval(20)
        while !place.names.contains(where: { $0.hasSuffix(".partial") }) && Date() < deadline { usleep(5_000) }
        usleep(100_000)
        if how == "truncated" {
            #expect(unsafe truncate(place.path("my.atlas"), 8192) == 0)
        } else {
            // Regions one after the other take each other's places.
            let file = try FileHandle(forWritingTo: place.folder.appendingPathComponent("my.atlas"))
            try file.seek(toOffset: 14 << 20)
            try file.write(contentsOf: sound[((14 << 20) + 8)...])
            try file.close()
        }
        let rows = (0..<300).map { "\(Double($0) / 2 - 70),\(Double($0) - 150)\n" }.joined()
        try? input.fileHandleForWriting.write(contentsOf: Data(rows.utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 2)
        #expect(said.contains("atlas") && said.split(separator: "\n").count == 1, "\(said)")
        #expect(place.names == ["my.atlas"])
    }
}
