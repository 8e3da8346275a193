internal import CKernels

/// Computes the atlas cells of a block of coordinates with the widest instruction set the processor has.
///
/// The formulas are those of `Trigonometry` and `CubeProjection`, eight lanes at a time, with the same bits on every
/// path. They are in C (`Sources/CKernels`) because Swift compiles a function for one instruction set only: AVX2 takes
/// 0.6 and AVX-512 0.35 times as long as the x86-64 baseline.
@safe struct CellKernel: Sendable {
    /// The most points of a block.
    static let blockSize = Int(CELL_KERNEL_POINTS)

    // SAFETY: a stateless function of Sources/CKernels.
    private let function: cell_kernel

    /// Nil where the processor lacks the instruction set.
    init?(_ set: KernelSet) {
        guard let function = unsafe hereabouts_cell_kernel(kernel_set(set.rawValue)) else { return nil }
        unsafe self.function = function
    }

    /// The kernel in use.
    static let selected = CellKernel(.selected)!

    /// Writes the cell coordinates of up to `blockSize` points into `cells`.
    ///
    /// - Returns: a mask of the invalid coordinates; the cells written for those are meaningless but in range.
    @inline(__always)
    func locate(_ coordinates: UnsafeBufferPointer<Coordinate>, into cells: borrowing CellBlock) -> UInt64 {
        guard let start = coordinates.baseAddress else { return 0 }
        precondition(coordinates.count <= Self.blockSize, "a block of points")
        // SAFETY: a coordinate is two doubles, latitude first; the arrays of a block are as long as the function asks.
        let outOfRange = unsafe function(
            UnsafeRawPointer(start).assumingMemoryBound(to: Double.self), coordinates.count, cells.cells, cells.keys,
            cells.columns, cells.rows)
        return outOfRange == 0 ? 0 : unsafe Self.locateOneByOne(outOfRange, coordinates, cells)
    }

    /// Locates the points whose longitude must be wrapped first.
    ///
    /// - Parameter outOfRange: a mask of the points that the kernel did not locate.
    /// - Returns: a mask of the invalid coordinates among them.
    @inline(never)
    private static func locateOneByOne(
        _ outOfRange: UInt64, _ coordinates: UnsafeBufferPointer<Coordinate>, _ cells: borrowing CellBlock
    ) -> UInt64 {
        var rest = outOfRange, invalid: UInt64 = 0
        while rest != 0 {
            let point = rest.trailingZeroBitCount
            rest &= rest &- 1
            // SAFETY: the kernel sets bits of points it was given.
            let coordinate = unsafe coordinates[point]
            guard coordinate.latitude.magnitude <= 90, coordinate.longitude.magnitude <= FaceIJ.longitudeLimit else {
                invalid |= 1 << UInt64(point)
                continue
            }
            cells.put(
                FaceIJ(
                    latitude: coordinate.latitude, longitude: FaceIJ.wrappedLongitude(coordinate.longitude)), at: point)
        }
        return invalid
    }
}
