/// The world's regions, from one file.
///
/// ```swift
/// let atlas = try Atlas(contentsOf: "world.atlas")
/// let region = try atlas.snap(latitude: 31.7587, longitude: -106.4869)
/// let here = atlas.reducedLocation(of: region)
/// print(here.place ?? "", here.country, here.horizontalAccuracy)
/// ```
///
/// An atlas is a handle to a read-only mapping: copies are cheap, any number of threads may use it, and a lookup takes
/// no lock and allocates nothing. Do not write to the file while it is in use: replace it by renaming another into its
/// place. `checkUnchanged()` detects a file that was modified.
public struct Atlas: Sendable {
    let file: AtlasFile
    /// Once-table of validated top entries; 0 for cells not validated yet.
    let entries: OnceTable
    let top, blocks, cuts, places, labels, anonymities, names, about: AtlasBytes

    /// How many regions there are.
    public let regionCount: Int
    let countryCount: Int
    let nameCount: Int
    /// How far beyond each region its published circle reaches, meters: a device may keep its region that far.
    public let steadinessMeters: Double
    /// The limits the regions were made for.
    public let limits: Limits

    /// What the builder of an atlas aimed at.
    public struct Limits: Hashable, Sendable {
        /// Residents a region should hold (K).
        public let anonymity: Int
        /// Smallest horizontal accuracy, meters.
        public let smallestAccuracy: Double
        /// Largest horizontal accuracy of a region with residents, meters.
        public let largestAccuracy: Double
        /// Largest horizontal accuracy at sea and on uninhabited land, meters.
        public let largestEmptyAccuracy: Double
    }

    /// Maps an atlas file and validates all of it: header, checksums and every table.
    ///
    /// - Throws: `AtlasError`; nothing is kept open then.
    /// - Complexity: linear in the file; some twenty milliseconds for the world.
    public init(contentsOf path: String) throws(AtlasError) {
        try self.init(file: AtlasFile(path: path))
        try validateAll()
    }

    /// An atlas from bytes in memory, validated as a whole.
    public init(bytes: [UInt8]) throws(AtlasError) {
        guard bytes.count >= AtlasLayout.headerSize else { throw .notAnAtlas }
        try self.init(file: AtlasFile(copying: bytes))
        try validateAll()
    }

    /// Maps an atlas file lazily: each part is validated on first use. For a program that can end when the file turns
    /// out to be damaged.
    ///
    /// - Parameter whenDamaged: called, on any thread, when a lookup finds damage.
    /// - Throws: `AtlasError` for an unreadable file or an invalid header; nothing is kept open then.
    /// - Complexity: some microseconds, and as many for each part on first use.
    public init(
        contentsOf path: String, whenDamaged: @escaping @Sendable (AtlasError) -> Never
    ) throws(AtlasError) {
        try self.init(file: AtlasFile(path: path, whenDamaged: whenDamaged))
    }

    /// Validates the header only.
    init(file: AtlasFile) throws(AtlasError) {
        let header = try AtlasHeader(file)
        self.file = file
        entries = file.entries
        func section(_ section: AtlasLayout.Section) -> AtlasBytes {
            let range = header.sections[section.rawValue]
            return unsafe AtlasBytes(start: file.bytes.baseAddress! + range.lowerBound, count: range.count)
        }
        top = section(.top)
        blocks = section(.blocks)
        cuts = section(.cuts)
        places = section(.centers)
        labels = section(.labels)
        anonymities = section(.anonymity)
        names = section(.names)
        about = section(.about)
        regionCount = header.regionCount
        countryCount = header.countryCount
        nameCount = header.nameCount
        steadinessMeters = Double(header.steadiness)
        limits = Limits(
            anonymity: Int(header.anonymity), smallestAccuracy: Double(header.smallestAccuracy),
            largestAccuracy: Double(header.largestAccuracy), largestEmptyAccuracy: Double(header.largestEmptyAccuracy))
    }

    // MARK: Snapping

