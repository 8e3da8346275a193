import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Steps that are whole for every signal: a handler that ends the process waits for the one that is being taken, and none is
/// taken any more.
struct SignalGate: ~Copyable {
    private let state = Atomic(idle)
    private static let idle = 0, stepping = 1, ending = 2

    /// Must be called before a handler can call `close`, which cannot make a gate.
    func prepare() { _ = state.load(ordering: .relaxed) }

    /// Takes a step. One that is taken on another thread is waited for.
    func step<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        // A handler on this thread would wait for ever.
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        while !state.compareExchange(expected: Self.idle, desired: Self.stepping, ordering: .acquiring).exchanged {
            sched_yield()
        }
        defer { state.store(Self.idle, ordering: .releasing) }
        return try body()
    }

    /// Lets no step begin any more, once the last has ended; for a process that is about to end. Async-signal-safe.
    func close() {
        // Another handler may have come first.
        while state.load(ordering: .relaxed) != Self.ending {
            if state.compareExchange(expected: Self.idle, desired: Self.ending, ordering: .acquiring).exchanged {
                break
            }
            sched_yield()
        }
    }
}
