import CPROJ

/// A transformation between two coordinate reference systems, for batches of positions.
///
/// Positions are x, y pairs: easting and northing, or longitude and latitude in degrees, in this order whatever the
/// reference system's own definition says.
@safe
package struct Transformer: ~Copyable {
    private let raw: OpaquePointer
    private let context: PROJContext

    /// Which way to go.
    package enum Direction: Hashable, Sendable {
        /// From the source system to the target.
        case forward
        /// Back.
        case inverse
    }

    /// The best transformation PROJ knows between two systems, each named as PROJ takes them (`EPSG:4326`, a PROJ
    /// string, WKT). Slow (milliseconds: it reads PROJ's database); make one and keep it.
    /// - Throws: `PROJError.unknownTransformation`.
    package init(_ context: PROJContext, from source: String, to target: String) throws(PROJError) {
        context.clearMessage()
        // SAFETY: the context's handle lives as long as the context; what PROJ returns is ours.
        guard let plain = unsafe proj_create_crs_to_crs(context.handle, source, target, nil) else {
            throw .unknownTransformation(message: context.takeMessage())
        }
        defer { unsafe proj_destroy(plain) }
        guard let normalized = unsafe proj_normalize_for_visualization(context.handle, plain) else {
            throw .unknownTransformation(message: context.takeMessage())
        }
        unsafe raw = normalized
        self.context = context
    }

    /// A transformation written as a PROJ pipeline or a single operation, such as `+proj=laea +lat_0=52 +lon_0=10`.
    /// Where the pipeline takes or gives angles in radians, this type still takes and gives degrees.
    /// - Throws: `PROJError.invalidPipeline`.
    package init(_ context: PROJContext, pipeline: String) throws(PROJError) {
        context.clearMessage()
        // SAFETY: as above.
        guard let raw = unsafe proj_create(context.handle, pipeline) else {
            throw .invalidPipeline(message: context.takeMessage())
        }
        unsafe self.raw = raw
        self.context = context
    }

    deinit {
        // SAFETY: this value owns the handle and is the last to see it.
        unsafe proj_destroy(raw)
    }

    /// Transforms a batch of flat positions `[x0, y0, x1, y1, …]` in place. O(n), about a tenth of a microsecond each.
    ///
    /// On an error the array holds positions partly transformed.
    /// - Throws: `PROJError.transformFailed` with the index of the first position without an image;
    ///   `.oddCoordinateCount`.
    package borrowing func transform(_ flat: inout [Double], _ direction: Direction = .forward) throws(PROJError) {
        guard try transformEach(&flat, direction) > 0 else { return }
        let index = (flat.firstIndex(where: \.isNaN) ?? 0) / 2
        throw .transformFailed(index: index, message: context.takeMessage())
    }

    /// Transforms a batch in place where some positions may have no image: those become NaN, NaN. O(n).
    /// - Returns: how many failed.
    /// - Throws: `PROJError.oddCoordinateCount`.
    package borrowing func transformEach(
        _ flat: inout [Double], _ direction: Direction = .forward
    ) throws(PROJError) -> Int {
        guard flat.count.isMultiple(of: 2) else { throw .oddCoordinateCount }
        let count = flat.count / 2
        let way = direction == .forward ? PJ_FWD : PJ_INV
        context.clearMessage()
        if unsafe proj_angular_input(raw, way) != 0 { Self.scale(&flat, by: .pi / 180) }
        let stride = 2 * MemoryLayout<Double>.stride
        unsafe flat.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // SAFETY: x is every even and y every odd Double of the buffer, `count` of each.
            unsafe proj_errno_reset(raw)
            _ = unsafe proj_trans_generic(
                raw, way, base, stride, count, base + 1, stride, count, nil, 0, 0, nil, 0, 0)
        }
        let failures = Self.markFailures(&flat)
        if unsafe proj_angular_output(raw, way) != 0 { Self.scale(&flat, by: 180 / .pi) }
        return failures
    }

    /// Turns positions with a value that is not finite (PROJ's HUGE_VAL) into NaN, NaN, and counts them.
    private static func markFailures(_ flat: inout [Double]) -> Int {
        var failures = 0
        for index in stride(from: 0, to: flat.count, by: 2) where !(flat[index].isFinite && flat[index + 1].isFinite) {
            flat[index] = .nan
            flat[index + 1] = .nan
            failures += 1
        }
        return failures
    }

    private static func scale(_ flat: inout [Double], by factor: Double) {
        for index in flat.indices { flat[index] *= factor }
    }
}
