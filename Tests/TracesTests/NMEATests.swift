import Foundation
import Hereabouts
import Testing

@testable import Traces

@Suite struct NMEATests {
    /// A sentence with its checksum.
    private func sentence(_ body: String) -> String {
        "$\(body)*" + String(format: "%02X", body.utf8.reduce(0) { $0 ^ $1 }) + "\r\n"
    }

    private func rmc(_ time: String, _ date: String, status: String = "A", mode: String = "A") -> String {
        sentence("GPRMC,\(time),\(status),4812.4920,N,01622.4240,W,0.5,84.4,\(date),,,\(mode)")
    }

    private func gga(_ time: String, quality: Int = 1, hdop: String = "0.9", talker: String = "GN") -> String {
        sentence("\(talker)GGA,\(time),4812.4920,N,01622.4240,W,\(quality),08,\(hdop),545.4,M,46.9,M,,")
    }

    private func gll(_ time: String, status: String = ",A,A") -> String {
        sentence("IIGLL,4812.4920,N,01622.4240,W,\(time)\(status)")
    }

    private func zda(_ time: String, _ date: String) -> String { sentence("GPZDA,\(time),\(date),00,00") }

    /// 2026-03-01T00:00:00Z.
    private let day = 1_772_323_200.0

    private func fix(_ line: Int, _ seconds: Double, accuracy: Double? = nil) -> ReadFix {
        ReadFix(line: line, latitude: 48.2082, longitude: -16.3737333333, seconds: seconds, accuracy: accuracy)
    }

    @Test func `sentences of one time are one fix`() {
        for text in [
            rmc("120000.00", "010326") + gga("120000.00") + gll("120000.000"),
            gga("120000.00") + rmc("120000", "010326"), gll("120000") + gga("120000.0") + rmc("120000.00", "010326"),
            gga("120000.00") + zda("120000.00", "01,03,2026"),
        ] {
            #expect(readInOrder(text).fixes == [fix(1, day + 43_200, accuracy: 4.5)], "\(text)")
        }
        let two = readInOrder(rmc("120000", "010326") + gga("120000") + rmc("120001.25", "010326") + gll("120001.25"))
        #expect(two.fixes == [fix(1, day + 43_200, accuracy: 4.5), fix(3, day + 43_201.25)])
        #expect(two.format == "nmea" && two.error == nil)
    }

    @Test func `dates are carried over midnight, forwards and backwards`() {
        let forwards = readInOrder(rmc("235959", "280226") + gga("000000") + gll("000001") + rmc("000002", "010326"))
        #expect(forwards.fixes.map(\.seconds) == [day - 1, day, day + 1, day + 2])
        let backwards = readInOrder(gga("235958") + gga("235959") + zda("000000.00", "01,03,2026") + gga("000001"))
        #expect(backwards.fixes.map(\.seconds) == [day - 2, day - 1, day + 1])
        // A sentence that comes a moment late is of the day before; a pause of hours is over midnight.
        let late = readInOrder(
            rmc("000000", "010326") + gga("235959.5") + gga("000001") + gga("220000") + gga("090000"))
        #expect(late.fixes.map(\.seconds) == [day, day - 0.5, day + 1, day + 79_200, day + 118_800])
        // Seconds of two days that look the same.
        let same = readInOrder(rmc("120000", "010326") + rmc("120000", "020326"))
        #expect(same.fixes.map(\.seconds) == [day + 43_200, day + 129_600])
        #expect(readInOrder(rmc("120000", "311299")).fixes.map(\.seconds) == [946_641_600])
    }

    @Test func `a missing date is an error, or what the option says`() {
        let text = gga("235959") + gga("000001")
        #expect(readInOrder(text).error == .noDate(file: "input"))
        let dated = readInOrder(text) { $0.firstDay = 20_512 }
        #expect(dated.fixes.map(\.seconds) == [day - 1, day + 1])
        // A date of the input counts.
        #expect(readInOrder(rmc("000000", "010326")) { $0.firstDay = 1 }.fixes.map(\.seconds) == [day])
        #expect(Timestamp.day("2026-02-28") == 20_512 && Timestamp.day("2026-02-29") == nil)
        let many = String(repeating: gga("120000") + gga("120001"), count: NMEAReader.maximumUndated / 2 + 1)
        let outcome = readInOrder(Array(many.utf8))
        #expect(outcome.error == .noDate(file: "input") && outcome.fixes.isEmpty)
        let all = readInOrder(Array(many.utf8)) { $0.firstDay = 20_513 }
        #expect(all.fixes.count == NMEAReader.maximumUndated + 2 && all.error == nil)
        #expect(all.fixes[0].seconds == day + 43_200)
    }

