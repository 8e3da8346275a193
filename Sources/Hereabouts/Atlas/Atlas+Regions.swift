// What is published for a region. Public functions validate the handle and throw; those of the package are for regions
// of an atlas that it opened itself.
extension Atlas {
    /// What is published for a region.
    ///
    /// - Throws: `LookupError`: a region of another atlas, or damage in an atlas that was not validated as a whole.
    /// - Complexity: O(1), and the allocation of the texts.
    public func reducedLocation(of region: Region) throws(LookupError) -> ReducedLocation {
        let index = try validIndex(of: region)
        let packed = places.uint64(index * 8), label = labels.uint32(index * 4), name = Int(label & 0x3ffff)
        do throws(AtlasError) {
            let country = unsafe String(decoding: try countryCode(Int(label >> 19)), as: UTF8.self)
            let place = unsafe try name == 0 ? nil : String(decoding: self.name(name - 1), as: UTF8.self)
            return withExtendedLifetime(file) {
                ReducedLocation(
                    coordinate: center(packed), horizontalAccuracy: accuracy(packed), region: identifier(packed),
                    country: Country(code: country),
                    place: place.map { ReducedLocation.Place(name: $0, isInside: label >> 18 & 1 == 0) })
            }
        } catch {
            throw .atlas(error)
        }
    }

    /// The circle published for a region: its center and accuracy, without the texts of `reducedLocation(of:)`.
    ///
    /// - Throws: `LookupError`, as `reducedLocation(of:)`.
    /// - Complexity: O(1), without allocation.
    @inline(__always)
    public func circle(of region: Region) throws(LookupError) -> Circle {
        circle(places.uint64(try validIndex(of: region) &* 8))
    }

    /// The identifier of a region.
    ///
    /// - Throws: `LookupError`, as `reducedLocation(of:)`.
    /// - Complexity: O(1), without allocation.
    public func identifier(of region: Region) throws(LookupError) -> RegionID {
        identifier(places.uint64(try validIndex(of: region) &* 8))
    }

    /// Estimated residents of a region, to the nearest of steps of 4.4 %; 0 where nobody lives that the sources know.
    ///
    /// - Throws: `LookupError`, as `reducedLocation(of:)`.
    /// - Complexity: O(1), without allocation.
    public func anonymity(of region: Region) throws(LookupError) -> Int {
        try anonymityRecord(of: region).residents(anonymity: limits.anonymity)
    }

    /// Residents of a region that can be promised, given how uncertain the estimate is: at most `anonymity(of:)`, rounded
    /// down by less than 4.5 %. `limits.anonymity` or more wherever the atlas promises K residents.
    ///
    /// - Throws: `LookupError`, as `reducedLocation(of:)`.
    /// - Complexity: O(1), without allocation.
    public func anonymityLowerBound(of region: Region) throws(LookupError) -> Int {
        try anonymityRecord(of: region).lowerBound(anonymity: limits.anonymity)
    }

    /// How close together a region's residents live: radius in meters of a circle that holds nine in ten of them, up to the next
    /// 100 m, and 25,500 for that and all that is more; nil where nobody lives or the atlas does not say.
    ///
    /// A circle of 16 km about one village hides no more than the village does.
    ///
    /// - Throws: `LookupError`, as `reducedLocation(of:)`.
    /// - Complexity: O(1), without allocation.
    public func concentration(of region: Region) throws(LookupError) -> Double? {
        let offset = try validIndex(of: region)
        do throws(AtlasError) { try validateText(concentrations, offset..<offset + 1) } catch { throw .atlas(error) }
        let steps = concentrations.byte(offset)
        return steps == 0 ? nil : Double(steps) * 100
    }

    private func anonymityRecord(of region: Region) throws(LookupError) -> AnonymityRecord {
        let offset = try validIndex(of: region) * 2
        do throws(AtlasError) { try validateText(anonymities, offset..<offset + 2) } catch { throw .atlas(error) }
        return AnonymityRecord(bits: anonymities.uint16(offset))
    }

    /// The region with an identifier; nil if this atlas has none with it.
    ///
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    /// - Complexity: one lookup.
    public func region(withID id: RegionID) throws(AtlasError) -> Region? {
        do throws(LookupError) {
            let region = try region(at: id.cell.center)
            return try identifier(of: region) == id ? region : nil
        } catch {
            if case .atlas(let damage) = error { throw damage }
            return nil
        }
    }

    /// What the atlas was made of and from, as JSON (`data/FORMAT.md`, "about").
    ///
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    public var aboutJSON: String {
        get throws(AtlasError) {
            try validateText(about, 0..<about.count)
            return withExtendedLifetime(file) {
                unsafe String(decoding: text(about, countryCount * 8..<about.count), as: UTF8.self)
            }
        }
    }

    // MARK: Inside the package

    /// The radius of a region's published circle, in meters.
    func accuracy(of region: Region) -> Double { accuracy(places.uint64(checked(region) * 8)) }

