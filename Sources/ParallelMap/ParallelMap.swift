import Dispatch
import Foundation
import Synchronization

/// Settings of `parallelMap`.
package enum Parallelism {
    /// Worker threads that `parallelMap` starts where it is called; nil for one per core. Results never depend on it.
    @TaskLocal package static var workerLimit: Int?
}

/// Runs `body` for every index on a pool of worker threads; results come in index order whatever the order of execution.
///
/// - Parameter onEach: called after each index with the number of those done, from any thread.
/// - Throws: the error of the lowest index that failed.
/// - Complexity: one lock per index, so `body` should be worth some microseconds.
package func parallelMap<Result: Sendable>(
    count: Int, onEach: @Sendable (Int) -> Void = { _ in }, _ body: @Sendable (Int) throws -> Result
) throws -> [Result] {
    let slots = Mutex<[Swift.Result<Result, any Error>?]>(Array(repeating: nil, count: count))
    let next = Atomic<Int>(0), done = Atomic<Int>(0)
    let workers = min(count, Parallelism.workerLimit ?? availableCores)
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
        while true {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < count else { return }
            let result = Swift.Result { try body(index) }
            slots.withLock { $0[index] = result }
            onEach(done.wrappingAdd(1, ordering: .relaxed).newValue)
        }
    }
    return try slots.withLock { slots in try slots.map { try $0!.get() } }
}

private let availableCores = ProcessInfo.processInfo.activeProcessorCount
