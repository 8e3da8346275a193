import CProcess
import CommandCore
import Files
import Hereabouts
import HereaboutsLive
import LiveProcess
import LiveState
import NIOCore
import NIOPosix
import NIOSSL
import Relay
import Traces

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A run of `hereabouts serve`: from a configuration to a signal.
enum RelayRun {
    /// The signals that end a run.
    private static let ending = [SIGTERM, SIGINT, SIGHUP]

    /// Serves until SIGTERM, SIGINT or SIGHUP comes.
    ///
    /// - Parameters:
    ///   - configuration: a valid one.
    ///   - folder: of the state; it is made, for its owner alone, if it is not there.
    ///   - atlas: that at `atlasPath`.
    ///   - listening: called once connections are taken, with the port of TCP.
    /// - Throws: `CommandFailure`.
    static func run(
        _ configuration: RelayConfiguration, state folder: String, atlas: Atlas, atlasPath: String,
        listening: (Int?) -> Void
    ) throws(CommandFailure) {
        raiseFileLimit()
        let signals = blockSignals()
        try prepare(folder)
        let tls = try configuration.tls.map { tls throws(CommandFailure) in try context(tls) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let eventLoop = group.next()
        let server: NIOLoopBound<RelayServer>
        do {
            server = try eventLoop.submit {
                let store = try SQLiteRelayStore(path: folder + "/relay.sqlite"), clock = WatchedClock()
                let relay = try Relay(configuration: configuration, atlas: atlas, store: store) { clock.now() }
                if relay.hasBegunPaused {
                    printError(
                        """
                        the last run ended amid a decision of the owner, which may be lost: everything is paused; see \
                        'consumers' and 'token list', decide again, then 'resume'
                        """)
                }
                relay.onClockStep = {
                    printError(
                        "the clock was set back, and is followed: devices go on at its next tick that had no answer")
                }
                relay.onUnused = { device, outcome in
                    printError("\(device): a message was not used: \(outcome.words); see 'hereabouts devices'")
                }
                let nearby = NearbyRegions(atlas, atlasPath: atlasPath)
                return NIOLoopBound(RelayServer(relay, on: eventLoop, nearby: nearby), eventLoop: eventLoop)
            }.wait()
            listening(try eventLoop.flatSubmit { server.value.start(state: folder, tls: tls) }.wait())
        } catch {
            throw failure(error, folder)
        }
        unsafe hereabouts_notify("READY=1")
        // Reading a configuration and a state takes some times their size.
        hereabouts_release_free_memory()
        wait(for: signals)
        unsafe hereabouts_notify("STOPPING=1")
        // A loop that takes no more work has closed it.
        try? eventLoop.flatSubmit { server.value.close() }.wait()
    }

    private static func failure(_ error: any Error, _ folder: String) -> CommandFailure {
        switch error {
        case let error as RelayError:
            switch error {
            case .desk(let error): CommandFailure(.unusable, "the configuration: \(error)")
            case .store(let error), .unmarked(let error):
                CommandFailure(.unusable, "\(folder)/relay.sqlite: \(error)")
            case .state(let error): CommandFailure(.unusable, "\(folder)/relay.sqlite: \(error)")
            }
        case let error as RelayStoreError: CommandFailure(.unusable, "\(folder)/relay.sqlite: \(error)")
        case let error as RelayServer.StartError: CommandFailure(.unusable, "\(error)")
        default: CommandFailure(.unusable, "the relay cannot begin: \(error)")
        }
    }

    private static func prepare(_ folder: String) throws(CommandFailure) {
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw CommandFailure(.unusable, "\(folder): \(SystemError.last)")
        }
        let fault: ForeignFile?
        do throws(SystemError) {
            fault = try ForeignFile.fault(ofFolder: folder)
        } catch {
            throw CommandFailure(.unusable, "\(folder): \(error)")
        }
        if let fault {
            throw CommandFailure(
                .unusable, "\(folder): \(fault): the state's folder is its relay's alone, of mode 0700")
        }
    }

    private static func context(_ tls: RelayConfiguration.TLS) throws(CommandFailure) -> NIOSSLContext {
        do {
            var options = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
            options.minimumTLSVersion = .tlsv12
            options.cipherSuiteValues = NIOTLSCipher.forwardSecret
            options.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: options)
        } catch {
            // The library's errors may quote the files.
            throw CommandFailure(.unusable, "\(tls.certificate), \(tls.key): no certificate with its key in PEM")
        }
    }

    /// A connection is an open file.
    private static func raiseFileLimit() {
        var limit = rlimit()
        #if canImport(Glibc)
            let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let kind = RLIMIT_NOFILE
        #endif
        guard unsafe getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = unsafe setrlimit(kind, &limit)
    }

    /// Blocks the signals in this thread and all that it starts, so that `wait` alone sees them.
    private static func blockSignals() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in ending { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    private static func wait(for signals: sigset_t) {
        var set = signals, number: Int32 = 0
        while unsafe sigwait(&set, &number) != 0 {}
    }
}
