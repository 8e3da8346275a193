/// One feature of a border file: a country, or part of one, or whatever the user draws borders around.
package struct BorderFeature: Hashable, Sendable {
    /// The text that tells one side of a border from the other: at most 8 bytes. Features of one code belong together.
    package var code: String
    /// The feature's name for people; its code if the file has no other.
    package var name: String
    /// Valid polygons: rings closed and flat `[longitude, latitude, …]` in degrees, outer ring first, then its holes.
    /// Polygons of one feature may overlap each other.
    package var polygons: [[[Double]]]

    /// Where features of different codes overlap, the higher rank holds; then the first code.
    package var rank: Int

    /// Makes a feature of its parts, as they are.
    package init(code: String, name: String, rank: Int = 0, polygons: [[[Double]]]) {
        self.rank = rank
        self.code = code
        self.name = name
        self.polygons = polygons
    }
}

/// What a border file says, and what was repaired in it.
package struct Borders: Hashable, Sendable {
    /// The features, in the file's order.
    package var features: [BorderFeature]
    /// Repairs, in the file's order.
    package var warnings: [BorderWarning]
}

/// A repair to a border feature, for the user. Names no coordinate.
package struct BorderWarning: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of repair.
    package enum Repair: String, Hashable, Sendable {
        /// Rings whose last position differed from the first were closed by a straight line.
        case ringsClosed = "unclosed rings were closed"
        /// Rings that crossed themselves or each other were cut up; what they enclose an odd number of times is in.
        case selfIntersection = "polygons that cross themselves were repaired: areas enclosed twice are left out"
        /// Polygons without any area were left out.
        case collapsed = "polygons without area were left out"
    }

    /// The file, as the user named it.
    package let file: String
    /// The feature, counted from 1.
    package let index: Int
    /// The feature's code.
    package let code: String
    /// What was done.
    package let repair: Repair

    /// A sentence for people, the file first.
    package var description: String { "\(file): feature \(index) (\(code)): \(repair.rawValue)" }
}
