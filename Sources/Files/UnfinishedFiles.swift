import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The names of the temporary files there are, where a signal handler can read them.
package enum UnfinishedFiles {
    /// More than any run has at once; what finds no slot is left behind by a signal.
    private static let slotCount = 8

    // SAFETY: made once, by `prepare` or the first file, and never freed. A slot is the address of a NUL-terminated
    // path or 0. Those few bytes are not given back, because a handler may be reading them.
    private nonisolated(unsafe) static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: slotCount)
        for slot in 0..<slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()

    /// To be called before `removeAll` can be: what is made when it is first used cannot be made by a signal handler.
    package static func prepare() { _ = unsafe slots }

    static func add(_ path: String) -> Int? {
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

    /// Removes the files, for a process that is about to end. Async-signal-safe.
    package static func removeAll() {
        for slot in 0..<slotCount {
            let address = unsafe slots[slot].load(ordering: .acquiring)
            if let path = unsafe UnsafePointer<CChar>(bitPattern: address) { _ = unsafe unlink(path) }
        }
    }
}
