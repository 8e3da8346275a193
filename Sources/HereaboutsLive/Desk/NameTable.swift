internal import CKernels
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Names by index: open addressing with linear probing over one arena of their bytes.
///
/// A name takes 14 bytes besides its own, and 11 to 21 of the hash table, which is 3/8 to 3/4 full. The hash is seeded
/// anew in each process (`Hasher`), so that no names can be chosen that all collide. Names are compared byte for byte.
///
/// ```text
/// slot    0 where free, else: offset of the record + 1 (40 bits), bits of the hash (24)
/// record  index (4 bytes, all ones where the name was removed), length (2), the name
/// ```
struct NameTable: Sendable {
    /// The longest name in bytes.
    static let longest = Int(UInt16.max)

    private static let headerBytes = 6
    private static let removed = UInt32.max
    private static let tagBits: UInt64 = 24
    private static let tagMask: UInt64 = (1 << tagBits) - 1
    /// Fewer bytes of removed names are left where they are.
    private static let leastCompacted = 1 << 12

    private var arena: ContiguousArray<UInt8> = []
    private var removedBytes = 0
    /// Where each index's record begins; -1 of an index without a name.
    private var starts: ContiguousArray<Int> = []
    /// A power of two of them.
    private var slots = ContiguousArray<UInt64>(repeating: 0, count: 16)
    /// How many names there are.
    private(set) var count = 0

