import Hereabouts

extension TraceFormat {
    /// The trajectories of Microsoft Research's Geolife, whose extension (plt) is OziExplorer's. Not written.
    package static let geolife = TraceFormat(
        name: "geolife", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            var isGeolife = false
            unsafe try reader.peek { bytes, isAtEnd in
                let found = unsafe GeolifeStart.recognize(bytes, isAtEnd: isAtEnd)
                isGeolife = found == true
                return found != nil
            }
            return isGeolife
        },
        open: { (reader, options) throws(TraceError) in
            try LineInput(reader) { _ in GeolifeReader(options: options) }
        },
        makeSink: nil)
}

/// The first two lines of a trajectory: what it is, and its datum. One with another datum is none of these.
enum GeolifeStart {
    static let title = "geolife trajectory"
    private static let datum = "wgs 84"
    /// Bytes in which the two lines are looked for.
    private static let reach = 256

    /// - Returns: nil where more bytes are needed.
    static func recognize(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Bool? {
        // SAFETY: slices are within the bytes.
        let head = unsafe UnsafeBufferPointer(rebasing: bytes.prefix(reach))
        let isComplete = isAtEnd || bytes.count >= reach
        let lines = unsafe head.split(maxSplits: 2, omittingEmptySubsequences: false) { $0 == 10 }
        guard unsafe lines.count > 1 || isComplete else { return nil }
        guard unsafe isLine(lines[0], title), unsafe lines.count > 1 else { return false }
        guard unsafe lines.count > 2 || isComplete else { return nil }
        return unsafe isLine(lines[1], datum)
    }

    /// Whether a line is these small letters, in any case, blanks around it aside.
    static func isLine(_ line: Slice<UnsafeBufferPointer<UInt8>>, _ letters: String) -> Bool {
        var text = unsafe line.drop { $0 <= 0x20 }
        while let last = unsafe text.last, last <= 0x20 { unsafe text.removeLast() }
        return unsafe text.elementsEqual(letters.utf8) { (0x41...0x5a).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
    }
}
