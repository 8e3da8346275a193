internal import CKernels

/// An instruction set that the kernels (`Sources/CKernels`) are compiled for. All give the same bits.
package enum KernelSet: UInt32, CaseIterable, Sendable {
    case baseline, avx2, avx512

    /// Whether this processor has it.
    package var isSupported: Bool { hereabouts_has_kernel_set(kernel_set(rawValue)) }

    private var name: String {
        switch self {
        case .baseline: "baseline"
        case .avx2: "avx2"
        case .avx512: "avx512"
        }
    }

    /// The environment variable that forces a set, by its name: for tests.
    package static let variable = "HEREABOUTS_KERNELS"

    /// The set that the environment asks for; nil where it asks for none, or for one that is unknown or unsupported.
    package static var forced: KernelSet? {
        // SAFETY: the string is copied before anything could change the environment.
        guard let name = unsafe hereabouts_environment(variable).map({ unsafe String(cString: $0) }) else { return nil }
        return allCases.first { $0.name.utf8.elementsEqual(name.utf8) && $0.isSupported }
    }

    /// The set in use: the forced one, else the widest that this processor has.
    package static let selected = forced ?? allCases.last { $0.isSupported } ?? .baseline
}
