internal import CKernels
import Hereabouts
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The regions' outputs in one form, each rendered on first use of its region and copied from then on. Shared by
/// all threads of a run, without a lock.
///
/// Memory is bounded: four bytes per region of the atlas, and `arenaBytes` for texts (about 64 bytes each, so some
/// 260,000 regions), both touched only as far as they are used. Once the arena is full, further regions are rendered
/// each time they come up.
@safe final class RegionTextCache: @unchecked Sendable {
    // SAFETY: slots are atomic, and a slot is stored after the text it points to, which never changes again. Each
    // byte of the arena is written by the one thread that claimed it.

    /// Where a region's text lies in the arena. All its bits are zero for the empty slot.
    struct Slot: Equatable {
        /// The start in steps of `ByteBuffer.shortStep` (20 bits), and the length (12 bits).
        fileprivate var bits: UInt32
        static let empty = Slot(bits: 0)
        static let longest = 1 << 12 - 1, mostBytes = 1 << 20 * ByteBuffer.shortStep

        @inline(__always)
        fileprivate var start: Int { Int(bits >> 12) &* ByteBuffer.shortStep }
        @inline(__always)
        fileprivate var length: Int { Int(bits & 0xfff) }
    }

    private let arenaBytes: Int
    /// What a thread claims at a time.
    private static let claimBytes = 1 << 16

    let atlas: Atlas
    let form: RegionForm
    /// The regions that are withheld, and what is written in place of each; nil where none is.
    private let withheld: (regions: WithheldRegions, blank: StaticString)?
    private let regionCount: Int
    private let slots: UnsafeMutablePointer<Atomic<UInt32>>
    fileprivate let arena: UnsafeMutablePointer<UInt8>
    private let claimed = Atomic(0)
    private let prefaults = Atomic(false)

    /// - Parameters:
    ///   - arenaBytes: the memory for texts; at most 16 MiB.
    ///   - withheld: the regions that are withheld, and what is written in place of each; nil where none is.
    init(
        atlas: Atlas, form: RegionForm, arenaBytes: Int = 16 << 20,
        withholding withheld: (regions: WithheldRegions, blank: StaticString)? = nil
    ) {
        precondition(arenaBytes <= Slot.mostBytes, "slots reach so far")
        self.arenaBytes = arenaBytes
        self.atlas = atlas
        self.form = form
        self.withheld = withheld
        regionCount = atlas.regionCount
        // SAFETY: zeros are empty slots; unmapped in deinit. Untouched pages cost nothing; those of `calloc` are all touched
        // where it reuses memory, which a run with an output for each of thousands of files would pay each time.
        let zeros = unsafe Self.map(Self.slotBytes(regionCount)), text = unsafe Self.map(arenaBytes)
        unsafe slots = zeros.bindMemory(to: Atomic<UInt32>.self, capacity: max(regionCount, 1))
        unsafe arena = text.bindMemory(to: UInt8.self, capacity: arenaBytes)
    }

    deinit {
        unsafe munmap(slots, Self.slotBytes(regionCount))
        unsafe munmap(arena, max(arenaBytes, 1))
    }

    private static func slotBytes(_ regionCount: Int) -> Int {
        max(regionCount, 1) * MemoryLayout<Atomic<UInt32>>.stride
    }

