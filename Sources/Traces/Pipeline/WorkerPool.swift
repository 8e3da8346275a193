import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Set when a run has failed, so that a thread that waits for input stops waiting.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}

/// What taking a piece of the input gave.
enum Taken {
    /// The input is at its end, or could not be read: this is the last piece to emit.
    case end
    /// Less than there is room for: the input is short or slow, and one thread keeps up with it.
    case partial
    case full
}

/// How many cores the machine has for us.
package var availableCores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Processes an input on up to `threads` threads, with the same results in the same order as on one.
///
/// A job is a piece of the input, its results, and the buffers for both. Jobs are filled one at a time and emitted one at
/// a time, both in order of the input; only the work in between is done on several threads. A thread does whatever is
/// next, so none waits for another while there are jobs left: three for every two threads, which bounds memory.
///
/// The calling thread is one of the threads; the others are started when a job is first full.
///
/// - Parameters:
///   - take: fills the job with the next piece. A failure to read goes into the job, for `emit` to throw in turn.
///   - work: what needs nothing but the job.
///   - emit: writes and counts the job's results. Also called for the job at the end of the input.
/// - Throws: what `emit` threw first in order of the input; nothing after it is emitted.
func runWorkers<Job: ~Copyable>(
    threads: Int, cancellation: CancellationFlag, makeJob: () -> Job, take: (inout Job) -> Taken,
    work: (inout Job) -> Void, emit: (inout Job) throws(TraceError) -> Void
) throws(TraceError) {
    let failure = withoutActuallyEscaping(makeJob) { makeJob in
        withoutActuallyEscaping(take) { take in
            withoutActuallyEscaping(work) { work in
                withoutActuallyEscaping(emit) { emit in
                    WorkerPool(
                        threads: threads, cancellation: cancellation, makeJob: makeJob, take: take, work: work,
                        emit: emit
                    ).run()
                }
            }
        }
    }
    if let failure { throw failure }
}

/// The threads of a run and their shared state.
@safe private final class WorkerPool<Job: ~Copyable>: @unchecked Sendable {
    // SAFETY: all variables are guarded by `mutex`. `take` and `emit` are each called by one thread at a time, with the
    // mutex locked in between; `work` touches nothing but a job that one thread holds. None is called after `run`.

    private final class Box {
        var job: Job
        init(_ job: consuming Job) { self.job = job }
    }

    private let threads: Int
    private let cancellation: CancellationFlag
    private let makeJob: () -> Job
    private let take: (inout Job) -> Taken
    private let work: (inout Job) -> Void
    private let emit: (inout Job) throws(TraceError) -> Void

    private let mutex = MutexAndCondition()
    private var helpers: [pthread_t] = []
    private var failure: TraceError?
    /// Jobs made, and those of them that no thread holds.
    private var made = 0
    private var free: [Box] = []
    /// Jobs to emit, by their turn.
    private var ready: [Int: Box] = [:]
    private var taken = 0
    private var emitted = 0
    private var isTaking = false
    private var isEmitting = false
    private var isAtEnd = false

    init(
        threads: Int, cancellation: CancellationFlag, makeJob: @escaping () -> Job,
        take: @escaping (inout Job) -> Taken, work: @escaping (inout Job) -> Void,
        emit: @escaping (inout Job) throws(TraceError) -> Void
    ) {
        self.threads = threads
        self.cancellation = cancellation
        self.makeJob = makeJob
        self.take = take
        self.work = work
        self.emit = emit
    }

    /// Works until the input is emitted or the run has failed.
    func run() -> TraceError? {
        help()
        // Helpers are started by any thread, but only while there is input, which has ended.
        for helper in helpers { pthread_join(helper, nil) }
        return failure
    }

    private func help() {
        mutex.lock()
        while failure == nil && !(isAtEnd && emitted == taken) {
            if !isEmitting, let box = ready.removeValue(forKey: emitted) {
                emitInTurn(box)
            } else if !isTaking && !isAtEnd, let box = free.popLast() ?? makeBox() {
                fill(box)
            } else {
                mutex.wait()
            }
        }
        mutex.unlock()
        mutex.broadcast()
    }

    private func makeBox() -> Box? {
        guard made < (threads == 1 ? 1 : threads + (threads + 1) / 2) else { return nil }
        made += 1
        return Box(makeJob())
    }

    /// Takes the next piece and works on it. The mutex is held before and after.
    private func fill(_ box: Box) {
        let turn = taken
        isTaking = true
        taken += 1
        mutex.unlock()
        let result = take(&box.job)
        mutex.lock()
        isTaking = false
        if result == .end {
            isAtEnd = true
        } else {
            if result == .full { startHelpers() }
            mutex.unlock()
            mutex.broadcast()
            work(&box.job)
            mutex.lock()
        }
        ready[turn] = box
        mutex.broadcast()
    }

    /// Emits the job whose turn it is. The mutex is held before and after.
    private func emitInTurn(_ box: Box) {
        isEmitting = true
        mutex.unlock()
        var error: TraceError?
        do { try emit(&box.job) } catch let thrown { error = thrown }
        mutex.lock()
        isEmitting = false
        emitted += 1
        free.append(box)
        failure = error
        if error != nil { cancellation.set() }
        mutex.broadcast()
    }

    /// Starts the other threads, once. Where the system gives none, those there are do the work.
    private func startHelpers() {
        guard helpers.isEmpty && threads > 1 else { return }
        helpers = (1..<threads).compactMap { _ in startThread { self.help() } }
    }
}

/// A mutex and a condition variable.
@safe private struct MutexAndCondition: ~Copyable {
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
    /// Waits for `broadcast`. The mutex is held before and after, and released meanwhile.
    func wait() { unsafe pthread_cond_wait(condition, mutex) }
    func broadcast() { unsafe pthread_cond_broadcast(condition) }
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
