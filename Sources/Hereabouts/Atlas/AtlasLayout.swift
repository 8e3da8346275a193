/// Offsets and limits of the atlas file, version 7. The specification is `data/FORMAT.md`.
package enum AtlasLayout {
    package static let magic: [UInt8] = [0x48, 0x45, 0x52, 0x45, 0x41, 0x54, 0x4C, 0x0A]
    package static let version: UInt32 = 7
    package static let headerSize = 216
    /// Where the table of sections begins in the header.
    package static let sectionTable = 0x48
    /// Where the first chunk begins: the rest of the header is covered by chunks too.
    package static let chunkStart = 0x20
    /// Bytes of content per checksum. A multiple of 8, so no record of a table spans two chunks.
    package static let chunkSize = 1 << 14

    package enum Section: Int, CaseIterable {
        case top, blocks, cuts, centers, labels, anonymity, concentration, names, about
        package var name: String { "\(self)" }
    }

    package static let topLevel = 7
    package static let topCount = 6 << (2 * topLevel)
    /// The finest level a run or a cut can have.
    package static let finestLevel = 15
    package static let isUniform: UInt32 = 0x8000_0000
    package static let isCut: UInt32 = 0x80_0000
    /// Levels of nodes in a block: the entries of the last are for cells of the finest level.
    package static let nodeLevels = finestLevel - topLevel
    /// Clear in the byte of a quarter of one listed value: the byte is its position in the block's list. Else the low two
    /// bits name a place behind the node's four bytes: an entry's, or, with `isFollowed`, that of the quarter's node.
    package static let isPlace: UInt8 = 0x80
    /// Set beside `isPlace` in the byte of a node's first divided quarter, whose node begins where the entries end.
    package static let isFollowed: UInt8 = 0x04
    /// The most bytes of a node: one for each quarter, and four entries.
    static let largestNode = 20
    /// Set in an entry of one value.
    package static let isLeaf: UInt32 = 0x8000_0000
    /// Set in an entry of four values, each given by its position in the block's list.
    package static let isQuartet: UInt32 = 0x4000_0000
    package static let positionBits: UInt32 = 7
    /// The largest blocks section in bytes: entries have 30 bits for an offset in units of 4.
    package static let maximumBlockBytes = Int(clamping: UInt64(1) << 32)
    /// The most values of a block's list.
    package static let listLimit = 1 << Int(positionBits)
    /// In memory only: set in the once-table entry of a validated block.
    static let isValidated: UInt32 = 0x4000_0000
    /// How many consecutive regions have their records validated together.
    static let groupSize = 1 << groupBits
    static let groupBits = 5
    package static let maximumRegions = 1 << 23 - 1
    package static let maximumNames = 1 << 18 - 2
    package static let maximumCountries = 1 << 13 - 1

    /// Level at and below which cuts have one-byte coordinates.
    package static let fineCutLevel = 11
    package static let fineGrid: Int32 = 255
    package static let coarseGrid: Int32 = 4096

    /// How many chunks a file of a size has: each with its checksum, 8 bytes, in the table that ends the file.
    package static func chunkCount(fileSize: Int) -> Int { (fileSize - chunkStart + chunkSize + 7) / (chunkSize + 8) }

    /// The position in the top table of the level-7 cell that a leaf cell is in.
    @inline(__always)
    package static func topCell(of leaf: FaceIJ) -> Int {
        Int(leaf.face) << 14 | Int(leaf.i >> 23) << 7 | Int(leaf.j >> 23)
    }

    /// The key of a position within its level-7 cell: bits 22…15 of i and j, interleaved, i above j.
    @inline(__always)
    package static func key(i: UInt32, j: UInt32) -> UInt32 {
        spread(i >> 15 & 0xff) << 1 | spread(j >> 15 & 0xff)
    }

    /// Interleaves the low eight bits with zeros.
    @inline(__always)
    private static func spread(_ bits: UInt32) -> UInt32 {
        var x = bits
        x = (x | x << 4) & 0x0f0f
        x = (x | x << 2) & 0x3333
        return (x | x << 1) & 0x5555
    }
}
