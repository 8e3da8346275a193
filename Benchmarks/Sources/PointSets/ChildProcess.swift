#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program run to its end, by the system's own calls: Foundation's `Process` adds milliseconds and hides the memory.
package struct ChildProcess {
    /// Exit status; 128 and the signal's number where a signal ended it.
    package let status: Int32
    /// The most memory it held, MiB, mapped files included.
    package let peakMebibytes: Double

    /// Runs a program with its standard output going to a file and standard error to nowhere; nil where it
    /// cannot start.
    package init?(_ path: String, _ arguments: [String], output: String) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)

        // SAFETY: the copied strings live until they are freed below, after the child has been started with its own.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child = pid_t()
        guard unsafe posix_spawn(&child, path, &actions, nil, &words, environ) == 0 else { return nil }

        var ended: Int32 = 0
        var usage = rusage()
        while unsafe wait4(child, &ended, 0, &usage) < 0 {
            guard errno == EINTR else { return nil }
        }
        status = ended & 0x7f == 0 ? (ended >> 8) & 0xff : 128 + (ended & 0x7f)
        #if canImport(Darwin)
            peakMebibytes = Double(usage.ru_maxrss) / 1_048_576
        #else
            peakMebibytes = Double(usage.ru_maxrss) / 1_024
        #endif
    }
}
