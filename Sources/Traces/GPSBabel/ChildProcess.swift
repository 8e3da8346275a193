import Files
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that runs beside ours and writes to a pipe, in a process group of its own. The group is killed when the program
/// has ended, or else with the value: nothing that it started goes on.
///
/// (swift-subprocess is for asynchronous code; the pipeline's threads wait.)
struct ChildProcess: ~Copyable {
    private let identifier: pid_t
    /// The reading end of the pipe, until it is taken.
    private var output: Int32?
    private var hasEnded = false

    /// Starts a program that the search path has, without a shell. Standard error is dropped. Of the environment it gets
    /// where programs are, and a language and a time zone that are the same everywhere.
    ///
    /// - Parameters:
    ///   - arguments: the program and its arguments; none is from an input.
    ///   - input: its standard input.
    /// - Throws: ENOENT where there is no such program.
    init(_ arguments: [String], input: Int32) throws(SystemError) {
        // No other program starts between a pipe's making and its flags: it would keep the pipe open.
        (identifier, output) = try Self.starting.withLock { _ throws(SystemError) in
            let (reading, writing) = try Self.pipe()
            defer { close(writing) }
            do throws(SystemError) {
                let identifier = try RunningPrograms.start { () throws(SystemError) in
                    try Self.spawn(arguments, input: input, output: writing)
                }
                return (identifier, reading)
            } catch {
                close(reading)
                throw error
            }
        }
    }

    private static let starting = Mutex(())

    deinit {
        if let output { close(output) }
        if !hasEnded { _ = Self.end(identifier) }
    }

    /// What reads the program's output, for who closes it.
    mutating func takeOutput() -> Int32 {
        guard let output else { preconditionFailure("the output is taken once") }
        self.output = nil
        return output
    }

    /// Waits for the end of the program, once.
    ///
    /// - Parameter mayWait: asked every millisecond whether to go on.
    /// - Returns: its exit status, or as shells have it 128 and the number of the signal that ended it; nil where it goes on.
    mutating func wait(while mayWait: () -> Bool = { true }) -> Int32? {
        while true {
            // SAFETY: plain data, which the call fills in.
            var information = unsafe siginfo_t()
            // The number stays the program's until its group is killed.
            let result = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG)
            if unsafe result == 0 ? information.si_signo != 0 : errno != EINTR { break }
            if !mayWait() { return nil }
            usleep(1000)
        }
        hasEnded = true
        return Self.end(identifier)
    }

    /// Kills what is left of the program and of what it started.
    private static func end(_ identifier: pid_t) -> Int32 {
        RunningPrograms.end(identifier)
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    /// A pipe whose ends no other program inherits.
    private static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var ends: (Int32, Int32) = (-1, -1)
        // SAFETY: a pair of integers has the layout of two.
        let result = unsafe withUnsafeMutablePointer(to: &ends) { ends in
            unsafe ends.withMemoryRebound(to: Int32.self, capacity: 2) { ends in
                #if canImport(Glibc)
                    unsafe Glibc.pipe(ends)
                #else
                    unsafe Darwin.pipe(ends)
                #endif
            }
        }
        guard result == 0 else { throw .last }
        for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws(SystemError) -> pid_t {
        #if canImport(Glibc)
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        // SAFETY: both are initialized before they are used, and destroyed after it.
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The program gets all signals as if a shell had started it: ours ignores some.
        var none = sigset_t(), all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        let variables = ["PATH=\(path)", "LC_ALL=C", "TZ=UTC"]
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe environment.forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        let error = unsafe posix_spawnp(&identifier, words[0]!, &actions, &attributes, &words, &environment)
        guard error == 0 else { throw SystemError(number: error) }
        return identifier
    }
}
