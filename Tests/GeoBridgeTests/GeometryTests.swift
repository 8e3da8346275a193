import FixedRandom
import Foundation
import GeoBridge
import Testing

@Suite struct GeometryTests {
    @Test func `a polygon comes back as it went in, holes included`() throws {
        let context = try GEOSContext()
        let rings = [square(0, 0, side: 10), square(2, 2), square(5, 5, side: 2)]
        let polygon = try context.polygon(rings)
        #expect(polygon.kind == .polygon)
        #expect(polygon.positionCount == 15)
        #expect(try polygon.polygonRings() == [rings])
        #expect(try polygon.area() == 100 - 1 - 4)
        #expect(try polygon.bounds() == Bounds(minX: 0, minY: 0, maxX: 10, maxY: 10))
    }

    @Test func `multi-geometries come back part by part`() throws {
        let context = try GEOSContext()
        let polygons = [[square(0, 0)], [square(5, 0, side: 3), square(6, 1)]]
        let multi = try context.multiPolygon(polygons)
        #expect(multi.kind == .multiPolygon)
        #expect(multi.partCount == 2)
        #expect(try multi.polygonRings() == polygons)
        #expect(try multi.withPart(1) { part throws(GEOSError) in try part.area() } == 8)

        let lines = [[0.0, 0, 1, 1, 2, 0], [5.0, 5, 6, 6]]
        #expect(try context.multiLineString(lines).lines() == lines)
        #expect(try context.multiPoint([1, 2, 3, 4]).points() == [1, 2, 3, 4])
    }

    @Test func `a collection is searched for what is asked for`() throws {
        let context = try GEOSContext()
        var list = GeometryList(context)
        list.append(try context.point(x: 7, y: 8))
        list.append(try context.lineString([0, 0, 1, 1]))
        list.append(try context.polygon([square(0, 0)]))
        list.append(try context.multiPolygon([[square(3, 3)]]))
        #expect(list.count == 4)
        let collection = try list.collected(as: .collection)
        #expect(try collection.points() == [7, 8])
        #expect(try collection.lines() == [[0, 0, 1, 1]])
        #expect(try collection.polygonRings() == [[square(0, 0)], [square(3, 3)]])
    }

    @Test func `empty geometries are empty and have no measures`() throws {
        let context = try GEOSContext()
        let empty = try context.polygon([])
        let isEmpty = empty.isEmpty
        #expect(isEmpty)
        #expect(try empty.polygonRings() == [])
        #expect(try empty.area() == 0)
        #expect(throws: GEOSError.emptyGeometry(.bounds)) { try empty.bounds() }
        #expect(throws: GEOSError.emptyGeometry(.pointOnSurface)) { try empty.pointOnSurface() }
        #expect(throws: GEOSError.emptyGeometry(.minimumBoundingCircle)) { try empty.minimumBoundingCircle() }
        #expect(try empty.unaryUnion().polygonRings() == [])
        #expect(try context.multiPolygon([]).polygonRings() == [])
    }

    @Test func `area agrees with the shoelace rule on random stars`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 1)
        for _ in 0..<200 {
            let ring = star(
                .random(in: -100...100, using: &random), .random(in: -80...80, using: &random), radius: 2,
                corners: .random(in: 3...60, using: &random), using: &random)
            // Shoelace on coordinates up to 100 with an area up to 12 loses at most 60 × 2 × 100² × 2^-53 ≈ 1.4e-10.
            #expect(abs(try context.polygon([ring]).area() - abs(shoelaceArea(ring))) < 2e-10)
        }
    }

    @Test func `measures of simple shapes`() throws {
        let context = try GEOSContext()
        let box = try context.polygon([square(0, 0, side: 4)])
        let inside = try box.pointOnSurface()
        #expect(isInside(inside.x, inside.y, square(0, 0, side: 4)))
        let circle = try box.minimumBoundingCircle()
        #expect(circle.x == 2 && circle.y == 2)
        #expect(abs(circle.radius - 8.0.squareRoot()) < 1e-12)
        #expect(try box.boundary().lines().map(\.count) == [10])
    }

    @Test func `well-known text and GeoJSON`() throws {
        let context = try GEOSContext()
        let polygon = try context.polygon([square(0.5, 0.25)])
        #expect(try context.point(x: 1.5, y: -2).wkt() == "POINT (1.5 -2)")
        #expect(try context.point(x: 1.23456, y: -2).wkt(decimals: 2) == "POINT (1.23 -2)")
        let json = try JSONSerialization.jsonObject(with: Data(polygon.geoJSON().utf8)) as? [String: Any]
        #expect(json?["type"] as? String == "Polygon")
        #expect((json?["coordinates"] as? [[[Double]]])?.first?.flatMap { $0 } == square(0.5, 0.25))
    }
}