    static func hash(of name: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(name))
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// The index of a name; nil where there is none.
    ///
    /// - Parameter hash: the name's.
    func index(of name: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int? {
        let mask = slots.count - 1
        var slot = Self.home(hash, mask)
        while slots[slot] != 0 {
            if slots[slot] & Self.tagMask == hash & Self.tagMask {
                let start = Self.start(slots[slot])
                if unsafe matches(start, name) { return Int(header(start).index) }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Prefetches the records that searches for some hashes find first, and gives their indices: those of names with these
    /// hashes, but for one name in some million. The misses of several searches overlap.
    ///
    /// - Parameter take: called with each index.
    func prefetch(_ hashes: UnsafeBufferPointer<UInt64>, _ take: (Int) -> Void) {
        // SAFETY: places are below the counts, records lie within the arena.
        unsafe slots.withUnsafeBufferPointer { slots in
            unsafe arena.withUnsafeBytes { arena in
                let mask = slots.count - 1
                for place in 0..<hashes.count {
                    unsafe prefetch_line(slots.baseAddress! + Self.home(hashes[place], mask))
                }
                for place in 0..<hashes.count {
                    if let start = unsafe Self.firstStart(hashes[place], slots) {
                        unsafe prefetch_line(arena.baseAddress! + start)
                    }
                }
                for place in 0..<hashes.count {
                    if let start = unsafe Self.firstStart(hashes[place], slots) {
                        take(
                            Int(
                                UInt32(littleEndian: unsafe arena.loadUnaligned(fromByteOffset: start, as: UInt32.self))
                            ))
                    }
                }
            }
        }
    }

    /// The record that the search for a hash finds first; nil where it finds none.
    private static func firstStart(_ hash: UInt64, _ slots: UnsafeBufferPointer<UInt64>) -> Int? {
        var slot = home(hash, slots.count - 1)
        // SAFETY: places are below the count, and some slot is free.
        while unsafe slots[slot] != 0 {
            if unsafe slots[slot] & tagMask == hash & tagMask { return start(unsafe slots[slot]) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Gives a name that is not in the table to an index that has none, at most the number of indices so far.
    mutating func insert(_ name: UnsafeBufferPointer<UInt8>, hash: UInt64, at index: Int) {
        precondition(name.count <= Self.longest && arena.count < 1 << 39, "names are short")
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let start = arena.count
        append(UInt64(UInt32(index)), count: 4)
        append(UInt64(name.count), count: 2)
        unsafe arena.append(contentsOf: name)
        if index == starts.count { starts.append(start) } else { starts[index] = start }
        occupy(start, hash)
        count += 1
    }

    /// Takes the name of an index out.
    mutating func remove(_ index: Int) {
        let start = starts[index], length = header(start).length
        let mask = slots.count - 1
        var free = Self.home(hash(start), mask)
        while Self.start(slots[free]) != start { free = (free + 1) & mask }
        // Those that follow move up, unless their search begins after the free slot.
        var next = (free + 1) & mask
        while slots[next] != 0 {
            let home = Self.home(hash(Self.start(slots[next])), mask)
            if (next - home) & mask >= (next - free) & mask {
                slots[free] = slots[next]
                free = next
            }
            next = (next + 1) & mask
        }
        slots[free] = 0
        for byte in 0..<4 { arena[start + byte] = .max }
        starts[index] = -1
        removedBytes += Self.headerBytes + length
        count -= 1
        if removedBytes > max(Self.leastCompacted, arena.count / 2) { compact() }
    }

    /// The name of an index that has one.
    func name(_ index: Int) -> String { unsafe withName(index) { unsafe String(decoding: $0, as: UTF8.self) } }

    /// The bytes of the name of an index that has one, for the time of the call.
    func withName<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe withName(at: starts[index], body)
    }

    // MARK: Records

    private func withName<Result>(at start: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let first = start + Self.headerBytes, end = first + header(start).length
        // SAFETY: records lie within the arena.
        return unsafe arena.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0[first..<end])) }
    }

    private func header(_ start: Int) -> (index: UInt32, length: Int) {
        unsafe arena.withUnsafeBytes { bytes in
            // SAFETY: records lie within the arena.
            let index = unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
            let length = unsafe bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self)
            return (UInt32(littleEndian: index), Int(UInt16(littleEndian: length)))
        }
    }

    private mutating func append(_ number: UInt64, count: Int) {
        for byte in 0..<count { arena.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
    }

    private func matches(_ start: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe withName(at: start) { bytes in
            guard bytes.count == name.count else { return false }
            guard let first = bytes.baseAddress, let second = name.baseAddress else { return true }
            // SAFETY: both are readable for the count.
            return unsafe memcmp(first, second, bytes.count) == 0
        }
    }

    private func hash(_ start: Int) -> UInt64 { unsafe withName(at: start) { unsafe Self.hash(of: $0) } }

    // MARK: Slots

    /// The slot at which the search for a hash begins: by other bits than a slot has of it, as long as these suffice.
    private static func home(_ hash: UInt64, _ mask: Int) -> Int { Int(hash >> tagBits) & mask }

    private static func start(_ slot: UInt64) -> Int { Int(slot >> tagBits) - 1 }

    private mutating func occupy(_ start: Int, _ hash: UInt64) {
        let mask = slots.count - 1
        var slot = Self.home(hash, mask)
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = UInt64(start + 1) << Self.tagBits | hash & Self.tagMask
    }

    private mutating func grow() {
        // The old ones go first: they are made anew from the arena.
        let size = slots.count * 2
        slots = []
        slots = ContiguousArray(repeating: 0, count: size)
        occupyAll()
    }

    private mutating func occupyAll() {
        var start = 0
        while start < arena.count {
            let (index, length) = header(start)
            if index != Self.removed { occupy(start, hash(start)) }
            start += Self.headerBytes + length
        }
    }

    /// Takes the bytes of removed names out of the arena.
    private mutating func compact() {
        var kept = 0, start = 0
        while start < arena.count {
            let (index, length) = header(start), size = Self.headerBytes + length
            if index != Self.removed {
                starts[Int(index)] = kept
                for byte in 0..<size { arena[kept + byte] = arena[start + byte] }
                kept += size
            }
            start += size
        }
        arena.removeLast(arena.count - kept)
        removedBytes = 0
        for slot in slots.indices { slots[slot] = 0 }
        occupyAll()
    }
}
