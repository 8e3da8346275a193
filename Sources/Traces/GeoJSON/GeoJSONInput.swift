internal import CSimdjson
import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// GeoJSON (RFC 7946) of any size: a collection of features, or features or geometries one after the other, on lines of
/// their own or as an RFC 8142 sequence. A record is a position; what names the record is the number of its feature.
final class GeoJSONInput: TraceInput {
    let file: String
    let identity: DeviceIdentity
    /// Records have the number of their feature in place of a line.
    let firstLine = 0
    let isTimed: Bool
    let notices: [Notice]
    let refusal: TraceError?
    let reference: CoordinateReference?
    let mayHaveReference = true
    let usedOptions: InputOptions = .keysAndTimes
    /// The properties that are kept.
    let keptFields: [KeptField]
    private var reader: InputReader
    private var features: JSONElements
    private var geometry: GeoJSONReader
    /// What was read to find the members of the first feature: this feature, and what follows it.
    private var first: [UInt8]?
    private var rest: [UInt8] = []

    var bytesRead: Int { reader.bytesRead }

    /// - Parameter keep: properties of features to add to a batch's `members`.
    init(
        _ source: consuming InputReader, options: ConvertRun.Options, keep: [String] = []
    ) throws(TraceError) {
        reader = source
        let file = reader.label
        self.file = file
        // A feature's properties are not looked at for its geometry.
        if options.csv.reference?.isUTM == true { throw .noUTMZone(file: file) }
        let declared = GeoJSONDeclaration(file: file, isNamed: options.csv.reference?.isNamed == true)
        features = JSONElements(file: file, lists: json_lists_geojson)
        features.surroundings = declared
        for name in keep where CSVHeader.isOfPosition(JSONMembers.lastName(name)) { throw .keepsPosition(name: name) }
        // Drops a byte-order mark.
        unsafe try reader.peek { _, _ in true }
        var buffer = InputBuffer(readBytes: options.readBytes)
        while first == nil, try reader.nextBytes(into: &buffer) {
            var at = 0
            if unsafe try features.next(buffer.bytes, &at) {
                first = unsafe features.withElement(buffer.bytes) { unsafe Array($0) }
                unsafe rest = Array(buffer.bytes[at...])
            }
        }
        let declaration = declared.name
        if declaration != nil, options.csv.reference == nil { throw .foreignReference(file: file) }
        reference = try options.csv.reference?.reference(declaring: declaration, file: file)
        let members = GeoJSONMembers(first ?? [], keep: keep, options: options)
        let columns: CSVFixColumns
        do throws(TraceError) {
            columns = try CSVFixColumns(members.members.header, options: members.options, file: file)
        } catch {
            throw error.ofMembers
        }
        isTimed = columns.time != nil || members.hasTimes
        guard isTimed || options.acceptsUntimed || first == nil else { throw .noTimeMember(file: file) }
        let header = members.members.header
        if let key = columns.key { try header.requireUnwritten(key, as: .key) }
        identity = columns.key.map { .keyed(name: header.names[$0]) } ?? .person
        let kept = try header.kept(properties: keep.map(JSONMembers.name), besides: columns, in: file)
        for column in kept where ["track", "time"].contains(CSVHeader.lowercase(header.names[column])) {
            throw .columnIsWritten(as: .kept, name: header.names[column])
        }
        keptFields = kept.map { column in
            let content = header.content(of: column)
            let check: FieldCheck? = content == .key ? .key(.named) : content == .time ? .time : nil
            return KeptField(name: header.names[column], content: content, check: check)
        }
        let used = columns.position.all.union(columns.all).union(kept)
        var sample: JSONSample?
        if let first, !options.acceptsMissingTimes {
            let more = rest.count < Self.sampleBytes ? reader.lookAhead(bytes: Self.sampleBytes - rest.count) : []
            sample = Self.sample(first, (rest + more).prefix(Self.sampleBytes), members.members, columns)
        }
        try Datum.requireWGS84(header, sample, reference: reference, file: file)
        refusal = sample.flatMap { sample in
            SampleFindings(sample, header, columns.ofGeometry, unit: .degrees, options: options, file: file).refusal
        }
        let reading = InputReading(
            header, columns, position: false, unit: .degrees, options: options, sample: sample,
            dropped: members.members.others(than: used).filter { !members.areTimes($0) })
        notices = [.readAs(file: file, reading)] + columns.notices
        let lateKeys = columns.key == nil && !options.isOneDevice && !options.acceptsMissingTimes
        geometry = GeoJSONReader(
            members.members, columns, kept: kept, isTimed: isTimed,
            lateKeys: lateKeys ? members.members.lateKeys : [], options: options)
    }

