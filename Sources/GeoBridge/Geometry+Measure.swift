import CGEOS

/// Measures in the plane, in coordinate units. All throw `GEOSError.failed` where GEOS refuses.
extension Geometry {
    /// The area of the polygons in the geometry, holes left out. O(n).
    package borrowing func area() throws(GEOSError) -> Double {
        var value = 0.0
        // SAFETY: the handle lives as long as self; GEOS writes one Double.
        guard unsafe GEOSArea_r(context.handle, raw, &value) == 1 else { throw context.failure(.area) }
        return value
    }

    /// Some point of the geometry, well inside where it is a polygon.
    /// - Throws: `GEOSError.emptyGeometry`.
    package borrowing func pointOnSurface() throws(GEOSError) -> (x: Double, y: Double) {
        if isEmpty { throw .emptyGeometry(.pointOnSurface) }
        // SAFETY: the handle lives as long as self.
        let point = try unsafe context.adopt(GEOSPointOnSurface_r(context.handle, raw), .pointOnSurface)
        return try point.position(.pointOnSurface)
    }

    /// The smallest circle in the plane around the geometry.
    /// - Throws: `GEOSError.emptyGeometry`.
    package borrowing func minimumBoundingCircle() throws(GEOSError) -> (x: Double, y: Double, radius: Double) {
        if isEmpty { throw .emptyGeometry(.minimumBoundingCircle) }
        var radius = 0.0
        var rawCenter: OpaquePointer?
        // SAFETY: the handle lives as long as self; GEOS writes the radius and a point that is then ours.
        let rawCircle = unsafe GEOSMinimumBoundingCircle_r(context.handle, raw, &radius, &rawCenter)
        // Owned by a value only so that it is freed: the polygon that stands for the circle is of no use here.
        _ = try unsafe context.adopt(rawCircle, .minimumBoundingCircle)
        let center = try unsafe context.adopt(rawCenter, .minimumBoundingCircle).position(.minimumBoundingCircle)
        return (center.x, center.y, radius)
    }

    /// The coordinates of this point.
    private borrowing func position(_ operation: GEOSOperation) throws(GEOSError) -> (x: Double, y: Double) {
        var x = 0.0, y = 0.0
        // SAFETY: the handle lives as long as self; GEOS writes one Double a call.
        guard unsafe GEOSGeomGetX_r(context.handle, raw, &x) == 1, unsafe GEOSGeomGetY_r(context.handle, raw, &y) == 1
        else { throw context.failure(operation) }
        return (x, y)
    }
}
