import CGEOS

extension GEOSContext {
    /// A point. O(1).
    /// - Throws: `GEOSError.nonFiniteCoordinate`.
    package func point(x: Double, y: Double) throws(GEOSError) -> Geometry {
        guard x.isFinite, y.isFinite else { throw .nonFiniteCoordinate }
        // SAFETY: the handle is this context's own.
        return try unsafe adopt(GEOSGeom_createPointFromXY_r(handle, x, y), .point)
    }

    /// Points in one geometry, from flat `[x0, y0, x1, y1, …]`. O(n).
    package func multiPoint(_ flat: [Double]) throws(GEOSError) -> Geometry {
        guard flat.count.isMultiple(of: 2) else { throw .oddCoordinateCount }
        var points = GeometryList(self)
        for index in stride(from: 0, to: flat.count, by: 2) {
            points.append(try point(x: flat[index], y: flat[index + 1]))
        }
        return try points.collected(as: .multiPoint)
    }

    /// A line through at least two positions, flat `[x0, y0, x1, y1, …]`; copied in one call. O(n).
    package func lineString(_ flat: [Double]) throws(GEOSError) -> Geometry {
        guard flat.count.isMultiple(of: 2) else { throw .oddCoordinateCount }
        guard flat.count >= 4 else { throw .lineTooShort }
        // SAFETY: the line takes ownership of the sequence, on failure too.
        return try unsafe adopt(GEOSGeom_createLineString_r(handle, sequence(flat, .lineString)), .lineString)
    }

    /// Lines in one geometry, each flat. O(n).
    package func multiLineString(_ lines: [[Double]]) throws(GEOSError) -> Geometry {
        var list = GeometryList(self)
        for line in lines { list.append(try lineString(line)) }
        return try list.collected(as: .multiLineString)
    }

    /// A polygon of closed rings, each flat `[x0, y0, …, x0, y0]` of at least four positions: the outer ring first,
    /// then its holes. Rings are copied in one call each; whether they cross is not looked at. O(n).
    /// - Throws: `GEOSError.ringNotClosed`, `.ringTooShort`, `.nonFiniteCoordinate`, `.oddCoordinateCount`.
    package func polygon(_ rings: [[Double]]) throws(GEOSError) -> Geometry {
        guard let shell = rings.first else {
            // SAFETY: the handle is this context's own.
            return try unsafe adopt(GEOSGeom_createEmptyPolygon_r(handle), .polygon)
        }
        let outer = try ring(shell)
        var holes: [OpaquePointer?] = unsafe []
        do throws(GEOSError) {
            for hole in rings.dropFirst() { unsafe holes.append(try ring(hole).release()) }
        } catch {
            // SAFETY: these holes were released into the array and given to nobody.
            unsafe holes.forEach { unsafe GEOSGeom_destroy_r(handle, $0) }
            throw error
        }
        let rawOuter = unsafe outer.release()
        // SAFETY: GEOS takes ownership of all rings, on failure too.
        let raw = unsafe holes.withUnsafeMutableBufferPointer { buffer in
            unsafe GEOSGeom_createPolygon_r(handle, rawOuter, buffer.baseAddress, UInt32(buffer.count))
        }
        return try unsafe adopt(raw, .polygon)
    }

    /// Polygons in one geometry, each as `polygon(_:)` takes it. O(n).
    package func multiPolygon(_ polygons: [[[Double]]]) throws(GEOSError) -> Geometry {
        var list = GeometryList(self)
        for rings in polygons { list.append(try polygon(rings)) }
        return try list.collected(as: .multiPolygon)
    }

    /// A closed ring of at least four positions. O(n).
    private func ring(_ flat: [Double]) throws(GEOSError) -> Geometry {
        guard flat.count.isMultiple(of: 2) else { throw .oddCoordinateCount }
        guard flat.count >= 8 else { throw .ringTooShort }
        // The sequence checks for NaN, which would never compare equal here.
        guard flat[0] == flat[flat.count - 2] && flat[1] == flat[flat.count - 1] || !flat.allSatisfy(\.isFinite) else {
            throw .ringNotClosed
        }
        // SAFETY: the ring takes ownership of the sequence, on failure too.
        return try unsafe adopt(GEOSGeom_createLinearRing_r(handle, sequence(flat, .polygon)), .polygon)
    }

    /// A coordinate sequence, owned by the caller, of flat positions. O(n).
    @unsafe
    private func sequence(_ flat: [Double], _ operation: GEOSOperation) throws(GEOSError) -> OpaquePointer {
        guard flat.allSatisfy(\.isFinite) else { throw .nonFiniteCoordinate }
        guard let count = UInt32(exactly: flat.count / 2) else { throw .tooManyCoordinates }
        // SAFETY: GEOS reads 2 × count Doubles, which is what the array holds, and keeps no pointer to it.
        let raw = unsafe flat.withUnsafeBufferPointer { buffer in
            unsafe GEOSCoordSeq_copyFromBuffer_r(handle, buffer.baseAddress, count, 0, 0)
        }
        guard let raw = unsafe raw else { throw failure(operation) }
        return unsafe raw
    }
}
