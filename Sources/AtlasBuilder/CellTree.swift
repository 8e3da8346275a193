import Hereabouts

/// The values of a level-7 cell as a quadtree, and how it is written as a block (`data/FORMAT.md`, "Block").
struct CellTree {
    /// A stretch of the cell with one value: from its key up to the next one's.
    struct Run {
        var key: Int
        var value: UInt32
    }

    private enum Entry {
        case leaf(UInt32)
        /// A node by its position in `nodes`.
        case node(Int)
    }

    /// The entries of every node, by quarter. The first is the root.
    private var nodes: [[Entry]] = []

    /// - Parameter runs: their keys ascend, and the first is 0.
    init(_ runs: [Run]) {
        _ = addNode(runs, runs.indices, base: 0, size: 1 << (2 * AtlasLayout.nodeLevels))
    }

    /// Adds the node of the keys from `base` on, of which the runs of `range` hold some each.
    private mutating func addNode(
        _ runs: [Run], _ range: Range<Int>, base: Int, size: Int
    ) -> Int {
        let node = nodes.count
        nodes.append([])
        var first = range.lowerBound
        for quarter in 0..<4 {
            let start = base + quarter * (size / 4), end = start + size / 4
            while first + 1 < range.upperBound, runs[first + 1].key <= start { first += 1 }
            var last = first + 1
            while last < range.upperBound, runs[last].key < end { last += 1 }
            let entry: Entry =
                last == first + 1
                ? .leaf(runs[first].value) : .node(addNode(runs, first..<last, base: start, size: size / 4))
            nodes[node].append(entry)
        }
        return node
    }

    /// The four values of a node that has nothing else; nil for another.
    private func quartet(_ node: Int) -> [UInt32]? {
        var values: [UInt32] = []
        for case .leaf(let value) in nodes[node] { values.append(value) }
        return values.count == 4 ? values : nil
    }

    /// Appends the block, and returns where its root is.
    func write(to blocks: inout [UInt8]) throws -> Int {
        var uses: [UInt32: Int] = [:]
        for case .leaf(let value) in nodes.joined() { uses[value, default: 0] += 1 }
        let list = uses.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(AtlasLayout.listLimit).map(\.key)
        let positions = Dictionary(uniqueKeysWithValues: list.enumerated().map { ($1, UInt32($0)) })
        let start = blocks.count + 3 * list.count
        let rootOffset = (start + 3) / 4 * 4
        blocks += [UInt8](repeating: 0, count: rootOffset - start)
        for value in list.reversed() {
            blocks += [UInt8(value & 0xff), UInt8(value >> 8 & 0xff), UInt8(value >> 16 & 0xff)]
        }
        write(0, positions, to: &blocks)
        guard blocks.count / 4 < Int(AtlasLayout.isQuartet) else { throw BuildError.tooLarge }
        return rootOffset
    }

    /// What is written of a quarter.
    private enum Quarter {
        /// A byte: its value's position in the list.
        case listed(UInt8)
        /// An entry.
        case word(UInt32)
        /// The node that divides it.
        case divided(Int)
    }

    private func quarter(_ entry: Entry, _ positions: [UInt32: UInt32]) -> Quarter {
        switch entry {
        case .leaf(let value):
            if let position = positions[value] { return .listed(UInt8(position)) }
            return .word(AtlasLayout.isLeaf | value)
        case .node(let child):
            guard let places = quartet(child)?.compactMap({ positions[$0] }), places.count == 4 else {
                return .divided(child)
            }
            var word = AtlasLayout.isQuartet
            for (index, place) in places.enumerated() { word |= place << (UInt32(index) * AtlasLayout.positionBits) }
            return .word(word)
        }
    }

    /// Appends a node and then, in order, those below it.
    private func write(_ node: Int, _ positions: [UInt32: UInt32], to blocks: inout [UInt8]) {
        let quarters = nodes[node].map { quarter($0, positions) }
        let followed = quarters.firstIndex { if case .divided = $0 { true } else { false } }
        let entryCount = quarters.indices.count { index in
            if case .listed = quarters[index] { false } else { index != followed }
        }
        var offset = blocks.count + 4, number: UInt8 = 0
        for (index, quarter) in quarters.enumerated() {
            if case .listed(let position) = quarter {
                blocks.append(position)
            } else if index == followed {
                blocks.append(AtlasLayout.isPlace | AtlasLayout.isFollowed | UInt8(entryCount))
            } else {
                blocks.append(AtlasLayout.isPlace | number)
                number += 1
            }
        }
        blocks += [UInt8](repeating: 0, count: 4 * entryCount)
        for (index, quarter) in quarters.enumerated() {
            let word: UInt32
            switch quarter {
            case .listed: continue
            case .word(let entry): word = entry
            case .divided(let child):
                word = UInt32(blocks.count / 4)
                write(child, positions, to: &blocks)
                if index == followed { continue }
            }
            for k in 0..<4 { blocks[offset + k] = UInt8(truncatingIfNeeded: word >> UInt32(8 * k)) }
            offset += 4
        }
    }
}
