internal import CSimdjson
import Hereabouts
import TextCoding

extension TraceFormat {
    /// What Google exports of a person's location history and timeline. Not written.
    package static let takeout = TraceFormat(
        name: "takeout", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            var isTakeout = false
            unsafe try reader.peek { bytes, isAtEnd in
                let found = unsafe TakeoutStart.recognize(bytes)
                isTakeout = found == true
                return found != nil
            }
            return isTakeout
        },
        open: { (reader, options) throws(TraceError) in try TakeoutInput(reader, options: options) },
        makeSink: nil)
}

/// An export of Google's: `Records.json`, the older `Location History.json`, a month of `Semantic Location History`, and the
/// timeline that a phone exports. A record is an entry of a list, or of the array; its number is in place of a line.
final class TakeoutInput: TraceInput {
    let file: String
    let identity = DeviceIdentity.person
    /// Records have the number of their entry in place of a line.
    let firstLine = 0
    let notices: [Notice] = []
    private var reader: InputReader
    private var entries: JSONElements
    private var takeout: TakeoutReader

    var bytesRead: Int { reader.bytesRead }

    init(_ source: consuming InputReader, options: ConvertRun.Options) throws(TraceError) {
        reader = source
        file = reader.label
        let isArray = try reader.kindOfJSON() == .array
        if isArray { reader.dropFirst(through: UInt8(ascii: "[")) }
        entries = JSONElements(file: file, lists: json_lists_takeout, isInArray: isArray)
        takeout = TakeoutReader(bounds: TimeBounds(options))
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        guard try reader.nextBytes(into: &buffer) else {
            try entries.finish()
            return false
        }
        let bytes = unsafe buffer.bytes
        var at = 0
        while unsafe try entries.next(bytes, &at) {
            unsafe entries.withElement(bytes) { unsafe takeout.read($0, into: &batch) }
        }
        return true
    }

    /// A document is cut into entries in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}

/// Whether an input is an export of Google's, by its first entry.
enum TakeoutStart {
    /// Members that an entry of a list has, at least one of them.
    private static let ofLists: Set = [
        "latitudeE7", "longitudeE7", "timestampMs", "deviceTag", "activitySegment", "placeVisit", "startTime",
        "position",
        "wifiScan", "activityRecord", "rawSignal", "placeAggregates",
    ]
    /// Members of which an entry of an array has one, beside `startTime` and `endTime`.
    private static let ofArrays: Set = ["visit", "activity", "timelinePath", "timelineMemory"]
    private static let mostNames = 64

    /// - Returns: nil where more bytes may tell.
    static func recognize(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard var at = unsafe bytes.firstIndex(where: { !isBlank($0) }) else { return nil }
        let isArray = unsafe bytes[at] == UInt8(ascii: "[")
        guard unsafe isArray || bytes[at] == UInt8(ascii: "{") else { return false }
        if isArray { at += 1 }
        var entries = JSONElements(file: "", lists: json_lists_takeout, isInArray: isArray)
        let isFound: Bool
        do throws(TraceError) {
            isFound = unsafe try entries.next(bytes, &at)
        } catch {
            return false
        }
        guard isFound else { return nil }
        guard isArray || entries.isInList else { return false }
        let parser = JSONParser(paths: [])
        let names = unsafe entries.withElement(bytes) { unsafe parser.memberNames(of: $0, most: mostNames) }
        guard let names = names.map(Set.init) else { return false }
        if !isArray { return !names.isDisjoint(with: ofLists) }
        return names.isSuperset(of: ["startTime", "endTime"]) && !names.isDisjoint(with: ofArrays)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 10 || byte == 13 }
}
