import AtlasFormat
import Foundation
import GeoBridge
import Hereabouts
import ParallelMap

/// The regions of a part of the Earth, ready to be drawn.
package struct RegionMap: Sendable {
    /// A region on the map.
    struct Area: Sendable {
        var region: Region
        var location: ReducedLocation
        var anonymity: Int
        /// Polygons of closed rings in whole units of the frame, outer ring first.
        var polygons: [[[Double]]]
    }

    /// Regions with their outlines, in the order of the atlas.
    let areas: [Area]
    /// Where two countries meet: lines in whole units.
    let borders: [[Double]]
    /// A place for each country's code: well inside its part of the map.
    let countryPlaces: [String: SIMD2<Double>]
    let frame: MapFrame
    /// Whom the atlas asks to be named.
    let attribution: String

    /// Finds the regions of an area, and their outlines.
    ///
    /// - Parameters:
    ///   - atlas: the atlas at `atlasPath`.
    ///   - widthInPixels: of the drawing.
    /// - Throws: `FormatError` where the file is no atlas; `GEOSError`.
    /// - Complexity: a million look-ups, and the area's cells.
    package init(_ bounds: MapBounds, of atlas: Atlas, atlasPath: String, widthInPixels: Int) throws {
        let frame = MapFrame(bounds, widthInPixels: widthInPixels)
        let lattice = Lattice(bounds, atlas)
        let parts = try Self.parts(around: bounds, of: lattice.regions, AtlasTables(path: atlasPath))
        // Over the 80 km of the largest cell a great circle is at most some hundred meters aside of a straight line.
        let flat = FlatOutline { face, x, y in
            frame.point(CubeProjection.coordinate(of: FlatOutline.direction(face: face, x, y)))
        }
        let areas = try parallelMap(count: lattice.regions.count) { index in
            let region = lattice.regions[index]
            return Area(
                region: region, location: try atlas.reducedLocation(of: region),
                anonymity: try atlas.anonymity(of: region),
                polygons: try flat.polygons(of: parts[region.index] ?? [:], GEOSContext()))
        }
        let countries = Dictionary(grouping: areas, by: \.location.country.code).mapValues { $0.flatMap(\.polygons) }
        borders = try FlatOutline.borders(between: countries, GEOSContext())
        self.areas = areas
        countryPlaces = lattice.countryPlaces.mapValues { frame.point($0) }
        self.frame = frame
        attribution = try atlas.attribution.map(\.text).joined(separator: " · ")
    }

    /// The cells and pieces of the level-7 cells that any of the regions may touch.
    private static func parts(
        around bounds: MapBounds, of regions: [Region], _ tables: AtlasTables
    ) throws -> [UInt32: [Int: [[[Double]]]]] {
        let farthest = [bounds.north, bounds.south].map { latitude in
            CellListing.chord(bounds.middle, Coordinate(latitude: latitude, longitude: bounds.west))
        }.max()!
        let largest = regions.reduce(0) { max($0, tables.accuracy(Int($1.index))) }
        // A region that the bounds touch reaches at most a diameter beyond them.
        let listing = try CellListing(
            around: bounds.middle, chord: farthest + 2 * largest / CellListing.leastRadiusMeters, tables)
        return try listing.parts(tables, GEOSContext())
    }
}

/// The regions met on a lattice of points over the bounds.
private struct Lattice {
    /// Points a side: in a map of 1,000 pixels, one per pixel.
    private static let side = 1_000
    /// Points between two that are looked at for a country's middle.
    private static let stride = 20

    /// In the order of the atlas.
    let regions: [Region]
    /// For each country, the point of it that is farthest from any other country and the edge.
    let countryPlaces: [String: Coordinate]

    init(_ bounds: MapBounds, _ atlas: Atlas) {
        let side = Self.side
        var found = Set<Region>(), last = Region.invalid
        var coarse: [[Region]] = []
        for row in 0..<side {
            var line: [Region] = []
            for column in 0..<side {
                guard let region = try? atlas.snap(Self.place(bounds, column, row)) else { continue }
                if region != last { found.insert(region) }
                last = region
                if row % Self.stride == 0, column % Self.stride == 0 { line.append(region) }
            }
            if !line.isEmpty { coarse.append(line) }
        }
        regions = found.sorted { $0.index < $1.index }
        let codes = Dictionary(
            uniqueKeysWithValues: regions.map { ($0, atlas.country(of: $0).code) })
        countryPlaces = Self.middles(coarse.map { $0.map { codes[$0] ?? "" } }).mapValues {
            Self.place(bounds, $0.column * Self.stride, $0.row * Self.stride)
        }
    }

    private static func place(_ bounds: MapBounds, _ column: Int, _ row: Int) -> Coordinate {
        func between(_ low: Double, _ high: Double, _ step: Int) -> Double {
            low + (high - low) * (Double(step) + 0.5) / Double(side)
        }
        return Coordinate(
            latitude: between(bounds.south, bounds.north, row), longitude: between(bounds.west, bounds.east, column))
    }

    /// For each code of a table, the field with the largest square of it around; brute force over a small table.
    private static func middles(_ table: [[String]]) -> [String: (column: Int, row: Int)] {
        var best: [String: (size: Int, column: Int, row: Int)] = [:]
        for row in table.indices {
            for column in table[row].indices {
                let code = table[row][column]
                var size = 0
                while isUniform(table, column, row, size + 1, code) { size += 1 }
                if size > best[code]?.size ?? -1 { best[code] = (size, column, row) }
            }
        }
        return best.mapValues { ($0.column, $0.row) }
    }

    private static func isUniform(_ table: [[String]], _ column: Int, _ row: Int, _ size: Int, _ code: String) -> Bool {
        guard row - size >= 0, column - size >= 0, row + size < table.count, column + size < table[row].count else {
            return false
        }
        return (row - size...row + size).allSatisfy { r in
            (column - size...column + size).allSatisfy { table[r][$0] == code }
        }
    }
}
