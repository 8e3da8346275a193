import CPROJ

/// One worker's PROJ. A context and what is made in it stay in one task at a time; two workers make two contexts.
@safe
package final class PROJContext {
    /// The C handle, owned by this object.
    let handle: OpaquePointer
    /// The last error PROJ logged since it was taken.
    private var message: String?

    /// Starts a context that never uses the network and prints nothing. O(1).
    /// - Throws: `PROJError.contextUnavailable`.
    package init() throws(PROJError) {
        guard let handle = unsafe proj_context_create() else { throw .contextUnavailable }
        unsafe self.handle = handle
        unsafe proj_context_set_enable_network(handle, 0)
        // SAFETY: PROJ logs only during calls made with this handle, all of which hold a reference to self.
        unsafe proj_log_func(
            handle, Unmanaged.passUnretained(self).toOpaque(),
            { owner, level, text in
                guard level == PJ_LOG_ERROR.rawValue, let owner = unsafe owner, let text = unsafe text else { return }
                let context = unsafe Unmanaged<PROJContext>.fromOpaque(owner).takeUnretainedValue()
                context.message = unsafe String(cString: text)
            })
    }

    deinit {
        // SAFETY: every transformer holds a reference to its context, so none is left.
        unsafe proj_context_destroy(handle)
    }

    /// The version of the PROJ library in use, such as `9.1.1`.
    package static var libraryVersion: String { unsafe String(cString: proj_info().version) }

    /// Forgets what PROJ logged before.
    func clearMessage() { message = nil }

    /// What PROJ said of its last failure, numbers left out.
    func takeMessage() -> String {
        defer { message = nil }
        if let message { return withoutNumbers(message) }
        // SAFETY: PROJ returns a text that lives until its next call in this context; it is copied at once.
        let code = unsafe proj_context_errno(handle)
        guard code != 0, let text = unsafe proj_context_errno_string(handle, code) else { return "no reason given" }
        return unsafe withoutNumbers(String(cString: text))
    }
}

@available(*, unavailable, message: "one context per worker")
extension PROJContext: Sendable {}
