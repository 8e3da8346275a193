/// The files of Tests/Fixtures: atlases and states that are cut off, damaged, of other versions, or that lie. What each
/// must give stands in the README beside them.
package enum HostileFiles {
    /// The atlas that the others are changes of.
    package static let sound = AtlasFixture.small.file()

    // MARK: Atlases

    /// Every hostile atlas by its name.
    package static let atlases: [(name: String, bytes: [UInt8])] = headers + lengths + damages + lies

    /// `sound` with a number written over what is there, and checksums that fit unless the header is all that changed.
    private static func changed(_ offset: Int, _ number: Int, _ size: Int) -> [UInt8] {
        var bytes = sound.bytes
        bytes.replace(at: offset, number, size)
        if offset >= 0x20 { AtlasFixture.seal(&bytes) }
        return bytes
    }

    private static func changed(section: Int, _ offset: Int, _ number: Int, _ size: Int) -> [UInt8] {
        changed(sound.layout.sections[section].lowerBound + offset, number, size)
    }

    private static let headers: [(name: String, bytes: [UInt8])] = [
        ("version-1", changed(0x08, 1, 4)),
        ("version-2", changed(0x08, 2, 4)),
        ("version-3", changed(0x08, 3, 4)),
        ("version-4", changed(0x08, 4, 4)),
        ("version-5", changed(0x08, 5, 4)),
        ("version-6", changed(0x08, 6, 4)),
        ("version-8", changed(0x08, 8, 4)),
        ("magic-foreign", changed(0x00, 0x04034B50, 4)),
        ("magic-text-transfer", changed(0x07, 0x0D, 1)),
        ("header-size", changed(0x0C, 256, 4)),
        ("file-size", changed(0x10, -1, 8)),
        ("no-regions", changed(0x20, 0, 4)),
        ("too-many-regions", changed(0x20, 1 << 23, 4)),
        ("too-many-countries", changed(0x24, 8_192, 4)),
        ("too-many-names", changed(0x28, 1 << 18, 4)),
        ("sections-overlap", changed(0x48 + 16 * 2, sound.layout.sections[1].lowerBound, 8)),
        ("section-out-of-range", changed(0x48 + 16 * 3, 1 << 40, 8)),
        ("section-size-out-of-range", changed(0x50 + 16 * 8, Int.max, 8)),
        ("section-offset-negative", changed(0x48 + 16, -8, 8)),
    ]

    private static let lengths: [(name: String, bytes: [UInt8])] = [
        ("truncated-magic", Array(sound.bytes.prefix(5))),
        ("truncated-header", Array(sound.bytes.prefix(100))),
        ("truncated-section", Array(sound.bytes.prefix(200_000))),
        ("truncated-checksums", Array(sound.bytes.dropLast(8))),
        ("appended", sound.bytes + [UInt8](repeating: 0, count: 8)),
    ]

    private static let damages: [(name: String, bytes: [UInt8])] = {
        func flipped(_ offset: Int) -> [UInt8] {
            var bytes = sound.bytes
            bytes[offset] ^= 0x10
            return bytes
        }
        return [
            ("bit-in-header-checksum", flipped(0x18)),
            ("bit-in-counts", flipped(0x2C)),
            ("bit-in-top", flipped(sound.layout.sections[0].lowerBound + 4 * 5_000)),
            ("bit-in-names", flipped(sound.layout.sections[7].upperBound - 1)),
            ("bit-in-checksums", flipped(sound.bytes.count - 4)),
        ]
    }()

    /// With checksums that fit.
    private static let lies: [(name: String, bytes: [UInt8])] = {
        // Its quarters: one value, one value, divided and followed by its node, divided and with an entry.
        let root = firstRoot
        return [
            ("top-region", changed(section: 0, 4 * cell, 1 << 31 | 4_000, 4)),
            ("top-block", changed(section: 0, 4 * cell, 0x3FFF_FFFC, 4)),
            ("top-kind", changed(section: 0, 4 * cell, 0x7FFF_FFFF, 4)),
            ("node-entry-order", changed(quarters: [0, 1, 133, 129])),
            ("node-byte", changed(quarters: [0, 136, 133, 128])),
            ("node-follows-in-entries", changed(quarters: [0, 1, 132, 128])),
            ("node-follows-behind", changed(quarters: [0, 1, 134, 128])),
            ("node-follows-twice", changed(quarters: [0, 133, 133, 128])),
            ("node-follows-late", changed(quarters: [0, 128, 1, 133])),
            ("node-follows-not", followsNot),
            ("node-follows-deep", followsDeep),
            ("node-follows-beyond", followsBeyond),
            ("node-cycle", changed(section: 1, root + 4, root / 4, 4)),
            ("node-misordered", changed(section: 1, root + 4, root / 4 + 1, 4)),
            ("node-beyond", changed(section: 1, root + 4, 0x3FFF_FFFF, 4)),
            ("node-list-beyond", changed(section: 1, root, 127, 1)),
            ("node-quartet-beyond", changed(section: 1, root + 4, 1 << 30 | 127 << 21, 4)),
            ("node-region", changed(section: 1, root + 4, 1 << 31 | 4_000, 4)),
            ("node-cut", changed(section: 1, root + 4, 1 << 31 | 1 << 23 | 0x7F_FFFF, 4)),
            ("cut-level-low", changed(section: 2, 0, 6, 1)),
            ("cut-level-high", changed(section: 2, 0, 16, 1)),
            ("cut-rank", changed(section: 2, 1, 0, 1)),
            ("cut-chains-beyond", changed(section: 2, 3, 255, 1)),
            ("cut-chain-short", changed(section: 2, 12, 1, 1)),
            ("cut-region", changed(section: 2, 4, 4_000, 4)),
            ("latitude-out-of-range", changed(section: 3, 0, 18_000_001 | 18_000_000 << 25 | 200 << 51, 8)),
            ("accuracy-zero", changed(section: 3, 6, 0, 2)),
            ("label-country", changed(section: 4, 0, 8_191 << 19, 4)),
            ("label-name", changed(section: 4, 0, 0x3_FFFF, 4)),
            ("names-late", changed(section: 7, 0, 1, 4)),
            ("names-descending", changed(section: 7, 8, 2, 4)),
            ("names-beyond", changed(section: 7, 12, 60_000, 4)),
            ("name-too-long", nameTooLong),
        ]
    }()

    /// The position in the top of the cell that the first block divides.
    private static let cell = AtlasFixture.cell(AtlasFixture.places[0])

    /// The offset of the first block's root in its section.
    private static let firstRoot: Int = {
        let entry = sound.layout.sections[0].lowerBound + 4 * cell
        return (0..<4).reduce(0) { $0 | Int(sound.bytes[entry + $1]) << (8 * $1) } * 4
    }()

    /// `sound` with other bytes for the quarters of the first root.
    private static func changed(quarters: [Int]) -> [UInt8] {
        changed(section: 1, firstRoot, quarters.reversed().reduce(0) { $0 << 8 | $1 }, 4)
    }

    /// The first divided quarter of the root has an entry, with the offset that its node begins at.
    private static let followsNot: [UInt8] = {
        var bytes = sound.bytes
        let root = sound.layout.sections[1].lowerBound + firstRoot
        bytes.replace(at: root + 2, 128 | 1 << 8, 2)
        bytes.replace(at: root + 4, (firstRoot + 8) / 4, 4)
        AtlasFixture.seal(&bytes)
        return bytes
    }()

    /// Nodes follow each other down to below the finest cells.
    private static let followsDeep: [UInt8] = {
        var bytes = sound.bytes
        let root = sound.layout.sections[1].lowerBound + firstRoot
        for level in 0..<9 { bytes.replace(at: root + 4 * level, level < 8 ? 132 : 0, 4) }
        AtlasFixture.seal(&bytes)
        return bytes
    }()

    /// The section ends where the last node would begin.
    private static let followsBeyond: [UInt8] = {
        var bytes = sound.bytes
        let blocks = sound.layout.sections[1]
        bytes.replace(at: sound.layout.sections[0].lowerBound + 4 * cell, blocks.count / 4 - 1, 4)
        bytes.replace(at: blocks.upperBound - 4, 132, 4)
        AtlasFixture.seal(&bytes)
        return bytes
    }()

    private static let nameTooLong: [UInt8] = {
        var atlas = AtlasFixture.small
        atlas.names[1] = String(repeating: "x", count: 256)
        return atlas.bytes
    }()

    // MARK: States

    /// A state for `sound` and 15 minutes: device `a` was answered at 2026-03-01T08:00:00Z, where the first place is.
    private static let device = StateFile.Device(
        key: "a", nanoseconds: 1_772_352_000_000_000_000, region: firstPlaceCell)

    /// The level-18 cell that the center of the first place's region is in, which identifies the region.
    private static let firstPlaceCell = Int(bitPattern: 0x86E7_58FD_CF00_0000)

    private static let fingerprint = (0..<8).reduce(0) { $0 | Int(sound.bytes[0x18 + $1]) << (8 * $1) }

    /// Every state by its name, sound ones too.
    package static let states: [(name: String, bytes: [UInt8])] = {
        let sealed = StateFile(fingerprint: fingerprint, devices: [device])
        var framed = StateFile(fingerprint: fingerprint, devices: [])
        framed.append(frame: 1, device.bytes)
        framed.append(frame: 3, [])
        var lying = sealed.bytes
        func changed(_ offset: Int, _ number: Int, _ size: Int, in bytes: [UInt8] = sealed.bytes) -> [UInt8] {
            var bytes = bytes
            bytes.replace(at: offset, number, size)
            return bytes
        }
        /// The device's record with numbers changed, and checksums that fit.
        func lie(_ changes: (offset: Int, number: Int, size: Int)...) -> [UInt8] {
            var bytes = sealed.bytes
            for change in changes { bytes = changed(56 + change.offset, change.number, change.size, in: bytes) }
            var file = StateFile(bytes)
            file.sealRecords()
            file.sealHeader(
                fingerprint: UInt64(bitPattern: Int64(fingerprint)), intervalNanoseconds: 900_000_000_000)
            return file.bytes
        }
        lying[60] ^= 1
        return [
            ("sound", sealed.bytes),
            ("framed", framed.bytes),
            ("torn-frame", framed.bytes + Array(framed.bytes[56..<100])),
            ("empty", []),
            ("foreign", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)),
            ("table", Array("id,time,lat,lon\na,1772352000,31.76,-106.49\n".utf8)),
            ("version-2", changed(8, 2, 4)),
            ("version-5", changed(8, 5, 4)),
            ("truncated-magic", Array(sealed.bytes.prefix(5))),
            ("truncated-header", Array(sealed.bytes.prefix(50))),
            ("truncated-snapshot", Array(sealed.bytes.dropLast(1))),
            ("bit-in-header", changed(33, 1, 1)),
            ("bit-in-snapshot", lying),
            ("bit-in-frame", changed(56 + 8, 7, 1, in: framed.bytes)),
            ("frame-kind", frame(kind: 9)),
            ("other-atlas", StateFile(fingerprint: fingerprint ^ 1, devices: [device]).bytes),
            (
                "other-interval",
                StateFile(fingerprint: fingerprint, intervalNanoseconds: 60_000_000_000, devices: [device]).bytes
            ),
            ("key-beyond", lie((0, 4_000, 4))),
            ("key-negative", lie((0, 0xFFFF_FFFE, 4))),
            ("flag", lie((4, 8, 4))),
            ("record-version", lie((8, 1, 1))),
            ("resting-flag", lie((9, 2, 1))),
            ("region-not-a-cell", lie((24, 2, 8))),
            ("region-for-no-time", lie((72, firstPlaceCell, 8))),
            ("time-of-no-region", lie((168, 60, 4))),
            ("region-twice", lie((72, firstPlaceCell, 8), (80, firstPlaceCell, 8), (168, 60, 4), (172, 60, 4))),
        ]
    }()

    private static func frame(kind: Int) -> [UInt8] {
        var file = StateFile(fingerprint: fingerprint, devices: [])
        file.append(frame: kind, [])
        return file.bytes
    }

    // MARK: Patches

    /// What makes a file of `sound`: its size, then bytes at offsets in hexadecimal, as `xxd -r` reads them.
    package static func patch(_ bytes: [UInt8]) -> String {
        var text = "size \(bytes.count)\n", offset = 0
        while offset < bytes.count {
            // What is the same goes by in large steps.
            if offset % 4096 == 0, bytes[offset...].prefix(4096) == sound.bytes.dropFirst(offset).prefix(4096) {
                offset += 4096
                continue
            }
            let row = bytes[offset..<min(offset + 16, bytes.count)]
            let before = sound.bytes.count >= row.endIndex ? sound.bytes[row.indices] : []
            if before != row { text += "\(hexadecimal(offset, 8)): \(row.map { hexadecimal(Int($0), 2) }.joined())\n" }
            offset += 16
        }
        return text
    }

    /// The file that a patch makes.
    package static func applied(_ patch: String, to sound: [UInt8]) -> [UInt8]? {
        let lines = patch.split(separator: "\n")
        guard let first = lines.first, first.hasPrefix("size "), let size = Int(first.dropFirst(5)) else { return nil }
        var bytes = Array(sound.prefix(size))
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":")
            guard parts.count == 2, let offset = Int(parts[0], radix: 16) else { return nil }
            let digits = Array(parts[1].drop { $0 == " " })
            for position in stride(from: 0, to: digits.count, by: 2) {
                guard let byte = UInt8(String(digits[position...position + 1]), radix: 16),
                    offset + position / 2 < size
                else { return nil }
                bytes[offset + position / 2] = byte
            }
        }
        return bytes
    }

    private static func hexadecimal(_ number: Int, _ width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: width - digits.count) + digits
    }
}
