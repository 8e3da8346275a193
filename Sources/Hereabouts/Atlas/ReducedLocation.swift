/// What is published for a fix: the region that holds it, and nothing of where in the region it lies (contract C2).
///
/// All of it is public information, so it may be printed, logged and encoded. (`coordinate` on its own is a `Coordinate`,
/// whose description is redacted: print the location, or the coordinate's latitude and longitude.)
public struct ReducedLocation: Hashable, Sendable {
    /// A populated place that a region is named for.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        /// The name of the place, as GeoNames has it.
        public let name: String
        /// Whether the place lies in the region, or more of the region's people live in it than in any other, a quarter
        /// at least. If not, it is the nearest one in the region's country, within 100 km: "near Marfa" is how a text
        /// may say that.
        public let isInside: Bool

        /// Makes a place, for a test or a preview.
        public init(name: String, isInside: Bool) { (self.name, self.isInside) = (name, isInside) }

        /// "El Paso", or "near Marfa" for a place further off.
        public var description: String { isInside ? name : Self.nearPrefix + name }

        static let nearPrefix = "near "
    }

    /// The region's center, to 1e-5 degrees.
    public let coordinate: Coordinate
    /// Radius in meters of a circle about `coordinate` that contains the whole region, and everything within
    /// `Atlas.steadinessMeters` of it (contract C3).
    public let horizontalAccuracy: Double
    /// The region's identifier.
    public let region: RegionID
    /// The country the region lies in.
    public let country: Country
    /// The place the region is named for, if any.
    public let place: Place?

    /// Makes one of its parts as they are, for a test or a preview. An atlas gives those of positions.
    public init(
        coordinate: Coordinate, horizontalAccuracy: Double, region: RegionID, country: Country, place: Place? = nil
    ) {
        (self.coordinate, self.horizontalAccuracy) = (coordinate, horizontalAccuracy)
        (self.region, self.country, self.place) = (region, country, place)
    }
}

extension ReducedLocation: CustomStringConvertible {
    /// All members: place and country, latitude and longitude in degrees, accuracy in meters, and the identifier.
    public var description: String {
        let name = place.map { "\($0), " } ?? ""
        return "\(name)\(country) (\(coordinate.latitude), \(coordinate.longitude)) ± \(horizontalAccuracy) m \(region)"
    }
}

/// ISO 3166-1 alpha-2 code, `XK` for Kosovo, `XZ` for the high seas; or the code property of custom borders.
public struct Country: Hashable, Comparable, Sendable, LosslessStringConvertible, ExpressibleByStringLiteral {
    /// The code as text; 1 to 8 bytes of UTF-8.
    public let code: String
    package init(code: String) { self.code = code }
    /// Takes a code; nil unless it is of 1 to 8 bytes.
    public init?(_ description: String) {
        guard (1...8).contains(description.utf8.count) else { return nil }
        code = description
    }
    /// A code in the source, of 1 to 8 bytes.
    public init(stringLiteral code: String) {
        precondition((1...8).contains(code.utf8.count), "a country's code is of 1 to 8 bytes")
        self.code = code
    }
    /// The code as text.
    public var description: String { code }
    /// Whether the left code comes first in the order of Unicode scalars.
    public static func < (left: Country, right: Country) -> Bool { left.code < right.code }
}
