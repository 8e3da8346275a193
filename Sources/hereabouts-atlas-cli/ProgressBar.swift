import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A progress bar on standard error, if that is a terminal: the stage and its completed fraction.
struct ProgressBar: ~Copyable, Sendable {
    private static let width = 30
    private let isTerminal = isatty(2) == 1
    private let last = Mutex("")

    /// Shows a stage and its completed fraction, 0…1. Thread-safe.
    func show(_ stage: String, _ fraction: Double) {
        guard isTerminal else { return }
        let filled = Int((max(0, min(1, fraction)) * Double(Self.width)).rounded())
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let line = "[\(bar)] \(stage)"
        last.withLock { last in
            guard last != line else { return }
            last = line
            put("\r\(line)\u{1b}[K")
        }
    }

    /// Clears the line.
    func finish() {
        if isTerminal { put("\r\u{1b}[K") }
    }

    private func put(_ text: String) {
        // SAFETY: the bytes are the array's, for the time of the call.
        _ = unsafe Array(text.utf8).withUnsafeBytes { bytes in unsafe write(2, bytes.baseAddress, bytes.count) }
    }
}
