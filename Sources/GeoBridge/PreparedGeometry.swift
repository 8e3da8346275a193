import CGEOS

/// A geometry indexed for many questions about the same one: each answer takes O(log n) or so where `Geometry`'s takes
/// O(n). The index is built at the first question of each kind, so even asking needs the context to itself.
@safe
package struct PreparedGeometry: ~Copyable {
    /// The geometry the index points into; outlives it, because `deinit` runs before fields go.
    private let geometry: Geometry
    private let raw: OpaquePointer

    /// Indexes a geometry. O(1); the work is done at the first question.
    /// - Throws: `GEOSError.failed`.
    package init(_ geometry: consuming Geometry) throws(GEOSError) {
        // SAFETY: the geometry stays at the same address as long as this value.
        guard let raw = unsafe GEOSPrepare_r(geometry.context.handle, geometry.raw) else {
            throw geometry.context.failure(.prepare)
        }
        unsafe self.raw = raw
        self.geometry = geometry
    }

    deinit {
        // SAFETY: this value owns the handle and is the last to see it.
        unsafe GEOSPreparedGeom_destroy_r(geometry.context.handle, raw)
    }

    private var context: GEOSContext { geometry.context }

    /// As `Geometry.contains`.
    package borrowing func contains(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSPreparedContains_r(context.handle, raw, other.raw), .contains)
    }

    /// As `Geometry.intersects`.
    package borrowing func intersects(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSPreparedIntersects_r(context.handle, raw, other.raw), .intersects)
    }

    /// Whether some point of the other geometry is at most `distance` (coordinate units) from this one.
    package borrowing func isWithin(_ distance: Double, of other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(
            GEOSPreparedDistanceWithin_r(context.handle, raw, other.raw, distance), .distance)
    }

    /// Whether the position lies inside, not on the boundary. (GEOS 3.11 has no call that takes bare coordinates, so
    /// this makes a point and drops it.)
    /// - Throws: `GEOSError.nonFiniteCoordinate`.
    package borrowing func contains(x: Double, y: Double) throws(GEOSError) -> Bool {
        try contains(context.point(x: x, y: y))
    }

    /// Whether the position lies inside or on the boundary.
    /// - Throws: `GEOSError.nonFiniteCoordinate`.
    package borrowing func intersects(x: Double, y: Double) throws(GEOSError) -> Bool {
        try intersects(context.point(x: x, y: y))
    }
}

extension Geometry {
    /// Indexes the geometry for many questions.
    package consuming func prepared() throws(GEOSError) -> PreparedGeometry { try PreparedGeometry(self) }
}