    /// How much behind the first feature is looked at.
    private static let sampleBytes = 4 << 20

    /// The first features. The column of the latitude has both coordinates.
    private static func sample(
        _ first: [UInt8], _ rest: ArraySlice<UInt8>, _ members: JSONMembers, _ columns: CSVFixColumns
    ) -> JSONSample {
        let isPosition = { (column: Int) in columns.position.all.contains(column) }
        let paths = members.paths.enumerated().map { column, path in
            (isPosition(column) ? [["geometry", "coordinates"]] : [["properties"]]).joined().map { Array($0.utf8) }
                + (isPosition(column) ? [] : path)
        }
        // Behind the first feature of a list comes a comma, or its end.
        let next = rest.first { $0 > 0x20 }
        let isInArray = next == UInt8(ascii: ",") || next == UInt8(ascii: "]")
        return JSONSample(first + rest, paths: paths, areLines: false, isInArray: isInArray)
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        if let first {
            self.first = nil
            let rest = rest
            self.rest = []
            let padding = [UInt8](repeating: 0, count: InputBuffer.padding)
            unsafe (first + padding).withUnsafeBufferPointer { bytes in
                unsafe geometry.read(UnsafeBufferPointer(rebasing: bytes[..<first.count]), into: &batch)
            }
            unsafe try (rest + padding).withUnsafeBufferPointer { bytes throws(TraceError) in
                unsafe try read(UnsafeBufferPointer(rebasing: bytes[..<rest.count]), &batch)
            }
            return true
        }
        guard try reader.nextBytes(into: &buffer) else {
            try features.finish()
            return false
        }
        unsafe try read(buffer.bytes, &batch)
        return true
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>, _ batch: inout FixBatch) throws(TraceError) {
        var at = 0
        while unsafe try features.next(bytes, &at) {
            unsafe features.withElement(bytes) { unsafe geometry.read($0, into: &batch) }
        }
    }

    /// A document is cut into features in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? {
        geometry.hash = hash
        return nil
    }
}

/// What a document declares around the features of its collections.
private final class GeoJSONDeclaration: JSONSurroundings {
    private let file: String
    /// Whether an option names a reference system, so that what the document declares does not matter.
    private let isNamed: Bool
    /// The reference system that the first collection declares before its features; nil for none, or for WGS 84.
    private(set) var name: String?
    private var hasLists = false
    /// What stands between the features of a collection and its end.
    private var end: [UInt8] = []

    init(file: String, isNamed: Bool) {
        (self.file, self.isNamed) = (file, isNamed)
    }

    func listBegins(behind head: [UInt8], isFirst: Bool) throws(TraceError) {
        let found = GeoJSONReference.declared(in: head + Array("]}".utf8))
        // A further text has no other system than the first.
        guard !hasLists && isFirst || found == name || isNamed else { throw .foreignReference(file: file) }
        (name, hasLists) = (found, true)
    }

