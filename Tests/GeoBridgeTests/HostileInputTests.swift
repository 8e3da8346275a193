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
        #expect(throws: GEOSError.nonFiniteCoordinate) {
            _ = try context.polygon([square(0, 0)]).buffer(distance: .nan)
        }
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

    @Test func `what is wrong with a polygon is told without saying where`() throws {
        let context = try GEOSContext()
        let bowtie = try context.polygon([[0, 0, 2, 2, 2, 0, 0, 2, 0, 0]])
        #expect(try bowtie.isValid() == false)
        #expect(try bowtie.validityProblem() == .selfIntersection)
        #expect(try context.polygon([square(0, 0), square(5, 5)]).validityProblem() == .holeOutsideShell)
        #expect(
            try context.polygon([square(0, 0, side: 9), square(1, 1, side: 5), square(2, 2)]).validityProblem()
                == .nestedHoles)
        #expect(try context.multiPolygon([[square(0, 0, side: 9)], [square(1, 1)]]).validityProblem() == .nestedShells)
        #expect(try context.polygon([square(0, 0)]).validityProblem() == nil)

        let mended = try bowtie.madeValid()
        #expect(try mended.isValid())
        #expect(try mended.area() == 2)
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

    @Test(arguments: [[], [1], [1, 3, 0, 0, 0], [9, 9, 9, 9, 9, 9, 9, 9, 9], [1, 3, 0, 0, 0, 255, 255, 255, 255]])
    func `bytes that are no WKB are refused`(bytes: [UInt8]) throws {
        let context = try GEOSContext()
        do throws(GEOSError) {
            _ = try context.geometry(wkb: bytes)
            Issue.record("GEOS read it")
        } catch {
            guard case .failed(.wkb, _) = error else {
                Issue.record("another error")
                return
            }
        }
    }

    @Test func `damaged WKB never crashes`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 2)
        let whole = try context.multiPolygon([[square(0, 0, side: 9), square(1, 1)], [square(20, 0)]]).wkb()
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = whole
            bytes[.random(in: 0..<bytes.count, using: &random)] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(.random(in: 0..<bytes.count, using: &random)) }
            do throws(GEOSError) {
                _ = try context.geometry(wkb: bytes).positionCount
            } catch {
                refused += 1
            }
        }
        #expect(refused > 500)
    }
}
