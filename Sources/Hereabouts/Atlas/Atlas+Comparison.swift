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
        let reach = CellReach(middle, meters: max(own, foreign) + apart)
        var cells = (0..<6).map { FaceIJ(face: UInt8($0), i: 0, j: 0) }
        for level in 0..<AtlasLayout.finestLevel {
            cells = cells.filter { reach.meets($0, level: level) }
                .flatMap { CellReach.children(of: $0, size: FaceIJ.limit >> UInt32(level)) }
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