    /// Looks into what follows the features of a collection for a reference system that comes too late.
    func passed(_ bytes: UnsafeBufferPointer<UInt8>, line: Int, isAtEnd: Bool) throws(TraceError) {
        guard !isNamed, unsafe bytes.contains(where: { $0 > 0x20 && $0 != UInt8(ascii: ",") }) else { return }
        unsafe end.append(contentsOf: bytes)
        guard end.count <= JSONElements.maximumBytes else { throw .featureTooLong(file: file, line: line) }
        guard isAtEnd else { return }
        let start = end.firstIndex(of: UInt8(ascii: "]")) ?? end.startIndex
        let last = end.lastIndex(of: UInt8(ascii: "}")) ?? start
        let found = GeoJSONReference.declared(in: Array("{\"features\":[".utf8) + end[start...max(start, last)])
        end.removeAll()
        guard found == nil || found == name else { throw .foreignReference(file: file) }
    }
}

/// The reference system that GeoJSON of before RFC 7946 declares in a member `crs`.
private enum GeoJSONReference {
    private static let paths = [["crs"], ["crs", "properties", "name"], ["crs", "name"]].map { path in
        path.map { Array($0.utf8) }
    }

    /// That of an object: its name, or what stands for one that has none; nil for none, or for WGS 84.
    static func declared(in object: [UInt8]) -> String? {
        guard object.count > 16 else { return nil }
        let parser = JSONParser(paths: paths)
        let padded = object + [UInt8](repeating: 0, count: InputBuffer.padding)
        return unsafe padded.withUnsafeBufferPointer { padded in
            let text = unsafe UnsafeBufferPointer(rebasing: padded[..<object.count])
            var token = 0
            guard let base = text.baseAddress, unsafe parser.tokenize(text) == json_ok else { return nil }
            let status = parser.read(&token, limit: object.count, isAlone: true)
            // Two of them say nothing that can be relied on.
            if status == json_duplicate { return unknown }
            guard status == json_ok else { return nil }
            return unsafe declared(parser[0].bytes(base)) {
                for field in 1...2 where parser[field].end > 0 {
                    return unsafe String(decoding: JSONString.content(parser[field].bytes(base)), as: UTF8.self)
                }
                return nil
            }
        }
    }

    /// The same of a member's value and, where it is not null, the name in it.
    static func declared(_ value: UnsafeBufferPointer<UInt8>, name: () -> String?) -> String? {
        guard value.count > 0, unsafe value.first != UInt8(ascii: "n") else { return nil }
        guard let name = name() else {
            let isText = unsafe value.first == JSONString.quote
            let text = unsafe isText ? String(decoding: JSONString.content(value), as: UTF8.self) : unknown
            return isWGS84(text) ? nil : text
        }
        return isWGS84(name) ? nil : name
    }

    /// The name of a system that has none, which PROJ does not know.
    private static let unknown = "unknown"
}

/// Which properties of features make fixes of their positions.
private struct GeoJSONMembers {
    /// The properties of the first feature, and those that options name, as columns; and two more for the position.
    let members: JSONMembers
    /// Options that name columns.
    let options: ConvertRun.Options
    /// Whether the first feature has a time for each position.
    let hasTimes: Bool

    /// Members of a feature's properties with a time for each position.
    static let timesPaths = [["coordTimes"], ["times"], ["coordinateProperties", "times"]]
    private static let maximumNames = 1 << 10

    init(_ feature: [UInt8], keep: [String], options: ConvertRun.Options) {
        let times = Self.timesPaths.map { path in (["properties"] + path).map { Array($0.utf8) } }
        let parser = JSONParser(paths: [[Array("properties".utf8)]] + times)
        var names: [String] = []
        var hasTimes = false
        let padded = feature + [UInt8](repeating: 0, count: InputBuffer.padding)
        unsafe padded.withUnsafeBufferPointer { padded in
            let text = unsafe UnsafeBufferPointer(rebasing: padded[..<feature.count])
            var token = 0
            guard let base = text.baseAddress, unsafe parser.tokenize(text) == json_ok,
                parser.read(&token, limit: feature.count, isAlone: true) == json_ok
            else { return }
            hasTimes = (1...times.count).contains { parser[$0].end > 0 }
            let properties = unsafe parser[0].bytes(base)
            names = unsafe JSONParser(paths: []).memberNames(of: properties, most: Self.maximumNames) ?? []
        }
        self.hasTimes = hasTimes
        var byName = options
        byName.csv = CSVOptions(latitudeColumn: "latitude", longitudeColumn: "longitude")
        let keys = options.keyColumns.map(JSONMembers.name)
        byName.keyColumns = (keys.first { names.contains($0) } ?? keys.first).map { [$0] } ?? []
        byName.timeColumn = options.timeColumn.map(JSONMembers.name)
        byName.acceptsUntimed = true
        self.options = byName
        members = JSONMembers(
            names.filter { !CSVHeader.isOfPosition($0) },
            named: byName.keyColumns + [options.timeColumn].compactMap { $0 } + keep + ["latitude", "longitude"])
    }

