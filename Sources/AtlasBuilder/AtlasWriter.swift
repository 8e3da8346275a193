import Hereabouts

/// Writes the atlas file (`data/FORMAT.md`) from finished regions.
struct AtlasWriter {
    let roots: [RootParts]
    let records: [RegionRecord]
    /// The record of every part of every root.
    let owners: [[UInt32]]
    /// Codes by country index; index 0 is no country.
    let countryCodes: [String]
    let limits: RegionLimits
    /// By region, in the steps of the format.
    let concentrations: [UInt8]
    let aboutJSON: String

    /// The file's bytes.
    func bytes() throws -> [UInt8] {
        guard records.count <= AtlasLayout.maximumRegions else { throw BuildError.tooMany(what: "regions") }
        guard countryCodes.count <= AtlasLayout.maximumCountries else { throw BuildError.tooMany(what: "countries") }
        var index = CellIndexWriter(roots: roots, owners: owners)
        try index.write()
        let (labels, names, nameCount) = try labelsAndNames()
        var places: [UInt8] = [], anonymity: [UInt8] = []
        for record in records {
            places.append(little: packedPlace(record))
            anonymity.append(
                little: AnonymityRecord(
                    promised: record.people.promised, residents: record.people.residents,
                    anonymity: Int(limits.anonymity)
                ).bits)
        }
        var about: [UInt8] = []
        for code in countryCodes { about += Array((code + String(repeating: "\0", count: 8)).utf8.prefix(8)) }
        about += Array(aboutJSON.utf8)
        return file(
            sections: [index.top, index.blocks, index.cuts, places, labels, anonymity, concentrations, names, about],
            nameCount: nameCount)
    }

    /// The record of every part of every root.
    static func owners(of records: [RegionRecord], in roots: [RootParts]) -> [[UInt32]] {
        var owners = roots.map { [UInt32](repeating: .max, count: $0.parts.count) }
        for (index, record) in records.enumerated() {
            for member in record.members { owners[Int(member.root)][Int(member.part)] = UInt32(index) }
        }
        return owners
    }

    private func packedPlace(_ record: RegionRecord) -> UInt64 {
        UInt64(record.latitudeE5 + 9_000_000) | UInt64(record.longitudeE5 + 18_000_000) << 25
            | UInt64(record.accuracy / 10) << 51
    }

    private func labelsAndNames() throws -> (labels: [UInt8], names: [UInt8], count: Int) {
        let names = Set(records.compactMap { $0.name.map(Self.shortened) }).sorted {
            Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
        }
        guard names.count <= AtlasLayout.maximumNames else { throw BuildError.tooMany(what: "names") }
        var position: [String: UInt32] = [:]
        var offsets: [UInt8] = [], text: [UInt8] = []
        for (index, name) in names.enumerated() {
            position[name] = UInt32(index)
            offsets.append(little: UInt32(text.count))
            text += Array(name.utf8)
        }
        offsets.append(little: UInt32(text.count))
        var labels: [UInt8] = []
        for record in records {
            let name = record.name.map { position[Self.shortened($0)]! + 1 } ?? 0
            labels.append(little: name | (record.isNear ? 1 << 18 : 0) | UInt32(record.country) << 19)
        }
        return (labels, offsets + text, names.count)
    }

    /// A name in at most 255 bytes of UTF-8.
    private static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > 255 { name.removeLast() }
        return name
    }

    private func file(sections: [[UInt8]], nameCount: Int) -> [UInt8] {
        var body: [UInt8] = []
        var table: [UInt8] = []
        for section in sections {
            table.append(little: UInt64(AtlasLayout.headerSize + body.count))
            table.append(little: UInt64(section.count))
            body += section
            body += [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
        }
        var checked: [UInt8] = []
        for value in [
            records.count, countryCodes.count, nameCount, Int(limits.steadiness), Int(limits.anonymity),
            Int(limits.smallestAccuracy), Int(limits.largestAccuracy), Int(limits.largestEmptyAccuracy),
            Int(limits.largestLeftoverAccuracy), 0,
        ] { checked.append(little: UInt32(value)) }
        checked += table + body
        let sums = Self.checksums(checked)
        var header = AtlasLayout.magic
        header.append(little: AtlasLayout.version)
        header.append(little: UInt32(AtlasLayout.headerSize))
        header.append(little: UInt64(AtlasLayout.chunkStart + checked.count + sums.count))
        header.append(little: XXH64.hash(sums))
        return header + checked + sums
    }

    /// The checksums of the chunks.
    private static func checksums(_ content: [UInt8]) -> [UInt8] {
        var sums: [UInt8] = []
        // SAFETY: slices end at or before the content's end.
        unsafe content.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: AtlasLayout.chunkSize) {
                let chunk = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[start..<min(start + AtlasLayout.chunkSize, bytes.count)])
                sums.append(little: unsafe XXH64.hash(chunk))
            }
        }
        return sums
    }
}

extension [UInt8] {
    /// Appends a number, lowest byte first.
    mutating func append<Number: FixedWidthInteger>(little value: Number) {
        var value = value
        for _ in 0..<(Number.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: value))
            value >>= 8
        }
    }
}
