import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Raised when a run has failed, so that whoever waits for input stops waiting.
final class StopSign: Sendable {
    private let raised = Atomic(false)

    var isRaised: Bool { raised.load(ordering: .relaxed) }

    func raise() { raised.store(true, ordering: .relaxed) }
}

/// How much of the input a lane took.
enum Taken {
    /// The input is at its end, or could not be read: the last to settle.
    case nothing
    /// Less than there is room for: the input is short or comes slowly, and one thread keeps up with it.
    case little
    case much
}

/// How many cores the machine has for us.
package var availableCores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Reduces an input on up to `threads` threads and gives the same results in the same order as on one.
///
/// A lane is a piece of the input, its results, and the buffers for both. Lanes are filled one at a time and settled
/// one at a time, both in order of the input; only the work in between is done on several at once. A thread takes what
/// is next to be done, so none waits for another as long as there are lanes left: three for every two threads, which
/// bounds memory.
///
/// The calling thread is one of the threads; the others are started when a lane is first full.
///
/// - Parameters:
///   - take: fills the lane with the next piece. A failure to read goes into the lane, for `settle` to throw in turn.
///   - work: what needs nothing but the lane.
///   - settle: writes out and counts the lane's results. Also called for the lane that took nothing.
/// - Throws: what `settle` threw first in order of the input; nothing after it is settled.
func runLanes<Lane: ~Copyable>(
    threads: Int, stop: StopSign, makeLane: () -> Lane, take: (inout Lane) -> Taken, work: (inout Lane) -> Void,
    settle: (inout Lane) throws(TraceError) -> Void
) throws(TraceError) {
    let failure = withoutActuallyEscaping(makeLane) { makeLane in
        withoutActuallyEscaping(take) { take in
            withoutActuallyEscaping(work) { work in
                withoutActuallyEscaping(settle) { settle in
                    Crew(threads: threads, stop: stop, makeLane: makeLane, take: take, work: work, settle: settle)
                        .run()
                }
            }
        }
    }
    if let failure { throw failure }
}

/// The threads of a run, and what they agree on.
@safe private final class Crew<Lane: ~Copyable>: @unchecked Sendable {
    // SAFETY: all variables are guarded by `lock`. `take` and `settle` are each called by one thread at a time, with
    // the lock in between; `work` touches nothing but a lane that one thread holds. None is called after `run`.

    private final class Box {
        var lane: Lane
        init(_ lane: consuming Lane) { self.lane = lane }
    }

    private let threads: Int
    private let stop: StopSign
    private let makeLane: () -> Lane
    private let take: (inout Lane) -> Taken
    private let work: (inout Lane) -> Void
    private let settle: (inout Lane) throws(TraceError) -> Void

    private let lock = ThreadLock()
    private var helpers: [pthread_t] = []
    private var failure: TraceError?
    /// Lanes made, and those of them that nobody holds.
    private var made = 0
    private var free: [Box] = []
    /// Lanes to settle, by their turn.
    private var ready: [Int: Box] = [:]
    private var taken = 0
    private var settled = 0
    private var isTaking = false
    private var isSettling = false
    private var isAtEnd = false

    init(
        threads: Int, stop: StopSign, makeLane: @escaping () -> Lane, take: @escaping (inout Lane) -> Taken,
        work: @escaping (inout Lane) -> Void, settle: @escaping (inout Lane) throws(TraceError) -> Void
    ) {
        self.threads = threads
        self.stop = stop
        self.makeLane = makeLane
        self.take = take
        self.work = work
        self.settle = settle
    }

    /// Works until the input is settled or the run has failed.
    func run() -> TraceError? {
        help()
        // Helpers are started by any thread, but only while there is input, which has ended.
        for helper in helpers { pthread_join(helper, nil) }
        return failure
    }

    private func help() {
        lock.lock()
        while failure == nil && !(isAtEnd && settled == taken) {
            if !isSettling, let box = ready.removeValue(forKey: settled) {
                settleInTurn(box)
            } else if !isTaking && !isAtEnd, let box = free.popLast() ?? makeBox() {
                fill(box)
            } else {
                lock.wait()
            }
        }
        lock.unlock()
        lock.wakeAll()
    }

    private func makeBox() -> Box? {
        guard made < (threads == 1 ? 1 : threads + (threads + 1) / 2) else { return nil }
        made += 1
        return Box(makeLane())
    }

    /// Takes the next piece and works on it. The lock is held before and after.
    private func fill(_ box: Box) {
        let turn = taken
        isTaking = true
        taken += 1
        lock.unlock()
        let result = take(&box.lane)
        lock.lock()
        isTaking = false
        if result == .nothing {
            isAtEnd = true
        } else {
            if result == .much { startHelpers() }
            lock.unlock()
            lock.wakeAll()
            work(&box.lane)
            lock.lock()
        }
        ready[turn] = box
        lock.wakeAll()
    }

    /// Settles the lane whose turn it is. The lock is held before and after.
    private func settleInTurn(_ box: Box) {
        isSettling = true
        lock.unlock()
        var error: TraceError?
        do { try settle(&box.lane) } catch let thrown { error = thrown }
        lock.lock()
        isSettling = false
        settled += 1
        free.append(box)
        failure = error
        if error != nil { stop.raise() }
        lock.wakeAll()
    }

    /// Starts the other threads, once. Where the system gives none, those there are do the work.
    private func startHelpers() {
        guard helpers.isEmpty && threads > 1 else { return }
        helpers = (1..<threads).compactMap { _ in startThread { self.help() } }
    }
}

/// A lock that one can wait at.
@safe private struct ThreadLock: ~Copyable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        // SAFETY: both stay at their addresses until deinit, when no thread uses them any more.
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func lock() { unsafe pthread_mutex_lock(mutex) }
    func unlock() { unsafe pthread_mutex_unlock(mutex) }
    /// To be called with the lock held, which is given up while waiting.
    func wait() { unsafe pthread_cond_wait(condition, mutex) }
    func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}

/// Starts a thread that runs `body`; nil where the system gives none.
private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let start = unsafe Unmanaged.passRetained(Start(body))
    // SAFETY: the thread takes over the one reference; where there is no thread, it is given back here.
    #if canImport(Glibc)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        if result == 0 { return thread }
    #else
        var thread: pthread_t?
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        if result == 0 { return thread }
    #endif
    unsafe start.release()
    return nil
}
