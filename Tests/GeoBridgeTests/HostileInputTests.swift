import FixedRandom
import GeoBridge
import Testing

@Suite struct HostileInputTests {
    @Test(arguments: [
        ([0.0, 0, 1, 0, 1, 1, 0, 1], GEOSError.ringNotClosed),
        ([0.0, 0, 1, 0, 0, 0], .ringTooShort),
        ([], .ringTooShort),
        ([0.0, 0, 1], .oddCoordinateCount),
        ([0.0, 0, .nan, 0, 1, 1, 0, 0], .nonFiniteCoordinate),
        ([.nan, 0, 1, 0, 1, 1, .nan, 0], .nonFiniteCoordinate),
        ([0.0, 0, .infinity, 0, 1, 1, 0, 0], .nonFiniteCoordinate),
    ])
    func `a bad ring is refused, as shell and as hole`(ring: [Double], error: GEOSError) throws {
        let context = try GEOSContext()
        #expect(throws: error) { _ = try context.polygon([ring]) }
        #expect(throws: error) { _ = try context.polygon([square(0, 0, side: 9), square(1, 1), ring]) }
        #expect(throws: error) { _ = try context.multiPolygon([[square(0, 0)], [ring]]) }
    }

    @Test func `bad lines and points are refused`() throws {
        let context = try GEOSContext()
        #expect(throws: GEOSError.lineTooShort) { _ = try context.lineString([1, 2]) }
        #expect(throws: GEOSError.lineTooShort) { _ = try context.lineString([]) }
        #expect(throws: GEOSError.oddCoordinateCount) { _ = try context.lineString([1, 2, 3]) }
        #expect(throws: GEOSError.nonFiniteCoordinate) { _ = try context.lineString([1, 2, 3, .nan]) }
        #expect(throws: GEOSError.nonFiniteCoordinate) { _ = try context.point(x: .nan, y: 0) }
        #expect(throws: GEOSError.oddCoordinateCount) { _ = try context.multiPoint([1]) }
    }

    @Test func `a collection takes only parts that fit`() throws {
        let context = try GEOSContext()
        var list = GeometryList(context)
        list.append(try context.point(x: 0, y: 0))
        list.append(try context.polygon([square(0, 0)]))
        var thrown: GEOSError?
        do { _ = try list.collected(as: .multiPolygon) } catch { thrown = error }
        #expect(thrown == .wrongKind(.collection))
    }

    @Test func `polygons that cross themselves or each other are invalid, and can be repaired`() throws {
        let context = try GEOSContext()
        let bowtie = try context.polygon([[0, 0, 2, 2, 2, 0, 0, 2, 0, 0]])
        #expect(try bowtie.isValid() == false)
        #expect(try !context.polygon([square(0, 0), square(5, 5)]).isValid())
        #expect(try !context.polygon([square(0, 0, side: 9), square(1, 1, side: 5), square(2, 2)]).isValid())
        #expect(try !context.multiPolygon([[square(0, 0, side: 9)], [square(1, 1)]]).isValid())
        #expect(try context.polygon([square(0, 0)]).isValid())

        let repaired = try bowtie.madeValid()
        #expect(try repaired.isValid())
        #expect(try repaired.area() == 2)
    }

    @Test func `what GEOS refuses comes as a typed error without numbers`() throws {
        let context = try GEOSContext()
        // An invalid operand away from the origin, whose place GEOS puts into its message.
        let bowtie = try context.polygon([[31.25, 7.5, 33.25, 9.5, 33.25, 7.5, 31.25, 9.5, 31.25, 7.5]])
        let box = try context.polygon([square(31, 7, side: 1.7)])
        do throws(GEOSError) {
            _ = try bowtie.intersection(box)
            Issue.record("GEOS took an invalid operand")
        } catch {
            guard case .failed(.intersection, let message) = error else {
                Issue.record("another error")
                return
            }
            #expect(message.contains("TopologyException"))
            #expect(message.allSatisfy { !$0.isNumber })
            #expect(error.description.allSatisfy { !$0.isNumber })
        }
        // The failure is over and done with: the context goes on working.
        #expect(try box.area().rounded() == 3)
    }
}
