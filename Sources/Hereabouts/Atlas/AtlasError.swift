/// Why a file cannot be used as an atlas. No case carries content of the file.
public enum AtlasError: Error, Hashable, Sendable {
    /// The file cannot be opened, read or mapped; the system's error number.
    case unreadable(errorNumber: Int32)
    /// The file does not begin as an atlas does.
    case notAnAtlas
    /// The file is of a version this engine does not know.
    case unsupportedVersion(UInt32)
    /// The file is shorter or longer than its header says.
    case wrongSize
    /// The header's sizes and offsets contradict each other or the limits of the format.
    case malformedHeader
    /// The content does not match its checksums: the file is damaged.
    case checksumMismatch
    /// The file was changed or cut short while it was in use, other than by renaming another into its place.
    case changedInUse
    /// The content matches its checksums but breaks the rules of the format, in the named section.
    case malformed(section: String)
    /// A state was kept with another atlas; see `OtherAtlas`.
    case otherAtlas
}

extension AtlasError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String { "the file \(predicate)" }

    /// What is said of the file, after its name: "is not an atlas".
    package var predicate: String {
        switch self {
        case .unreadable(let number): "cannot be read (system error \(number))"
        case .notAnAtlas: "is not an atlas"
        case .unsupportedVersion(let version):
            "is an atlas of version \(version); this program reads version \(AtlasLayout.version)"
        case .wrongSize: "is truncated or has bytes appended"
        case .malformedHeader: "has a malformed header"
        case .checksumMismatch: "is damaged: its checksum does not match"
        case .changedInUse: "was changed while it was in use; replace an atlas by renaming another into its place"
        case .malformed(let section): "is malformed in section \(section)"
        case .otherAtlas: "is another atlas than the one that the state was kept with"
        }
    }
}

/// Why an atlas cannot be opened.
public struct AtlasFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, as it was named.
    public let path: String
    /// What is wrong with it.
    public let reason: AtlasError

    /// Makes an error of its parts.
    public init(path: String, reason: AtlasError) { (self.path, self.reason) = (path, reason) }

    /// A sentence for people: "world.atlas is not an atlas".
    public var description: String { "\(path) \(reason.predicate)" }
}

/// Why a lookup has no answer. No case carries a position.
public enum LookupError: Error, Hashable, Sendable {
    /// The coordinate is invalid.
    case coordinate(CoordinateError)
    /// The region handle is `Region.invalid` or comes from another atlas.
    case foreignRegion
    /// The atlas is damaged where the lookup reads it. An atlas that was validated as a whole never gives this.
    case atlas(AtlasError)
}

extension LookupError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .coordinate(let error): "\(error)"
        case .foreignRegion: "the region is not one of this atlas"
        case .atlas(let error): "the atlas \(error.predicate)"
        }
    }
}
