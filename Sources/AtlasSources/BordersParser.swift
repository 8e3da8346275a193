import TextCoding

/// From GeoJSON text to features as they are written, the first thing wrong with a feature noted beside it.
///
/// A feature's problem is noted and not thrown, since its code, which the message needs, may come after its geometry.
struct BordersParser {
    typealias Failure = JSONScanner.Failure

    /// A feature as it stands in the file.
    struct RawFeature: Sendable {
        var code: String?
        var name: String?
        var rank = 0
        var polygons: [[[Double]]] = []
        var hasOpenRings = false
        var problem: FeatureProblem?

        /// Notes a problem, unless one is noted already.
        mutating func note(_ found: FeatureProblem) { problem = problem ?? found }
    }

    /// The members of an object that may be a feature or a collection.
    private struct Members {
        var type: String?
        var hasFeatures = false
        var id: String?
        var properties: [(key: String, text: String)] = []

        /// The property called `key`, or the object's own `id` if that is the name and no property has it.
        func text(of key: String, isExact: Bool) -> String? {
            let found = properties.first { isExact ? $0.key == key : $0.key.lowercased() == key.lowercased() }
            return found?.text ?? (key.lowercased() == "id" ? id : nil)
        }
    }

    /// The features read so far, in the file's order; all but the last without a problem.
    private(set) var features: [RawFeature] = []
    private var scanner: JSONScanner
    /// The property that holds the code: the user's, or the one settled on at the first feature.
    private var codeProperty: String?
    private let isCodePropertyExact: Bool

    init(_ bytes: [UInt8], codeProperty: String?) {
        scanner = JSONScanner(bytes)
        self.codeProperty = codeProperty
        isCodePropertyExact = codeProperty != nil
    }

    /// Whether there is nothing to be gained from reading on.
    private var hasProblem: Bool { features.last?.problem != nil }

    /// Reads features and collections until the end of the text, or until a feature has a problem.
    mutating func parse() throws(Failure) {
        while !hasProblem, let next = scanner.peek() {
            // RFC 8142 puts a record separator before each text.
            if next == 0x1E { _ = scanner.skip(0x1E) } else { try parseObject(isInCollection: false) }
        }
    }

    /// Reads a Feature, or outside of a collection a FeatureCollection.
    private mutating func parseObject(isInCollection: Bool) throws(Failure) {
        guard scanner.peek() == UInt8(ascii: "{") else { throw scanner.failure(.notGeoJSON) }
        let start = scanner
        var members = Members()
        var feature = RawFeature()
        var hasGeometry = false
        try scanner.open(UInt8(ascii: "{"))
        var isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            switch key {
            case "type": members.type = try parseText()
            case "id": members.id = try parseText()
            case "properties": members.properties = try parseProperties()
            case "geometry":
                hasGeometry = true
                try parseGeometry(into: &feature)
            case "features" where !isInCollection && scanner.peek() == UInt8(ascii: "["):
                members.hasFeatures = true
                try parseFeatures()
                if hasProblem { return }
            default: try scanner.skipValue()
            }
        }
        if members.hasFeatures && members.type == "FeatureCollection" { return }
        guard members.type == "Feature", !members.hasFeatures else { throw start.failure(.notGeoJSON) }
        if !hasGeometry { feature.note(.notAPolygon) }
        name(&feature, members)
        features.append(feature)
    }

    private mutating func parseFeatures() throws(Failure) {
        try scanner.open(UInt8(ascii: "["))
        var isFirst = true
        while !hasProblem {
            guard try scanner.nextElement(&isFirst) else { return }
            try parseObject(isInCollection: true)
        }
    }

    /// Reads a string or number as text; nil for anything else.
    private mutating func parseText() throws(Failure) -> String? {
        let next = scanner.peek() ?? 0
        if next == UInt8(ascii: "\"") { return try scanner.string() }
        let start = scanner.offset
        try scanner.skipValue()
        guard next == UInt8(ascii: "-") || next &- UInt8(ascii: "0") < 10 else { return nil }
        return String(decoding: scanner.bytes[start..<scanner.offset], as: UTF8.self)
    }

    private mutating func parseProperties() throws(Failure) -> [(key: String, text: String)] {
        guard scanner.peek() == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return []
        }
        var properties: [(key: String, text: String)] = []
        try scanner.open(UInt8(ascii: "{"))
        var isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            if let text = try parseText() { properties.append((key, text)) }
        }
        return properties
    }

    /// Finds the feature's code, name and rank among its members.
    private mutating func name(_ feature: inout RawFeature, _ members: Members) {
        codeProperty =
            codeProperty
            ?? BordersReader.defaultCodeProperties.first {
                members.text(of: $0, isExact: false)?.isEmpty == false
            }
        guard let codeProperty, let code = members.text(of: codeProperty, isExact: isCodePropertyExact) else {
            feature.note(.missingCode)
            return
        }
        if code.isEmpty {
            feature.note(.emptyCode)
        } else if code.utf8.count > 8 {
            feature.note(.codeTooLong)
        } else if !isPlainCode(code) {
            feature.note(.unprintableCode)
        } else {
            feature.code = code
        }
        feature.name = members.text(of: "name", isExact: false)
        if let text = members.text(of: "rank", isExact: false) {
            if let rank = Int(text) { feature.rank = rank } else { feature.note(.badRank) }
        }
    }
}

