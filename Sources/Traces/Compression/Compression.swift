/// How a file is compressed.
package enum Compression: String, CaseIterable, Sendable {
    /// RFC 1952, of one or several members.
    case gzip
    /// RFC 8878, of one or several frames.
    case zstd

    /// That of a file name extension, in any case; nil for any other.
    package init?(extension name: String) {
        switch name.lowercased() {
        case "gz", "gzip": self = .gzip
        case "zst", "zstd": self = .zstd
        default: return nil
        }
    }

    /// That of a file's name.
    package init?(ofFile name: String) {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        self.init(extension: String(name[name.index(after: dot)...]))
    }

    /// Bytes that `init(startingWith:)` looks at.
    static let magicBytes = 4

    /// That of a file that starts so; nil for any other, and for one that is shorter.
    init?(startingWith bytes: some Collection<UInt8>) {
        if bytes.starts(with: [0x1f, 0x8b, 8]) {
            self = .gzip
        } else if bytes.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) || Self.isSkippable(Array(bytes.prefix(4))) {
            self = .zstd
        } else {
            return nil
        }
    }

    /// A frame of zstd that holds no data: 0x184D2A50 to 0x184D2A5F.
    private static func isSkippable(_ magic: [UInt8]) -> Bool {
        magic.count == 4 && magic[0] & 0xf0 == 0x50 && magic[1...] == [0x2a, 0x4d, 0x18]
    }

    /// Whether a file that starts with this byte may be compressed.
    static func mayStart(with byte: UInt8) -> Bool { byte == 0x1f || byte == 0x28 || byte & 0xf0 == 0x50 }
}
