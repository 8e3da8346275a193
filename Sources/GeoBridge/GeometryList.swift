import CGEOS

/// Owned geometries of one context, in order: what an array would be if arrays held non-copyable values.
@safe
package struct GeometryList: ~Copyable {
    /// The context that every geometry in the list belongs to.
    package let context: GEOSContext
    /// The handles, all owned by the list and none of them null (optional because C arrays of pointers are).
    private var handles: [OpaquePointer?] = unsafe []

    /// An empty list.
    package init(_ context: GEOSContext) { self.context = context }

    deinit {
        // SAFETY: the list owns its handles and is the last to see them.
        unsafe handles.forEach { unsafe GEOSGeom_destroy_r(context.handle, $0) }
    }

    /// How many geometries the list holds.
    package var count: Int { unsafe handles.count }

    /// Adds a geometry of the same context. Amortized O(1).
    package mutating func append(_ geometry: consuming Geometry) {
        precondition(geometry.context === context, "geometries of two contexts")
        unsafe handles.append(geometry.release())
    }

    /// Lends the geometry at `index` to `body`. O(1).
    package borrowing func withGeometry<Result: ~Copyable, Failure: Error>(
        at index: Int, _ body: (borrowing Geometry) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: no handle is null, and the list outlives the loan.
        try body(unsafe Geometry(lending: handles[index].unsafelyUnwrapped, context: context))
    }

    /// Lends the handles, none of them null, to `body`.
    @unsafe
    borrowing func withHandles<Result>(_ body: (UnsafeBufferPointer<OpaquePointer?>) -> Result) -> Result {
        unsafe handles.withUnsafeBufferPointer(body)
    }

    /// Turns the list into one multi-geometry or collection, without copying. O(count).
    /// - Parameter kind: `.multiPoint`, `.multiLineString`, `.multiPolygon` or `.collection`.
    /// - Throws: `GEOSError.wrongKind` if a geometry does not fit into that kind; `GEOSError.failed`.
    package consuming func collected(as kind: GeometryKind) throws(GEOSError) -> Geometry {
        for index in 0..<count {
            guard withGeometry(at: index, { kind.admits($0.kind) }) else { throw .wrongKind(.collection) }
        }
        let context = context
        var given = unsafe handles
        unsafe handles = []
        // SAFETY: GEOS takes ownership of all the handles, on failure too; the list has forgotten them.
        let raw = unsafe given.withUnsafeMutableBufferPointer { buffer in
            unsafe GEOSGeom_createCollection_r(
                context.handle, kind.rawValue, buffer.baseAddress, UInt32(buffer.count))
        }
        return try unsafe context.adopt(raw, .collection)
    }
}

extension GeometryKind {
    /// Whether a multi-geometry or collection of this kind may hold a part of kind `part`.
    fileprivate func admits(_ part: GeometryKind) -> Bool {
        switch self {
        case .multiPoint: part == .point
        case .multiLineString: part == .lineString || part == .linearRing
        case .multiPolygon: part == .polygon
        case .collection: true
        case .point, .lineString, .linearRing, .polygon: false
        }
    }
}