    /// The region that holds a position.
    ///
    /// - Parameters:
    ///   - latitude: geodetic, degrees, in [-90, 90].
    ///   - longitude: degrees; any finite value, wrapped.
    /// - Throws: `CoordinateError` for an invalid coordinate.
    /// - Complexity: a handful of array reads; no allocation, no lock.
    @inline(__always)
    public func snap(latitude: Double, longitude: Double) throws(CoordinateError) -> Region {
        try FaceIJ.check(latitude: latitude, longitude: longitude)
        return region(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    /// The region that holds a position.
    ///
    /// - Throws: `CoordinateError` for an invalid coordinate.
    public func snap(_ coordinate: Coordinate) throws(CoordinateError) -> Region {
        try snap(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The region of a leaf cell.
    @inline(__always)
    package func region(at leaf: FaceIJ) -> Region {
        let cell = Int(leaf.face) << 14 | Int(leaf.i >> 23) << 7 | Int(leaf.j >> 23)
        var entry = entries[cell]
        if entry == 0 { entry = firstEntry(cell) }
        if entry & AtlasLayout.isUniform != 0 { return Region(index: entry & 0xff_ffff) }
        let root = Int(entry & ~AtlasLayout.isValidated) &* 4
        let value = value(inBlock: root, key: AtlasLayout.key(i: leaf.i, j: leaf.j))
        if value & AtlasLayout.isCut == 0 { return Region(index: value) }
        return Region(index: region(inCut: Int(value & 0x7f_ffff) * 4, leaf))
    }

    /// The value of a key in the block whose root is at an offset.
    @inline(__always)
    private func value(inBlock root: Int, key: UInt32) -> UInt32 {
        var node = root
        var shift = UInt32(AtlasLayout.nodeLevels) &* 2 &- 2
        // Most lookups need these lines next, whatever the root says: 25 % less time on random land.
        blocks.prefetch(root &- 64)
        blocks.prefetch(root &+ 64)
        blocks.prefetch(root &+ 128)
        while true {
            let entry = blocks.uint32(node &+ Int(key &>> shift & 3) &* 4)
            if entry & AtlasLayout.isLeaf != 0 { return entry & 0xff_ffff }
            shift &-= 2
            if entry & AtlasLayout.isQuartet != 0 {
                return blocks.uint32(listed(in: root, quartet: entry, key &>> shift)) & 0xff_ffff
            }
            node = Int(entry) &* 4
        }
    }

    /// Where in a block's list, which grows down from its root, the value of a quartet's quarter is.
    @inline(__always)
    func listed(in root: Int, quartet entry: UInt32, _ quarter: UInt32) -> Int {
        let position = entry &>> (quarter & 3 &* AtlasLayout.positionBits) & (1 &<< AtlasLayout.positionBits &- 1)
        return root &- 3 &* (Int(position) &+ 1)
    }

    /// The region of a leaf cell in a cell that borders cut: which side of every edge below it is on.
    func region(inCut cut: Int, _ leaf: FaceIJ) -> UInt32 {
        let reader = CutReader(bytes: cuts, offset: cut)
        return cuts.uint32(cut + 4 + Int(reader.code(of: leaf)) * 4)
    }

    // MARK: Regions

    /// What is published for a region.
    public func reducedLocation(of region: Region) -> ReducedLocation {
        withPublished(region) { published in
            let place = unsafe published.place.map { unsafe String(decoding: $0, as: UTF8.self) }
            return ReducedLocation(
                coordinate: published.coordinate, horizontalAccuracy: published.horizontalAccuracy,
                region: published.region,
                country: Country(code: unsafe String(decoding: published.country, as: UTF8.self)),
                place: place.map { published.isNear ? "near " + $0 : $0 })
        }
    }

    /// What is published for a region, with its texts where they lie in the atlas.
    @safe package struct Published {
        // SAFETY: `withPublished` makes it for the time of a call, in which the texts stay mapped.
        package let coordinate: Coordinate
        package let horizontalAccuracy: Double
        package let region: RegionID
        /// UTF-8.
        package let country: UnsafeBufferPointer<UInt8>
        /// Whether the place lies outside the region.
        package let isNear: Bool
        /// UTF-8; nil where the region has no name.
        package let place: UnsafeBufferPointer<UInt8>?
    }

    /// Calls `body` with what is published for a region. Allocates nothing.
    package func withPublished<Result>(_ region: Region, _ body: (Published) -> Result) -> Result {
        let packed = places.uint64(checked(region) * 8)
        let cell = CellID.leafAncestor(of: center(packed), level: RegionID.level)
        return withExtendedLifetime(file) { body(published(region, packed, cell)) }
    }

    /// What is published for a region whose record of places and whose center's cell are known; for as long as the file
    /// is mapped.
    @inline(__always)
    func published(_ region: Region, _ packed: UInt64, _ cell: CellID) -> Published {
        let label = labels.uint32(checked(region) * 4), name = Int(label & 0x3ffff)
        return unsafe Published(
            coordinate: center(packed), horizontalAccuracy: accuracy(packed), region: RegionID(cell: cell),
            country: countryCode(Int(label >> 19)), isNear: label >> 18 & 1 == 1,
            place: name == 0 ? nil : self.name(name - 1))
    }

    /// The region's center, to 1e-5 degrees.
    public func center(of region: Region) -> Coordinate { coordinate(of: checked(region)) }

    /// Radius in meters of the circle about the center that contains the region and its steadiness margin.
    public func horizontalAccuracy(of region: Region) -> Double {
        accuracy(places.uint64(checked(region) * 8))
    }

    /// The country a region lies in.
    public func country(of region: Region) -> Country {
        let index = Int(labels.uint32(checked(region) * 4) >> 19)
        return withExtendedLifetime(file) {
            Country(code: unsafe String(decoding: countryCode(index), as: UTF8.self))
        }
    }

    /// Estimated residents of a region, rounded down to three digits or better.
    public func anonymity(of region: Region) -> Int {
        let at = checked(region) * 2
        requireValid(anonymities, at..<at + 2)
        let packed = anonymities.uint16(at)
        return Int(packed & 0x7ff) << Int(packed >> 11)
    }

    /// The region an identifier names; nil where this atlas has none of that name.
    public func region(_ id: RegionID) -> Region? {
        let center = id.cell.center
        guard let region = try? snap(center), reducedLocation(of: region).region == id else { return nil }
        return region
    }

    /// What the atlas was made of and from, as JSON.
    public var aboutJSON: String {
        requireValid(about, 0..<about.count)
        return withExtendedLifetime(file) {
            unsafe String(decoding: text(about, countryCount * 8..<about.count), as: UTF8.self)
        }
    }

    /// The checksum of the whole content: differs between atlases but for a chance of 2⁻⁶⁴.
    package var fingerprint: UInt64 { file.checksum }

    /// Validates that the file was not modified while in use. Call it before publishing answers.
    ///
    /// - Throws: `AtlasError.changedInUse`. Answers since the last call may be wrong then.
    /// - Complexity: one system call; linear in the parts in use where the file's inode was changed.
    public func checkUnchanged() throws(AtlasError) { try file.checkUnchanged() }

    /// Whether the file may have been modified: for a process about to end. Async-signal-safe.
    package func mayHaveChanged() -> Bool { file.mayHaveChanged() }

    @inline(__always)
    func checked(_ region: Region) -> Int {
        precondition(region.index < regionCount, "a region of this atlas")
        return Int(region.index)
    }

    private func coordinate(of index: Int) -> Coordinate { center(places.uint64(index * 8)) }

    /// The center in a record of the places section.
    @inline(__always)
    func center(_ packed: UInt64) -> Coordinate {
        Coordinate(
            latitude: Double(Int(packed & 0x1ff_ffff) - 9_000_000) / 100_000,
            longitude: Double(Int(packed >> 25 & 0x3ff_ffff) - 18_000_000) / 100_000)
    }

    /// The accuracy in a record of the places section, meters.
    @inline(__always)
    func accuracy(_ packed: UInt64) -> Double { Double(packed >> 51) * 10 }

    /// Prefetches a region's entry in the table of names, or the name itself.
    @inline(__always)
    func prefetchName(of region: Region, itself: Bool) {
        let name = Int(labels.uint32(checked(region) * 4) & 0x3ffff) - 1
        guard name >= 0 else { return }
        names.prefetch(itself ? (nameCount + 1) * 4 + Int(names.uint32(name * 4)) : name * 4)
    }

    private func countryCode(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        requireValid(about, index * 8..<index * 8 + 8)
        return unsafe text(about, index * 8..<index * 8 + 8)
    }

    private func name(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        do throws(AtlasError) {
            return unsafe text(names, try validatedName(index))
        } catch {
            file.stop(error)
        }
    }

    /// The bytes of a range up to the first zero.
    private func text(_ bytes: AtlasBytes, _ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        var end = range.lowerBound
        while end < range.upperBound, bytes.byte(end) != 0 { end += 1 }
        let start = unsafe (bytes.start + range.lowerBound).assumingMemoryBound(to: UInt8.self)
        return unsafe UnsafeBufferPointer(start: start, count: end - range.lowerBound)
    }
}

extension CellID {
    /// The cell of a level that holds a coordinate known to be valid.
    static func leafAncestor(of coordinate: Coordinate, level: Int) -> CellID {
        let leaf = FaceIJ(latitude: coordinate.latitude, longitude: FaceIJ.wrappedLongitude(coordinate.longitude))
        return CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: level)
    }
}
