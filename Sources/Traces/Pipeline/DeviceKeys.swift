#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Devices by the bytes of their keys, numbered from 0 in order of their first appearance.
///
/// A hash table with open addressing over one arena of bytes: no `String`, no allocation per lookup. The hash is seeded
/// anew in each process, so that no input can be made whose keys all collide; no output depends on it.
struct DeviceKeys: ~Copyable {
    private struct Entry {
        var start: Int
        var count: Int
        var hash: UInt64
    }

    private var arena = ByteBuffer(capacity: 1 << 12)
    private var entries: [Entry] = []
    /// Entry number + 1, or 0 for a free slot. The size is a power of two, at least twice the entries.
    private var slots = [UInt32](repeating: 0, count: 64)
    let hash = KeyHash()
    /// The entry found last: records of one device mostly follow each other.
    private var last = -1

    /// How many devices there are.
    var count: Int { entries.count }

    /// The number of the device with this key, a new one where the key is new. O(key length) amortized.
    ///
    /// - Parameter keyHash: the key's `hash`.
    mutating func number(of key: UnsafeBufferPointer<UInt8>, hash keyHash: UInt64) -> (number: Int, isNew: Bool) {
        if last >= 0, entries[last].hash == keyHash, unsafe matches(entries[last], key) { return (last, false) }
        let found = unsafe search(key, hash: keyHash)
        if let number = found.number {
            last = number
            return (number, false)
        }
        let number = entries.count
        entries.append(Entry(start: arena.count, count: key.count, hash: keyHash))
        unsafe arena.append(key)
        slots[found.slot] = UInt32(number + 1)
        if entries.count * 2 > slots.count { grow() }
        last = number
        return (number, true)
    }

    /// The number of the device with this key; nil where there is none.
    func find(_ key: UnsafeBufferPointer<UInt8>, hash keyHash: UInt64) -> Int? {
        unsafe search(key, hash: keyHash).number
    }

    /// The device with this key, or the free slot where it would go.
    @inline(__always)
    private func search(_ key: UnsafeBufferPointer<UInt8>, hash keyHash: UInt64) -> (number: Int?, slot: Int) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: keyHash) & mask
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if entries[number].hash == keyHash, unsafe matches(entries[number], key) { return (number, slot) }
            slot = (slot + 1) & mask
        }
        return (nil, slot)
    }

    /// A device's key.
    func key(_ number: Int) -> [UInt8] {
        let entry = entries[number]
        // SAFETY: entries lie within the arena.
        return unsafe arena.withBytes { bytes in unsafe Array(bytes[entry.start..<entry.start + entry.count]) }
    }

    /// The hash of a device's key, as it was given.
    func hash(_ number: Int) -> UInt64 { entries[number].hash }

    /// Calls a function with the bytes of a device's key, which are there until it returns.
    func withKey<Result>(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let entry = entries[number]
        // SAFETY: entries lie within the arena.
        return unsafe arena.withBytes { bytes in
            unsafe body(UnsafeBufferPointer(rebasing: bytes[entry.start..<entry.start + entry.count]))
        }
    }

    private func matches(_ entry: Entry, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard entry.count == key.count else { return false }
        guard entry.count > 0 else { return true }
        // SAFETY: both ranges are readable for the count.
        return unsafe arena.withBytes { bytes in
            unsafe memcmp(bytes.baseAddress! + entry.start, key.baseAddress!, entry.count) == 0
        }
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for (number, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(number + 1)
        }
    }
}

/// A hash of bytes, seeded anew for each table of devices. It can be computed away from the table, by any thread.
struct KeyHash {
    private let seed = UInt64.random(in: .min ... .max)

    func callAsFunction(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 { unsafe mix(key).hash }

    /// The hash of a key in a table that is its own normal form; nil for one with bytes beyond ASCII, or a quote,
    /// blank or control character at either end, which may have another (`DeviceKey.normalized`).
    @inline(__always)
    func ofNormalized(_ key: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard let first = unsafe key.first, let last = unsafe key.last else { return unsafe self(key) }
        guard first > 0x20, last > 0x20, first != CSVQuote.byte else { return nil }
        let (hash, bits) = unsafe mix(key)
        return bits & 0x8080_8080_8080_8080 == 0 ? hash : nil
    }

    /// Eight bytes at a time, each mixed in by a full 64 × 64-bit product; and the words' common bits.
    @inline(__always)
    private func mix(_ key: UnsafeBufferPointer<UInt8>) -> (hash: UInt64, bits: UInt64) {
        var state = seed ^ UInt64(key.count), bits: UInt64 = 0
        var at = 0
        // SAFETY: words are read only where eight bytes are left, bytes below the count.
        while at < key.count {
            var word: UInt64 = 0
            if key.count - at >= 8 {
                word = unsafe UnsafeRawPointer(key.baseAddress! + at).loadUnaligned(as: UInt64.self)
                at += 8
            } else {
                while at < key.count {
                    word = word << 8 | UInt64(unsafe key[at])
                    at += 1
                }
            }
            bits |= word
            let product = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15 ^ (seed | 1))
            state = product.high ^ product.low
        }
        let product = state.multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        return (product.high ^ product.low, bits)
    }
}