    /// What is published for a region, with its texts where they lie in the atlas.
    @safe package struct Published {
        // SAFETY: valid during the call of `withPublished` that makes it; the file stays mapped so long.
        package let coordinate: Coordinate
        package let horizontalAccuracy: Double
        package let region: RegionID
        /// UTF-8.
        package let country: UnsafeBufferPointer<UInt8>
        /// Whether the place is only near.
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

    /// What is published for a region whose center record and center's cell are known; valid while the file is mapped.
    @inline(__always)
    func published(_ region: Region, _ packed: UInt64, _ cell: CellID) -> Published {
        let label = labels.uint32(checked(region) * 4), name = Int(label & 0x3ffff)
        return unsafe Published(
            coordinate: center(packed), horizontalAccuracy: accuracy(packed), region: RegionID(cell: cell),
            country: unsafe file.required { () throws(AtlasError) in unsafe try countryCode(Int(label >> 19)) },
            isNear: label >> 18 & 1 == 1,
            place: name == 0
                ? nil : unsafe file.required { () throws(AtlasError) in unsafe try self.name(name - 1) })
    }

    /// The region's center, to 1e-5 degrees.
    package func center(of region: Region) -> Coordinate { center(places.uint64(checked(region) * 8)) }

    /// Radius in meters of the circle about the center that contains the region and its steadiness margin.
    package func horizontalAccuracy(of region: Region) -> Double { accuracy(places.uint64(checked(region) * 8)) }

    /// The country a region lies in.
    package func country(of region: Region) -> Country {
        let index = Int(labels.uint32(checked(region) * 4) >> 19)
        return withExtendedLifetime(file) {
            let code = unsafe file.required { () throws(AtlasError) in unsafe try countryCode(index) }
            return Country(code: unsafe String(decoding: code, as: UTF8.self))
        }
    }

    /// The region with an identifier, without a mark; nil if this atlas has none with it. The public form is
    /// `region(withID:)`.
    package func region(_ id: RegionID) -> Region? {
        guard let region = try? snap(id.cell.center), region.index < regionCount,
            identifier(places.uint64(checked(region) * 8)) == id
        else { return nil }
        return region
    }

    /// The index of a handle that this package made for this atlas.
    @inline(__always)
    func checked(_ region: Region) -> Int {
        precondition(region.index < regionCount, "a region of this atlas")
        return Int(region.index)
    }

    // MARK: Records

    /// The center in a record of the centers section.
    @inline(__always)
    func center(_ packed: UInt64) -> Coordinate {
        Coordinate(
            latitude: Double(Int(packed & 0x1ff_ffff) - 9_000_000) / 100_000,
            longitude: Double(Int(packed >> 25 & 0x3ff_ffff) - 18_000_000) / 100_000)
    }

    /// The accuracy in a record of the centers section, meters.
    @inline(__always)
    func accuracy(_ packed: UInt64) -> Double { Double(packed >> 51) * 10 }

    /// The identifier of the region of a record of the centers section.
    private func identifier(_ packed: UInt64) -> RegionID {
        RegionID(cell: CellID.leafAncestor(of: center(packed), level: RegionID.level))
    }

    /// Prefetches a region's entry in the table of names, or the name itself.
    @inline(__always)
    func prefetchName(of region: Region, itself: Bool) {
        let name = Int(labels.uint32(checked(region) * 4) & 0x3ffff) - 1
        guard name >= 0 else { return }
        let start = itself ? (nameCount + 1) * 4 &+ Int(truncatingIfNeeded: names.uint32(name * 4)) : name * 4
        names.prefetch(start)
    }

    /// The countries of regions, ordered by their codes.
    ///
    /// - Throws: damage in an atlas that was not validated as a whole.
    public func countries() throws(AtlasError) -> [Country] {
        var countries: [Country] = []
        for index in 0..<countryCount {
            countries.append(Country(code: unsafe String(decoding: try countryCode(index), as: UTF8.self)))
        }
        return countries.sorted()
    }

    /// Prefetches a region's label, and its center.
    func prefetchLabel(of region: Region) {
        labels.prefetch(Int(region.index) * 4)
        places.prefetch(Int(region.index) * 8)
    }

    /// Validates the texts of a region whose index is valid.
    func validateTexts(of region: Region) throws(AtlasError) {
        let label = labels.uint32(checked(region) * 4), name = Int(label & 0x3ffff)
        _ = unsafe try countryCode(Int(label >> 19))
        if name > 0 { _ = try validatedName(name - 1) }
    }

    private func countryCode(_ index: Int) throws(AtlasError) -> UnsafeBufferPointer<UInt8> {
        try validateText(about, index * 8..<index * 8 + 8)
        return unsafe text(about, index * 8..<index * 8 + 8)
    }

    private func name(_ index: Int) throws(AtlasError) -> UnsafeBufferPointer<UInt8> {
        unsafe text(names, try validatedName(index))
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
