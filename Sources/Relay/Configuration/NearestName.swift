/// The one of some names that a mistyped one is nearest to: at most two letters inserted, left out, replaced or swapped
/// with the next, and fewer than half of them. Nil where none is so near.
package func nearestName<Names: Sequence<String>>(to name: String, among names: Names) -> String? {
    let typed = Array(name.utf8.prefix(64))
    let limit = min(2, (typed.count - 1) / 2)
    guard limit > 0 else { return nil }
    let near = names.map { (distance: editDistance(typed, Array($0.utf8.prefix(64))), name: $0) }
        .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    return near.flatMap { $0.distance <= limit ? $0.name : nil }
}

/// How many bytes must be inserted, left out, replaced or swapped with the next one (optimal string alignment).
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var before: [Int] = [], last = Array(0...second.count)
    for row in first.indices {
        var next = [row + 1]
        for column in second.indices {
            var least = min(
                next[column] + 1, last[column + 1] + 1, last[column] + (first[row] == second[column] ? 0 : 1))
            if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                least = min(least, before[column - 1] + 1)
            }
            next.append(least)
        }
        (before, last) = (last, next)
    }
    return last[second.count]
}
