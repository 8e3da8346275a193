import GeoBridge
import Hereabouts
import PROJBridge
import TextCoding

/// Zones of GeoJSON (RFC 7946): features or geometries, in a collection or one after the other. Polygons and
/// MultiPolygons, and Points with a property `radius` in meters; of a polygon it is added. Each polygon
/// or point is a zone of its own.
struct ZoneGeoJSON {
    private var scanner: JSONScanner
    private var zones: [Zone] = []
    private var feature = 0

    init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

    mutating func parse() throws(ZoneError) -> [Zone] {
        do {
            while let next = scanner.peek() {
                if next == 0x1E { _ = scanner.skip(0x1E) } else { try parseObject(isInCollection: false) }
            }
        } catch let error as ZoneError {
            throw error
        } catch let error as JSONScanner.Failure {
            let line = 1 + scanner.bytes[..<min(error.offset, scanner.bytes.count)].count { $0 == 10 }
            throw .bad(
                .line(line),
                error.problem == .tooDeep ? .nestedTooDeep : error.problem == .notGeoJSON ? .notGeoJSON : .notJSON)
        } catch {
            throw .bad(.feature(feature), .ringsCross)
        }
        return zones
    }

    /// A value of `coordinates`.
    private indirect enum Nest {
        case numbers([Double])
        case list([Nest])
    }

    /// What an object has that may be a feature, a geometry or a collection.
    private struct Members {
        var type: String?
        var geometry: Geometry?
        var hasGeometry = false
        var isCollection = false
        var coordinates: Nest?
        var radius: Double?
    }

    private struct Geometry {
        var type: String
        var coordinates: Nest
    }

    private mutating func parseObject(isInCollection: Bool) throws {
        guard scanner.peek() == UInt8(ascii: "{") else { throw scanner.failure(.notGeoJSON) }
        let start = scanner
        try scanner.open(UInt8(ascii: "{"))
        var members = Members()
        var keys: Set<String> = []
        var isFirst = true
        let number = feature + 1
        while let key = try scanner.nextKey(&isFirst) {
            let isRead = ["type", "features", "geometry", "coordinates", "properties", "crs"].contains(key)
            guard !isRead || keys.insert(key).inserted else { throw ZoneError.bad(.feature(number), .repeatedMember) }
            switch key {
            case "type": members.type = try parseText()
            case "features" where !isInCollection:
                members.isCollection = true
                try scanner.open(UInt8(ascii: "["))
                var isFirst = true
                while try scanner.nextElement(&isFirst) { try parseObject(isInCollection: true) }
            case "geometry":
                members.hasGeometry = true
                members.geometry = try parseGeometry(number)
            case "coordinates": members.coordinates = try parseNest(depth: 0)
            case "properties": try parseProperties(number, &members)
            case "crs": try parseCRS(number)
            default: try scanner.skipValue()
            }
        }
        if members.isCollection {
            guard members.type == "FeatureCollection" else { throw start.failure(.notGeoJSON) }
            return
        }
        feature = number
        if members.type == "Feature" {
            guard let geometry = members.geometry else { throw ZoneError.bad(.feature(number), .notAPlace) }
            try append(geometry, members)
        } else {
            guard !isInCollection, let type = members.type, let coordinates = members.coordinates else {
                throw start.failure(.notGeoJSON)
            }
            try append(Geometry(type: type, coordinates: coordinates), members)
        }
    }

    private mutating func parseText() throws -> String? {
        guard scanner.peek() == UInt8(ascii: "\"") else {
            try scanner.skipValue()
            return nil
        }
        return try scanner.string()
    }

