import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Dialects

#if os(Linux)
    import Glibc

    /// Debian's programs on the loopback interface; where one is missing, its test says so and is skipped.
    @Suite(
        "gpsd's own programs", .serialized, .enabled(if: SampleSize.isFull, "make test-all has it: gpsd takes its time")
    )
    struct GPSDProgramTests {
        private let location: OutgoingLocation

        init() throws { location = try reduced(31.7619, -106.485) }

        /// The path of a program; nil, with a word about it, where it is missing.
        private static func program(_ name: String) -> String? {
            for folder in ["/usr/bin/", "/usr/sbin/"] where FileManager.default.isExecutableFile(atPath: folder + name)
            {
                return folder + name
            }
            print("skipped: \(name) is missing; the packages gpsd, gpsd-clients and gpsd-tools have it")
            return nil
        }

        /// What a program prints, which is interrupted after some seconds.
        private func output(of path: String, _ arguments: [String], seconds: Int) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
            process.arguments = ["-s", "INT", "-k", "1", "\(seconds)", path] + arguments
            process.environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "100", "LINES": "40"]
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }

        @Test
        func `gpspipe gets the reduced report and nothing more`() throws {
            guard let program = Self.program("gpspipe") else { return }
            for option in ["-w", "-r"] {
                let server = try LoopbackServer(location: location)
                let lines = try output(of: program, [option, "-n", "5", "localhost:\(server.port)"], seconds: 8)
                    .split(whereSeparator: \.isNewline)
                let expected = ["VERSION", "DEVICES", "WATCH", "TPV", "TPV"]
                #expect(lines.map { Self.kind($0) } == expected, "\(option)")
                #expect(lines.last.map(String.init) == text(GPSDMessage.position(location, device: "hereabouts")))
            }
        }

        private static func kind(_ line: Substring) -> String {
            let object = try? json(Array(line.utf8)) as? [String: Any]
            return object?["class"] as? String ?? "none"
        }

        @Test
        func `gpxlogger writes the region's center`() throws {
            guard let program = Self.program("gpxlogger") else { return }
            let server = try LoopbackServer(location: location)
            let gpx = try output(of: program, ["localhost:\(server.port)"], seconds: 3)
            let center = location.coordinate
            let point = String(
                format: "<trkpt lat=\"%.9f\" lon=\"%.9f\">", center.latitude, center.longitude)
            #expect(gpx.contains(point) && gpx.contains("<time>2026-03-01T07:15:00.000Z</time>"))
            #expect(!gpx.contains("<ele>"))
        }

        @Test
        func `cgps shows the region's center`() throws {
            guard let program = Self.program("cgps"), let script = Self.program("script") else { return }
            let server = try LoopbackServer(location: location)
            // It draws on a terminal; `-l d` prints decimal degrees.
            let screen = try output(
                of: script,
                ["-qefc", "stty cols 100 rows 40; \(program) -s -l d localhost:\(server.port)", "/dev/null"],
                seconds: 4)
            let center = location.coordinate
            #expect(screen.contains(String(format: "%.5f", abs(center.latitude))))
            #expect(screen.contains(String(format: "%.5f", abs(center.longitude))))
        }

        @Test
        func `fixes of a receiver that gpsfake plays come through gpsd`() throws {
            guard Self.program("gpsd") != nil, let program = Self.program("gpsfake") else { return }
            let log = FileManager.default.temporaryDirectory.appendingPathComponent(
                "hereabouts-\(UUID().uuidString).nmea")
            try Data(Self.drive().utf8).write(to: log)
            defer { try? FileManager.default.removeItem(at: log) }
            let port = try LoopbackServer.freePort()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
            // Played at ten sentences a second once somebody watches.
            process.arguments = ["-k", "1", "10", program, "-1", "-q", "-c", "0.1", "-P", "\(port)", log.path]
            process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            // `timeout` ends it, and the gpsd that it started.
            defer { process.waitUntilExit() }
            let deadline = Date().addingTimeInterval(9)
            var descriptor = LoopbackServer.connect(port)
            while descriptor < 0, Date() < deadline {
                usleep(50_000)
                descriptor = LoopbackServer.connect(port)
            }
            guard descriptor >= 0 else { return #expect(Bool(false), "gpsd does not listen") }
            defer { close(descriptor) }
            var client = GPSDClient()
            var fixes: [ClaimedFix] = []
            while fixes.count < 5, Date() < deadline, let bytes = LoopbackServer.read(descriptor) {
                let output = client.receive(bytes)
                #expect(output.failure == nil)
                if !output.request.isEmpty { LoopbackServer.write(output.request, to: descriptor) }
                for case .fix(let fix) in output.reports { fixes.append(fix) }
            }
            #expect(fixes.count >= 5)
            for fix in fixes {
                #expect(abs(fix.coordinate.latitude - 48.2083) < 0.01 && abs(fix.coordinate.longitude - 16.3733) < 0.01)
                if let time = fix.time { #expect(time >= dayOfTheDrive && time < dayOfTheDrive.next) }
            }
        }

        /// Half a minute of a receiver's sentences.
        private static func drive() -> String {
            func sentence(_ text: String) -> String {
                let sum = text.utf8.reduce(0, ^)
                return "$" + text + String(format: "*%02X\r\n", sum)
            }
            return (0..<30).map { second in
                let clock = String(format: "0815%02d.00", second)
                let place = String(
                    format: "48%07.4f,N,016%07.4f,E", 12.5 + Double(second) * 0.001, 22.4 + Double(second) * 0.002)
                return sentence("GPGGA,\(clock),\(place),1,08,0.9,545.4,M,46.9,M,,")
                    + sentence("GPGSA,A,3,04,05,09,12,24,25,29,31,,,,,2.5,1.3,2.1")
                    + sentence("GPRMC,\(clock),A,\(place),022.4,084.4,010326,003.1,W")
            }.joined()
        }
    }

    /// The day of the sentences.
    private let dayOfTheDrive = time(1_772_323_200)

    extension Timestamp {
        fileprivate var next: Timestamp {
            Timestamp(nanosecondsSince1970: nanosecondsSince1970 + 86_400_000_000_000)
        }
    }

    /// A server of one location for one client at a time, on a port of the loopback interface; ends with the value.
    private final class LoopbackServer: Sendable {
        let port: UInt16
        private let descriptor: CInt

        init(location: OutgoingLocation) throws {
            (descriptor, port) = try Self.listen()
            let descriptor = descriptor
            Thread.detachNewThread {
                while true {
                    let client = accept(descriptor, nil, nil)
                    guard client >= 0 else { return }
                    Self.serve(client, location)
                    close(client)
                }
            }
        }

        deinit {
            shutdown(descriptor, CInt(SHUT_RDWR))
            close(descriptor)
        }

        /// A report each 100 ms, for ten seconds at most.
        private static func serve(_ client: CInt, _ location: OutgoingLocation) {
            var server = GPSDServer()
            guard write(server.greeting, to: client) else { return }
            for _ in 0..<100 {
                guard let bytes = read(client, milliseconds: 100) else { return }
                let answer =
                    bytes.isEmpty
                    ? server.report(location)
                    : server.receive(bytes, standing: location, tick: location.time, now: location.time)
                guard write(answer, to: client) else { return }
            }
        }

        /// What comes within a time, perhaps nothing; nil once the other side has closed.
        static func read(_ descriptor: CInt, milliseconds: CInt = 1000) -> [UInt8]? {
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&event, 1, milliseconds) > 0 else { return [] }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
            return count > 0 ? Array(bytes[..<count]) : nil
        }

        @discardableResult
        static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
            unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
        }

        /// A socket that is connected to a port of the loopback interface; negative where nobody listens.
        static func connect(_ port: UInt16) -> CInt {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            let status = unsafe withAddress(port) { address, size in unsafe Glibc.connect(descriptor, address, size) }
            if status == 0 { return descriptor }
            close(descriptor)
            return -1
        }

        /// A port that nobody listens at.
        static func freePort() throws -> UInt16 {
            let (descriptor, port) = try listen()
            close(descriptor)
            return port
        }

        private static func listen() throws -> (CInt, UInt16) {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var bound = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = unsafe withAddress(0) { address, size in unsafe bind(descriptor, address, size) }
            let named = unsafe withUnsafeMutablePointer(to: &bound) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &size)
                }
            }
            guard status == 0, named == 0, Glibc.listen(descriptor, 4) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL)
            }
            return (descriptor, UInt16(bigEndian: bound.sin_port))
        }

        private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