    /// Zeroed pages.
    private static func map(_ count: Int) -> UnsafeMutableRawPointer {
        let pages = unsafe mmap(nil, max(count, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages = unsafe pages, unsafe pages != MAP_FAILED else {
            preconditionFailure("no memory for the regions' texts")
        }
        return unsafe pages
    }

    /// Whether some regions are withheld.
    fileprivate var withholds: Bool { withheld != nil }

    /// Appends the text of a region. It depends on nothing else (contract C2).
    fileprivate func append(_ region: Region, to out: inout ByteBuffer) {
        guard let withheld, withheld.regions.contains(region) else { return form.append(region, of: atlas, to: &out) }
        out.append(withheld.blank)
    }

    /// Where the region's text is, if it was rendered and kept.
    @inline(__always)
    fileprivate func slot(of region: Region) -> Slot {
        precondition(region.index < regionCount, "not a region of this atlas")
        // SAFETY: the index was tested.
        return Slot(bits: unsafe slots[Int(region.index)].load(ordering: .acquiring))
    }

    fileprivate func setSlot(_ slot: Slot, of region: Region) {
        precondition(region.index < regionCount, "not a region of this atlas")
        // SAFETY: the index was tested. Where two threads rendered the same region, either text will do.
        unsafe slots[Int(region.index)].store(slot.bits, ordering: .releasing)
    }

    /// Prefaults the slots: reading a page first maps the shared zero page, and the write that follows costs a second fault
    /// and a TLB shootdown on the other threads' cores.
    func prefault() {
        if prefaults.load(ordering: .relaxed) || prefaults.exchange(true, ordering: .relaxed) { return }
        unsafe hereabouts_prefault(slots, regionCount * MemoryLayout<Atomic<UInt32>>.stride)
    }

    /// A piece of the arena for one thread alone; empty once the arena is used up.
    fileprivate func claim() -> Range<Int> {
        let start = claimed.add(Self.claimBytes, ordering: .relaxed).oldValue
        guard start + Self.claimBytes <= arenaBytes else { return 0..<0 }
        if prefaults.load(ordering: .relaxed) { unsafe hereabouts_prefault(arena + start, Self.claimBytes) }
        return start..<start + Self.claimBytes
    }
}

/// One thread's access to the regions' outputs.
struct RegionTextWriter: ~Copyable {
    private let texts: RegionTextCache
    private let atlas: Atlas
    /// What is left of the piece of the arena that this thread fills.
    private var room = 0..<0
    private var isFull = false
    /// The text rendered last.
    private var rendered = ByteBuffer(capacity: 256)

    init(_ texts: RegionTextCache) {
        self.texts = texts
        atlas = texts.atlas
    }

    /// Prefaults the cache, for inputs of many records.
    func prefault() { texts.prefault() }

    /// Records one after the other that are in the same region.
    struct Run {
        var region: Region
        /// One past the last record.
        var end: Int32
        /// Where the region's text is.
        var slot: RegionTextCache.Slot
    }

    /// Finds the runs of a batch of records and where their regions' texts are, one look-up not waiting for the other:
    /// in input of no order they are far apart. `runs` and `missing` have room for one of each record.
    ///
    /// - Returns: how many runs there are.
    mutating func findRuns(
        _ regions: UnsafeBufferPointer<Region>, into runs: UnsafeMutablePointer<Run>,
        missing: UnsafeMutablePointer<Int32>
    ) -> Int {
        guard regions.count > 0 else { return 0 }
        // SAFETY: there are no more runs than regions, and no more are missing than there are.
        var count = 0
        var region = unsafe regions[0]
        for end in 1..<regions.count {
            let next = unsafe regions[end]
            unsafe runs[count] = Run(region: region, end: Int32(truncatingIfNeeded: end), slot: .empty)
            count &+= next != region ? 1 : 0
            region = next
        }
        unsafe runs[count] = Run(region: region, end: Int32(truncatingIfNeeded: regions.count), slot: .empty)
        count += 1
        var missingCount = 0
        for run in 0..<count {
            let region = unsafe runs[run].region
            let slot = region == .invalid ? .empty : texts.slot(of: region)
            unsafe runs[run].slot = slot
            unsafe missing[missingCount] = Int32(truncatingIfNeeded: run)
            missingCount &+= slot == .empty && region != .invalid ? 1 : 0
        }
        if missingCount > 0, !isFull { unsafe render(runs, missing, missingCount) }
        for run in 0..<count {
            // Most texts are within two lines. A slot lies within the arena, as the empty one does.
            let start = unsafe runs[run].slot.start
            unsafe prefetch_line(texts.arena + start)
            unsafe prefetch_line(texts.arena + start + 63)
        }
        return count
    }

    /// The text at a slot.
    @inline(__always)
    func text(_ slot: RegionTextCache.Slot) -> UnsafeBufferPointer<UInt8> {
        // SAFETY: a slot lies within the arena, with its text padded to whole steps of `append(short:)`.
        unsafe UnsafeBufferPointer(start: texts.arena + slot.start, count: slot.length)
    }

    /// Appends the region's text, which is rendered now if it was not yet. O(length).
    @inline(__always)
    mutating func append(_ region: Region, to out: inout ByteBuffer) {
        var slot = texts.slot(of: region)
        if slot == .empty { slot = render(region) }
        guard slot != .empty else { return appendRendered(region, to: &out) }
        let text = unsafe text(slot)
        unsafe out.append(short: text.baseAddress!, count: text.count)
    }

    /// Renders a region's text, and says where it is: the empty slot if there is no room for it.
    @inline(never)
    private mutating func render(_ region: Region) -> RegionTextCache.Slot {
        guard !isFull else { return .empty }
        rendered.removeAll()
        texts.append(region, to: &rendered)
        return keep(region)
    }

    /// Renders the texts of many runs' regions, as far as there is room for them.
    ///
    /// - Parameter missing: which of the runs have none.
    @inline(never)
    private mutating func render(_ runs: UnsafeMutablePointer<Run>, _ missing: UnsafePointer<Int32>, _ count: Int) {
        if texts.withholds {
            for k in 0..<count {
                let region = unsafe runs[Int(missing[k])].region
                if texts.slot(of: region) == .empty { _ = render(region) }
            }
        } else {
            unsafe renderBlocks(runs, missing, count)
        }
        for k in 0..<count {
            let run = unsafe Int(missing[k])
            unsafe runs[run].slot = texts.slot(of: runs[run].region)
        }
    }

    /// The same where each region has its own text: blocks of them are looked up at once.
    private mutating func renderBlocks(
        _ runs: UnsafeMutablePointer<Run>, _ missing: UnsafePointer<Int32>, _ count: Int
    ) {
        unsafe withUnsafeTemporaryAllocation(of: Region.self, capacity: Atlas.blockSize) { block in
            for start in stride(from: 0, to: count, by: Atlas.blockSize) {
                let length = min(Atlas.blockSize, count - start)
                for k in 0..<length {
                    unsafe block.initializeElement(at: k, to: runs[Int(missing[start + k])].region)
                }
                unsafe atlas.withPublished(UnsafeBufferPointer(rebasing: block[..<length])) { region, published in
                    guard !isFull, texts.slot(of: region) == .empty else { return }
                    rendered.removeAll()
                    texts.form.append(published, &rendered)
                    _ = keep(region)
                }
            }
        }
    }

    /// Keeps the text rendered last, if there is room for it.
    private mutating func keep(_ region: Region) -> RegionTextCache.Slot {
        let length = rendered.count
        let step = ByteBuffer.shortStep
        let padded = (length + step - 1) / step * step
        if room.count < padded { room = texts.claim() }
        isFull = room.isEmpty
        guard padded <= room.count, length <= RegionTextCache.Slot.longest else { return .empty }
        let slot = RegionTextCache.Slot(
            bits: UInt32(room.lowerBound / ByteBuffer.shortStep) << 12 | UInt32(length))
        // SAFETY: this thread alone has the room, which is large enough and lies within the arena.
        unsafe rendered.withBytes { bytes in
            _ = unsafe memcpy(texts.arena + room.lowerBound, bytes.baseAddress!, length)
        }
        room = room.lowerBound + padded..<room.upperBound
        texts.setSlot(slot, of: region)
        return slot
    }

    /// Appends the text of a region that there is no room for.
    @inline(never)
    func appendRendered(_ region: Region, to out: inout ByteBuffer) {
        texts.append(region, to: &out)
    }
}
