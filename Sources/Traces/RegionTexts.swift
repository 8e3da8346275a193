internal import CCells
import Hereabouts
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The regions' outputs in one form, each rendered when its region first comes up and copied from then on. Shared by all
/// threads of a run, without a lock.
///
/// Memory is bounded: four bytes per region of the atlas, and `arenaBytes` for texts (about 64 bytes each, so some
/// 260,000 regions), both touched only as far as they are used. Once the arena is full, further regions are rendered
/// each time they come up.
@safe final class RegionTexts: @unchecked Sendable {
    // SAFETY: places are atomic, and a place is stored after the text it points to, which never changes again. Each
    // byte of the arena is written by the one thread that claimed it.

    /// Where a region's text lies in the arena. All its bits are zero for nowhere.
    struct Place: Equatable {
        /// The start in steps of `ByteBuffer.shortStep` (20 bits), and the length (12 bits).
        fileprivate var bits: UInt32
        static let nowhere = Place(bits: 0)
        static let longest = 1 << 12 - 1, mostBytes = 1 << 20 * ByteBuffer.shortStep

        @inline(__always)
        fileprivate var start: Int { Int(bits >> 12) &* ByteBuffer.shortStep }
        @inline(__always)
        fileprivate var length: Int { Int(bits & 0xfff) }
    }

    private let arenaBytes: Int
    /// What a thread claims at a time.
    private static let claimBytes = 1 << 14

    let atlas: Atlas
    let form: RegionForm
    private let regionCount: Int
    private let places: UnsafeMutablePointer<Atomic<UInt32>>
    fileprivate let arena: UnsafeMutablePointer<UInt8>
    private let claimed = Atomic(0)

    /// - Parameter arenaBytes: the memory for texts; at most 16 MiB.
    init(atlas: Atlas, form: RegionForm, arenaBytes: Int = 16 << 20) {
        precondition(arenaBytes <= Place.mostBytes, "places reach so far")
        self.arenaBytes = arenaBytes
        self.atlas = atlas
        self.form = form
        regionCount = atlas.regionCount
        // SAFETY: zeros are places nowhere; freed in deinit. Untouched pages cost nothing.
        guard let zeros = unsafe calloc(max(regionCount, 1), MemoryLayout<Atomic<UInt32>>.stride),
            let text = unsafe calloc(arenaBytes, 1)
        else { preconditionFailure("no memory for the regions' texts") }
        unsafe places = zeros.bindMemory(to: Atomic<UInt32>.self, capacity: max(regionCount, 1))
        unsafe arena = text.bindMemory(to: UInt8.self, capacity: arenaBytes)
    }

    deinit {
        unsafe free(places)
        unsafe free(arena)
    }

    /// Where the region's text is, if it was rendered and kept.
    @inline(__always)
    fileprivate func place(of region: Region) -> Place {
        precondition(region.index < regionCount, "not a region of this atlas")
        // SAFETY: the index was tested.
        return Place(bits: unsafe places[Int(region.index)].load(ordering: .acquiring))
    }

    fileprivate func setPlace(_ place: Place, of region: Region) {
        precondition(region.index < regionCount, "not a region of this atlas")
        // SAFETY: the index was tested. Where two threads rendered the same region, either text will do.
        unsafe places[Int(region.index)].store(place.bits, ordering: .releasing)
    }

    /// A piece of the arena for one thread alone; empty once the arena is used up.
    fileprivate func claim() -> Range<Int> {
        let start = claimed.add(Self.claimBytes, ordering: .relaxed).oldValue
        return start + Self.claimBytes <= arenaBytes ? start..<start + Self.claimBytes : 0..<0
    }
}

/// One thread's access to the regions' outputs.
struct RegionText: ~Copyable {
    private let texts: RegionTexts
    private let atlas: Atlas
    /// What is left of the piece of the arena that this thread fills.
    private var room = 0..<0
    private var isFull = false
    /// The text rendered last.
    private var rendered = ByteBuffer(capacity: 256)

