import TextCoding

/// One point of a population surface.
package struct PopulationSample: Hashable, Sendable {
    /// Longitude in degrees, -180 … 180.
    package var longitude: Double
    /// Latitude in degrees, -90 … 90.
    package var latitude: Double
    /// Estimated residents of the grid cell around the point; 0 where the file has no data.
    package var population: Double

    /// Makes a sample of its parts, as they are.
    package init(longitude: Double, latitude: Double, population: Double) {
        self.longitude = longitude
        self.latitude = latitude
        self.population = population
    }
}

/// Reads a gridded population surface: rows `longitude,latitude,population`, separated by a comma, blanks or tabs, as
/// `gdal_translate -of XYZ` prints them. A first line that is no row is taken for a header. A population that is
/// negative or not a number means no data, and counts as 0.
package struct PopulationReader {
    /// The file, as the user named it.
    package let path: String

    /// Prepares to read a file.
    package init(path: String) { self.path = path }

    /// Reads the file front to back and hands its samples to `body`, at most 65,536 at a time, in the file's order.
    /// Memory does not grow with the file. O(n).
    /// - Throws: `InputError.unreadable`; `InputError.badRow` for the first row that is not as it should be; what
    ///   `body` throws.
    package func forEachChunk(
        _ body: ([PopulationSample]) throws(InputError) -> Void
    ) throws(InputError) {
        let file = try InputFile(path: path)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var rows = PopulationRows(file: path)
        var filled = 0
        while true {
            let count = try file.read(into: &buffer, at: filled)
            filled += count
            let isLast = count == 0
            // The last line may lack its end. There is always room for it: `parse` leaves at most 64 KiB unread.
            if isLast, filled > 0 {
                buffer[filled] = UInt8(ascii: "\n")
                filled += 1
            }
            let used = try rows.parse(buffer, count: filled, body)
            buffer.replaceSubrange(0..<(filled - used), with: Array(buffer[used..<filled]))
            filled -= used
            if isLast { break }
        }
        try rows.flush(body)
    }
}

/// Turns lines of a population surface into samples, chunk by chunk.
private struct PopulationRows {
    /// No row of three numbers is as long.
    static let longestLine = 65_536
    static let chunkSize = 65_536

    let file: String
    private var line = 0
    private var samples: [PopulationSample] = []

    init(file: String) {
        self.file = file
        samples.reserveCapacity(Self.chunkSize)
    }

    /// Reads the complete lines among the first `count` bytes.
    /// - Returns: how many bytes they take up.
    mutating func parse(
        _ bytes: [UInt8], count: Int, _ body: ([PopulationSample]) throws(InputError) -> Void
    ) throws(InputError) -> Int {
        var start = line == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while let end = lineEnd(bytes, from: start, count: count) {
            line += 1
            try parseLine(bytes, from: start, to: end)
            start = end + 1
            if samples.count == Self.chunkSize { try flush(body) }
        }
        guard count - start < Self.longestLine else { throw .badRow(file: file, line: line + 1, .tooLong) }
        return start
    }

    /// Hands over what is left.
    mutating func flush(_ body: ([PopulationSample]) throws(InputError) -> Void) throws(InputError) {
        guard !samples.isEmpty else { return }
        try body(samples)
        samples.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private func lineEnd(_ bytes: [UInt8], from start: Int, count: Int) -> Int? {
        var offset = start
        while offset < count {
            if bytes[offset] == UInt8(ascii: "\n") { return offset }
            offset += 1
        }
        return nil
    }

    /// Reads the line that ends before `end`, where the line feed is; that byte stops every number.
    @inline(__always)
    private mutating func parseLine(_ bytes: [UInt8], from start: Int, to end: Int) throws(InputError) {
        var offset = start
        Self.skipBlanks(bytes, &offset)
        if offset == end { return }
        guard let longitude = DecimalNumber.read(bytes, at: &offset, .table) else {
            return try header(bytes[offset..<end])
        }
        let hasSeparators = Self.skipSeparator(bytes, &offset)
        guard hasSeparators, let latitude = DecimalNumber.read(bytes, at: &offset, .table) else {
            throw problem(offset < end ? .badNumber(column: "latitude") : .fieldCount)
        }
        guard Self.skipSeparator(bytes, &offset), let population = DecimalNumber.read(bytes, at: &offset, .table) else {
            throw problem(offset < end ? .badNumber(column: "population") : .fieldCount)
        }
        Self.skipBlanks(bytes, &offset)
        guard offset == end else { throw problem(.fieldCount) }
        guard abs(longitude) <= 180 else { throw problem(.longitudeOutOfRange) }
        guard abs(latitude) <= 90 else { throw problem(.latitudeOutOfRange) }
        guard population.isNaN || population < 1e11 else { throw problem(.populationOutOfRange) }
        let people = population > 0 ? population : 0
        samples.append(PopulationSample(longitude: longitude, latitude: latitude, population: people))
    }

    /// Takes a first line that is no row for a header, and makes sure that it does not name the columns in another
    /// order.
    private func header(_ text: ArraySlice<UInt8>) throws(InputError) {
        guard line == 1 else { throw problem(.badNumber(column: "longitude")) }
        guard !text.dropLast().contains(0x0D) else { throw problem(.returnAlone) }
        let first = String(decoding: text, as: UTF8.self).lowercased().split { !$0.isLetter }.first ?? ""
        if ["y", "lat", "latitude"].contains(first) { throw problem(.columnsOutOfOrder) }
    }

    private func problem(_ problem: RowProblem) -> InputError { .badRow(file: file, line: line, problem) }

    /// Moves past blanks, tabs and the carriage return before a line feed.
    @inline(__always)
    private static func skipBlanks(_ bytes: [UInt8], _ offset: inout Int) {
        while bytes[offset] == 0x20 || bytes[offset] == 0x09 || bytes[offset] == 0x0D { offset += 1 }
    }

    /// Moves past blanks with at most one comma among them; false if there is nothing of the kind.
    @inline(__always)
    private static func skipSeparator(_ bytes: [UInt8], _ offset: inout Int) -> Bool {
        let start = offset
        skipBlanks(bytes, &offset)
        if bytes[offset] == UInt8(ascii: ",") {
            offset += 1
            skipBlanks(bytes, &offset)
        }
        return offset > start
    }
}
