extension Atlas {
    /// Whether another atlas has a region of this one cell by cell, under the same identifier; false where either has none with it.
    /// For atlases as `hasCells(of:as:of:)` wants them.
    package func hasAlike(_ id: RegionID, in other: Atlas) -> Bool {
        guard let own = region(id), let foreign = other.region(id) else { return false }
        return hasCells(of: own, as: foreign, of: other)
    }

    /// Whether a region is one of another atlas cell by cell: the same leaf cells are in both. Of a cell that borders cut the
    /// cuts are compared byte by byte, so that the same line in other bytes counts as another.
    ///
    /// For code inside the package whose atlases were validated as a whole or end the program on damage.
    ///
    /// - Complexity: O(cells of the finest level around the larger circle): ten thousand for one of 16 km.
    package func hasCells(of region: Region, as other: Region, of atlas: Atlas) -> Bool {
        let middle = center(of: region)
        let (own, foreign) = (accuracy(of: region), atlas.accuracy(of: other))
        let apart = CellReach.meters(middle, atlas.center(of: other))
        // A region holds its center, and both circles hold what is in both. On the ellipsoid distances differ by less than 1 %.
        guard apart <= min(own, foreign) * 1.02 else { return false }
        let reach = max(own, foreign) + apart
        var cells = (0..<6).map { FaceIJ(face: UInt8($0), i: 0, j: 0) }
        for level in 0..<AtlasLayout.finestLevel {
            let size = FaceIJ.limit >> UInt32(level)
            let most = reach * 1.02 + CellID.maximumDiagonal(level: level) / 2
            cells = cells.filter { CellReach.meters(middle, CellReach.center(of: $0, size: size)) <= most }
                .flatMap { CellReach.children(of: $0, size: size) }
        }
        return cells.allSatisfy { isAlike(at: $0, region, other, atlas) }
    }

    /// Whether as much of a cell of the finest level is in one region as in the other.
    private func isAlike(at leaf: FaceIJ, _ region: Region, _ other: Region, _ atlas: Atlas) -> Bool {
        let (own, foreign) = (value(at: leaf), atlas.value(at: leaf))
        guard own != Region.noIndex, foreign != Region.noIndex else { return false }
        let ownCut = own & AtlasLayout.isCut == 0 ? nil : CutReader(bytes: cuts, offset: cutOffset(own))
        let foreignCut =
            foreign & AtlasLayout.isCut == 0 ? nil : CutReader(bytes: atlas.cuts, offset: atlas.cutOffset(foreign))
        switch (ownCut, foreignCut) {
        case (nil, nil): return (own == region.index) == (foreign == other.index)
        case (let ownCut?, let foreignCut?):
            guard ownCut.lists(region.index) || foreignCut.lists(other.index) else { return true }
            return ownCut.hasPart(of: region.index, as: other.index, of: foreignCut)
        case (let ownCut?, nil): return foreign != other.index && !ownCut.lists(region.index)
        case (nil, let foreignCut?): return own != region.index && !foreignCut.lists(other.index)
        }
    }
}

/// Which cells a circle reaches, on a sphere.
private enum CellReach {
    /// The length of the chord: at most the distance.
    static func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
        let (sineA, cosineA) = Trigonometry.sineAndCosine(degrees: a.latitude)
        let (sineB, cosineB) = Trigonometry.sineAndCosine(degrees: b.latitude)
        let east = Trigonometry.sineAndCosine(degrees: (b.longitude - a.longitude) / 2).sine
        let (north, outward) = (sineA - sineB, cosineA - cosineB)
        let square = north * north + outward * outward + 4 * cosineA * cosineB * east * east
        return square.squareRoot() * CellID.earthRadiusMeters
    }

    /// - Parameters:
    ///   - cell: its leaf of least i and j.
    ///   - size: its edge in leaves.
    static func center(of cell: FaceIJ, size: UInt32) -> Coordinate {
        CellID.coordinate(
            face: Int(cell.face), doubleI: UInt64(cell.i) * 2 + UInt64(size), doubleJ: UInt64(cell.j) * 2 + UInt64(size)
        )
    }

    static func children(of cell: FaceIJ, size: UInt32) -> [FaceIJ] {
        [(0, 0), (size / 2, 0), (0, size / 2), (size / 2, size / 2)].map {
            FaceIJ(face: cell.face, i: cell.i + $0.0, j: cell.j + $0.1)
        }
    }
}