    init(_ texts: RegionTexts) {
        self.texts = texts
        atlas = texts.atlas
    }

    /// Where the region's text is; rendered now if it was not yet, and nowhere if there is no room for it.
    @inline(__always)
    mutating func place(of region: Region) -> RegionTexts.Place {
        let place = texts.place(of: region)
        return place != .nowhere ? place : render(region)
    }

    /// Finds the places of the regions' texts, one look-up not waiting for the other: in input of no order they are far
    /// apart. `places` and `missing` have room for one of each region.
    mutating func findPlaces(
        of regions: UnsafeBufferPointer<Region>, into places: UnsafeMutablePointer<RegionTexts.Place>,
        missing: UnsafeMutablePointer<Int32>
    ) {
        // SAFETY: indices are below the number of regions; `missing` gets at most one index for each.
        var count = 0
        var last = Region.none, place = RegionTexts.Place.nowhere
        for index in 0..<regions.count {
            let region = unsafe regions[index]
            if region != last {
                last = region
                place = region == .none ? .nowhere : texts.place(of: region)
            }
            unsafe places[index] = place
            unsafe missing[count] = Int32(truncatingIfNeeded: index)
            count += place == .nowhere && region != .none ? 1 : 0
        }
        if count > 0, !isFull {
            for step in 0..<3 {
                last = .none
                for k in 0..<count {
                    let region = unsafe regions[Int(missing[k])]
                    if region != last { atlas.prefetchPublished(region, step: step) }
                    last = region
                }
            }
            for k in 0..<count {
                let index = unsafe Int(missing[k])
                unsafe places[index] = self.place(of: regions[index])
            }
        }
        place = .nowhere
        for index in 0..<regions.count where unsafe places[index] != place {
            unsafe place = places[index]
            // Most texts are within two lines. A place lies within the arena, as nowhere does.
            unsafe ccells_prefetch(texts.arena + place.start)
            unsafe ccells_prefetch(texts.arena + place.start + 63)
        }
    }

    /// Appends the text of a region at its place.
    @inline(__always)
    mutating func append(_ region: Region, at place: RegionTexts.Place, to out: inout ByteBuffer) {
        guard place != .nowhere else { return appendRendered(region, to: &out) }
        // SAFETY: a place lies within the arena, with its text padded to whole steps of `append(short:)`.
        unsafe out.append(short: texts.arena + place.start, count: place.length)
    }

    /// Appends the region's text. O(length).
    @inline(__always)
    mutating func append(_ region: Region, to out: inout ByteBuffer) {
        append(region, at: place(of: region), to: &out)
    }

    @inline(never)
    private mutating func render(_ region: Region) -> RegionTexts.Place {
        guard !isFull else { return .nowhere }
        rendered.removeAll()
        texts.form.append(region, of: atlas, to: &rendered)
        let length = rendered.count
        let step = ByteBuffer.shortStep
        let padded = (length + step - 1) / step * step
        if room.count < padded { room = texts.claim() }
        isFull = room.isEmpty
        guard padded <= room.count, length <= RegionTexts.Place.longest else { return .nowhere }
        let place = RegionTexts.Place(
            bits: UInt32(room.lowerBound / ByteBuffer.shortStep) << 12 | UInt32(length))
        // SAFETY: this thread alone has the room, which is large enough and lies within the arena.
        unsafe rendered.withBytes { bytes in
            _ = unsafe memcpy(texts.arena + room.lowerBound, bytes.baseAddress!, length)
        }
        room = room.lowerBound + padded..<room.upperBound
        texts.setPlace(place, of: region)
        return place
    }

    @inline(never)
    private mutating func appendRendered(_ region: Region, to out: inout ByteBuffer) {
        texts.form.append(region, of: atlas, to: &out)
    }
}
