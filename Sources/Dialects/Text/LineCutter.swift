/// Cuts a stream of bytes into lines of bounded length. A line beyond the limit is skipped up to its end.
struct LineCutter {
    /// A line without its end and blanks around it, or one that was too long.
    enum Line {
        case text([UInt8])
        case tooLong
    }

    private let limit: Int
    private var line: [UInt8] = []
    private var isSkipping = false

    /// - Parameter limit: the longest line, in bytes.
    init(limit: Int) { self.limit = limit }

    /// The lines that end within some more bytes, without blank ones.
    mutating func lines(_ bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            if byte == 10 {
                if isSkipping {
                    lines.append(.tooLong)
                } else {
                    let text = line.drop { Self.isBlank($0) }.reversed().drop { Self.isBlank($0) }.reversed()
                    if !text.isEmpty { lines.append(.text(Array(text))) }
                }
                line.removeAll(keepingCapacity: true)
                isSkipping = false
            } else if line.count == limit {
                isSkipping = true
            } else {
                line.append(byte)
            }
        }
        return lines
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 13 }
}