    /// Whether a column has the times of positions.
    func areTimes(_ column: Int) -> Bool {
        Self.timesPaths.contains { $0[0] == members.header.names[column] }
    }
}

/// Reads the positions of features, each with its time and the device of its feature.
private struct GeoJSONReader: ~Copyable {
    /// That of device keys, once it is known.
    var hash = KeyHash()
    private let parser: JSONParser
    private let options: ConvertRun.Options
    /// Whether features have times, as the first one has; else those of others are not looked at.
    private let isTimed: Bool
    private let bounds: TimeBounds
    private let metersPerAccuracy: Double
    /// Fields of a feature's properties, by number; nil where there are none.
    private let key, date, accuracy: Int?
    /// The property of what the clocks of times without an offset show.
    private let offset: (field: Int, offsets: TimeOffsets)?
    /// The properties by which a feature may say that it has no fix.
    private let validity: [(field: Int, validity: FixValidity)]
    /// Where a feature's one time may be, the first that is there.
    private let time: [Int]
    /// The properties that are kept.
    private let kept: [Int]
    /// Names of device keys, where a feature must not have any, and the first of their fields.
    private let lateKeys: [String]
    private let firstLateKey: Int
    /// Those that must be neither objects nor arrays.
    private let scalars: [Int]
    private var feature = 0
    private var tracks: UInt32 = 0

    // The positions of the current feature, and its times.
    private var positions: [Coordinate] = []
    private var times: [(time: Timestamp?, problem: RecordProblem.Reason?)] = []

    /// Fields of every feature, by number.
    private enum Field {
        static let type = 0, geometry = 1, geometryType = 2, coordinates = 3, bareCoordinates = 4
        /// The first of those of `GeoJSONMembers.timesPaths`.
        static let times = 7
        /// Reference systems of the feature and its geometry, and their names.
        static let references = [(5, 3 + 7), (6, 4 + 7)]
    }

    init(
        _ members: JSONMembers, _ columns: CSVFixColumns, kept: [Int], isTimed: Bool, lateKeys: [String],
        options: ConvertRun.Options
    ) {
        self.options = options
        self.isTimed = isTimed
        bounds = TimeBounds(options)
        metersPerAccuracy = columns.metersPerAccuracy
        let fixed: [[String]] =
            [["type"], ["geometry"], ["geometry", "type"], ["geometry", "coordinates"], ["coordinates"]]
            + [["crs"], ["geometry", "crs"]]
            + GeoJSONMembers.timesPaths.map { ["properties"] + $0 }
            + [["crs", "properties", "name"], ["geometry", "crs", "properties", "name"]]
        var paths = fixed.map { $0.map { Array($0.utf8) } }
        func add(_ column: Int?) -> Int? {
            guard let column else { return nil }
            paths.append([Array("properties".utf8)] + members.paths[column])
            return paths.count - 1
        }
        (key, date, accuracy) = (add(columns.key), add(columns.date), add(columns.accuracy))
        offset = columns.offsets.flatMap { column, offsets in add(column).map { ($0, offsets) } }
        validity = columns.validity.compactMap { column, validity in add(column).map { ($0, validity) } }
        if let column = add(columns.time) {
            time = [column]
        } else {
            // The first feature has a time for each position; others may have one.
            time = [paths.count, paths.count + 1]
            paths += ["time", "timestamp"].map { [Array("properties".utf8), Array($0.utf8)] }
        }
        // A path has one field.
        self.kept = kept.map { column in
            let path = [Array("properties".utf8)] + members.paths[column]
            if let field = paths.firstIndex(of: path) { return field }
            paths.append(path)
            return paths.count - 1
        }
        scalars = [key, accuracy].compactMap { $0 } + self.kept
        (self.lateKeys, firstLateKey) = (lateKeys, paths.count)
        paths += lateKeys.map { [Array("properties".utf8), Array($0.utf8)] }
        parser = JSONParser(paths: paths)
    }

