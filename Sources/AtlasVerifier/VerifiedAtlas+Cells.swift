import AtlasFormat
import ParallelMap

/// C1 and C2: every place has one region, every region a sound record.
extension VerifiedAtlas {
    typealias Clause = VerificationReport.Clause

    /// The ellipsoid's surface, km².
    private static let earthArea = 510_065_621.724

    func verifyTotal() throws -> Clause {
        var clause = Clause("C1", "every place belongs to exactly one region")
        clause.checked = cover.quads.count + cover.cutCount
        let whole = 6 << (2 * AtlasTables.levelOfKeys)
        if cover.weight != whole { clause.faults.append("the tables cover \(cover.weight) of \(whole) cells") }
        if cover.incompleteCuts > 0 {
            clause.faults.append("\(cover.incompleteCuts) cut cells are incomplete")
        }
        // Corners are joined by geodesics, and cells of different size that touch share only some of their corners.
        let area = measures.reduce(0) { $0 + $1.area }
        if (area / Self.earthArea - 1).magnitude > 1e-6 {
            clause.faults.append("the regions add up to \(Int(area)) km², the Earth to \(Int(Self.earthArea)) km²")
        }
        clause.add(try offenders { try emptinessOrDisagreement($0) })
        try verifySeams(&clause)
        return clause
    }

    private func emptinessOrDisagreement(_ region: Int) throws -> String? {
        if measures[region].partCount == 0 { return "it has no cell" }
        for quad in cover.quads(region) {
            for step in [0, quad.size - 1] {
                let leaf = Leaf(face: quad.face, i: quad.i + step, j: quad.j + step)
                if try tables.region(at: leaf) != region { return "the tables contradict themselves" }
                if engine.region(at: leaf) != region { return "the engine places one of its cells elsewhere" }
            }
        }
        for piece in cover.pieces(region) {
            for ring in piece.face.rings {
                for k in stride(from: 0, to: ring.count, by: 2) {
                    let leaf = piece.leaf(x: ring[k], y: ring[k + 1])
                    if engine.region(at: leaf) != (try tables.region(at: leaf)) {
                        return "the engine differs at a corner of one of its pieces"
                    }
                }
            }
            let leaf = piece.insideLeaf
            if engine.region(at: leaf) != (try tables.region(at: leaf)) {
                return "the engine differs inside one of its pieces"
            }
        }
        return nil
    }

    /// Both ends of the range of longitudes are one meridian, and a pole is one place.
    private func verifySeams(_ clause: inout Clause) throws {
        for step in -900...900 {
            let latitude = Double(step) / 10
            let regions = try [-540, -180, 180, 540].map { try engine.region(latitude: latitude, longitude: $0) }
            if Set(regions).count > 1 { clause.faults.append("the antimeridian has two answers") }
        }
        for pole in [-90.0, 90] {
            let regions = try (-18...18).map { try engine.region(latitude: pole, longitude: Double($0) * 10) }
            if Set(regions).count > 1 { clause.faults.append("a pole has two answers") }
        }
    }

    func verifyRecords() throws -> Clause {
        var clause = Clause("C2", "every region has one sound record, and holds its own center")
        clause.checked = regionCount
        clause.add(try offenders { try fault(inRecordOf: $0) })
        let identifiers = (0..<regionCount).map { tables.identifier($0) }
        let order = (0..<regionCount).sorted { (identifiers[$0], $0) < (identifiers[$1], $1) }
        let repeated = zip(order, order.dropFirst()).filter { identifiers[$0] == identifiers[$1] }.map(\.1)
        clause.add(repeated.sorted().map { offender($0, "another region has its identifier") })
        return clause
    }

    private func fault(inRecordOf region: Int) throws -> String? {
        let center = tables.position(region)
        guard center.latitude.magnitude <= 90, center.longitude.magnitude <= 180
        else { return "its center is no place" }
        guard let code = tables.countryCode(tables.country(region)), !code.isEmpty else { return "it has no country" }
        if let name = tables.name(region) {
            guard let text = tables.name(at: name), !text.isEmpty else { return "its name is missing" }
        } else if tables.isNameOfNeighbor(region) {
            return "it is named for a place outside, but has no name"
        }
        let leaf = CubeGeometry.leaf(at: center), middle = CubeGeometry.middleOfIdentifyingCell(leaf)
        guard (middle.latitude - center.latitude).magnitude < 0.6e-5,
            turn(middle.longitude - center.longitude).magnitude < 0.6e-5
        else { return "its center is not the middle of a cell of level 18" }
        guard try tables.region(at: leaf) == region else { return "its center lies in another region" }
        guard try engine.region(latitude: center.latitude, longitude: center.longitude) == region,
            engine.center(of: region) == center,
            engine.region(identifier: CubeGeometry.identifier(of: leaf, level: 18)) == region
        else { return "the engine does not lead from its center to it" }
        return nil
    }

