internal import CFields
import Hereabouts

/// The functions of Sources/CFields for one instruction set. All sets give the same results.
@safe struct FieldFunctions: @unchecked Sendable {
    enum InstructionSet: UInt32, CaseIterable {
        case baseline, avx2
    }

    // SAFETY: constants, functions that keep no state.
    fileprivate let table: cfields_functions

    /// Nil where the processor lacks the instruction set.
    init?(_ set: InstructionSet) {
        guard let table = unsafe cfields_variant(cfields_set(set.rawValue)) else { return nil }
        self.table = unsafe table.pointee
    }

    /// For the widest instruction set of this processor.
    static let widest: FieldFunctions = {
        for set in InstructionSet.allCases.reversed() {
            if let functions = FieldFunctions(set) { return functions }
        }
        preconditionFailure("every processor has the baseline")
    }()

    /// Reads pairs of fields as latitudes and longitudes, of the usual form (`Decimal.usual`); where one is not, both
    /// become not a number.
    ///
    /// - Returns: how many pairs that are.
    func readPositions(
        _ base: UnsafePointer<UInt8>, _ fields: UnsafePointer<FieldSpan>, count: Int,
        into coordinates: UnsafeMutablePointer<Coordinate>
    ) -> Int {
        // SAFETY: a coordinate is two doubles, latitude first; the fields lie in a block with its slack after it.
        unsafe table.pairs(
            base, fields, count, UnsafeMutableRawPointer(coordinates).assumingMemoryBound(to: Double.self))
    }
}

/// The ends of all fields of a block, quotes aside, found many at a time and listed in order: where its delimiters and
/// line feeds are.
@safe struct FieldEnds: ~Copyable {
    private let functions: FieldFunctions
    // SAFETY: entry 0 and one for each end, allocated when a block is listed and freed in deinit.
    private var entries: UnsafeMutablePointer<UInt32>?
    private var capacity = 0
    /// How many ends the block has.
    private(set) var count = 0
    /// Whether there are quotes in the block: then not all that is listed are ends.
    private(set) var hasQuotes = false
    /// Whether there are carriage returns in the block.
    private(set) var hasReturns = false

    init(_ functions: FieldFunctions) { self.functions = functions }

    deinit {
        unsafe entries?.deallocate()
    }

    /// Lists the ends in a block that has `Block.slack` readable bytes after it.
    mutating func list(_ block: UnsafeBufferPointer<UInt8>, delimiter: UInt8) {
        guard let base = block.baseAddress else { return }
        if unsafe capacity < block.count || entries == nil {
            unsafe entries?.deallocate()
            capacity = block.count
            unsafe entries = .allocate(capacity: capacity + 9)
        }
        // The end before the first field: one less than where it starts.
        unsafe entries![0] = .max
        count = unsafe functions.table.list(base, block.count, delimiter, entries! + 1, &hasQuotes, &hasReturns)
    }

    /// The offset of an end, counted from 1, or at 0 one less than 0.
    @inline(__always)
    subscript(index: Int) -> UInt32 {
        // SAFETY: callers know how many ends there are.
        unsafe entries.unsafelyUnwrapped[index]
    }
}
