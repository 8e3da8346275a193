import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The paths of all existing temporary files, kept where a signal handler can read them.
package enum UnfinishedFiles {
    /// More than any run has at once. A file without a slot would survive a signal.
    private static let slotCount = 8

    // SAFETY: allocated once, by `prepare` or the first file, and never freed. A slot is the address of a NUL-terminated
    // path, or 0. Paths are leaked on purpose: a handler may be reading them.
    private nonisolated(unsafe) static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: slotCount)
        for slot in 0..<slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()

    /// What may happen to files: a new one is being created (`creating`), or none is created any more (`ending`).
    private static let state = Atomic(idle)
    private static let idle = 0, creating = 1, ending = 2

    /// Allocates the slots. Must be called before a handler can call `removeAll`: a handler cannot allocate.
    package static func prepare() {
        _ = unsafe slots
        _ = state.load(ordering: .relaxed)
    }

    /// Creates a file and notes its path, as one step for every signal: `removeAll` waits for it.
    ///
    /// - Parameter open: creates the file; returns its descriptor, or a negative number and `errno`.
    /// - Returns: the descriptor, and the slot to give to `remove`.
    static func create(_ path: String, _ open: () -> Int32) -> (descriptor: Int32, slot: Int?) {
        // A handler on this thread would wait for ever.
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        while !state.compareExchange(expected: idle, desired: creating, ordering: .acquiring).exchanged {
            sched_yield()
        }
        defer { state.store(idle, ordering: .releasing) }
        let descriptor = open()
        return (descriptor, descriptor < 0 ? nil : add(path))
    }

    private static func add(_ path: String) -> Int? {
        guard let copy = unsafe strdup(path) else { return nil }
        for slot in 0..<slotCount {
            let address = UInt(bitPattern: copy)
            if unsafe slots[slot].compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged {
                return slot
            }
        }
        unsafe free(copy)
        return nil
    }

    static func remove(_ slot: Int?) {
        if let slot { unsafe slots[slot].store(0, ordering: .releasing) }
    }

    /// Removes the files; for a process that is about to end, as no file can be created afterwards. Async-signal-safe.
    package static func removeAll() {
        // Another handler may have come first.
        while state.load(ordering: .relaxed) != ending {
            if state.compareExchange(expected: idle, desired: ending, ordering: .acquiring).exchanged { break }
            sched_yield()
        }
        for slot in 0..<slotCount {
            let address = unsafe slots[slot].load(ordering: .acquiring)
            if let path = unsafe UnsafePointer<CChar>(bitPattern: address) { _ = unsafe unlink(path) }
        }
    }
}