    /// A difference of longitudes within ±180°.
    private func turn(_ degrees: Double) -> Double {
        degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
    }
}

/// C3 and C5: circles.
extension VerifiedAtlas {
    func verifyCircles() throws -> Clause {
        var clause = Clause("C3", "the published circle holds the region and its margin")
        clause.checked = regionCount
        clause.add(
            try offenders { region in
                let excess = measures[region].reach + tables.limits.steadiness - tables.accuracy(region)
                return excess > 0 ? "it reaches \((excess * 100).rounded(.up) / 100) m beyond its circle" : nil
            })
        return clause
    }

    /// Regions with residents above the largest accuracy, those that took leftovers: no more of them, and with no more people.
    private static let mostLarger = 1_000, mostInLarger = 25e6

    func verifyAccuracies(_ count: ResidentCount.Count?) throws -> Clause {
        let limits = tables.limits, isSettled = settledRegions(count)
        var clause = Clause("C5", "accuracy within the limits")
        clause.checked = regionCount
        clause.add(
            try offenders { region in
                let accuracy = tables.accuracy(region)
                if accuracy < limits.smallestAccuracy { return "an accuracy of \(Int(accuracy)) m is too small" }
                // Without a population nobody can tell residents whom a list adds: there are fewer than settle the circle.
                let kilometers = accuracy / 1_000, few = 2 * .pi * kilometers * kilometers
                let maySettle = count != nil || Double(tables.anonymity(region)) > few
                let isLimited = isSettled[region] && maySettle
                if accuracy > (isLimited ? limits.largestLeftoverAccuracy : limits.largestEmptyAccuracy) {
                    return "an accuracy of \(Int(accuracy)) m is too large"
                        + (isLimited ? " where \(tables.anonymity(region)) live" : "")
                }
                return nil
            })
        let larger = (0..<regionCount).filter {
            isSettled[$0] && limits.largestAccuracy < tables.accuracy($0)
                && tables.accuracy($0) <= limits.largestLeftoverAccuracy
        }
        let people = larger.reduce(0.0) { $0 + (count?.residents[$1] ?? Double(tables.anonymity($1))) }
        clause.notes.append(
            "\(larger.count) regions with \(Int(people)) residents are larger than \(Int(limits.largestAccuracy)) m, "
                + "for they took leftovers")
        if larger.count > Self.mostLarger || people > Self.mostInLarger {
            clause.faults.append(
                "that is more than \(Self.mostLarger) regions or \(Int(Self.mostInLarger)) residents")
        }
        try verifyInhabitedLand(count, &clause)
        return clause
    }

    /// Land with more than two people per km² within 16 km around lies in no region of those that are larger than with
    /// residents: asked for the middles of cells of level 11.
    private func verifyInhabitedLand(_ count: ResidentCount.Count?, _ clause: inout Clause) throws {
        guard let count, let isAshore, let land else {
            clause.skipped.append("inhabited land: the land or the population was not given")
            return
        }
        let large = (0..<regionCount).filter {
            isAshore[$0] && tables.accuracy($0) > tables.limits.largestLeftoverAccuracy
        }
        let found = try parallelMap(count: large.count) { index in
            let cells = Array(cover.quads(large[index])) + cover.pieces(large[index]).map(\.cell)
            return cells.flatMap { count.inhabited.inhabitedMiddles(of: $0) }
        }
        let middles = zip(large, found).flatMap { region, middles in middles.map { (region: region, middle: $0) } }
        // The middle of a cell around a smaller one may lie in another region.
        let own = try middles.filter { try tables.region(at: $0.middle) == $0.region }
        let isLand = try PointsInPolygons(own.map(\.middle)).areInside(land)
        let regions = Set(zip(own, isLand).filter { $1 }.map { $0.0.region })
        clause.add(
            regions.sorted().map {
                offender($0, "an accuracy of \(Int(tables.accuracy($0))) m is too large for inhabited land")
            })
    }
}
