import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process groups of the programs that run beside ours, kept where a signal handler can end them: a group of its own
/// gets no signal from the terminal.
package enum RunningPrograms {
    /// As many as a run has threads. A program without a slot would go on until it writes.
    private static let slotCount = 256

    // SAFETY: allocated once, by `prepare` or the first program, and never freed. A slot is the number of a group, or 0.
    private nonisolated(unsafe) static let slots: UnsafeMutablePointer<Atomic<Int32>> = {
        let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: slotCount)
        for slot in 0..<slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()

    /// A program is started, or ended, in one step.
    private static let gate = SignalGate()

    /// Allocates the slots. Must be called before a handler can call `killAll`: a handler cannot allocate.
    package static func prepare() {
        _ = unsafe slots
        gate.prepare()
    }

    /// Starts a program in a group of its own and notes it, as one step for every signal: `killAll` waits for it.
    ///
    /// - Parameter spawn: returns the group's number; 0 or less where there is none.
    package static func start<Failure: Error>(_ spawn: () throws(Failure) -> pid_t) throws(Failure) -> pid_t {
        try gate.step { () throws(Failure) in
            let group = try spawn()
            for slot in 0..<slotCount {
                if unsafe slots[slot].compareExchange(expected: 0, desired: group, ordering: .relaxed).exchanged {
                    break
                }
            }
            return group
        }
    }

    /// Kills a group whose first process was not waited for, so that the number is no other's yet, and forgets it.
    package static func end(_ group: pid_t) {
        gate.step {
            kill(-group, SIGKILL)
            for slot in 0..<slotCount {
                if unsafe slots[slot].compareExchange(expected: group, desired: 0, ordering: .relaxed).exchanged {
                    break
                }
            }
        }
    }

    /// Kills all groups; for a process that is about to end, as no program can be started afterwards. Async-signal-safe.
    package static func killAll() {
        gate.close()
        for slot in 0..<slotCount {
            let group = unsafe slots[slot].load(ordering: .acquiring)
            if group > 0 { kill(-group, SIGKILL) }
        }
    }
}
