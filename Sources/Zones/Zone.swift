import Hereabouts

/// A sensitive place: a home, a clinic, a shelter. Printing, interpolating or dumping one shows none of its numbers.
package struct Zone: Hashable, Sendable {
    /// The middle of the smallest circle around it.
    package var middle: Coordinate
    /// How far from there it reaches, in meters.
    package var reachMeters: Double

    package init(middle: Coordinate, reachMeters: Double) {
        self.middle = middle
        self.reachMeters = reachMeters
    }

    /// How far a zone may reach from its middle, in meters.
    package static let maximumReachMeters = 50_000.0
}

extension Zone: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows no number.
    package var description: String { "Zone(redacted)" }
    /// Shows no number.
    package var debugDescription: String { description }
    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a file of zones cannot be used. No case carries a coordinate.
package enum ZoneError: Error, Hashable, Sendable {
    /// It cannot be read.
    case unreadable
    /// It is larger than `ZoneFile.maximumBytes`.
    case tooLarge
    /// It has no zones: a run with it would protect nothing.
    case empty
    /// It has more than `ZoneFile.maximumZones`.
    case tooMany
    /// A line or feature, numbered from 1, is no zone.
    case bad(Place, Problem)

    package enum Place: Hashable, Sendable {
        case line(Int)
        case feature(Int)
    }

    /// One cause per case.
    package enum Problem: String, Hashable, Sendable {
        case notJSON = "not well-formed JSON"
        case notGeoJSON = "not a feature, a geometry or a collection of features"
        case nestedTooDeep = "brackets nested too deep"
        case repeatedMember = "a member that is read is there twice"
        case foreignCRS = "positions must be in WGS 84, longitude first"
        case notAPlace = "no polygon and no point"
        case notAPosition = "a position that is not two numbers"
        case latitudeOutOfRange = "a latitude is out of range"
        case longitudeOutOfRange = "a longitude is out of range"
        case noRings = "a polygon without rings"
        case ringTooShort = "a ring has fewer than four positions"
        case ringNotClosed = "a ring does not end where it starts"
        case ringsCross = "rings cross or touch themselves or each other, or a hole lies outside"
        case noRadius = "a point without a radius"
        case badRadius = "the radius is not a number from 1 to 50,000 m"
        case tooWide = "reaches more than 50 km from its middle; a zone across the antimeridian is given as two"
        case badRow = "not latitude,longitude,radius"
    }
}

extension ZoneError: CustomStringConvertible {
    /// A few words for people.
    package var description: String {
        switch self {
        case .unreadable: "cannot be read"
        case .tooLarge: "over 16 MiB, which is no list of zones"
        case .empty: "has no zones, so that nothing would be protected"
        case .tooMany: "more than 1,000 zones"
        case .bad(.line(let line), let problem): "line \(line): \(problem.rawValue)"
        case .bad(.feature(let feature), let problem): "feature \(feature): \(problem.rawValue)"
        }
    }
}