    @Test func `what says that it is no fix is none, and no bad record`() {
        for void in [
            rmc("120000", "010326", status: "V"), rmc("120000", "010326", mode: "N"), gga("120000", quality: 0),
            gll("120000", status: ",V"), gll("120000", status: ",A,N"), sentence("GPRMC,,V,,,,,,,,,,N"),
            sentence("GPGGA,120000,,,,,0,00,,,M,,M,,"), sentence("GPRMC,x,V,,,,,,,,,,N"),
        ] {
            let outcome = readInOrder(void + rmc("120001", "010326"))
            #expect(outcome.fixes == [fix(2, day + 43_201)], "\(void)")
        }
        // Neither is another sentence of the same time.
        #expect(readInOrder(gga("120000") + rmc("120000", "010326", status: "V")).fixes.isEmpty)
        // The navigational status of later versions is not the fix's.
        let status = sentence("GNRMC,120000.00,A,4812.4920,N,01622.4240,W,0.5,,010326,,,A,V")
        #expect(readInOrder(status).fixes == [fix(1, day + 43_200)])
        // Before version 2 there was no status.
        #expect(readInOrder(rmc("115959", "010326") + gll("120000", status: "")).fixes.count == 2)
    }

    @Test func `checksums`() {
        let good = rmc("120000", "010326")
        let wrong = good.replacingOccurrences(of: "4812.4920", with: "4812.4921")
        let missing = String(good.prefix { $0 != "*" }) + "\n"
        let torn = String(good.dropLast(20))
        #expect(
            readInOrder(good + wrong + missing).reasons == [
                "2: the checksum is wrong", "3: no checksum, though sentences before have one",
            ])
        #expect(readInOrder(good + torn + good).reasons == ["2: no checksum, though sentences before have one"])
        #expect(readInOrder(good + torn + good).fixes.count == 2)
        #expect(readInOrder(wrong + good).reasons == ["1: the checksum is wrong"])
        // Devices that never write one.
        #expect(readInOrder(missing).fixes == [fix(1, day + 43_200)])
        for end in ["*", "*5", "*5G", "*\u{e9}"] {
            #expect(readInOrder(good + missing.dropLast() + end + "\n").reasons == ["2: the checksum is wrong"])
        }
        let letters = sentence("GPRMC,120000,A,4812.4920,N,01622.4240,W,0.5,84.4,010326,,,D")
        #expect(
            letters.contains("*")
                && readInOrder(letters.prefix { $0 != "*" } + letters.drop { $0 != "*" }.lowercased()).fixes.count == 1)
    }

    @Test func `other lines are skipped`() {
        let good = rmc("120000", "010326"), fixes = [fix(1, day + 43_200)]
        for other in [
            sentence("GPGSV,3,1,11,03,03,111,00"), "!AIVDM,1,1,,B,177KQJ5000G?tO`K>RA1wUbN0TKH,0*5C\n",
            sentence("PGRMC,A,1,2,3"), sentence("PUBX,00,1"), "\n", "# note\n", "$\n", "$$$$\n", "$GPRMC\n",
            "\u{b5}b\0\u{1}\n",
            "$GPRMCx,1*00\n", "$gprmc,120000,A*00\n", "$GPRMC," + String(repeating: "1,", count: 100) + "*00\n",
            "$" + String(repeating: "x", count: 5000) + "\n",
        ] {
            let outcome = readInOrder(good + other)
            #expect(outcome.fixes == fixes && outcome.error == nil, "\(other.prefix(80))")
        }
        for prefix in [
            "2026-03-01 12:00:00 ", "1772366400.123;", "\\s:r3669961,c:1120959341*51\\", "\u{0}\u{1}x",
            "[12:00] gps: ",
        ] {
            let outcome = readInOrder(prefix + good) { $0.inputFormat = .nmea }
            #expect(outcome.fixes == fixes, "\(prefix)")
            #expect(readInOrder(prefix + good.dropLast() + ",-71\r\n") { $0.inputFormat = .nmea }.fixes == fixes)
        }
        for end in ["\n", "\r", "\r\n"] {
            let text = (good + gga("120001")).replacingOccurrences(of: "\r\n", with: end)
            #expect(readInOrder(text).fixes.map(\.line) == [1, 2])
        }
    }

    @Test func `bad fields are bad records`() {
        func rmc(_ position: String, _ time: String = "120000", _ date: String = "010326") -> String {
            sentence("GPRMC,\(time),A,\(position),0,0,\(date),,,A")
        }
        let cases: [(String, RecordProblem.Reason)] = [
            (rmc(",N,01622.4,E"), .latitudeMissing), (rmc("4812.4,N,,E"), .longitudeMissing),
            (rmc("4860.0,N,01622.4,E"), .latitudeUnreadable), (rmc("48.2,N,01622.4,E"), .latitudeUnreadable),
            (rmc("-4812.4,N,01622.4,E"), .latitudeUnreadable), (rmc("48x2.4,N,01622.4,E"), .latitudeUnreadable),
            (rmc("4812.4.0,N,01622.4,E"), .latitudeUnreadable), (rmc("004812.4,N,01622.4,E"), .latitudeUnreadable),
            (rmc("4812.4,N,16.37,E"), .longitudeUnreadable), (rmc("4812.4,N,016220.4,E"), .longitudeUnreadable),
            (rmc("4812.4,E,01622.4,N"), .hemisphereUnreadable), (rmc("4812.4,,01622.4,E"), .hemisphereUnreadable),
            (rmc("4812.4,N,01622.4,"), .hemisphereUnreadable),
            (rmc("4812.4,N,01622.4,E", ""), .timeMissing), (rmc("4812.4,N,01622.4,E", "240000"), .timeUnreadable),
            (rmc("4812.4,N,01622.4,E", "12000"), .timeUnreadable),
            (rmc("4812.4,N,01622.4,E", "120000x"), .timeUnreadable),
            (rmc("4812.4,N,01622.4,E", "120000", "310226"), .timeUnreadable),
            (rmc("4812.4,N,01622.4,E", "120000", "1032026"), .timeUnreadable),
            (rmc("4812.4,N,01622.4,E", "120000", "060180"), .timeTooEarly),
            (rmc("4812.4,N,01622.4,E", "120000", "010479"), .timeInFuture),
            (zda("120000", "31,02,2026"), .timeUnreadable),
        ]
        for (text, reason) in cases {
            let outcome = readInOrder(text)
            #expect(outcome.reasons == ["1: \(reason)"], "\(text)")
            #expect(outcome.error == nil)
        }
        // Out of range is for whoever uses it.
        #expect(
            convert(rmc("9159.9,N,01622.4,E")) { $0.inputFormat = .nmea }.reasons == ["1: the latitude is out of range"]
        )
        #expect(readInOrder(rmc("807.5,N,131.25,W")).fixes.first?.latitude == 8.125)
        let digits = String(repeating: "3", count: 17)
        #expect(abs(readInOrder(rmc("4812.\(digits),N,01622.\(digits),E")).fixes[0].latitude - 48.205555555) < 1e-8)
        for hdop in ["", "0", "0.0", "x", "-1"] {
            #expect(
                readInOrder(self.rmc("120000", "010326") + gga("120000", hdop: hdop)).fixes == [fix(1, day + 43_200)])
        }
    }

    @Test func `recognized by content, then by name`() {
        let good = rmc("120000", "010326")
        for start in [
            "", "\n\r\n", "# logger 3\n", sentence("GPTXT,01,01,02,ANTSTATUS=OK"), "$PMTK011,MTKGPS*08\r\n",
            "!AIVDM,1,1,,B,x,0*5C\n", "\u{feff}",
            "{\"class\":\"VERSION\",\"release\":\"3.25\"}\r\n{\"class\":\"WATCH\",\"enable\":true}\r\n",
            "2026-03-01T12:00:00Z ",
        ] {
            #expect(readInOrder(start + good).format == "nmea", "\(start)")
        }
        for table in ["$PRICE,lat,lon\n1,2,3\n", "time,lat,lon,note\n1,2,3,\"\(good)\"\n", "lat,lon\n\(good)"] {
            #expect(readInOrder(table) { $0.acceptsUntimed = true }.format == "csv", "\(table)")
        }
        for text in [
            "{\"class\":\"VERSION\",\"lat\":1,\"lon\":2,\"time\":3}\n{\"class\":\"TPV\"}\n",
            "{\"time\":\"2026-03-01T12:00:00Z\",\"lat\":1,\"lon\":2,\"raw\":\"\(good.dropLast())\"}\n",
        ] {
            #expect(readInOrder(text).format == "ndjson", "\(text)")
        }
        let noise = Array("boot\n\0\u{1}".utf8) + Array(good.utf8)
        #expect(readInOrder(noise, name: "x.NMEA").good.count == 1)
        #expect(readInOrder(noise, name: "x.nmea.gz").good.count == 1)
        #expect(readInOrder(Array("id,time,lat,lon\n".utf8), name: "x.csv").format == "csv")
        let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]
        #expect(readInOrder(png, name: "x.nmea").error == .notRead(file: "x.nmea", .image))
        #expect(convert("!AIVDM,1,1,,B,x,0*5C\n").error == .notRead(file: "input0", .ais))
    }

    @Test func `hostile lines`() {
        let good = rmc("120000", "010326")
        let long = Array((good + "$GPRMC,").utf8) + [UInt8](repeating: 0x78, count: 2 << 20) + Array(good.utf8)
        let outcome = readInOrder(long)
        #expect(outcome.error == .recordTooLong(file: "input", line: 2) && outcome.fixes == [fix(1, day + 43_200)])
        // Many sentences on a line, and times that go round and round.
        let dollars = readInOrder(Array((good + String(repeating: "$GPRMC,", count: 100_000) + "\n").utf8))
        #expect(dollars.fixes.count == 100_001 && dollars.error == nil)
        let turns = readInOrder(Array((good + String(repeating: gga("110000") + gga("100000"), count: 60_000)).utf8))
        #expect(turns.fixes.count == 120_001 && turns.error == nil)
        #expect(turns.good.count < 3000)
        for count in 0..<good.utf8.count {
            _ = readInOrder(Array(good.utf8.prefix(count))) { $0.inputFormat = .nmea }
        }
    }

    @Test func `nothing but regions comes out`() throws {
        let outcome = convert(rmc("120000", "010326") + rmc("121500", "010326")) { $0.format = .csv }
        let columns = try reducedColumns(48.2082, -16.3737333)
        #expect(Array(outcome.rows.dropFirst()) == ["1,2026-03-01T12:00:00Z,\(columns)"])
        #expect(outcome.notices.isEmpty)
    }

    @Test func `gpsbabel's sentences are the track that it was given`() throws {
        let scratch = Scratch(), track = gpxTrack(points: 2000, seconds: 1)
        _ = scratch.write(Array(track.gpx.utf8), as: "in.gpx")
        for options in ["", ",gpgga=0", ",gprmc=0,gpgsa=0"] {
            guard
                try gpsbabel(
                    [
                        "-t", "-i", "gpx", "-f", scratch.path("in.gpx"), "-o", "nmea\(options)", "-F",
                        scratch.path("out.nmea"),
                    ])
            else { return }
            let outcome = readInOrder(scratch.read("out.nmea") ?? [], name: "out.nmea") { $0.firstDay = 20_513 }
            // gpsbabel writes thousandths of minutes, or ten-thousandths.
            #expect(outcome.fixes.agree(with: track.fixes, within: 0.0006 / 60), "\(options): \(outcome.fixes.count)")
            #expect(outcome.error == nil && outcome.format == "nmea")
        }
    }
}
