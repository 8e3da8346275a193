import CGEOS

extension Geometry {
    /// The rings of every polygon in the geometry (collections are searched; points and lines are passed over): one
    /// element a polygon, outer ring first, each ring closed and flat `[x0, y0, …, x0, y0]`. Copied ring by ring in
    /// bulk; a height, if any, is dropped. O(n).
    package borrowing func polygonRings() throws(GEOSError) -> [[[Double]]] {
        var result: [[[Double]]] = []
        try appendPolygonRings(to: &result)
        return result
    }

    /// The positions of every line and ring that is not part of a polygon, each flat `[x0, y0, x1, y1, …]`. O(n).
    package borrowing func lines() throws(GEOSError) -> [[Double]] {
        var result: [[Double]] = []
        try appendLines(to: &result)
        return result
    }

    /// The positions of every point in the geometry, flat `[x0, y0, x1, y1, …]`. O(n).
    package borrowing func points() throws(GEOSError) -> [Double] {
        var result: [Double] = []
        try appendPoints(to: &result)
        return result
    }

    private borrowing func appendPolygonRings(to result: inout [[[Double]]]) throws(GEOSError) {
        switch kind {
        case .polygon:
            if !isEmpty { result.append(try ringsOfPolygon()) }
        case .multiPolygon, .collection:
            for index in 0..<partCount {
                try withPart(index) { part throws(GEOSError) in try part.appendPolygonRings(to: &result) }
            }
        case .point, .lineString, .linearRing, .multiPoint, .multiLineString:
            break
        }
    }

    private borrowing func appendLines(to result: inout [[Double]]) throws(GEOSError) {
        switch kind {
        case .lineString, .linearRing:
            if !isEmpty { result.append(try unsafe positions(of: raw)) }
        case .multiLineString, .collection:
            for index in 0..<partCount {
                try withPart(index) { part throws(GEOSError) in try part.appendLines(to: &result) }
            }
        case .point, .polygon, .multiPoint, .multiPolygon:
            break
        }
    }

    private borrowing func appendPoints(to result: inout [Double]) throws(GEOSError) {
        switch kind {
        case .point:
            if !isEmpty { result += try unsafe positions(of: raw) }
        case .multiPoint, .collection:
            for index in 0..<partCount {
                try withPart(index) { part throws(GEOSError) in try part.appendPoints(to: &result) }
            }
        case .lineString, .linearRing, .polygon, .multiLineString, .multiPolygon:
            break
        }
    }

    /// All rings of this polygon, outer ring first.
    private borrowing func ringsOfPolygon() throws(GEOSError) -> [[Double]] {
        // SAFETY: the rings belong to self, which lives through the call.
        guard let shell = unsafe GEOSGetExteriorRing_r(context.handle, raw) else { throw context.failure(.coordinates) }
        var rings = [try unsafe positions(of: shell)]
        for index in 0..<(unsafe max(0, GEOSGetNumInteriorRings_r(context.handle, raw))) {
            guard let hole = unsafe GEOSGetInteriorRingN_r(context.handle, raw, index) else {
                throw context.failure(.coordinates)
            }
            rings.append(try unsafe positions(of: hole))
        }
        return rings
    }

    /// The positions of a point, line or ring, which belongs to self, in one copy.
    @unsafe
    private borrowing func positions(of line: OpaquePointer) throws(GEOSError) -> [Double] {
        var count: UInt32 = 0
        // SAFETY: the sequence belongs to the line.
        guard let sequence = unsafe GEOSGeom_getCoordSeq_r(context.handle, line),
            unsafe GEOSCoordSeq_getSize_r(context.handle, sequence, &count) == 1
        else { throw context.failure(.coordinates) }
        var copied = false
        let flat = unsafe [Double](unsafeUninitializedCapacity: 2 * Int(count)) { buffer, initialized in
            // SAFETY: GEOS writes 2 × count Doubles, which is the buffer's capacity.
            copied = unsafe GEOSCoordSeq_copyToBuffer_r(context.handle, sequence, buffer.baseAddress, 0, 0) == 1
            initialized = copied ? 2 * Int(count) : 0
        }
        guard copied else { throw context.failure(.coordinates) }
        return flat
    }
}
