import CGEOS

/// One worker's GEOS: the reentrant context that every geometry made through it belongs to.
///
/// A context and its geometries stay in one task at a time; two workers make two contexts. Geometries of two contexts
/// are never mixed in one call (a precondition). It is not `Sendable`, and neither is anything that holds one.
@safe
package final class GEOSContext {
    /// The C handle, owned by this object.
    let handle: GEOSContextHandle_t
    /// The last error GEOS reported through the handler since `takeMessage()`.
    private var message: String?

    /// Starts a context. O(1).
    /// - Throws: `GEOSError.contextUnavailable`.
    package init() throws(GEOSError) {
        guard let handle = unsafe GEOS_init_r() else { throw .contextUnavailable }
        unsafe self.handle = handle
        // SAFETY: GEOS calls the handler only during calls made with this handle, all of which hold a reference to
        // self.
        _ = unsafe GEOSContext_setErrorMessageHandler_r(
            handle,
            { text, owner in
                guard let text = unsafe text, let owner = unsafe owner else { return }
                let context = unsafe Unmanaged<GEOSContext>.fromOpaque(owner).takeUnretainedValue()
                context.message = unsafe String(cString: text)
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // SAFETY: every geometry holds a reference to its context, so none is left.
        unsafe GEOS_finish_r(handle)
    }

    /// The version of the GEOS library in use, such as `3.11.1-CAPI-1.17.1`.
    package static var libraryVersion: String { unsafe GEOSversion().map { unsafe String(cString: $0) } ?? "" }

    /// The error to throw for an operation that GEOS refused.
    func failure(_ operation: GEOSOperation) -> GEOSError {
        defer { message = nil }
        return .failed(operation, message: withoutNumbers(message ?? "no reason given"))
    }

    /// Takes ownership of a geometry GEOS returned, or throws what it reported instead.
    @unsafe
    func adopt(_ raw: OpaquePointer?, _ operation: GEOSOperation) throws(GEOSError) -> Geometry {
        guard let raw = unsafe raw else { throw failure(operation) }
        return unsafe Geometry(adopting: raw, context: self)
    }

    /// Reads a GEOS predicate's answer: 0 no, 1 yes, 2 an exception.
    func answer(_ value: CChar, _ operation: GEOSOperation) throws(GEOSError) -> Bool {
        guard value == 0 || value == 1 else { throw failure(operation) }
        return value == 1
    }
}

@available(*, unavailable, message: "one context per worker")
extension GEOSContext: Sendable {}
