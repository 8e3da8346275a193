extension Atlas {
    // MARK: One position

    /// What is published for a position: the region that holds it.
    ///
    /// - Parameter coordinate: latitude in [-90, 90] and longitude in [-540, 540], in degrees.
    /// - Throws: `LookupError`: an invalid coordinate, or damage in an atlas that was not validated as a whole.
    /// - Complexity: a handful of array reads, and the allocation of the texts.
    public func reducedLocation(at coordinate: Coordinate) throws(LookupError) -> ReducedLocation {
        try reducedLocation(of: try region(at: coordinate))
    }

    /// The region that holds a position.
    ///
    /// - Parameter coordinate: latitude in [-90, 90] and longitude in [-540, 540], in degrees.
    /// - Throws: `LookupError`, as `reducedLocation(at:)`.
    /// - Complexity: a handful of array reads; no allocation, no lock.
    @inline(__always)
    public func region(at coordinate: Coordinate) throws(LookupError) -> Region {
        let (latitude, longitude) = (coordinate.latitude, coordinate.longitude)
        do throws(CoordinateError) {
            try FaceIJ.check(latitude: latitude, longitude: longitude)
        } catch {
            throw .coordinate(error)
        }
        return try markedRegion(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    /// The region of a leaf cell, marked.
    @inline(__always)
    func markedRegion(at leaf: FaceIJ) throws(LookupError) -> Region {
        let index = region(at: leaf).index
        if index == Region.noIndex { throw .atlas(damage(at: leaf)) }
        return Region(bits: index | mark)
    }

    /// The damage that a lookup found: the cell is validated again.
    @inline(never)
    func damage(at leaf: FaceIJ) -> AtlasError {
        do throws(AtlasError) {
            _ = try validate(cell: AtlasLayout.topCell(of: leaf))
            return .changedInUse
        } catch {
            return error
        }
    }

    // MARK: Many positions

    /// The regions of many positions, in order; `Region.invalid` for an invalid coordinate.
    ///
    /// The same answers as `region(at:)`, several times as fast: cells are computed eight at a time, and 64 lookups run
    /// in step, so their cache misses overlap.
    ///
    /// - Precondition: `regions` is as long as `coordinates`.
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole; `regions` is unspecified then.
    /// - Complexity: linear; no allocation, no lock.
    public func regions(
        at coordinates: Span<Coordinate>, into regions: inout MutableSpan<Region>
    ) throws(AtlasError) {
        precondition(coordinates.count == regions.count, "a region for every coordinate")
        // SAFETY: both buffers are used within the calls only.
        try unsafe coordinates.withUnsafeBufferPointer { coordinates throws(AtlasError) in
            try unsafe regions.withUnsafeMutableBufferPointer { regions throws(AtlasError) in
                unsafe snap(coordinates, into: regions, with: .selected) { _, block in unsafe addMark(to: block) }
                try unsafe throwDamage(coordinates, regions)
            }
        }
    }

    /// The regions of many positions and their circles; see `regions(at:into:)`.
    ///
    /// - Precondition: `regions` and `circles` are as long as `coordinates`.
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole; the results are unspecified
    ///   then.
    /// - Complexity: linear; no allocation, no lock.
    public func regions(
        at coordinates: Span<Coordinate>, into regions: inout MutableSpan<Region>,
        circles: inout MutableSpan<Circle>
    ) throws(AtlasError) {
        precondition(coordinates.count == regions.count, "a region for every coordinate")
        precondition(coordinates.count == circles.count, "a circle for every coordinate")
        // SAFETY: all buffers are used within the calls only.
        try unsafe coordinates.withUnsafeBufferPointer { coordinates throws(AtlasError) in
            try unsafe regions.withUnsafeMutableBufferPointer { regions throws(AtlasError) in
                unsafe circles.withUnsafeMutableBufferPointer { circles in
                    unsafe snap(coordinates, into: regions, with: .selected) { start, block in
                        unsafe readCircles(of: block, into: circles, from: start)
                        unsafe addMark(to: block)
                    }
                }
                try unsafe throwDamage(coordinates, regions)
            }
        }
    }

    /// The regions of many positions, in order; `Region.invalid` for an invalid coordinate.
    ///
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    /// - Complexity: linear; one allocation.
    public func regions(at coordinates: some Collection<Coordinate>) throws(AtlasError) -> [Region] {
        let coordinates = Array(coordinates)
        var regions = [Region](repeating: .invalid, count: coordinates.count)
        // SAFETY: both buffers are used within the calls only, and are of one length.
        unsafe coordinates.withUnsafeBufferPointer { coordinates in
            unsafe regions.withUnsafeMutableBufferPointer { regions in
                unsafe snap(coordinates, into: regions, with: .selected) { _, block in unsafe addMark(to: block) }
            }
        }
        try unsafe coordinates.withUnsafeBufferPointer { coordinates throws(AtlasError) in
            try unsafe regions.withUnsafeBufferPointer { regions throws(AtlasError) in
                try unsafe throwDamage(coordinates, regions)
            }
        }
        return regions
    }

    /// What is published for many positions, in order; nil for an invalid coordinate.
    ///
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    /// - Complexity: linear. Texts are made once for each region.
    public func reducedLocations(
        at coordinates: some Collection<Coordinate>
    ) throws(AtlasError) -> [ReducedLocation?] {
        var known: [Region: ReducedLocation?] = [:]
        var last: (region: Region, location: ReducedLocation?) = (.invalid, nil)
        var locations: [ReducedLocation?] = []
        locations.reserveCapacity(coordinates.count)
        for region in try regions(at: coordinates) {
            if region != last.region {
                if let location = known[region] {
                    last = (region, location)
                } else {
                    last = (region, region == .invalid ? nil : try ownReducedLocation(of: region))
                    known[region] = last.location
                }
            }
            locations.append(last.location)
        }
        return locations
    }

    /// `reducedLocation(of:)` for a handle that this atlas gave.
    private func ownReducedLocation(of region: Region) throws(AtlasError) -> ReducedLocation? {
        do throws(LookupError) {
            return try reducedLocation(of: region)
        } catch {
            if case .atlas(let damage) = error { throw damage }
            return nil
        }
    }

    /// Marks the handles of a batch. All bits of `Region.invalid` are set, so it stays as it is.
    @inline(__always)
    private func addMark(to regions: UnsafeMutableBufferPointer<Region>) {
        // SAFETY: indices of the buffer.
        for index in regions.indices { unsafe regions[index] = Region(bits: regions[index].bits | mark) }
    }

    /// Throws the damage that a batch found, if any.
    @inline(__always)
    private func throwDamage(
        _ coordinates: UnsafeBufferPointer<Coordinate>, _ regions: some RandomAccessCollection<Region>
    ) throws(AtlasError) {
        if file.hasDamage { try unsafe throwFirstDamage(coordinates, regions) }
    }

    @inline(never)
    private func throwFirstDamage(
        _ coordinates: UnsafeBufferPointer<Coordinate>, _ regions: some RandomAccessCollection<Region>
    ) throws(AtlasError) {
        for (offset, region) in regions.enumerated() where region.index == Region.noIndex && region != .invalid {
            // SAFETY: there are as many coordinates as regions.
            let coordinate = unsafe coordinates[offset]
            throw damage(
                at: FaceIJ(
                    latitude: coordinate.latitude, longitude: FaceIJ.wrappedLongitude(coordinate.longitude)))
        }
    }

    // MARK: Inside the package

    /// The region of a position, without a mark: *snap* is the design's word for this step. For code inside the package
    /// whose atlas was validated as a whole or ends the program on damage, so that only a coordinate can be wrong. The
    /// public form is `region(at:)`.
    @inline(__always)
    package func snap(latitude: Double, longitude: Double) throws(CoordinateError) -> Region {
        try FaceIJ.check(latitude: latitude, longitude: longitude)
        return region(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    /// See `snap(latitude:longitude:)`.
    package func snap(_ coordinate: Coordinate) throws(CoordinateError) -> Region {
        try snap(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The region of a leaf cell, without a mark; of index `Region.noIndex` where the atlas is damaged.
    @inline(__always)
    package func region(at leaf: FaceIJ) -> Region {
        let value = value(at: leaf)
        if value & AtlasLayout.isCut == 0 { return Region(index: value) }
        return Region(index: region(inCut: cutOffset(value), leaf))
    }

    /// The value of the cell, of any level, that a leaf cell is in: a region, or where the cell's cut is; `Region.noIndex`
    /// where the atlas is damaged.
    @inline(__always)
    func value(at leaf: FaceIJ) -> UInt32 {
        let cell = AtlasLayout.topCell(of: leaf)
        var entry = entries[cell]
        if entry == 0 { entry = firstEntry(cell) }
        if entry & AtlasLayout.isUniform != 0 { return entry & 0xff_ffff }
        let root = Int(entry & ~AtlasLayout.isValidated) &* 4
        return value(inBlock: root, key: AtlasLayout.key(i: leaf.i, j: leaf.j))
    }

    /// The offset of the record of the cut that a value names.
    @inline(__always)
    func cutOffset(_ value: UInt32) -> Int { Int(value & 0x7f_ffff) &* 4 }

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
            let quarter = blocks.byte(node &+ Int(key &>> shift & 3))
            if quarter & AtlasLayout.isPlace == 0 { return listedValue(in: root, UInt32(quarter)) }
            let entry = entry(of: quarter, inNode: node).entry
            if entry & AtlasLayout.isLeaf != 0 { return entry & 0xff_ffff }
            shift &-= 2
            if entry & AtlasLayout.isQuartet != 0 { return listedValue(in: root, position(in: entry, key &>> shift)) }
            node = Int(entry) &* 4
        }
    }

    @inline(__always)
    private func listedValue(in root: Int, _ position: UInt32) -> UInt32 {
        blocks.uint32(listed(in: root, position)) & 0xff_ffff
    }

    /// The entry that a quarter's byte names, and its offset; or one that would lead to the node that follows. It means nothing where
    /// the byte is of neither kind; sections of more bytes than the largest node follow the blocks, so it is within the file.
    @inline(__always)
    func entry(of quarter: UInt8, inNode node: Int) -> (entry: UInt32, place: Int) {
        let place = node &+ 4 &+ Int(quarter & 3) &* 4
        // Which of the two is unpredictable, so it is chosen without a branch. A node begins below 2³² bytes, so bits 31
        // and 30 are clear, as in an entry that leads to it.
        let entry = blocks.uint32(place), following = UInt32(truncatingIfNeeded: place &>> 2)
        return (chosen(entry, following, UInt32((quarter & AtlasLayout.isFollowed) &>> 2)), place)
    }

    /// The first number, or the second if `isSecond` is 1 and not 0: compilers make a branch of a conditional.
    @inline(__always)
    func chosen<Number: FixedWidthInteger>(_ first: Number, _ second: Number, _ isSecond: Number) -> Number {
        first ^ (first ^ second) & (0 &- isSecond)
    }

    /// The position in the block's list of a quartet's value.
    @inline(__always)
    func position(in quartet: UInt32, _ quarter: UInt32) -> UInt32 {
        quartet &>> (quarter & 3 &* AtlasLayout.positionBits) & (1 &<< AtlasLayout.positionBits &- 1)
    }

    /// The offset of a value in a block's list, which grows down from the root.
    @inline(__always)
    func listed(in root: Int, _ position: UInt32) -> Int { root &- 3 &* (Int(position) &+ 1) }

    /// The region of a leaf cell in a cell that borders cut: which side of every edge below it is on.
    func region(inCut cut: Int, _ leaf: FaceIJ) -> UInt32 {
        let reader = CutReader(bytes: cuts, offset: cut)
        return reader.region(ofCode: Int(reader.code(of: leaf)))
    }
}
