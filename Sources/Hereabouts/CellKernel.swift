internal import CCells

/// From coordinates to the cells of the atlas, a block at a time, in the widest instruction set the processor has.
///
/// The formulas are those of `Trigonometry` and `CubeProjection`, eight lanes at a time, and give the same bits on
/// every path. They are written once in C (`Sources/CCells`), because Swift compiles a function for one instruction
/// set only: AVX2 takes 0.6 and AVX-512 0.35 of the time of what every x86-64 processor has.
@safe struct CellKernel: Sendable {
    /// The most points of a block.
    static let blockSize = Int(CCELLS_BLOCK)

    enum InstructionSet: UInt32, CaseIterable {
        case baseline, avx2, avx512
    }

    // SAFETY: a function of Sources/CCells, which keeps no state.
    private let function: ccells_function

    /// Nil where the processor lacks the instruction set.
    init?(_ set: InstructionSet) {
        guard let function = unsafe ccells_variant(ccells_set(set.rawValue)) else { return nil }
        unsafe self.function = function
    }

    /// The one for this processor.
    static let widest: CellKernel = {
        for set in InstructionSet.allCases.reversed() {
            if let kernel = CellKernel(set) { return kernel }
        }
        preconditionFailure("every processor has the baseline")
    }()

    /// Writes the cell coordinates of up to `blockSize` points into `cells`.
    ///
    /// - Returns: a bit for every point that names no place, where some cell is written all the same.
    @inline(__always)
    func locate(_ coordinates: UnsafeBufferPointer<Coordinate>, into cells: borrowing CellBlock) -> UInt64 {
        guard let start = coordinates.baseAddress else { return 0 }
        precondition(coordinates.count <= Self.blockSize, "a block of points")
        // SAFETY: a coordinate is two doubles, latitude first; the arrays of a block are as long as the function asks.
        let strange = unsafe function(
            UnsafeRawPointer(start).assumingMemoryBound(to: Double.self), coordinates.count, cells.cells, cells.keys,
            cells.columns, cells.rows)
        return strange == 0 ? 0 : unsafe Self.locateOneByOne(strange, coordinates, cells)
    }

    /// The points whose longitude must be wrapped first, and those that name no place, whose bits are returned.
    @inline(never)
    private static func locateOneByOne(
        _ strange: UInt64, _ coordinates: UnsafeBufferPointer<Coordinate>, _ cells: borrowing CellBlock
    ) -> UInt64 {
        var rest = strange, invalid: UInt64 = 0
        while rest != 0 {
            let point = rest.trailingZeroBitCount
            rest &= rest &- 1
            // SAFETY: the kernel sets bits of points it was given.
            let coordinate = unsafe coordinates[point]
            guard coordinate.latitude.magnitude <= 90, coordinate.longitude.isFinite else {
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
