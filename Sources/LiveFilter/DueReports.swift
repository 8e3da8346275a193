import Hereabouts
import HereaboutsLive

/// The answers of a tick in order of their devices' names, byte for byte: 16 bytes for each.
struct DueReports {
    /// A device, what it was answered, and seven bytes of its name.
    private struct Entry {
        /// Bytes of the name from the depth that is sorted by, the first one highest, and how many there are in the lowest
        /// byte, at most seven.
        var key: UInt64 = 0
        var region: UInt32
        /// The device's index above the bit that says whether the region is new.
        var bits: UInt32
    }

    private static let step = 7
    private var entries: ContiguousArray<Entry> = []

    var count: Int { entries.count }

    mutating func append(_ answer: Desk.DeviceAnswer) {
        entries.append(
            Entry(region: answer.region.index, bits: UInt32(answer.device) << 1 | (answer.isNew ? 1 : 0)))
    }

    subscript(place: Int) -> (device: Int, region: Region, isNew: Bool) {
        let entry = entries[place]
        return (Int(entry.bits >> 1), Region(index: entry.region), entry.bits & 1 == 1)
    }

    mutating func sort(_ desk: Desk) { sort(0..<entries.count, from: 0, desk) }

    /// Sorts answers whose names are the same up to a depth in bytes, and longer than that.
    private mutating func sort(_ range: Range<Int>, from depth: Int, _ desk: Desk) {
        for place in range { entries[place].key = Self.key(Int(entries[place].bits >> 1), depth, desk) }
        // In place: a slice of the array would copy it.
        unsafe entries.withUnsafeMutableBufferPointer { entries in
            var part = unsafe UnsafeMutableBufferPointer(rebasing: entries[range])
            unsafe part.sort { $0.key < $1.key }
        }
        var start = range.lowerBound
        while start < range.upperBound {
            let key = entries[start].key
            var end = start + 1
            while end < range.upperBound, entries[end].key == key { end += 1 }
            // Names that end within the step are the same only if they are one.
            if end - start > 1, key & 0xff == UInt64(Self.step) { sort(start..<end, from: depth + Self.step, desk) }
            start = end
        }
    }

    private static func key(_ device: Int, _ depth: Int, _ desk: Desk) -> UInt64 {
        unsafe desk.withDeviceName(device) { name in
            let count = min(step, max(0, name.count - depth))
            var key: UInt64 = 0
            for place in 0..<step { key = key << 8 | (place < count ? UInt64(unsafe name[depth + place]) : 0) }
            return key << 8 | UInt64(count)
        } ?? 0
    }
}
