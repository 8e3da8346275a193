import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What signals do to the command.
package enum Signals {
    // SAFETY: set once each, before threads are started; read by handlers.
    private nonisolated(unsafe) static var atlas: Atlas?

    /// From here on a signal that ends the process removes its unfinished files first; writing to a closed pipe, or
    /// beyond the largest size a file may have, is an error of `write` rather than a signal.
    ///
    /// A signal that the parent had us ignore (`nohup`) stays ignored. One that it blocked is unblocked: threads of a
    /// parent often block all signals, and their children start out with that. SIGKILL cannot be caught: it leaves a
    /// `.partial` file behind.
    package static func install() {
        UnfinishedFiles.prepare()
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        for number in ending { catchSignal(number, with: end) }
        for number in faults { catchSignal(number, with: fault) }
        var caught = sigset_t()
        // SAFETY: the set is plain data.
        unsafe sigemptyset(&caught)
        for number in ending + faults { unsafe sigaddset(&caught, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &caught, nil)
    }

    /// From here on a fault that comes of the atlas being changed while it is in use says so.
    static func watch(_ atlas: Atlas) { unsafe self.atlas = atlas }

    /// Those that end a process which does not ask for them.
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
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        // Process 1 of a container is not ended by a signal's default action.
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
            _exit(ExitStatus.unusable.rawValue)
        }
        end(number)
    }
}

/// Opens what the parent closed of standard input, output and error, so that no file that is opened later is taken for
/// one of them. To be called first of all.
///
/// They are opened for the wrong direction: using one is the error that it would have been.
package func openStandardDescriptors() {
    for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
        _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
}
