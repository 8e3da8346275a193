import CGEOS

/// Operations that combine geometries or cut them up.
///
/// Where there is a `gridSize`, positions of the result lie on multiples of it (in coordinate units, finite and above
/// zero), which makes the operation robust and its result valid on that grid; without one, GEOS works in floating point
/// and snaps where that fails. All throw `GEOSError.failed` where GEOS refuses, mostly for invalid input.
extension Geometry {
    /// What lies in either geometry.
    package borrowing func union(_ other: borrowing Geometry, gridSize: Double? = nil) throws(GEOSError) -> Geometry {
        // SAFETY: `overlay` passes live handles only.
        try unsafe overlay(other, gridSize, .union, GEOSUnion_r, GEOSUnionPrec_r)
    }

    /// What lies in both geometries.
    package borrowing func intersection(
        _ other: borrowing Geometry, gridSize: Double? = nil
    ) throws(GEOSError) -> Geometry {
        // SAFETY: `overlay` passes live handles only.
        try unsafe overlay(other, gridSize, .intersection, GEOSIntersection_r, GEOSIntersectionPrec_r)
    }

    /// The union of all parts: polygons are dissolved, lines are cut where they meet and written once.
    package borrowing func unaryUnion(gridSize: Double? = nil) throws(GEOSError) -> Geometry {
        guard let gridSize else {
            // SAFETY: the handle lives as long as self.
            return try unsafe context.adopt(GEOSUnaryUnion_r(context.handle, raw), .union)
        }
        precondition(gridSize.isFinite && gridSize > 0, "a grid size is finite and above zero")
        // SAFETY: the handle lives as long as self.
        return try unsafe context.adopt(GEOSUnaryUnionPrec_r(context.handle, raw, gridSize), .union)
    }

    /// The outline of polygons, or the ends of lines.
    package borrowing func boundary() throws(GEOSError) -> Geometry {
        // SAFETY: the handle lives as long as self.
        try unsafe context.adopt(GEOSBoundary_r(context.handle, raw), .boundary)
    }

    /// Lines joined end to end wherever exactly two of them meet. O(n).
    package borrowing func lineMerge() throws(GEOSError) -> Geometry {
        // SAFETY: the handle lives as long as self.
        try unsafe context.adopt(GEOSLineMerge_r(context.handle, raw), .lineMerge)
    }

    /// All the polygons that noded lines enclose, holes cut out, as a collection; dangling lines are ignored.
    package borrowing func polygonized() throws(GEOSError) -> Geometry {
        // SAFETY: the handle lives as long as self; GEOS reads one pointer.
        try unsafe withUnsafePointer(to: Optional(raw)) { pointer throws(GEOSError) in
            try unsafe context.adopt(GEOSPolygonize_r(context.handle, pointer, 1), .polygonize)
        }
    }

    /// A valid geometry of the same positions: self-crossing rings become several, repeated areas cancel out.
    package borrowing func madeValid() throws(GEOSError) -> Geometry {
        // SAFETY: the handle lives as long as self.
        try unsafe context.adopt(GEOSMakeValid_r(context.handle, raw), .makeValid)
    }

    /// Fewer positions, none of the lines further than `tolerance` (coordinate units) from where it was; rings of one
    /// polygon and lines of one multi-line do not come to cross, and line ends stay (Douglas–Peucker).
    package borrowing func simplifiedKeepingTopology(tolerance: Double) throws(GEOSError) -> Geometry {
        // SAFETY: the handle lives as long as self.
        try unsafe context.adopt(GEOSTopologyPreserveSimplify_r(context.handle, raw, tolerance), .simplify)
    }

    /// One binary operation, plain or on a grid.
    @unsafe
    private borrowing func overlay(
        _ other: borrowing Geometry, _ gridSize: Double?, _ operation: GEOSOperation,
        _ plain: (GEOSContextHandle_t, OpaquePointer, OpaquePointer) -> OpaquePointer?,
        _ precise: (GEOSContextHandle_t, OpaquePointer, OpaquePointer, Double) -> OpaquePointer?
    ) throws(GEOSError) -> Geometry {
        precondition(context === other.context, "geometries of two contexts")
        guard let gridSize else {
            // SAFETY: both handles live through the call.
            return try unsafe context.adopt(plain(context.handle, raw, other.raw), operation)
        }
        precondition(gridSize.isFinite && gridSize > 0, "a grid size is finite and above zero")
        // SAFETY: both handles live through the call.
        return try unsafe context.adopt(precise(context.handle, raw, other.raw, gridSize), operation)
    }
}
