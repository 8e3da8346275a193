#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Cuts bytes into whole lines of bounded length. A longer one becomes a blank line, so that lines keep their numbers.
struct LiveLines {
    /// The longest line in bytes.
    static let limit = 1 << 16

    /// The beginning of a line whose end has not come.
    private var partial: [UInt8] = []
    private var isSkipping = false
    /// How many lines were too long.
    private(set) var overlong = 0

    /// The lines that end within some more bytes, with their line feeds.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(partial.count + bytes.count)
        var start = 0
        while start < bytes.count {
            // What lies between two line feeds and is no longer than a line has no line that is.
            if partial.isEmpty, !isSkipping, bytes.count - start <= Self.limit {
                guard let feed = bytes.lastFeed(from: start) else {
                    keep(bytes[start...])
                    break
                }
                lines += bytes[start...feed]
                start = feed + 1
                continue
            }
            guard let feed = bytes.firstFeed(from: start) else {
                keep(bytes[start...])
                break
            }
            if !isSkipping, partial.count + feed - start <= Self.limit {
                lines += partial
                lines += bytes[start...feed]
            } else {
                overlong += 1
                lines.append(10)
            }
            isSkipping = false
            partial.removeAll(keepingCapacity: true)
            start = feed + 1
        }
        return lines
    }

    /// The last line, if it lacks its line feed.
    mutating func finish() -> [UInt8] { partial.isEmpty && !isSkipping ? [] : take([10]) }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isSkipping, partial.count + bytes.count <= Self.limit else {
            isSkipping = true
            partial.removeAll(keepingCapacity: true)
            return
        }
        partial += bytes
    }
}

extension [UInt8] {
    /// The first line feed at or after a place.
    func firstFeed(from start: Int) -> Int? {
        unsafe withUnsafeBufferPointer { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            // SAFETY: from `start` on there are `bytes.count - start` bytes.
            guard let found = unsafe memchr(base + start, 10, bytes.count - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }

    /// The last line feed at or after a place.
    func lastFeed(from start: Int) -> Int? { self[start...].lastIndex(of: 10) }
}
