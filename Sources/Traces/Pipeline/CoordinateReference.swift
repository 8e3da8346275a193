import Hereabouts

/// A coordinate reference system that inputs may be in. Transforming takes PROJ, which this module does without: who opens
/// the run brings the function.
package struct CoordinateReference: Sendable {
    /// Turns positions into WGS 84: before, the longitude is the easting (x) and the latitude the northing (y); after, both
    /// are degrees, or not numbers where there is no such position.
    package typealias Transform = (_ positions: Positions) -> Void

    /// Positions that are transformed in place, during the call.
    @safe package struct Positions {
        // SAFETY: who makes the value keeps the memory for the time of the call that it is made for.
        package let elements: UnsafeMutableBufferPointer<Coordinate>
        /// The code of each position's zone, 0 for none; nil where records have no zones.
        let utmZones: UnsafeBufferPointer<UInt8>?

        package init(_ elements: UnsafeMutableBufferPointer<Coordinate>) { unsafe self.init(elements, utmZones: nil) }

        init(_ elements: UnsafeMutableBufferPointer<Coordinate>, utmZones: UnsafeBufferPointer<UInt8>?) {
            unsafe (self.elements, self.utmZones) = (elements, utmZones)
        }
    }

    /// As it was named: an authority's code or WKT.
    package let name: String
    /// Whether it is UTM, by the zone of each record.
    let isUTM: Bool
    /// Makes a transformation for one thread.
    package let makeTransform: @Sendable () -> Transform

    package init(name: String, makeTransform: @escaping @Sendable () -> Transform) {
        self.init(name: name, isUTM: false, makeTransform: makeTransform)
    }

    init(name: String, isUTM: Bool, makeTransform: @escaping @Sendable () -> Transform) {
        (self.name, self.isUTM, self.makeTransform) = (name, isUTM, makeTransform)
    }
}

/// Which coordinate reference system tables and GeoJSON are in.
package enum ReferenceChoice: Sendable {
    /// This one.
    case named(CoordinateReference)
    /// What each input declares; WGS 84 where it declares nothing. The function finds a system by a code, WKT or PROJJSON that
    /// names no file (`DeclaredReference`); nil for an unknown one.
    case declared(@Sendable (String) -> CoordinateReference?)

    /// The system of an input that declares one, or none.
    ///
    /// - Parameter declaration: what the document says; nil for none, or for WGS 84.
    func reference(declaring declaration: String?, file: String) throws(TraceError) -> CoordinateReference? {
        switch self {
        case .named(let reference): return reference
        case .declared(let find):
            guard let declaration else { return nil }
            let text = DeclaredReference.trimmed(declaration)
            guard let form = DeclaredReference.form(of: text) else { throw .unknownReference(file: file) }
            guard DeclaredReference.isHarmless(text, form) else { throw .refusedReference(file: file) }
            guard let reference = find(text) else { throw .unknownReference(file: file) }
            return reference
        }
    }

    /// Whether it is the one named, which goes before what an input declares.
    var isNamed: Bool { if case .named = self { true } else { false } }

    /// Whether each record says its UTM zone.
    var isUTM: Bool { if case .named(let reference) = self { reference.isUTM } else { false } }
}

extension FixBatch {
    /// Turns positions of another reference system, from a record on, into WGS 84. Those outside of its domain are bad.
    mutating func transform(from first: Int, _ transform: CoordinateReference.Transform) {
        guard first < count else { return }
        var others = problems(from: first)
        problems.removeLast(others.count)
        // SAFETY: the columns are not changed during the call.
        unsafe transform(
            CoordinateReference.Positions(
                UnsafeMutableBufferPointer(rebasing: positions.elements[first...]),
                utmZones: utmZones.count == count
                    ? UnsafeBufferPointer(UnsafeMutableBufferPointer(rebasing: utmZones.elements[first...])) : nil))
        for index in first..<count {
            if let problem = others.first, problem.index == index {
                positions[index].latitude = .nan
                problems.append(problem)
                others = others.dropFirst()
            } else if positions[index].latitude.isNaN {
                problems.append((index, .outsideReference))
            }
        }
    }
}

/// Names of WGS 84 with the longitude first, by which older GeoJSON declares what RFC 7946 takes for granted.
func isWGS84(_ name: String) -> Bool {
    let words = name.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "." }
    guard let last = words.last else { return false }
    return last == "crs84" || last == "4326" && words.contains("epsg")
}
