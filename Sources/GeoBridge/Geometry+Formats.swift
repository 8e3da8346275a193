import CGEOS

extension Geometry {
    /// The geometry as OGC well-known binary, little-endian, two dimensions. O(n).
    package borrowing func wkb() throws(GEOSError) -> [UInt8] {
        // SAFETY: the writer is used here only and destroyed below.
        guard let writer = unsafe GEOSWKBWriter_create_r(context.handle) else { throw context.failure(.wkb) }
        defer { unsafe GEOSWKBWriter_destroy_r(context.handle, writer) }
        unsafe GEOSWKBWriter_setOutputDimension_r(context.handle, writer, 2)
        unsafe GEOSWKBWriter_setByteOrder_r(context.handle, writer, Int32(GEOS_WKB_NDR.rawValue))
        var size = 0
        // SAFETY: GEOS returns `size` bytes that are ours to free.
        guard let bytes = unsafe GEOSWKBWriter_write_r(context.handle, writer, raw, &size) else {
            throw context.failure(.wkb)
        }
        defer { unsafe GEOSFree_r(context.handle, bytes) }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: size))
    }

    /// The geometry as OGC well-known text, two dimensions, no needless zeros. O(n).
    /// - Parameter decimals: digits after the point; nil for as many as it takes to read the same number again.
    package borrowing func wkt(decimals: Int? = nil) throws(GEOSError) -> String {
        // SAFETY: the writer is used here only and destroyed below.
        guard let writer = unsafe GEOSWKTWriter_create_r(context.handle) else { throw context.failure(.wkt) }
        defer { unsafe GEOSWKTWriter_destroy_r(context.handle, writer) }
        unsafe GEOSWKTWriter_setTrim_r(context.handle, writer, 1)
        unsafe GEOSWKTWriter_setOutputDimension_r(context.handle, writer, 2)
        unsafe GEOSWKTWriter_setRoundingPrecision_r(context.handle, writer, Int32(decimals ?? -1))
        return try unsafe text(GEOSWKTWriter_write_r(context.handle, writer, raw), .wkt)
    }

    /// The geometry as a GeoJSON geometry object on one line. O(n).
    package borrowing func geoJSON() throws(GEOSError) -> String {
        // SAFETY: the writer is used here only and destroyed below.
        guard let writer = unsafe GEOSGeoJSONWriter_create_r(context.handle) else { throw context.failure(.geoJSON) }
        defer { unsafe GEOSGeoJSONWriter_destroy_r(context.handle, writer) }
        // An indent of -1 asks for one line.
        return try unsafe text(GEOSGeoJSONWriter_writeGeometry_r(context.handle, writer, raw, -1), .geoJSON)
    }

    /// Copies and frees a text that GEOS returned.
    @unsafe
    private borrowing func text(
        _ characters: UnsafeMutablePointer<CChar>?, _ operation: GEOSOperation
    ) throws(GEOSError) -> String {
        guard let characters = unsafe characters else { throw context.failure(operation) }
        // SAFETY: a null-terminated text that is ours to free.
        defer { unsafe GEOSFree_r(context.handle, characters) }
        return unsafe String(cString: characters)
    }
}

extension GEOSContext {
    /// Reads OGC well-known binary of either byte order. O(n).
    /// - Throws: `GEOSError.failed` for anything that is not WKB.
    package func geometry(wkb: [UInt8]) throws(GEOSError) -> Geometry {
        // SAFETY: the reader is used here only and destroyed below.
        guard let reader = unsafe GEOSWKBReader_create_r(handle) else { throw failure(.wkb) }
        defer { unsafe GEOSWKBReader_destroy_r(handle, reader) }
        // SAFETY: GEOS reads at most the array's bytes.
        let raw = unsafe wkb.withUnsafeBufferPointer { bytes in
            unsafe GEOSWKBReader_read_r(handle, reader, bytes.baseAddress, bytes.count)
        }
        return try unsafe adopt(raw, .wkb)
    }
}
