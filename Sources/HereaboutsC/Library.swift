import CHereabouts
internal import CKernels

// The functions of hereabouts.h. The compiler compares each with its declaration there.

/// What a `hereabouts_atlas` points to.
private final class Handle {
    let atlas: Atlas
    let attribution: [UInt8]

    init(_ atlas: Atlas) throws(AtlasError) {
        self.atlas = atlas
        attribution = Array((try atlas.attribution).map { $0.description + "\n" }.joined().utf8)
    }
}

private func status(_ error: AtlasError) -> Int32 {
    switch error {
    case .unreadable(let number) where number == AtlasFile.noMemory: Int32(HEREABOUTS_NO_MEMORY)
    case .unreadable: Int32(HEREABOUTS_UNREADABLE)
    case .notAnAtlas: Int32(HEREABOUTS_NOT_AN_ATLAS)
    case .unsupportedVersion: Int32(HEREABOUTS_OTHER_VERSION)
    case .changedInUse: Int32(HEREABOUTS_CHANGED)
    case .otherAtlas: Int32(HEREABOUTS_OTHER_STATE)
    case .wrongSize, .malformedHeader, .checksumMismatch, .malformed: Int32(HEREABOUTS_DAMAGED)
    }
}

private func status(_ error: LookupError) -> Int32 {
    switch error {
    case .atlas(let error): status(error)
    case .foreignRegion: Int32(HEREABOUTS_UNKNOWN_REGION)
    case .coordinate: Int32(HEREABOUTS_INVALID)
    }
}

private func handle(_ atlas: OpaquePointer?) -> Handle? {
    guard let atlas = unsafe atlas else { return nil }
    // SAFETY: the caller gives what `hereabouts_open` gave, and has not closed it.
    return unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(atlas)).takeUnretainedValue()
}

private let ok = Int32(HEREABOUTS_OK), invalid = Int32(HEREABOUTS_INVALID)

// MARK: Atlases

