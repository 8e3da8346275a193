/// The bytes of a state file, made or made to fit for tests: written from the description of the format alone (the
/// comment of `PaceJournal`), with no code of the reader.
package struct StateFile: Sendable {
    package var bytes: [UInt8]

    private static let headerBytes = 56, frameBytes = 32, recordBytes = 184

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Writing

    /// What a device was answered: its key (nil for that of a table without keys), its last answer's cell and time.
    package struct Device: Sendable {
        package var key: String?
        package var nanoseconds: Int
        package var region: Int

        package init(key: String?, nanoseconds: Int, region: Int) {
            (self.key, self.nanoseconds, self.region) = (key, nanoseconds, region)
        }

        /// The record.
        package var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(key?.utf8.count ?? 0xFFFF_FFFF, 4)
            bytes.append(1, 4)
            bytes += [2, 0, 0, 0, 0, 0, 0, 0]
            for number in [nanoseconds, region] { bytes.append(number, 8) }
            bytes += [UInt8](repeating: 0, count: 152)
            StateFile.sealRecord(&bytes, at: 0)
            return bytes + Array((key ?? "").utf8)
        }
    }

    /// A state without frames.
    package init(fingerprint: Int, intervalNanoseconds: Int = 900_000_000_000, devices: [Device]) {
        bytes = [UInt8](repeating: 0, count: Self.headerBytes) + devices.flatMap(\.bytes)
        bytes.replace(at: 32, bytes.count - Self.headerBytes, 8)
        sealHeader(fingerprint: UInt64(bitPattern: Int64(fingerprint)), intervalNanoseconds: intervalNanoseconds)
    }

    /// Appends a frame.
    package mutating func append(frame kind: Int, _ content: [UInt8]) {
        var frame: [UInt8] = []
        frame.append(kind, 4)
        frame.append(0, 4)
        frame.append(content.count, 8)
        frame.append(AtlasFixture.checksum(content[...]), 8)
        frame.append(AtlasFixture.checksum(frame[...]), 8)
        bytes += frame + content
    }

    // MARK: Making bytes fit

    /// Magic, version, purpose and checksums; the snapshot is as long as the header says, or else all that follows it.
    package mutating func sealHeader(fingerprint: UInt64, intervalNanoseconds: Int) {
        guard bytes.count >= Self.headerBytes else { return }
        bytes.replaceSubrange(0..<8, with: Array("HEREPACE".utf8))
        bytes.replace(at: 8, 4, 4)
        bytes.replace(at: 12, 0, 4)
        bytes.replace(at: 16, Int(truncatingIfNeeded: fingerprint), 8)
        bytes.replace(at: 24, intervalNanoseconds, 8)
        let length = snapshotLength
        bytes.replace(at: 32, length, 8)
        bytes.replace(at: 40, AtlasFixture.checksum(bytes[Self.headerBytes..<Self.headerBytes + length]), 8)
        bytes.replace(at: 48, AtlasFixture.checksum(bytes[..<48]), 8)
    }

    /// The checksums of the frames, as far as their lengths lead from one to the next.
    package mutating func sealFrames() {
        guard bytes.count >= Self.headerBytes else { return }
        var start = Self.headerBytes + snapshotLength
        while start + Self.frameBytes <= bytes.count {
            let content = start + Self.frameBytes, left = bytes.count - content
            var length = number(at: start + 8, 8)
            if !(0...left).contains(length) {
                length = left
                bytes.replace(at: start + 8, length, 8)
            }
            bytes.replace(at: start + 4, 0, 4)
            bytes.replace(at: start + 16, AtlasFixture.checksum(bytes[content..<content + length]), 8)
            bytes.replace(at: start + 24, AtlasFixture.checksum(bytes[start..<start + 24]), 8)
            start = content + length
        }
    }

    /// The check sums of the snapshot's records, as far as their lengths lead from one to the next.
    package mutating func sealRecords() {
        guard bytes.count >= Self.headerBytes else { return }
        var start = Self.headerBytes
        while start + Self.recordBytes <= bytes.count {
            Self.sealRecord(&bytes, at: start)
            let length = number(at: start, 4)
            start += Self.recordBytes + (length == 0xFFFF_FFFF ? 0 : length)
        }
    }

    /// 32-bit FNV-1a of the 176 bytes of a record's state, its own four as zero.
    private static func sealRecord(_ bytes: inout [UInt8], at start: Int) {
        bytes.replace(at: start + 12, 0, 4)
        let sum = bytes[start + 8..<start + 184].reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        bytes.replace(at: start + 12, Int(sum), 4)
    }

    private var snapshotLength: Int {
        let length = number(at: 32, 8), left = bytes.count - Self.headerBytes
        return (0...left).contains(length) ? length : left
    }

    private func number(at offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
}
