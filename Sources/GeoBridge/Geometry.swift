import CGEOS

/// An owned GEOS geometry in the plane; freed when it goes out of scope.
///
/// Coordinates are x, y pairs in whatever unit the caller uses (degrees of longitude and latitude, or meters of a
/// projection). Make one with the methods of `GEOSContext`. A `gridSize` passed to an operation stays with its result:
/// GEOS applies it to later operations on that result too.
@safe
package struct Geometry: ~Copyable {
    /// The C handle. Valid as long as this value lives.
    let raw: OpaquePointer
    /// The context the geometry was made in, kept alive by it.
    package let context: GEOSContext
    /// Whether `deinit` frees the handle; false for a part lent out by the geometry that owns it.
    private var isOwner: Bool

    /// Takes ownership of `raw`.
    @unsafe
    init(adopting raw: OpaquePointer, context: GEOSContext) {
        unsafe self.raw = raw
        self.context = context
        isOwner = true
    }

    /// Lends out `raw`, which someone else frees, and not before this value is gone.
    @unsafe
    init(lending raw: OpaquePointer, context: GEOSContext) {
        unsafe self.raw = raw
        self.context = context
        isOwner = false
    }

    deinit {
        guard isOwner else { return }
        // SAFETY: this value owns the handle and is the last to see it.
        unsafe GEOSGeom_destroy_r(context.handle, raw)
    }

    /// Gives the handle away, to a C function or collection that frees it.
    @unsafe
    consuming func release() -> OpaquePointer {
        precondition(isOwner, "a lent geometry cannot be given away")
        isOwner = false
        return unsafe raw
    }
}

/// What a geometry is; the raw values are GEOS's own.
package enum GeometryKind: Int32, Hashable, Sendable {
    case point = 0
    case lineString = 1
    case linearRing = 2
    case polygon = 3
    case multiPoint = 4
    case multiLineString = 5
    case multiPolygon = 6
    case collection = 7
}

/// A rectangle along the axes, in the units of the geometry it bounds.
package struct Bounds: Hashable, Sendable {
    package var minX: Double
    package var minY: Double
    package var maxX: Double
    package var maxY: Double

    /// Makes a rectangle of its four sides.
    package init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }
}

extension Geometry {
    /// The kind of geometry. O(1).
    package var kind: GeometryKind {
        // SAFETY: the handle lives as long as self.
        guard let kind = unsafe GeometryKind(rawValue: GEOSGeomTypeId_r(context.handle, raw)) else {
            preconditionFailure("a GEOS geometry of an unknown kind")
        }
        return kind
    }

    /// Whether the geometry has no points. O(number of parts).
    package var isEmpty: Bool {
        // SAFETY: the handle lives as long as self.
        unsafe GEOSisEmpty_r(context.handle, raw) == 1
    }

    /// How many parts a multi-geometry or collection has; 1 for a single geometry. O(1).
    package var partCount: Int {
        // SAFETY: the handle lives as long as self.
        unsafe Int(max(0, GEOSGetNumGeometries_r(context.handle, raw)))
    }

    /// How many positions the geometry has in all. O(number of parts).
    package var positionCount: Int {
        // SAFETY: the handle lives as long as self.
        unsafe Int(max(0, GEOSGetNumCoordinates_r(context.handle, raw)))
    }

    /// Lends part `index` (0 ..< `partCount`) of a multi-geometry or collection to `body`. O(1).
    /// - Throws: `GEOSError.failed` if GEOS has no such part; what `body` throws.
    package borrowing func withPart<Result: ~Copyable>(
        _ index: Int, _ body: (borrowing Geometry) throws(GEOSError) -> Result
    ) throws(GEOSError) -> Result {
        precondition((0..<partCount).contains(index), "no such part")
        // SAFETY: the part belongs to self, which outlives the loan.
        guard let part = unsafe GEOSGetGeometryN_r(context.handle, raw, Int32(index)) else {
            throw context.failure(.part)
        }
        return try body(unsafe Geometry(lending: part, context: context))
    }

    /// The smallest rectangle along the axes that holds the geometry. O(n) the first time.
    /// - Throws: `GEOSError.emptyGeometry`.
    package borrowing func bounds() throws(GEOSError) -> Bounds {
        if isEmpty { throw .emptyGeometry(.bounds) }
        var bounds = Bounds(minX: 0, minY: 0, maxX: 0, maxY: 0)
        // SAFETY: the handle lives as long as self; each call writes one Double.
        let ok =
            unsafe GEOSGeom_getXMin_r(context.handle, raw, &bounds.minX) == 1
            && GEOSGeom_getYMin_r(context.handle, raw, &bounds.minY) == 1
            && GEOSGeom_getXMax_r(context.handle, raw, &bounds.maxX) == 1
            && GEOSGeom_getYMax_r(context.handle, raw, &bounds.maxY) == 1
        guard ok else { throw context.failure(.bounds) }
        return bounds
    }
}