    /// Nil for null.
    private mutating func parseGeometry(_ number: Int) throws -> Geometry? {
        guard scanner.peek() == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return nil
        }
        try scanner.open(UInt8(ascii: "{"))
        var type: String?
        var coordinates: Nest?
        var keys: Set<String> = []
        var isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            let isRead = ["type", "coordinates", "crs"].contains(key)
            guard !isRead || keys.insert(key).inserted else { throw ZoneError.bad(.feature(number), .repeatedMember) }
            switch key {
            case "type": type = try parseText()
            case "coordinates": coordinates = try parseNest(depth: 0)
            case "crs": try parseCRS(number)
            default: try scanner.skipValue()
            }
        }
        guard let type, let coordinates else { throw ZoneError.bad(.feature(number), .notAPlace) }
        return Geometry(type: type, coordinates: coordinates)
    }

    /// Reads arrays of arrays of numbers. A position may have further numbers, which are ignored.
    private mutating func parseNest(depth: Int) throws -> Nest {
        guard scanner.peek() == UInt8(ascii: "["), depth < 5 else {
            throw ZoneError.bad(.feature(feature + 1), .notAPosition)
        }
        try scanner.open(UInt8(ascii: "["))
        var numbers: [Double] = []
        var list: [Nest] = []
        var isFirst = true
        while try scanner.nextElement(&isFirst) {
            if scanner.peek() == UInt8(ascii: "[") {
                list.append(try parseNest(depth: depth + 1))
            } else {
                guard let next = scanner.peek(), next == UInt8(ascii: "-") || next &- 48 < 10 else {
                    throw ZoneError.bad(.feature(feature + 1), .notAPosition)
                }
                numbers.append(try scanner.number())
            }
        }
        guard numbers.isEmpty || list.isEmpty else { throw ZoneError.bad(.feature(feature + 1), .notAPosition) }
        return numbers.isEmpty ? .list(list) : .numbers(numbers)
    }

    private mutating func parseProperties(_ number: Int, _ members: inout Members) throws {
        guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
        try scanner.open(UInt8(ascii: "{"))
        var hasRadius = false, isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            guard key == "radius" else {
                try scanner.skipValue()
                continue
            }
            if hasRadius { throw ZoneError.bad(.feature(number), .repeatedMember) }
            hasRadius = true
            let next = scanner.peek()
            if next == UInt8(ascii: "n") {
                try scanner.skipValue()
            } else {
                guard let next, next == UInt8(ascii: "-") || next &- 48 < 10 else {
                    throw ZoneError.bad(.feature(number), .badRadius)
                }
                let value = try scanner.number()
                members.radius = try problem(number) { () throws(ZoneError.Problem) in try ZoneFile.radius(value) }
            }
        }
    }

    /// Accepts what older GeoJSON called the reference system that RFC 7946 demands, and nothing else.
    private mutating func parseCRS(_ number: Int) throws {
        let start = scanner.offset
        try scanner.skipValue()
        let text = String(decoding: scanner.bytes[start..<scanner.offset], as: UTF8.self)
        let isNull = text.filter { !$0.isWhitespace } == "null"
        guard isNull || text.contains("CRS84") && !text.contains("CRS84h") || text.contains("EPSG:4326\"") else {
            throw ZoneError.bad(.feature(number), .foreignCRS)
        }
    }

    private func problem<Value>(
        _ number: Int, _ body: () throws(ZoneError.Problem) -> Value
    ) throws(ZoneError) -> Value {
        do throws(ZoneError.Problem) { return try body() } catch { throw .bad(.feature(number), error) }
    }

    // MARK: Zones

    private mutating func append(_ geometry: Geometry, _ members: Members) throws {
        let number = feature
        let found: [Zone]
        do throws(ZoneError.Problem) {
            found = try Self.zones(geometry, members)
        } catch {
            throw ZoneError.bad(.feature(number), error)
        }
        zones += found
        guard zones.count <= ZoneFile.maximumZones else { throw ZoneError.tooMany }
    }

    private static func zones(_ geometry: Geometry, _ members: Members) throws(ZoneError.Problem) -> [Zone] {
        switch (geometry.type, geometry.coordinates) {
        case ("Point", let position):
            guard let radius = members.radius else { throw .noRadius }
            let place = try self.position(position)
            return [Zone(middle: place, reachMeters: radius)]
        case ("Polygon", .list(let rings)):
            return [try zone(rings, members)]
        case ("MultiPolygon", .list(let polygons)):
            guard !polygons.isEmpty else { throw .noRings }
            var zones: [Zone] = []
            for polygon in polygons {
                guard case .list(let rings) = polygon else { throw .notAPosition }
                zones.append(try zone(rings, members))
            }
            return zones
        case ("Polygon", _), ("MultiPolygon", _): throw .notAPosition
        default: throw .notAPlace
        }
    }

    private static func position(_ nest: Nest) throws(ZoneError.Problem) -> Coordinate {
        guard case .numbers(let numbers) = nest, numbers.count >= 2 else { throw .notAPosition }
        return try ZoneFile.position(latitude: numbers[1], longitude: numbers[0])
    }

    private static func zone(_ rings: [Nest], _ members: Members) throws(ZoneError.Problem) -> Zone {
        guard !rings.isEmpty else { throw .noRings }
        var flat: [[Double]] = []
        for ring in rings {
            guard case .list(let positions) = ring else { throw .notAPosition }
            guard positions.count >= 4 else { throw .ringTooShort }
            var numbers: [Double] = []
            for position in positions {
                let place = try self.position(position)
                numbers += [place.longitude, place.latitude]
            }
            guard numbers[0] == numbers[numbers.count - 2], numbers[1] == numbers[numbers.count - 1] else {
                throw .ringNotClosed
            }
            flat.append(numbers)
        }
        do {
            let polygon = try GEOSContext().polygon(flat)
            guard try polygon.isValid() else { throw ZoneError.Problem.ringsCross }
            let circle = try polygon.minimumBoundingCircle()
            let middle = try ZoneFile.position(
                latitude: min(90, max(-90, circle.y)), longitude: min(180, max(-180, circle.x)))
            let reach = try reachMeters(of: flat[0], from: middle) + (members.radius ?? 0)
            guard reach <= Zone.maximumReachMeters else { throw ZoneError.Problem.tooWide }
            return Zone(middle: middle, reachMeters: reach)
        } catch let problem as ZoneError.Problem {
            throw problem
        } catch {
            throw .ringsCross
        }
    }

    /// How far from its middle a ring reaches, in meters. Edges are straight in longitude and latitude; a sixteenth of one
    /// is at most 6 km long where the ring is not too wide, and bends by at most 1 % of that between its ends below 85°:
    /// less than the 1 % that is added.
    private static func reachMeters(of ring: [Double], from middle: Coordinate) throws(PROJError) -> Double {
        var most = 0.0
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            for step in 0..<16 {
                let part = Double(step) / 16
                most = max(
                    most,
                    try Geodesic.wgs84.distanceMeters(
                        fromLatitude: middle.latitude, longitude: middle.longitude,
                        toLatitude: ring[k + 1] + (ring[k + 3] - ring[k + 1]) * part,
                        longitude: ring[k] + (ring[k + 2] - ring[k]) * part))
            }
        }
        return most * 1.01
    }
}