private func open(
    _ atlas: UnsafeMutablePointer<OpaquePointer?>?, _ options: UInt32,
    _ make: (Atlas.Validation) throws(AtlasError) -> Atlas
) -> Int32 {
    guard let atlas = unsafe atlas, options <= UInt32(HEREABOUTS_MAP | HEREABOUTS_LAZY) else { return invalid }
    unsafe atlas.pointee = nil
    do throws(AtlasError) {
        let made = try Handle(make(options & UInt32(HEREABOUTS_LAZY) == 0 ? .whole : .onFirstUse))
        unsafe atlas.pointee = OpaquePointer(Unmanaged.passRetained(made).toOpaque())
        return ok
    } catch {
        if case .unreadable(let number) = error { hereabouts_set_error(number) }
        return status(error)
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_open(
    _ path: UnsafePointer<CChar>!, _ options: UInt32, _ atlas: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    guard let path = unsafe path else { return invalid }
    let text = unsafe String(cString: path)
    return unsafe open(atlas, options) { validation throws(AtlasError) in
        do throws(AtlasFileError) {
            return try options & UInt32(HEREABOUTS_MAP) == 0
                ? Atlas(copying: text, validation: validation) : Atlas(contentsOf: text, validation: validation)
        } catch {
            throw error.reason
        }
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_open_bytes(
    _ bytes: UnsafeRawPointer!, _ count: Int, _ options: UInt32, _ atlas: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    guard let bytes = unsafe bytes, count >= 0 else { return invalid }
    return unsafe open(atlas, options) { validation throws(AtlasError) in
        // SAFETY: the caller vouches for that many bytes.
        unsafe try Atlas(bytes: UnsafeRawBufferPointer(start: bytes, count: count), validation: validation)
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_close(_ atlas: OpaquePointer!) {
    guard let atlas = unsafe atlas else { return }
    // SAFETY: as in `handle`; it is not used again.
    unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(atlas)).release()
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_fingerprint(_ atlas: OpaquePointer!) -> UInt64 {
    unsafe handle(atlas)?.atlas.fingerprint ?? 0
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_region_count(_ atlas: OpaquePointer!) -> UInt32 {
    UInt32(unsafe handle(atlas)?.atlas.regionCount ?? 0)
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_attribution(
    _ atlas: OpaquePointer!, _ text: UnsafeMutablePointer<CChar>!, _ capacity: Int
) -> Int {
    guard let attribution = unsafe handle(atlas)?.attribution else { return 0 }
    if let text = unsafe text, capacity > 0 {
        let length = min(capacity - 1, attribution.count)
        // SAFETY: the caller vouches for the capacity.
        for place in 0..<length { unsafe text[place] = CChar(bitPattern: attribution[place]) }
        unsafe text[length] = 0
    }
    return attribution.count
}

// MARK: Regions

/// See hereabouts.h.
@c @implementation
public func hereabouts_snap(
    _ atlas: OpaquePointer!, _ count: Int, _ latitudes: UnsafePointer<Double>!, _ latitude_stride: Int,
    _ longitudes: UnsafePointer<Double>!, _ longitude_stride: Int, _ regions: UnsafeMutablePointer<UInt32>!,
    _ invalid_count: UnsafeMutablePointer<Int>!
) -> Int32 {
    guard let atlas = unsafe handle(atlas)?.atlas, count >= 0 else { return invalid }
    if unsafe invalid_count != nil { unsafe invalid_count.pointee = 0 }
    if count == 0 { return ok }
    guard let latitudes = unsafe latitudes, let longitudes = unsafe longitudes, let regions = unsafe regions else {
        return invalid
    }
    if count == 1 {
        // A block takes several times as long.
        let coordinate = unsafe Coordinate(
            latitude: UnsafeRawPointer(latitudes).loadUnaligned(as: Double.self),
            longitude: UnsafeRawPointer(longitudes).loadUnaligned(as: Double.self))
        unsafe regions.pointee = .max
        do throws(LookupError) {
            unsafe regions.pointee = try atlas.region(at: coordinate).index
        } catch {
            guard case .coordinate = error else { return status(error) }
            if unsafe invalid_count != nil { unsafe invalid_count.pointee = 1 }
        }
        return ok
    }
    let (firstLatitude, firstLongitude) = unsafe (UnsafeRawPointer(latitudes), UnsafeRawPointer(longitudes))
    var invalidCount = 0
    let size = min(count, 1024)
    // SAFETY: all pointers are used for rows below the count, for which the caller vouches; buffers within their closures.
    let status = unsafe withUnsafeTemporaryAllocation(of: Coordinate.self, capacity: size) { block -> Int32 in
        unsafe withUnsafeTemporaryAllocation(of: Region.self, capacity: size) { found -> Int32 in
            var start = 0
            while start < count {
                let length = min(size, count - start)
                for row in 0..<length {
                    let latitude = unsafe firstLatitude.loadUnaligned(
                        fromByteOffset: (start + row) &* latitude_stride, as: Double.self)
                    let longitude = unsafe firstLongitude.loadUnaligned(
                        fromByteOffset: (start + row) &* longitude_stride, as: Double.self)
                    unsafe block.initializeElement(at: row, to: Coordinate(latitude: latitude, longitude: longitude))
                    unsafe found.initializeElement(at: row, to: .invalid)
                }
                let coordinates = unsafe UnsafeBufferPointer(rebasing: block[..<length])
                var span = unsafe UnsafeMutableBufferPointer(rebasing: found[..<length]).mutableSpan
                do throws(AtlasError) {
                    unsafe try atlas.regions(at: coordinates.span, into: &span)
                } catch {
                    return hereabouts.status(error)
                }
                for row in 0..<length {
                    let region = unsafe found[row]
                    if region == .invalid { invalidCount += 1 }
                    unsafe regions[start + row] = region == .invalid ? .max : region.index
                }
                start += length
            }
            return ok
        }
    }
    if unsafe invalid_count != nil { unsafe invalid_count.pointee = invalidCount }
    return status
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_describe(
    _ atlas: OpaquePointer!, _ count: Int, _ regions: UnsafePointer<UInt32>!,
    _ columns: UnsafePointer<hereabouts_columns>!, _ first: Int, _ written: UnsafeMutablePointer<Int>!
) -> Int32 {
    guard let atlas = unsafe handle(atlas)?.atlas, let columns = unsafe columns, let written = unsafe written,
        count >= 0,
        first >= 0, unsafe count == 0 || regions != nil
    else { return invalid }
    unsafe written.pointee = 0
    // SAFETY: the columns have room for `first` and `count` rows, for which the caller vouches; texts are within the capacities.
    let target = unsafe columns.pointee
    let hasTexts = unsafe target.country_offsets != nil || target.place_offsets != nil
    var writer = unsafe ColumnWriter(columns: target, row: first)
    if count == 1, unsafe regions[0] != .max {
        do throws(LookupError) {
            let region = try unsafe validated(regions[0], in: atlas, withTexts: hasTexts)
            if hasTexts {
                unsafe written.pointee = atlas.withPublished(region) { unsafe writer.append($0) } ? 1 : 0
            } else {
                let circle = try atlas.circle(of: region), id = try atlas.identifier(of: region)
                unsafe writer.append(id, circle.coordinate, circle.horizontalAccuracy)
                unsafe written.pointee = 1
            }
            return ok
        } catch {
            return status(error)
        }
    }
    var start = 0
    while start < count {
        let length = min(Atlas.blockSize, count - start)
        var block: [Region] = []
        for place in start..<start + length {
            let handle = unsafe regions[place]
            // Fixes of a drive lie in one region for long: it is described once.
            guard handle != .max, unsafe place == start || handle != regions[place - 1] else { continue }
            do throws(LookupError) {
                block.append(try validated(handle, in: atlas, withTexts: hasTexts))
            } catch {
                return status(error)
            }
        }
        var place = start, isFull = false
        let end = start + length
        func skipMissing() {
            while place < end, !isFull, unsafe regions[place] == .max {
                unsafe isFull = !writer.append(nil)
                if !isFull { place += 1 }
            }
        }
        func repeatLast() {
            while place < end, !isFull, unsafe regions[place] == regions[place - 1] {
                unsafe isFull = !writer.repeatLast()
                if !isFull { place += 1 }
            }
        }
        unsafe block.withUnsafeBufferPointer { block in
            guard hasTexts else {
                return unsafe atlas.withCircles(block) { _, circle, id in
                    skipMissing()
                    unsafe writer.append(id, circle.coordinate, circle.horizontalAccuracy)
                    place += 1
                    repeatLast()
                }
            }
            unsafe atlas.withPublished(block) { _, published in
                skipMissing()
                guard !isFull else { return }
                unsafe isFull = !writer.append(published)
                if !isFull { place += 1 }
                repeatLast()
            }
        }
        skipMissing()
        unsafe written.pointee = place
        if isFull { return ok }
        start = end
    }
    return ok
}

/// The region of a handle, whose records are sound.
private func validated(_ handle: UInt32, in atlas: Atlas, withTexts: Bool) throws(LookupError) -> Region {
    let region = Region(index: handle)
    guard handle < UInt32(atlas.regionCount) else { throw .foreignRegion }
    _ = try atlas.validIndex(of: region)
    do throws(AtlasError) {
        if withTexts { try atlas.validateTexts(of: region) }
    } catch {
        throw .atlas(error)
    }
    return region
}

/// Writes rows of columns.
@unsafe private struct ColumnWriter {
    let columns: hereabouts_columns
    var row: Int

    /// Writes the next row; false, with nothing written, where its texts have no room.
    mutating func append(_ published: Atlas.Published?) -> Bool {
        let near: StaticString = "near "
        let prefix = unsafe published?.isNear == true && published?.place != nil ? near.utf8CodeUnitCount : 0
        let country = unsafe published?.country.count ?? 0, place = unsafe (published?.place?.count ?? 0) + prefix
        if let offsets = unsafe columns.country_offsets {
            guard unsafe Int(offsets[row]) + country <= columns.country_capacity else { return false }
        }
        if let offsets = unsafe columns.place_offsets {
            guard unsafe Int(offsets[row]) + place <= columns.place_capacity else { return false }
        }
        if let offsets = unsafe columns.country_offsets {
            var end = unsafe Int(offsets[row])
            if let text = unsafe published?.country { unsafe Self.copy(text, to: columns.countries, &end) }
            unsafe offsets[row + 1] = Int32(truncatingIfNeeded: end)
        }
        if let offsets = unsafe columns.place_offsets {
            var end = unsafe Int(offsets[row])
            if prefix > 0 {
                unsafe Self.copy(UnsafeBufferPointer(start: near.utf8Start, count: prefix), to: columns.places, &end)
            }
            if let text = unsafe published?.place { unsafe Self.copy(text, to: columns.places, &end) }
            unsafe offsets[row + 1] = Int32(truncatingIfNeeded: end)
        }
        unsafe append(published?.region, published?.coordinate, published?.horizontalAccuracy)
        return true
    }

    /// Writes the next row of columns without texts; of no region where there is no id.
    mutating func append(_ id: RegionID?, _ coordinate: Coordinate?, _ accuracy: Double?) {
        unsafe columns.ids?[row] = id?.rawValue ?? 0
        unsafe columns.latitudes?[row] = coordinate?.latitude ?? .nan
        unsafe columns.longitudes?[row] = coordinate?.longitude ?? .nan
        unsafe columns.accuracies?[row] = accuracy ?? .nan
        if id != nil { unsafe columns.validity?[row / 8] |= 1 << UInt8(row % 8) }
        unsafe row += 1
    }

    /// Writes the last row, which is of a region, once more; false, with nothing written, where its texts have no room.
    mutating func repeatLast() -> Bool {
        guard unsafe Self.hasRoom(toRepeat: row, columns.country_offsets, columns.country_capacity),
            unsafe Self.hasRoom(toRepeat: row, columns.place_offsets, columns.place_capacity)
        else { return false }
        unsafe Self.repeatText(row, columns.country_offsets, columns.countries)
        unsafe Self.repeatText(row, columns.place_offsets, columns.places)
        if let ids = unsafe columns.ids { unsafe ids[row] = ids[row - 1] }
        if let latitudes = unsafe columns.latitudes { unsafe latitudes[row] = latitudes[row - 1] }
        if let longitudes = unsafe columns.longitudes { unsafe longitudes[row] = longitudes[row - 1] }
        if let accuracies = unsafe columns.accuracies { unsafe accuracies[row] = accuracies[row - 1] }
        unsafe columns.validity?[row / 8] |= 1 << UInt8(row % 8)
        unsafe row += 1
        return true
    }

    private static func hasRoom(toRepeat row: Int, _ offsets: UnsafeMutablePointer<Int32>?, _ capacity: Int) -> Bool {
        guard let offsets = unsafe offsets else { return true }
        return unsafe 2 * Int(offsets[row]) - Int(offsets[row - 1]) <= capacity
    }

    private static func repeatText(
        _ row: Int, _ offsets: UnsafeMutablePointer<Int32>?, _ bytes: UnsafeMutablePointer<UInt8>?
    ) {
        guard let offsets = unsafe offsets else { return }
        let (start, end) = unsafe (Int(offsets[row - 1]), Int(offsets[row]))
        if let bytes = unsafe bytes { unsafe (bytes + end).update(from: bytes + start, count: end - start) }
        unsafe offsets[row + 1] = Int32(truncatingIfNeeded: 2 * end - start)
    }

    private static func copy(
        _ text: UnsafeBufferPointer<UInt8>, to bytes: UnsafeMutablePointer<UInt8>?, _ end: inout Int
    ) {
        if let bytes = unsafe bytes, let start = text.baseAddress {
            unsafe (bytes + end).update(from: start, count: text.count)
        }
        end += text.count
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_region_with_id(
    _ atlas: OpaquePointer!, _ id: UInt64, _ region: UnsafeMutablePointer<UInt32>!
) -> Int32 {
    guard let atlas = unsafe handle(atlas)?.atlas, let region = unsafe region else { return invalid }
    unsafe region.pointee = .max
    guard let id = RegionID(rawValue: id) else { return Int32(HEREABOUTS_UNKNOWN_REGION) }
    do throws(AtlasError) {
        guard let found = try atlas.region(withID: id) else { return Int32(HEREABOUTS_UNKNOWN_REGION) }
        unsafe region.pointee = found.index
        return ok
    } catch {
        return status(error)
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_id_text(_ id: UInt64, _ text: UnsafeMutablePointer<CChar>!) {
    guard let text = unsafe text else { return }
    var length = 0
    // SAFETY: a letter, at most 16 digits and a zero.
    RegionID(rawValue: id)?.forEachByte { byte in
        unsafe text[length] = CChar(bitPattern: byte)
        length += 1
    }
    unsafe text[length] = 0
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_id_of_text(_ text: UnsafePointer<CChar>!) -> UInt64 {
    guard let text = unsafe text else { return 0 }
    return unsafe RegionID(String(cString: text))?.rawValue ?? 0
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_region_parts(
    _ atlas: OpaquePointer!, _ region: UInt32, _ parts: UnsafeMutablePointer<hereabouts_part>!, _ capacity: Int,
    _ count: UnsafeMutablePointer<Int>!
) -> Int32 {
    guard let atlas = unsafe handle(atlas)?.atlas, let count = unsafe count, capacity >= 0,
        unsafe capacity == 0 || parts != nil
    else { return invalid }
    unsafe count.pointee = 0
    guard region < UInt32(atlas.regionCount) else { return Int32(HEREABOUTS_UNKNOWN_REGION) }
    do throws(LookupError) {
        let found = try atlas.parts(of: Region(index: region))
        let step = 0x1p-30
        // SAFETY: the caller vouches for the capacity.
        for place in 0..<min(capacity, found.count) {
            let part = found[place], corners = part.corners
            unsafe parts[place] = hereabouts_part(
                cell: part.cell.rawValue,
                s: (corners[0].x * step, corners[1].x * step, corners[2].x * step, corners[3].x * step),
                t: (corners[0].y * step, corners[1].y * step, corners[2].y * step, corners[3].y * step),
                is_whole: part.isWhole ? 1 : 0)
        }
        unsafe count.pointee = found.count
        return ok
    } catch {
        return status(error)
    }
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_ring(
    _ face: UInt32, _ count: Int, _ s: UnsafePointer<Double>!, _ t: UnsafePointer<Double>!,
    _ latitudes: UnsafeMutablePointer<Double>!, _ longitudes: UnsafeMutablePointer<Double>!, _ capacity: Int,
    _ written: UnsafeMutablePointer<Int>!
) -> Int32 {
    guard face < 6, count >= 4, capacity >= 0, let s = unsafe s, let t = unsafe t, let written = unsafe written,
        unsafe capacity == 0 || latitudes != nil && longitudes != nil
    else { return invalid }
    unsafe written.pointee = 0
    var ring: [Double] = []
    var low = SIMD2(1.0, 1.0), high = SIMD2(0.0, 0.0)
    // SAFETY: the caller vouches for the count and the capacity.
    for place in 0..<count {
        let corner = unsafe SIMD2(s[place], t[place])
        guard corner.x >= 0, corner.x <= 1, corner.y >= 0, corner.y <= 1 else { return invalid }
        (low, high) = (pointwiseMin(low, corner), pointwiseMax(high, corner))
        ring.append(corner.x * 0x1p30)
        ring.append(corner.y * 0x1p30)
    }
    guard ring[0] == ring[2 * count - 2], ring[1] == ring[2 * count - 1] else { return invalid }
    for (low, high) in [(low.x, high.x), (low.y, high.y)] where low < 0.5 && high > 0.5 { return invalid }
    let middle = (low + high) * 0x1p29
    let positions = FaceQuarter(face: Int(face), x: middle.x, y: middle.y).project(ring, tolerance: 1e-7)
    for place in 0..<min(capacity, positions.count / 2) {
        unsafe longitudes[place] = positions[2 * place]
        unsafe latitudes[place] = positions[2 * place + 1]
    }
    unsafe written.pointee = positions.count / 2
    return ok
}

// MARK: Pacing

/// See hereabouts.h.
@c @implementation
public func hereabouts_pace_state_size() -> Int { Pacer.State.byteCount + 8 }

/// See hereabouts.h.
@c @implementation
public func hereabouts_pace(
    _ atlas: OpaquePointer!, _ interval: Int64, _ count: Int, _ times: UnsafePointer<Int64>!,
    _ latitudes: UnsafePointer<Double>!, _ longitudes: UnsafePointer<Double>!, _ accuracies: UnsafePointer<Double>!,
    _ until: Int64, _ state: UnsafeMutablePointer<UInt8>!, _ answers: UnsafeMutablePointer<hereabouts_answer>!,
    _ answer_count: UnsafeMutablePointer<Int>!, _ late: UnsafeMutablePointer<Int>!
) -> Int32 {
    guard let atlas = unsafe handle(atlas)?.atlas, interval > 0, count >= 0, let state = unsafe state,
        let answers = unsafe answers, let answer_count = unsafe answer_count,
        unsafe count == 0 || times != nil && latitudes != nil && longitudes != nil
    else { return invalid }
    unsafe answer_count.pointee = 0
    let size = Pacer.State.byteCount
    var pacer = Pacer(interval: .nanoseconds(interval))
    // SAFETY: the state is as long as `hereabouts_pace_state_size` says, and the columns as `count` says.
    let bytes = unsafe UnsafeMutableBufferPointer(start: state, count: size + 8)
    if unsafe bytes[0] != 0 {
        let fingerprint = unsafe bytes[size...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        guard let kept = try? Pacer.State(bytes: unsafe Array(bytes[..<size])), fingerprint == atlas.fingerprint else {
            return Int32(HEREABOUTS_OTHER_STATE)
        }
        do throws(AtlasError) {
            pacer = try Pacer(interval: .nanoseconds(interval), state: kept, in: atlas)
        } catch {
            return status(error)
        }
    }
    var answerCount = 0, lateCount = 0
    func add(_ answer: Pacer.Answer?) {
        guard let answer else { return }
        unsafe answers[answerCount] = hereabouts_answer(
            tick: answer.tick.nanosecondsSince1970, region: answer.region.index, is_new: answer.isNew ? 1 : 0)
        answerCount += 1
    }
    do throws(LookupError) {
        for row in 0..<count {
            let fix = unsafe Fix(
                coordinate: Coordinate(latitude: latitudes[row], longitude: longitudes[row]),
                time: Timestamp(nanosecondsSince1970: times[row]), horizontalAccuracy: accuracies?[row])
            do throws(LookupError) {
                switch try pacer.report(fix, in: atlas) {
                case .kept(let answer): add(answer)
                case .late: lateCount += 1
                }
            } catch {
                guard case .coordinate = error else { throw error }
                lateCount += 1
            }
        }
        add(try pacer.tick(Timestamp(nanosecondsSince1970: until), in: atlas))
    } catch {
        return status(error)
    }
    if let kept = pacer.state(in: atlas) {
        var new = kept.bytes
        new.append(littleEndian: atlas.fingerprint)
        for place in new.indices { unsafe bytes[place] = new[place] }
    }
    unsafe answer_count.pointee = answerCount
    if unsafe late != nil { unsafe late.pointee = lateCount }
    return ok
}

// MARK: Texts

/// Static texts with a zero at the end.
private func text(_ literal: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// See hereabouts.h.
@c @implementation
public func hereabouts_version() -> UnsafePointer<CChar>! { unsafe text("0.2.0") }

/// See hereabouts.h.
@c @implementation
public func hereabouts_error_text(_ status: Int32) -> UnsafePointer<CChar>! {
    switch status {
    case Int32(HEREABOUTS_OK): unsafe text("no error")
    case Int32(HEREABOUTS_UNREADABLE): unsafe text("the atlas cannot be opened or read")
    case Int32(HEREABOUTS_NOT_AN_ATLAS): unsafe text("the file is not an atlas")
    case Int32(HEREABOUTS_OTHER_VERSION): unsafe text("the atlas is of a version that this library does not read")
    case Int32(HEREABOUTS_DAMAGED): unsafe text("the atlas is damaged")
    case Int32(HEREABOUTS_CHANGED): unsafe text("the atlas was changed while it was in use")
    case Int32(HEREABOUTS_INVALID): unsafe text("an argument is null or out of its range")
    case Int32(HEREABOUTS_UNKNOWN_REGION): unsafe text("the atlas has no such region")
    case Int32(HEREABOUTS_OTHER_STATE): unsafe text("the state is no device's, or of another atlas")
    case Int32(HEREABOUTS_NO_MEMORY): unsafe text("there is no memory")
    default: unsafe text("an unknown error")
    }
}
