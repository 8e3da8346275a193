import Dispatch
import Synchronization

/// Runs `body` for every index on all cores; results come in index order whatever the order of execution.
///
/// Errors: the one of the lowest index that failed.
func parallelMap<Result: Sendable>(
    count: Int, onEach: @Sendable (Int) -> Void = { _ in }, _ body: @Sendable (Int) throws -> Result
) throws -> [Result] {
    let slots = Mutex<[Swift.Result<Result, any Error>?]>(Array(repeating: nil, count: count))
    let next = Atomic<Int>(0), done = Atomic<Int>(0)
    let workers = min(count, availableCores)
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

import Foundation

/// Worker threads to use.
private let availableCores = ProcessInfo.processInfo.activeProcessorCount
