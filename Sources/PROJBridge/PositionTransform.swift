import CPROJ

/// One worker's transformation from a coordinate reference system to WGS 84, by PROJ. It stays in one task at a time.
///
/// Whatever order the system's axes have by their authority, x is the easting or longitude and y the northing or latitude.
/// Of the transformations that PROJ knows it takes the best for each position, as the grids that are installed allow, and
/// none that ignores a difference of datums.
@safe
package final class PositionTransform {
    private let context: OpaquePointer
    private let transformation: OpaquePointer
    /// What positions were, to see whether they come back.
    private var before: [Double] = []

    /// The version of the library that is loaded.
    package static var libraryVersion: String {
        // SAFETY: a constant of the library.
        unsafe String(cString: proj_info().version)
    }

    /// What is written for a position outside of the system's domain.
    package static let outside = Double.nan

    /// How far a position may come back from where it was, relative to its larger number, or to 1: 45 m of a UTM northing,
    /// which is more than what the way back by another of PROJ's transformations differs by, and far less than what a
    /// projection errs by where it wraps around or folds.
    private static let roundTripTolerance = 1e-5

    /// Prepares a transformation.
    ///
    /// - Parameter system: what PROJ understands: `EPSG:32613`, `urn:ogc:def:crs:EPSG::32613`, a PROJ string or WKT.
    /// - Throws: `PROJError.unknownReferenceSystem`, `.notHorizontal`, `.noTransformation`.
    package init(from system: String) throws(PROJError) {
        guard let context = unsafe proj_context_create() else { throw .noTransformation }
        do throws(PROJError) {
            unsafe transformation = try Self.prepare(system, context)
        } catch {
            // SAFETY: what was made in the context is destroyed.
            unsafe proj_context_destroy(context)
            throw error
        }
        unsafe self.context = context
    }

    deinit {
        // SAFETY: both are this object's own.
        unsafe proj_destroy(transformation)
        unsafe proj_context_destroy(context)
    }

    private static func prepare(_ system: String, _ context: OpaquePointer) throws(PROJError) -> OpaquePointer {
        // Messages would go to standard error, and may have numbers in them.
        _ = unsafe proj_log_level(context, PJ_LOG_NONE)
        // Nothing is fetched from the network, whatever the environment says: the answer depends on what is installed.
        unsafe proj_context_set_enable_network(context, 0)
        // With a type added, the first step of a pipeline would pass for a system.
        guard !system.contains("+step") && !system.contains("proj=pipeline") else { throw .unknownReferenceSystem }
        let definition = system.hasPrefix("+") && !system.contains("+type=crs") ? system + " +type=crs" : system
        guard let source = unsafe proj_create(context, definition) else { throw .unknownReferenceSystem }
        // SAFETY: as all objects of this function: made here, destroyed once, or given to the caller.
        defer { unsafe proj_destroy(source) }
        guard unsafe proj_is_crs(source) != 0 else { throw .unknownReferenceSystem }
        switch unsafe proj_get_type(source) {
        case PJ_TYPE_PROJECTED_CRS, PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS, PJ_TYPE_BOUND_CRS,
            PJ_TYPE_COMPOUND_CRS:
            break
        default: throw .notHorizontal
        }
        guard let target = unsafe proj_create(context, "OGC:CRS84") else { throw .noTransformation }
        defer { unsafe proj_destroy(target) }
        // SAFETY: PROJ reads the options up to the null.
        let found = unsafe "ALLOW_BALLPARK=NO".withCString { option in
            unsafe [option, nil].withUnsafeBufferPointer { options in
                unsafe proj_create_crs_to_crs_from_pj(context, source, target, nil, options.baseAddress)
            }
        }
        guard let found = unsafe found else { throw .noTransformation }
        defer { unsafe proj_destroy(found) }
        guard let normalized = unsafe proj_normalize_for_visualization(context, found) else { throw .noTransformation }
        return unsafe normalized
    }

    /// Transforms positions in place: to longitudes and latitudes in degrees, or `outside` where there is none.
    ///
    /// Forward and back again: a position outside of the projection's domain does not come back. Allocates nothing but for
    /// the largest batch so far.
    ///
    /// - Parameters:
    ///   - x, y: the first position's numbers; the next are `stride` bytes farther.
    package func transform(
        x: UnsafeMutablePointer<Double>, y: UnsafeMutablePointer<Double>, stride: Int, count: Int
    ) {
        guard count > 0 else { return }
        let step = stride / MemoryLayout<Double>.stride
        if before.count < 4 * count { before = [Double](repeating: 0, count: 4 * count) }
        for index in 0..<count {
            // SAFETY: the caller has so many positions.
            unsafe (before[4 * index], before[4 * index + 1]) = (x[index * step], y[index * step])
        }
        unsafe run(PJ_FWD, x, y, stride, count)
        unsafe before.withUnsafeMutableBufferPointer { before in
            guard let base = before.baseAddress else { return }
            for index in 0..<count {
                unsafe (base[4 * index + 2], base[4 * index + 3]) = (x[index * step], y[index * step])
            }
            let pair = 4 * MemoryLayout<Double>.stride
            unsafe run(PJ_INV, base + 2, base + 3, pair, count)
            for index in 0..<count {
                let (x0, y0) = unsafe (base[4 * index], base[4 * index + 1])
                let (x1, y1) = unsafe (base[4 * index + 2], base[4 * index + 3])
                let limit = Self.roundTripTolerance * max(1, x0.magnitude, y0.magnitude)
                // Not a number on either side is no position.
                let returns = (x1 - x0).magnitude <= limit && (y1 - y0).magnitude <= limit
                let isFinite = unsafe x[index * step].isFinite && y[index * step].isFinite
                if !returns || !isFinite {
                    unsafe (x[index * step], y[index * step]) = (Self.outside, Self.outside)
                }
            }
        }
    }

    private func run(
        _ direction: PJ_DIRECTION, _ x: UnsafeMutablePointer<Double>, _ y: UnsafeMutablePointer<Double>, _ stride: Int,
        _ count: Int
    ) {
        // SAFETY: PROJ reads and writes `count` numbers of each, and neither heights nor times.
        _ = unsafe proj_trans_generic(
            transformation, direction, x, stride, count, y, stride, count, nil, 0, 0, nil, 0, 0)
    }
}

@available(*, unavailable, message: "one transformation per worker")
extension PositionTransform: Sendable {}