extension BordersParser {
    /// Reads a Polygon or MultiPolygon. Anything else is skipped, and noted.
    private mutating func parseGeometry(into feature: inout RawFeature) throws(Failure) {
        guard scanner.peek() == UInt8(ascii: "{") else {
            feature.note(.notAPolygon)
            return try scanner.skipValue()
        }
        var type: String?
        var coordinates: Int?  // where they are, if they come before the type
        try scanner.open(UInt8(ascii: "{"))
        var isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            if key == "type" {
                type = try parseText()
            } else if key == "coordinates", let type {
                try parseCoordinates(of: type, into: &feature)
            } else {
                if key == "coordinates" { coordinates = scanner.offset }
                try scanner.skipValue()
            }
        }
        if let coordinates, let type {
            let end = scanner.offset
            scanner.rewind(to: coordinates)
            try parseCoordinates(of: type, into: &feature)
            scanner.rewind(to: end)
        }
        if type != "Polygon" && type != "MultiPolygon" { feature.note(.notAPolygon) }
    }

    private mutating func parseCoordinates(of type: String, into feature: inout RawFeature) throws(Failure) {
        switch type {
        case "Polygon":
            try parsePolygon(into: &feature)
        case "MultiPolygon":
            guard try openArray(&feature) else { return }
            var isFirst = true
            while try scanner.nextElement(&isFirst) { try parsePolygon(into: &feature) }
        default:
            try scanner.skipValue()
        }
    }

    /// Reads the rings of a polygon. One without rings is nothing, and left out.
    private mutating func parsePolygon(into feature: inout RawFeature) throws(Failure) {
        guard try openArray(&feature) else { return }
        var rings: [[Double]] = []
        var isFirst = true
        while try scanner.nextElement(&isFirst) {
            guard try openArray(&feature) else { continue }
            rings.append(try parseRing(into: &feature))
        }
        if !rings.isEmpty { feature.polygons.append(rings) }
    }

    /// Reads the positions of an open ring and closes it.
    private mutating func parseRing(into feature: inout RawFeature) throws(Failure) -> [Double] {
        var ring: [Double] = []
        var isFirst = true
        while try scanner.nextElement(&isFirst) {
            guard try openArray(&feature) else { continue }
            let longitude = try parseCoordinate(into: &feature)
            var latitude = Double.nan
            if scanner.skip(UInt8(ascii: ",")) {
                latitude = try parseCoordinate(into: &feature)
            } else {
                feature.note(.badCoordinates)
            }
            // What follows, a height say, is of no interest. This also closes the array.
            var isBeforeHeight = false
            while try scanner.nextElement(&isBeforeHeight) { try scanner.skipValue() }
            if !(abs(longitude) <= 180) { feature.note(longitude.isNaN ? .notFinite : .longitudeOutOfRange) }
            if !(abs(latitude) <= 90) { feature.note(latitude.isNaN ? .notFinite : .latitudeOutOfRange) }
            ring.append(longitude)
            ring.append(latitude)
        }
        let count = ring.count
        if count >= 2, ring[0] != ring[count - 2] || ring[1] != ring[count - 1] {
            ring += [ring[0], ring[1]]
            feature.hasOpenRings = true
        }
        if ring.count < 8 { feature.note(.ringTooShort) }
        return ring
    }

    /// Opens an array; where there is something else, skips and notes it.
    @inline(__always)
    private mutating func openArray(_ feature: inout RawFeature) throws(Failure) -> Bool {
        guard scanner.peek() == UInt8(ascii: "[") else {
            feature.note(.badCoordinates)
            try scanner.skipValue()
            return false
        }
        try scanner.open(UInt8(ascii: "["))
        return true
    }

    /// Reads one coordinate. `NaN`, `Infinity` (which some programs write, though JSON has no such words) and `null`
    /// are noted as what they are.
    @inline(__always)
    private mutating func parseCoordinate(into feature: inout RawFeature) throws(Failure) -> Double {
        let next = scanner.peek() ?? 0
        if next &- UInt8(ascii: "0") < 10 { return try finite(scanner.number(), into: &feature) }
        return try parseOddCoordinate(into: &feature)
    }

    /// Reads a coordinate that does not begin with a digit.
    private mutating func parseOddCoordinate(into feature: inout RawFeature) throws(Failure) -> Double {
        let words: [StaticString] = ["NaN", "-NaN", "Infinity", "-Infinity", "null"]
        for word in words where scanner.skipWord(word) {
            feature.note(.notFinite)
            return .nan
        }
        if scanner.peek() == UInt8(ascii: "-") { return try finite(scanner.number(), into: &feature) }
        if scanner.peek() != UInt8(ascii: "]") { try scanner.skipValue() }
        feature.note(.badCoordinates)
        return .nan
    }

    /// Notes a number too large for a Double.
    @inline(__always)
    private func finite(_ value: Double, into feature: inout RawFeature) -> Double {
        if value.isInfinite { feature.note(.notFinite) }
        return value
    }
}
