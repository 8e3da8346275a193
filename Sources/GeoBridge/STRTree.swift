import CGEOS

/// A search tree over the bounding rectangles of geometries (sort-tile-recursive packed R-tree). It owns the geometries
/// and answers with their indices in the list it was made of. Built at the first search, O(n log n).
@safe
package struct STRTree: ~Copyable {
    private let geometries: GeometryList
    private let tree: OpaquePointer

    /// Puts the geometries into a tree; empty ones are never found. O(n).
    /// - Throws: `GEOSError.failed`.
    package init(_ geometries: consuming GeometryList) throws(GEOSError) {
        let context = geometries.context
        // SAFETY: the handle is the context's own. 10 is GEOS's recommended node capacity.
        guard let tree = unsafe GEOSSTRtree_create_r(context.handle, 10) else { throw context.failure(.search) }
        unsafe geometries.withHandles { handles in
            for index in handles.indices {
                // SAFETY: the item is an index in a pointer's clothes; nobody dereferences it.
                unsafe GEOSSTRtree_insert_r(context.handle, tree, handles[index], STRTree.item(index))
            }
        }
        unsafe self.tree = tree
        self.geometries = geometries
    }

    deinit {
        // SAFETY: this value owns the tree and is the last to see it; the geometries go after it.
        unsafe GEOSSTRtree_destroy_r(geometries.context.handle, tree)
    }

    /// How many geometries the tree was made of.
    package var count: Int { geometries.count }

    /// Lends the geometry at `index` to `body`. O(1).
    package borrowing func withGeometry<Result: ~Copyable, Failure: Error>(
        at index: Int, _ body: (borrowing Geometry) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try geometries.withGeometry(at: index, body)
    }

    /// The geometries whose bounding rectangle touches that of `geometry`, by index, ascending. O(log n + answers).
    package borrowing func indices(nearBoundsOf geometry: borrowing Geometry) -> [Int] {
        precondition(geometries.context === geometry.context, "geometries of two contexts")
        var found: [Int] = []
        unsafe withUnsafeMutablePointer(to: &found) { found in
            // SAFETY: the callback runs during the call only, and `found` is an array of Int as it expects.
            unsafe GEOSSTRtree_query_r(
                geometries.context.handle, tree, geometry.raw,
                { item, found in
                    guard let item = unsafe item, let found = unsafe found else { return }
                    unsafe found.assumingMemoryBound(to: [Int].self).pointee.append(STRTree.index(item))
                }, found)
        }
        return found.sorted()
    }

    /// The geometries whose bounding rectangle touches `bounds`, by index, ascending. O(log n + answers).
    /// - Throws: `GEOSError.nonFiniteCoordinate`.
    package borrowing func indices(touching bounds: Bounds) throws(GEOSError) -> [Int] {
        indices(nearBoundsOf: try geometries.context.rectangle(bounds))
    }

    /// The geometry nearest to `geometry` by distance in the plane; the one of two as near that the tree meets first.
    /// Nil if the tree or `geometry` is empty. O(log n) or so distances.
    /// - Throws: `GEOSError.failed`.
    package borrowing func nearest(to geometry: borrowing Geometry) throws(GEOSError) -> Int? {
        let context = geometries.context
        precondition(context === geometry.context, "geometries of two contexts")
        if count == 0 || geometry.isEmpty { return nil }
        var found: Int?
        unsafe geometries.withHandles { handles in
            var search = unsafe NearestSearch(context: context, handles: handles, target: geometry.raw)
            unsafe withUnsafeMutablePointer(to: &search) { search in
                // SAFETY: the callback runs during the call only, with the pointers given here.
                let item = unsafe GEOSSTRtree_nearest_generic_r(
                    context.handle, tree, STRTree.targetItem, geometry.raw, STRTree.distanceToTarget, search)
                unsafe found = item.map { unsafe STRTree.index(UnsafeMutableRawPointer(mutating: $0)) }
            }
        }
        guard let found else { throw context.failure(.search) }
        return found
    }
}

/// What the distance callback needs to turn items back into geometries.
@unsafe
private struct NearestSearch {
    let context: GEOSContext
    let handles: UnsafeBufferPointer<OpaquePointer?>
    let target: OpaquePointer
}

extension STRTree {
    /// The item that stands for the geometry searched around, which is not in the tree.
    @unsafe
    private static var targetItem: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(bitPattern: UInt.max) }

    /// An index as an item: one more than it, since a null item would not count.
    @unsafe
    private static func item(_ index: Int) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: index + 1)
    }

    /// The index an item stands for.
    private static func index(_ item: UnsafeMutableRawPointer) -> Int { Int(bitPattern: item) - 1 }

    /// The distance between an item and the target, whichever of the two comes first.
    /// Returns nonzero for success: GEOS's header says the opposite, but `nearest_generic` fails on zero.
    private static let distanceToTarget: GEOSDistanceCallback = { first, second, distance, search in
        guard let search = unsafe search?.assumingMemoryBound(to: NearestSearch.self) else { return 0 }
        let isTargetFirst = unsafe first == UnsafeRawPointer(STRTree.targetItem)
        guard let item = unsafe isTargetFirst ? second : first else { return 0 }
        let index = unsafe STRTree.index(UnsafeMutableRawPointer(mutating: item))
        // SAFETY: the items are indices below the count of handles, and GEOS gives room for one Double.
        return unsafe GEOSDistance_r(
            search.pointee.context.handle, search.pointee.handles[index], search.pointee.target, distance)
    }
}
