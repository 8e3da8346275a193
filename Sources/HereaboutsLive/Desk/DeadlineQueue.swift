import Hereabouts

/// What is due when: a binary heap. Entries are hints: who takes one looks whether it still holds.
struct DeadlineQueue: Sendable {
    enum Item: Hashable, Sendable {
        case relation(Int)
        case subscription(UInt64)
    }

    private var heap: [(time: Timestamp, item: Item)] = []

    var count: Int { heap.count }
    var first: Timestamp? { heap.first?.time }

    mutating func insert(_ item: Item, at time: Timestamp) {
        heap.append((time, item))
        var place = heap.count - 1
        while place > 0, heap[place].time < heap[(place - 1) / 2].time {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeFirst() -> (time: Timestamp, item: Item) {
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[child].time < heap[least].time { least = child }
            if least == place { return first }
            heap.swapAt(place, least)
            place = least
        }
    }

    mutating func removeAll() { heap.removeAll() }
}
