import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension KernelSet {
    /// Refuses a value of `HEREABOUTS_KERNELS` that the engine would pass over in silence: one that names no instruction
    /// set, or one that this processor lacks.
    ///
    /// - Throws: `CommandFailure`, status 2.
    static func validateChoice() throws(CommandFailure) {
        // SAFETY: the string is not kept, and nothing here sets variables.
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0, forced == nil else { return }
        let names = allCases.filter(\.isSupported).map { "\($0)" }.joined(separator: ", ")
        throw CommandFailure(.unusable, "\(variable): no instruction set of this processor, which has \(names)")
    }
}
