import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Signal handling of both programs: no signal that can be caught leaves an unfinished file behind.
package enum Signals {
    // SAFETY: set once each, before threads are started; read by handlers.
    private nonisolated(unsafe) static var atlas: Atlas?

    /// Installs handlers that remove unfinished files, and end programs that run beside, before a signal ends the process.
    /// Writing to a closed pipe, or beyond the file size limit, becomes an error of `write` instead of a signal.
    ///
    /// A signal that the parent set to be ignored (`nohup`) stays ignored. One that it blocked is unblocked: a parent's
    /// threads often block all signals, and children inherit the mask. SIGKILL cannot be caught: it leaves a `.partial`
    /// file behind.
    package static func install() {
        UnfinishedFiles.prepare()
        RunningPrograms.prepare()
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        for number in ending { catchSignal(number, with: end) }
        for number in faults { catchSignal(number, with: fault) }
        var caught = sigset_t()
        // SAFETY: the set is plain data.
        unsafe sigemptyset(&caught)
        for number in ending + faults { unsafe sigaddset(&caught, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &caught, nil)
    }

    /// Makes a fault (SIGBUS) report the atlas, if its file was changed or truncated in use.
    static func watch(_ atlas: Atlas) { unsafe self.atlas = atlas }

    /// Signals whose default action ends the process.
    private static let ending: [Int32] = {
        var numbers = [
            SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGSYS,
        ]
        #if os(Linux)
            numbers += [SIGIO, SIGPWR, SIGSTKFLT] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())
        #endif
        return numbers
    }()

    private static let faults = [SIGBUS, SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGFPE]

    private static func catchSignal(_ number: Int32, with handler: @escaping @convention(c) (Int32) -> Void) {
        let before = signal(number, handler)
        let isIgnored = unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if isIgnored { signal(number, SIG_IGN) }
    }

    // The handlers call async-signal-safe functions only.

    private static let end: @convention(c) (Int32) -> Void = { number in
        UnfinishedFiles.removeAll()
        RunningPrograms.killAll()
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        // As process 1 of a container the default action does nothing.
        _exit(128 + number)
    }

    private static let fault: @convention(c) (Int32) -> Void = { number in
        if unsafe atlas?.mayHaveChanged() == true {
            let text: StaticString = """
                hereabouts: the atlas was changed while it was in use; replace an atlas by renaming another into its \
                place\n
                """
            _ = unsafe write(2, text.utf8Start, text.utf8CodeUnitCount)
            UnfinishedFiles.removeAll()
            RunningPrograms.killAll()
            _exit(ExitStatus.unusable.rawValue)
        }
        end(number)
    }
}

/// Opens `/dev/null` in place of standard descriptors that the parent closed; otherwise the next file to be opened would
/// get such a number and, for example, receive error messages. Must be called before any file is opened.
///
/// Each is opened for the wrong direction, so that using it still fails.
func openStandardDescriptors() {
    for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
        _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
}