    /// Appends the fixes of a feature, or its problem. `InputBuffer.padding` readable bytes follow its text.
    mutating func read(_ text: UnsafeBufferPointer<UInt8>, into batch: inout FixBatch) {
        feature += 1
        positions.removeAll(keepingCapacity: true)
        times.removeAll(keepingCapacity: true)
        let before = batch.count
        if let problem = unsafe readFeature(text, &batch) {
            precondition(batch.count == before, "a feature is read as a whole")
            append(Coordinate(latitude: .nan, longitude: .nan), nil, .nan, problem, key: [], &batch)
            for _ in kept { batch.members.append(FieldSpan(start: 0, end: 0)) }
        }
    }

    /// - Returns: what is wrong with the feature as a whole.
    private mutating func readFeature(
        _ text: UnsafeBufferPointer<UInt8>, _ batch: inout FixBatch
    ) -> RecordProblem.Reason? {
        guard let base = text.baseAddress else { return .notJSON }
        var token = 0
        var status = unsafe parser.tokenize(text)
        if status == json_ok { status = parser.read(&token, limit: text.count, isAlone: true) }
        if let problem = RecordProblem.Reason(status) { return problem }
        func bytes(_ field: Int) -> UnsafeBufferPointer<UInt8> { unsafe parser[field].bytes(base) }
        if options.csv.reference?.isNamed != true {
            for (field, name) in Field.references {
                let found = unsafe GeoJSONReference.declared(bytes(field)) {
                    unsafe parser[name].end > 0 ? String(decoding: JSONString.content(bytes(name)), as: UTF8.self) : nil
                }
                if found != nil { return .foreignReference }
            }
        }
        let isFeature = unsafe Self.areEqual(bytes(Field.type), "\"Feature\"")
        if isFeature, unsafe bytes(Field.geometry).first == UInt8(ascii: "n") { return .latitudeMissing }
        let type = unsafe bytes(isFeature ? Field.geometryType : Field.type)
        let coordinates = unsafe bytes(isFeature ? Field.coordinates : Field.bareCoordinates)
        guard let depth = unsafe Self.depth(ofType: type), unsafe readPositions(coordinates, depth: depth) else {
            return .notPoints
        }
        if positions.isEmpty { return .latitudeMissing }
        for field in scalars {
            let first = unsafe bytes(field).first
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .memberIsContainer }
        }
        if batch.lateKey == nil {
            let late = lateKeys.indices.first { number in
                let value = unsafe bytes(firstLateKey + number)
                return unsafe !value.isEmpty && value.first != UInt8(ascii: "n")
            }
            if let late { batch.lateKey = (feature, lateKeys[late]) }
        }
        if let problem = unsafe readTimes(base) { return problem }
        let keyBytes = key.map { field in
            let value = unsafe bytes(field)
            return unsafe value.first == UInt8(ascii: "n") ? [] : JSONString.content(value)
        }
        if let keyBytes, refuses(keyBytes) { return .keyIsCoordinate }
        let hasNoFix = validity.contains { field, validity in
            unsafe validity.isNoFix(JSONString.inside(bytes(field)))
        }
        if hasNoFix { return .noFix }
        let meters = accuracy.map { field in unsafe DecimalNumber.parse(JSONString.inside(bytes(field))) ?? .nan }
        if depth > 1 { tracks += 1 }
        let members = kept.map { field in
            let start = batch.text.count
            unsafe batch.text.append(bytes(field))
            return FieldSpan(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: batch.text.count))
        }
        for (index, position) in positions.enumerated() {
            let (time, timeProblem) = times.isEmpty ? (nil, nil) : times[index]
            var problem = timeProblem
            if position.longitude.isNaN { problem = .longitudeUnreadable }
            if position.latitude.isNaN { problem = .latitudeUnreadable }
            append(
                position, time, (meters ?? .nan) * metersPerAccuracy, problem, key: keyBytes,
                track: depth > 1 ? tracks : 0, &batch)
            for member in members { batch.members.append(member) }
        }
        return nil
    }

    /// Whether a key could be a coordinate.
    private func refuses(_ key: [UInt8]) -> Bool {
        let rule = KeyRule(options)
        return unsafe DeviceKey.normalized(key).withUnsafeBufferPointer { key in
            unsafe rule.refuses(key) { _ in false }
        }
    }

    private func append(
        _ position: Coordinate, _ time: Timestamp?, _ accuracy: Double, _ problem: RecordProblem.Reason?,
        key: [UInt8]?, track: UInt32 = 0, _ batch: inout FixBatch
    ) {
        if let problem { batch.problems.append((batch.count, problem)) }
        batch.positions.append(position)
        batch.lines.append(feature)
        batch.times.append(time)
        batch.accuracies.append(accuracy)
        if self.key != nil {
            batch.append(key: key ?? [], hash)
        } else {
            batch.tracks.append(Track(number: track, kind: .track))
        }
    }

    /// How deep the numbers of a geometry's positions are; nil for one that is none of points or lines.
    private static func depth(ofType type: UnsafeBufferPointer<UInt8>) -> Int? {
        for (name, depth) in depths where unsafe areEqual(type, name) { return depth }
        return nil
    }

    private static func areEqual(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
        // SAFETY: both have so many bytes.
        return unsafe memcmp(base, text.utf8Start, bytes.count) == 0
    }

    /// Types as JSON strings.
    private static let depths: [(StaticString, Int)] = [
        ("\"Point\"", 1), ("\"LineString\"", 2), ("\"MultiPoint\"", 2), ("\"MultiLineString\"", 3),
    ]

    /// Reads the positions of an array that is JSON.
    ///
    /// - Parameter depth: of brackets around their numbers.
    /// - Returns: false where the array has another shape.
    private mutating func readPositions(_ text: UnsafeBufferPointer<UInt8>, depth: Int) -> Bool {
        var level = 0, number = 0, at = 0
        var position = Coordinate(latitude: .nan, longitude: .nan)
        // SAFETY: `at` is tested against the count.
        while at < text.count {
            switch unsafe text[at] {
            case UInt8(ascii: "["):
                level += 1
                if level > depth { return false }
                (number, position) = (0, Coordinate(latitude: .nan, longitude: .nan))
            case UInt8(ascii: "]"):
                if level == depth { positions.append(position) }
                level -= 1
            case UInt8(ascii: ","), 0x20, 9, 10, 13: break
            default:
                if level != depth { return false }
                let end = unsafe text[at...].firstIndex { Self.endsNumber($0) } ?? text.count
                let value = unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: text[at..<end])) ?? .nan
                if number == 0 { position.longitude = value } else if number == 1 { position.latitude = value }
                number += 1
                at = end
                continue
            }
            at += 1
        }
        return text.count > 0
    }

    private static func endsNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte <= 0x20
    }

    /// Reads the times of all positions, or leaves `times` empty where the feature has none.
    ///
    /// - Returns: what is wrong with the feature as a whole.
    private mutating func readTimes(_ base: UnsafePointer<UInt8>) -> RecordProblem.Reason? {
        guard isTimed else { return nil }
        let arrays = Field.times..<Field.times + GeoJSONMembers.timesPaths.count
        var list: UnsafeBufferPointer<UInt8>?
        if let field = arrays.first(where: { parser[$0].end > 0 }) { unsafe list = parser[field].bytes(base) }
        var single: UnsafeBufferPointer<UInt8>?
        let hasList = unsafe list != nil
        if !hasList, let field = time.first(where: { parser[$0].end > 0 }) {
            let value = unsafe parser[field].bytes(base)
            if unsafe value.first == UInt8(ascii: "[") {
                unsafe list = value
            } else if unsafe value.first != UInt8(ascii: "n") {
                unsafe single = value
            }
        }
        if let list = unsafe list {
            guard unsafe list.first == UInt8(ascii: "[") else { return .timeUnreadable }
            unsafe readTimes(of: list, base)
        } else if let single = unsafe single {
            let day = unsafe date.map { unsafe parser[$0].bytes(base) }
            times.append(unsafe readTime(single, date: day, base))
        } else {
            return options.acceptsMissingTimes ? nil : .timeMissing
        }
        return times.count == positions.count ? nil : .timeCount
    }

    /// Reads the times of an array that is JSON, or of arrays within it.
    private mutating func readTimes(of text: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>) {
        var at = 0
        // SAFETY: `at` is tested against the count.
        while at < text.count {
            let byte = unsafe text[at]
            if byte == UInt8(ascii: "[") || Self.endsNumber(byte) {
                at += 1
                continue
            }
            var end = at + 1
            if byte == JSONString.quote {
                while end < text.count, unsafe text[end] != JSONString.quote {
                    end += unsafe text[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                end += 1
            } else {
                while end < text.count, unsafe !Self.endsNumber(text[end]) { end += 1 }
            }
            end = min(end, text.count)
            times.append(unsafe readTime(UnsafeBufferPointer(rebasing: text[at..<end]), date: nil, base))
            at = end
        }
    }

    /// Reads a time, with the feature's offset if it has none of its own, and says what is wrong with one that is none, or
    /// cannot be.
    private func readTime(
        _ value: UnsafeBufferPointer<UInt8>, date: UnsafeBufferPointer<UInt8>?, _ base: UnsafePointer<UInt8>
    ) -> (Timestamp?, RecordProblem.Reason?) {
        let (read, reason) = unsafe readTime(value, date: date)
        guard let (field, offsets) = offset, let time = read, reason == nil else { return (read, reason) }
        let text = unsafe parser[field].bytes(base)
        return unsafe offsets.shifted(
            time, JSONString.inside(value), by: JSONString.inside(text), options.timeStyle)
    }

    private func readTime(
        _ value: UnsafeBufferPointer<UInt8>, date: UnsafeBufferPointer<UInt8>?
    ) -> (Timestamp?, RecordProblem.Reason?) {
        if unsafe value.first == UInt8(ascii: "n") { return (nil, .timeMissing) }
        if let time = unsafe Timestamp(JSONString.inside(value), as: options.timeStyle) {
            return (time, bounds.problem(time))
        }
        let text = unsafe JSONString.content(value), day = unsafe date.map { unsafe JSONString.content($0) }
        let time: Timestamp? = unsafe text.withUnsafeBufferPointer { text in
            if let time = unsafe Timestamp(text, as: options.timeStyle) { return time }
            return unsafe day?.withUnsafeBufferPointer { unsafe Timestamp(date: $0, time: text, options.timeStyle) }
        }
        guard let time else { return (nil, text.allSatisfy(DecimalNumber.isBlank) ? .timeMissing : .timeUnreadable) }
        return (time, bounds.problem(time))
    }
}

extension CSVFixColumns {
    /// The same where the column of the latitude has a geometry's coordinates.
    fileprivate var ofGeometry: CSVFixColumns {
        var columns = self
        columns.position = PositionColumns(pair: position.latitude, .longitudeFirst)
        return columns
    }
}
