import CPROJTransforms

/// A PROJ operation, as an oracle for projections.
package enum PROJOracle {
    /// Flat longitudes and latitudes in degrees through an operation such as `+proj=s2`; nil where PROJ does not know it or
    /// gives some position no image.
    package static func transformed(_ flat: [Double], by operation: String) -> [Double]? {
        // SAFETY: context and operation are freed on every path, and used in this call alone.
        guard let context = unsafe proj_context_create() else { return nil }
        defer { unsafe proj_context_destroy(context) }
        unsafe proj_context_set_enable_network(context, 0)
        guard let raw = unsafe proj_create(context, operation) else { return nil }
        defer { unsafe proj_destroy(raw) }
        var result = flat.map { $0 * .pi / 180 }
        let stride = 2 * MemoryLayout<Double>.stride, count = flat.count / 2
        unsafe result.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // SAFETY: x is every even and y every odd Double of the buffer, `count` of each.
            _ = unsafe proj_trans_generic(
                raw, PJ_FWD, base, stride, count, base + 1, stride, count, nil, 0, 0, nil, 0, 0)
        }
        return result.allSatisfy(\.isFinite) ? result : nil
    }
}
