import Files
import Hereabouts
import LiveFilter
import Traces

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The system's clock, standard input and standard output.
final class SystemWorld: LiveWorld {
    /// A wait is no longer, in milliseconds, so that a clock that was set is seen.
    private static let longestWait: Int64 = 10_000
    private static let readBytes = 1 << 16

    /// The end of a pipe that a signal's handler writes to.
    // SAFETY: set once, before the handlers are installed; read by them.
    private nonisolated(unsafe) static var stopWriter: Int32 = -1
    private var stopReader: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: readBytes)

    private let clock = WatchedClock()

    func now() -> Timestamp { clock.now() }

    /// Has SIGTERM, SIGINT and SIGHUP end the run, unless the parent set them to be ignored. A second one ends the process.
    func catchSignals() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (stopReader, unsafe Self.stopWriter) = (ends[0], ends[1])
        for number in [SIGTERM, SIGINT, SIGHUP] {
            let before = signal(number, Self.stop)
            if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                signal(number, SIG_IGN)
            }
        }
    }

    // Calls async-signal-safe functions only.
    private static let stop: @convention(c) (Int32) -> Void = { number in
        signal(number, SIG_DFL)
        var byte: UInt8 = 1
        let error = errno
        _ = unsafe Glibc.write(stopWriter, &byte, 1)
        errno = error
    }

    func wait(until moment: Timestamp?) -> LiveEvent {
        var requests = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: stopReader, events: Int16(POLLIN), revents: 0),
            // Asked for nothing, it still says that the reader has gone.
            pollfd(fd: 1, events: 0, revents: 0),
        ]
        var wait = Self.longestWait
        if let moment {
            let (left, overflow) = moment.nanosecondsSince1970.subtractingReportingOverflow(
                now().nanosecondsSince1970)
            // Rounded up, so that the moment has come.
            if !overflow { wait = max(0, min(wait, left / 1_000_000 + 1)) }
            if !overflow, left <= 0 { wait = 0 }
        }
        let count = unsafe poll(&requests, nfds_t(requests.count), Int32(wait))
        guard count >= 0 else { return errno == EINTR ? .nothing : .failed(.last) }
        if requests[1].revents != 0 { return .stopped }
        if requests[2].revents & Int16(POLLERR) != 0 { return .outputClosed }
        guard requests[0].revents != 0 else { return .nothing }
        let length = unsafe read(0, &buffer, buffer.count)
        if length > 0 { return .bytes(Array(buffer[..<length])) }
        if length == 0 { return .end }
        return errno == EINTR || errno == EAGAIN ? .nothing : .failed(.last)
    }

    func write(_ bytes: [UInt8]) throws(SystemError) { try writeAll(bytes, to: 1) }
}
