import CGEOS

/// What makes a geometry invalid, by GEOS's own words; where it is, is left out on purpose.
package enum ValidityProblem: String, Hashable, Sendable {
    case repeatedPoint = "Repeated Point"
    case holeOutsideShell = "Hole lies outside shell"
    case nestedHoles = "Holes are nested"
    case disconnectedInterior = "Interior is disconnected"
    case selfIntersection = "Self-intersection"
    case ringSelfIntersection = "Ring Self-intersection"
    case nestedShells = "Nested shells"
    case duplicateRings = "Duplicate Rings"
    case tooFewPoints = "Too few points in geometry component"
    case invalidCoordinate = "Invalid Coordinate"
    case ringNotClosed = "Ring is not closed"
    /// Anything that GEOS says in other words.
    case other = "Topology Validation Error"
}

/// Questions with a yes or a no. All throw `GEOSError.failed` where GEOS refuses, mostly for invalid input.
extension Geometry {
    /// Whether the geometry is valid by OGC's rules. O(n log n).
    package borrowing func isValid() throws(GEOSError) -> Bool {
        // SAFETY: the handle lives as long as self.
        try unsafe context.answer(GEOSisValid_r(context.handle, raw), .validity)
    }

    /// The first thing that makes the geometry invalid; nil if nothing does. O(n log n).
    package borrowing func validityProblem() throws(GEOSError) -> ValidityProblem? {
        // SAFETY: the handle lives as long as self; the text is freed below.
        guard let text = unsafe GEOSisValidReason_r(context.handle, raw) else { throw context.failure(.validity) }
        defer { unsafe GEOSFree_r(context.handle, text) }
        // "Valid Geometry", or a reason followed by the position in brackets.
        let reason = unsafe String(cString: text).prefix { $0 != "[" }
        return reason == "Valid Geometry" ? nil : ValidityProblem(rawValue: String(reason)) ?? .other
    }

    /// Whether every point of `other` lies in this geometry, and not all of them on its boundary.
    package borrowing func contains(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSContains_r(context.handle, raw, other.raw), .contains)
    }

    /// Whether every point of `other` lies in this geometry or on its boundary.
    package borrowing func covers(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSCovers_r(context.handle, raw, other.raw), .covers)
    }

    /// Whether the two have a point in common, boundaries included.
    package borrowing func intersects(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSIntersects_r(context.handle, raw, other.raw), .intersects)
    }

    /// Whether the two are the same set of points, however they are written.
    package borrowing func equalsTopologically(_ other: borrowing Geometry) throws(GEOSError) -> Bool {
        precondition(context === other.context, "geometries of two contexts")
        // SAFETY: both handles live through the call.
        return try unsafe context.answer(GEOSEquals_r(context.handle, raw, other.raw), .equals)
    }
}
