import Hereabouts
import TextCoding

/// A position as KML writes it: longitude, latitude and perhaps an altitude.
struct Tuple {
    /// Degrees; not numbers where they cannot be read.
    var coordinate: Coordinate
    /// What is wrong with it, apart from its range.
    var problem: RecordProblem.Reason? {
        if coordinate.latitude.isNaN && coordinate.longitude.isNaN {
            return isMissing ? .positionMissing : .positionUnreadable
        }
        if coordinate.latitude.isNaN { return .latitudeUnreadable }
        return coordinate.longitude.isNaN ? .longitudeUnreadable : nil
    }
    private var isMissing = false

    static let unreadable = Tuple(coordinate: .invalid)

    private init(coordinate: Coordinate) { self.coordinate = coordinate }

    /// `longitude,latitude[,altitude]`, without blanks.
    init(_ text: UnsafeBufferPointer<UInt8>) {
        // SAFETY: here and below, all ranges are within the text.
        guard let comma = unsafe text.firstIndex(of: UInt8(ascii: ",")) else {
            self = .unreadable
            return
        }
        let rest = unsafe UnsafeBufferPointer(rebasing: text[(comma + 1)...])
        let end = unsafe rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.count
        guard unsafe !rest[end...].dropFirst().contains(UInt8(ascii: ",")) else {
            self = .unreadable
            return
        }
        coordinate = Coordinate(
            latitude: unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: rest[..<end])) ?? .nan,
            longitude: unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: text[..<comma])) ?? .nan)
    }

    /// `longitude latitude [altitude]`, with any blanks.
    init(blankSeparated text: UnsafeBufferPointer<UInt8>) {
        let words = unsafe text.split { $0 <= 0x20 }
        guard unsafe (2...3).contains(words.count) else {
            self = .unreadable
            unsafe isMissing = words.isEmpty
            return
        }
        coordinate = Coordinate(
            latitude: unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: words[1])) ?? .nan,
            longitude: unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: words[0])) ?? .nan)
    }
}

/// Cuts the text of `coordinates`, which comes in pieces of any length, into tuples between blanks.
struct TupleScanner {
    /// The longest tuple that is read, in bytes.
    private static let maximumBytes = 256
    /// The start of a tuple whose end did not come yet.
    private var start: [UInt8] = []

    mutating func removeAll() { start.removeAll(keepingCapacity: true) }

    /// Takes some of the text.
    ///
    /// - Parameters:
    ///   - line: where it begins, and then where it ends.
    ///   - body: called with each tuple and its line.
    mutating func take(
        _ bytes: UnsafeBufferPointer<UInt8>, line: inout Int, _ body: (_ tuple: Tuple, _ line: Int) -> Void
    ) {
        var at = 0
        // SAFETY: `at` and `end` are tested against the count.
        while at < bytes.count {
            let byte = unsafe bytes[at]
            guard byte > 0x20 || !start.isEmpty else {
                if byte == 10 { line += 1 }
                at += 1
                continue
            }
            var end = at
            while end < bytes.count, unsafe bytes[end] > 0x20 { end += 1 }
            let part = unsafe UnsafeBufferPointer(rebasing: bytes[at..<end])
            if end == bytes.count {
                unsafe keep(part)
            } else if start.isEmpty {
                unsafe body(Tuple(part), line)
            } else {
                unsafe keep(part)
                if let tuple = finish() { body(tuple, line) }
            }
            at = end
        }
    }

    private mutating func keep(_ part: UnsafeBufferPointer<UInt8>) {
        unsafe start += part.prefix(max(0, Self.maximumBytes + 1 - start.count))
    }

    /// The tuple that the text ends with, if there is one.
    mutating func finish() -> Tuple? {
        guard !start.isEmpty else { return nil }
        defer { start.removeAll(keepingCapacity: true) }
        return start.count > Self.maximumBytes
            ? .unreadable : unsafe start.withUnsafeBufferPointer { unsafe Tuple($0) }
    }
}
