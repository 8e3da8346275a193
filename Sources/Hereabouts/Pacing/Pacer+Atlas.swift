extension Pacer {
    /// Takes a fix of the device.
    ///
    /// - Parameters:
    ///   - fix: a position and its time. Fixes may come late or twice; those change nothing.
    ///   - atlas: the same one in the life of a pacer. In another one the last answer is unknown, so the next tick gives
    ///     a new answer; the pace is kept.
    /// - Returns: whether the fix was kept for its tick, and the answer of the tick before it, if that was not given yet.
    /// - Throws: `LookupError`: an invalid coordinate, or damage in an atlas that was not validated as a whole. The pacer
    ///   stays as it was.
    /// - Complexity: O(1), without allocation: nothing but comparisons, or for each tick 17 lookups in the atlas, some
    ///   hundred where several regions are near, and 768 for each that stood there and is no longer near.
    public mutating func report(_ fix: Fix, in atlas: Atlas) throws(LookupError) -> Reception {
        do throws(CoordinateError) {
            try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        } catch {
            throw .coordinate(error)
        }
        return try take(fix, MarkedLookup(atlas: atlas))
    }

    /// Answers the newest fix, if its tick has come.
    ///
    /// - Parameters:
    ///   - time: the present. Any time from a tick on answers that tick.
    ///   - atlas: as for `report(_:in:)`.
    /// - Returns: the answer; nil where no fix waits for a tick at or before `time`, so that the last answer stands.
    /// - Throws: `LookupError.atlas`: damage in an atlas that was not validated as a whole. The pacer stays as it was.
    public mutating func tick(_ time: Timestamp, in atlas: Atlas) throws(LookupError) -> Answer? {
        try answer(at: time, MarkedLookup(atlas: atlas))
    }

    /// `report(_:in:)` for code inside the package whose atlas was validated as a whole or ends the program on damage.
    /// The regions have no marks.
    @inline(__always)
    package mutating func report(_ fix: Fix, inValid atlas: Atlas) throws(CoordinateError) -> Reception {
        try FaceIJ.check(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude)
        return take(fix, ValidLookup(atlas: atlas))
    }

    /// `tick(_:in:)` likewise.
    package mutating func tick(_ time: Timestamp, inValid atlas: Atlas) -> Answer? {
        answer(at: time, ValidLookup(atlas: atlas))
    }

    /// Restores a device.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks; not negative. It may differ from before.
    ///   - state: what `state(in:)` gave.
    ///   - fingerprint: of the atlas that it was kept with; keep it beside the states.
    ///   - atlas: the atlas in use from now on.
    ///   - otherAtlas: what becomes of a state of another atlas.
    /// - Throws: `AtlasError`: `otherAtlas`, or damage in an atlas that was not validated as a whole.
    public init(
        interval: Duration = .seconds(900), state: State, from fingerprint: UInt64, in atlas: Atlas,
        otherAtlas: OtherAtlas = .refused
    ) throws(AtlasError) {
        var states = try StateImport(from: fingerprint, to: atlas, otherAtlas)
        try self.init(interval: interval, state: states.state(state), in: atlas)
    }

    /// The same of a state of this atlas.
    init(interval: Duration, state: State, in atlas: Atlas) throws(AtlasError) {
        var regions: [(id: RegionID, region: Region?)] = []
        for id in state.regions { regions.append((id, try atlas.region(withID: id))) }
        self.init(interval: interval, state: state) { id in regions.first { $0.id == id }?.region }
    }

    /// `init(interval:state:in:)` for code inside the package whose atlas was validated as a whole or ends the program on
    /// damage. The region has no mark.
    package init(interval: Duration, state: State, inValid atlas: Atlas) {
        self.init(interval: interval, state: state) { atlas.region($0) }
    }

    /// What to keep of the device over a restart; nil before its first answer, when there is nothing to keep.
    ///
    /// - Parameter atlas: the atlas that the fixes were reported with.
    public func state(in atlas: Atlas) -> State? { state { try? atlas.identifier(of: $0) } }
}

extension Coordinate {
    /// - Throws: `CoordinateError` where it is not a position on Earth.
    package func validate() throws(CoordinateError) { try FaceIJ.check(latitude: latitude, longitude: longitude) }
}

/// For regions with marks, in an atlas that may be damaged.
private struct MarkedLookup: RegionLookup {
    let atlas: Atlas

    var steadinessMeters: Double { atlas.steadinessMeters }

    @inline(__always)
    func region(latitude: Double, longitude: Double) throws(LookupError) -> Region {
        try atlas.markedRegion(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    func accuracyMeters(of region: Region) throws(LookupError) -> Double {
        try atlas.circle(of: region).horizontalAccuracy
    }

    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(LookupError) {
        do throws(AtlasError) {
            var found = unsafe regions.mutableSpan
            unsafe try atlas.regions(at: coordinates.span, into: &found)
        } catch {
            throw .atlas(error)
        }
    }

    func mayMeet(_ region: Region, between corners: InlineArray<4, Coordinate>) -> Bool {
        atlas.mayMeet(region, between: corners)
    }
}

/// For regions without marks.
struct ValidLookup: RegionLookup {
    let atlas: Atlas

    var steadinessMeters: Double { atlas.steadinessMeters }

    @inline(__always)
    func region(latitude: Double, longitude: Double) throws(Never) -> Region {
        atlas.region(at: FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude)))
    }

    func accuracyMeters(of region: Region) throws(Never) -> Double { atlas.accuracy(of: region) }

    func regions(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) throws(Never) {
        unsafe atlas.snap(coordinates, into: regions)
    }

    func mayMeet(_ region: Region, between corners: InlineArray<4, Coordinate>) -> Bool {
        atlas.mayMeet(region, between: corners)
    }
}

extension Atlas {
    /// Whether a quadrilateral may meet a region: false only where it does not.
    ///
    /// Great circles are straight lines on a face of the cube, so what they enclose lies in the box about the corners. All
    /// cells of the finest level that meet the box are looked up, and it may where the region is in one.
    ///
    /// - Parameter corners: latitudes in [-90, 90] and longitudes in [-540, 540], in degrees, in any order.
    func mayMeet(_ region: Region, between corners: InlineArray<4, Coordinate>) -> Bool {
        let leaf = { (corner: Coordinate) in
            FaceIJ(latitude: corner.latitude, longitude: FaceIJ.wrappedLongitude(corner.longitude))
        }
        let shift = UInt32(30 - AtlasLayout.finestLevel)
        var lowest = leaf(corners[0])
        var highest = lowest
        for index in 1..<corners.count {
            let leaf = leaf(corners[index])
            guard leaf.face == lowest.face else { return true }
            (lowest.i, lowest.j) = (min(lowest.i, leaf.i), min(lowest.j, leaf.j))
            (highest.i, highest.j) = (max(highest.i, leaf.i), max(highest.j, leaf.j))
        }
        let columns = lowest.i >> shift...highest.i >> shift, rows = lowest.j >> shift...highest.j >> shift
        // More would take longer than to probe.
        guard columns.count * rows.count <= 64 else { return true }
        for column in columns {
            for row in rows {
                let value = value(at: FaceIJ(face: lowest.face, i: column << shift, j: row << shift))
                if value == region.index || value == Region.noIndex { return true }
                if value & AtlasLayout.isCut != 0, CutReader(bytes: cuts, offset: cutOffset(value)).lists(region.index)
                {
                    return true
                }
            }
        }
        return false
    }
}
