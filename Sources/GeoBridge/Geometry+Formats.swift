import CGEOS

extension Geometry {
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
