/// The world's regions, from one file.
///
/// ```swift
/// let atlas = try Atlas(contentsOf: "world.atlas")
/// let here = try atlas.reducedLocation(at: Coordinate(latitude: 31.7587, longitude: -106.4869))
/// print(here.place?.name ?? "", here.country, here.horizontalAccuracy)
/// ```
///
/// An atlas is a handle to a read-only mapping: copies are cheap, any number of threads may use it, and a lookup takes
/// no lock and allocates nothing. Do not write to the file while it is in use: replace it by renaming another into its
/// place. `checkUnchanged()` detects a file that was modified.
public struct Atlas: Sendable {
    let file: AtlasFile
    /// Once-table of validated top entries; 0 for cells not validated yet.
    let entries: OnceTable
    /// Once-table: nonzero for groups of regions whose center and label records are validated.
    let groups: OnceTable
    let top, blocks, cuts, places, labels, anonymities, concentrations, names, about: AtlasBytes

    /// How many regions there are.
    public let regionCount: Int
    let countryCount: Int
    let nameCount: Int
    /// How far beyond each region its published circle reaches, meters: a device may keep its region that far.
    public let steadinessMeters: Double
    /// The limits the regions were made for.
    public let limits: Limits
    /// The mark of this atlas's handles, in its place; see `Region`.
    let mark: UInt32

    /// What the builder of an atlas aimed at.
    public struct Limits: Hashable, Sendable {
        /// Residents that a region should promise (K).
        public let anonymity: Int
        /// Smallest horizontal accuracy.
        public let smallestAccuracyMeters: Double
        /// Largest horizontal accuracy of a region of settled land.
        public let largestAccuracyMeters: Double
        /// Largest horizontal accuracy of one that took in what was left between others.
        public let largestLeftoverAccuracyMeters: Double
        /// Largest horizontal accuracy at sea, and where no more than two people per km² live within 16 km.
        public let largestEmptyAccuracyMeters: Double
    }

    /// How much of a file is validated when it is opened.
    public enum Validation: Hashable, Sendable {
        /// All of it: lookups in the atlas find no damage. Some twenty milliseconds for the world.
        case whole
        /// The header. Each other part is validated on first use, and a lookup that finds damage throws it. Some
        /// microseconds, and as many for each part on first use.
        case onFirstUse
    }

    /// Maps an atlas file.
    ///
    /// - Parameters:
    ///   - path: the file, which must not be written to while it is in use.
    ///   - validation: how much of the file to validate now.
    /// - Throws: `AtlasFileError`; nothing is kept open then.
    /// - Complexity: see `Validation`.
    public init(contentsOf path: String, validation: Validation = .whole) throws(AtlasFileError) {
        do throws(AtlasError) {
            try self.init(file: AtlasFile(path: path, readsAll: validation == .whole))
            if validation == .whole { try validate() }
        } catch {
            throw AtlasFileError(path: path, reason: error)
        }
    }

    /// Reads an atlas file into memory of its own: whatever becomes of the file changes nothing, and nothing stays open. For who
    /// is a guest in another's process, where a mapped file that is truncated would end that process.
    ///
    /// - Throws: `AtlasFileError`.
    /// - Complexity: linear, for the copy; see `Validation`.
    public init(copying path: String, validation: Validation = .whole) throws(AtlasFileError) {
        do throws(AtlasError) {
            try self.init(file: AtlasFile(copyingFile: path))
            if validation == .whole { try validate() }
        } catch {
            throw AtlasFileError(path: path, reason: error)
        }
    }

    /// An atlas from bytes in memory, which are copied: no other process can change them.
    ///
    /// - Throws: `AtlasError`.
    /// - Complexity: linear, for the copy.
    public init(bytes: some Collection<UInt8>, validation: Validation = .whole) throws(AtlasError) {
        guard bytes.count >= AtlasLayout.headerSize else { throw .notAnAtlas }
        try self.init(file: AtlasFile(copying: bytes))
        if validation == .whole { try validate() }
    }

    /// Maps an atlas file, validated on first use, for a program that ends when the file turns out to be damaged.
    ///
    /// - Parameter whenDamaged: called, on any thread, when a lookup finds damage.
    /// - Throws: `AtlasFileError` for an unreadable file or an invalid header; nothing is kept open then.
    package init(
        contentsOf path: String, whenDamaged: @escaping @Sendable (AtlasError) -> Never
    ) throws(AtlasFileError) {
        do throws(AtlasError) {
            try self.init(file: AtlasFile(path: path, readsAll: false, whenDamaged: whenDamaged))
        } catch {
            throw AtlasFileError(path: path, reason: error)
        }
    }

    /// Validates the header only.
    init(file: AtlasFile) throws(AtlasError) {
        let header = try AtlasHeader(file)
        self.file = file
        entries = file.entries
        groups = file.groups
        func section(_ section: AtlasLayout.Section) -> AtlasBytes {
            let range = header.sections[section.rawValue]
            return unsafe AtlasBytes(start: file.bytes.baseAddress! + range.lowerBound, count: range.count)
        }
        top = section(.top)
        blocks = section(.blocks)
        cuts = section(.cuts)
        places = section(.centers)
        labels = section(.labels)
        anonymities = section(.anonymity)
        concentrations = section(.concentration)
        names = section(.names)
        about = section(.about)
        regionCount = header.regionCount
        countryCount = header.countryCount
        nameCount = header.nameCount
        steadinessMeters = Double(header.steadiness)
        limits = Limits(
            anonymity: Int(clamping: header.anonymity), smallestAccuracyMeters: Double(header.smallestAccuracy),
            largestAccuracyMeters: Double(header.largestAccuracy),
            largestLeftoverAccuracyMeters: Double(header.largestLeftoverAccuracy),
            largestEmptyAccuracyMeters: Double(header.largestEmptyAccuracy))
        mark = UInt32(truncatingIfNeeded: file.checksum % 510 + 1) << 23
    }

    /// The checksum of the whole content: differs between atlases but for a chance of 2⁻⁶⁴. States that are kept name their
    /// atlas by it.
    public var fingerprint: UInt64 { file.checksum }

    /// Validates that the file was not modified while in use. Call it before publishing answers.
    ///
    /// - Throws: `AtlasError.changedInUse`. Answers since the last call may be wrong then.
    /// - Complexity: one system call; linear in the parts in use where the file's inode was changed.
    public func checkUnchanged() throws(AtlasError) { try file.checkUnchanged() }

    /// All regions, each once. None of them is `Region.invalid`.
    public var regions: Regions { Regions(endIndex: regionCount, mark: mark) }

    /// The regions of an atlas.
    public struct Regions: RandomAccessCollection, Sendable {
        /// Zero.
        public var startIndex: Int { 0 }
        /// How many there are.
        public let endIndex: Int
        fileprivate let mark: UInt32
        /// A region by its position in the atlas.
        public subscript(position: Int) -> Region {
            precondition(indices.contains(position), "a position of the atlas")
            return Region(bits: UInt32(position) | mark)
        }
    }

    /// Whether the file may have been modified: for a process about to end. Async-signal-safe.
    package func mayHaveChanged() -> Bool { file.mayHaveChanged() }
}

extension Atlas: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of regions, and the fingerprint in hexadecimal.
    public var description: String { "Atlas(\(regionCount) regions, \(String(fingerprint, radix: 16)))" }
    /// As `description`.
    public var debugDescription: String { description }
}
