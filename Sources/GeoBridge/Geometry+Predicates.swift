import CGEOS

/// Questions with a yes or a no. All throw `GEOSError.failed` where GEOS refuses, mostly for invalid input.
extension Geometry {
    /// Whether the geometry is valid by OGC's rules. O(n log n).
    package borrowing func isValid() throws(GEOSError) -> Bool {
        // SAFETY: the handle lives as long as self.
        try unsafe context.answer(GEOSisValid_r(context.handle, raw), .validity)
    }

    /// Whether the two have a point in common, boundaries included.
    package borrowing func intersects(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSIntersects_r(context.handle, raw, other.raw), .intersects)
    }
}
