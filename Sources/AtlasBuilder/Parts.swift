import GeoBridge
import Hereabouts

/// What a part is counted as when regions are grown: parts of different kinds never share a region at first.
enum PartKind: UInt8, Sendable {
    /// Land with residents in it, or inhabited land around it.
    case settled
    /// Land far from any resident.
    case empty
    /// No land.
    case sea
}

/// A cell, or one country's piece of a cell that a border cuts: what regions are made of.
struct Part: Sendable {
    var cell: CellID
    var country: UInt16
    var kind: PartKind
    var people: Population.People
    /// km².
    var area: Float
    /// A point that may be a center, in leaf coordinates.
    var site: SIMD2<UInt32>
    /// Whether that point is on land.
    var isAshore = false
    /// Whether any other point of the part would do as well: it is whole, and all land or all sea.
    var isOpen = false
    /// Index of the cut cell in the root's `cuts`, and of the piece in it; -1 where the cell is whole.
    var cut: Int32 = -1
    var piece: Int32 = 0
}

/// The parts of one root, in cell order.
struct RootParts: Sendable {
    var parts: [Part] = []
    var cuts: [CutCell] = []
}

/// Cuts a root into parts: finer where more people live, and along coasts and borders.
///
/// A class, for the walk over cells would copy a structure of so many arrays at each of them.
final class PartBuilder {
    private let root: CellRoot
    private let population: Population
    private let inhabited: InhabitedLand
    private let anonymity: Double
    private let emptyReach: Double
    private let context: GEOSContext

    private static let seaLevel = 8, seaBorderLevel = 9, emptyLevel = 9, sparseLevel = 10, settledLevel = 11,
        shoreLevel = 12
    private static let finestSettledLevel = 14, finestLevel = AtlasLayout.finestLevel
    private static let edgesPerCut = 24, edgesPerSeaCut = 64

    /// `anonymity`: residents that every region should promise (K); a part should hold a small share of it. `emptyReach`: largest
    /// distance from center to corner of a region at sea, meters.
    init(
        root: CellRoot, population: Population, inhabited: InhabitedLand, anonymity: Double, emptyReach: Double
    ) throws {
        (self.root, self.population, self.inhabited) = (root, population, inhabited)
        (self.anonymity, self.emptyReach) = (anonymity, emptyReach)
        context = try GEOSContext()
    }

    func build() throws -> RootParts {
        var result = RootParts()
        var failure: (any Error)?
        /// Whether people live in the level-9 cell on the path, or around it.
        var isSettled = false
        var fineness = fineness(ofPromised: 0)
        root.walk { view, walker in
            guard failure == nil else { return false }
            let range = population.range(of: view.cell)
            let people = population.people(range)
            if view.level < Self.emptyLevel {
                isSettled = people.residents > 0
            } else if view.level == Self.emptyLevel {
                isSettled = people.residents > 0 || inhabited.mayBeInhabited(view.cell)
            }
            if isSettled, view.level == Self.sparseLevel {
                fineness = self.fineness(ofPromised: inhabited.promised(around: Ellipsoid.position(view.cell.center)))
            }
            let codes = walker.edges[view.edges].reduce(UInt16(0)) { $0 | $1.code }
            let isFew = self.isFew(people, level: view.level, isCrossed: codes != 0, fineness)
            if codes & Label.countryMask != 0 {
                if !isCuttable(view, walker, codes, isFew) { return true }
                do {
                    return try !appendCut(view, walker, range, isSettled, &result)
                } catch {
                    failure = error
                    return false
                }
            }
            return append(view, walker, hasCoast: codes != 0, range, isFew, isSettled, &result)
        }
        if let failure { throw failure }
        return result
    }

    /// How many promised residents a part may hold above a level; from there on a sixth of K: small enough to shape a
    /// region from, and no smaller, for the tree's sake.
    private struct Fineness {
        var residents: Double
        var level: Int
    }

    /// How fine parts are where the circle of the largest size holds so many promised residents.
    private func fineness(ofPromised promised: Double) -> Fineness {
        switch promised / anonymity {
        case 0.5...1.5:
            // There, or in another circle that holds the place, it is by the last parts that a region gets K, or at least K/2. A part
            // counts only if its farthest corner is in reach: the wider parts are, the fewer people a circle takes in.
            Fineness(residents: anonymity / 400, level: Self.finestSettledLevel)
        case 0.25...1.7:
            Fineness(residents: anonymity / 170, level: 13)
        case 1.7...40:
            // Regions are some kilometers wide, and more compact the finer their parts are. Half of all people live there.
            Fineness(residents: anonymity / 10, level: Self.finestSettledLevel)
        default:
            Fineness(residents: anonymity / 6, level: Self.finestSettledLevel)
        }
    }

    /// Whether a cell holds few enough people for a part. Where coast or border passes through it, it is fine already, and
    /// finer still would leave a place that lies a little offshore in a cell of nothing but water.
    private func isFew(_ people: Population.People, level: Int, isCrossed: Bool, _ fineness: Fineness) -> Bool {
        if level >= Self.finestSettledLevel { return true }
        let isFine = level < (isCrossed ? Self.shoreLevel : fineness.level)
        return people.promised <= (isFine ? fineness.residents : anonymity / 6)
    }

    // MARK: Whole cells

    /// Appends the cell as a part, or says that it must be divided.
    private func append(
        _ view: CellView, _ walker: CellWalker, hasCoast: Bool, _ range: Range<Int>, _ isFew: Bool,
        _ isSettled: Bool, _ result: inout RootParts
    ) -> Bool {
        let people = population.people(range)
        var part = Part(
            cell: view.cell, country: UInt16(view.reference.country), kind: .sea, people: people, area: 0,
            site: SIMD2(UInt32(view.referenceX), UInt32(view.referenceY)))
        part.isOpen = !hasCoast
        if hasCoast {
            guard view.level >= (isSettled ? Self.shoreLevel : Self.settledLevel), isFew else { return true }
            if let site = landSite(view, walker) {
                part.site = SIMD2(UInt32(site.x), UInt32(site.y))
                part.kind = isSettled ? .settled : .empty
                part.isAshore = true
            }
        } else if view.reference.isLand {
            // Where hardly anybody lives no fine shape helps anyone.
            let coarsest = people.promised <= anonymity / 12 ? Self.sparseLevel : Self.settledLevel
            guard view.level >= (isSettled ? coarsest : Self.emptyLevel), isFew else { return true }
            part.kind = isSettled ? .settled : .empty
            part.isAshore = true
        } else if view.level < (people.residents > 0 ? Self.shoreLevel : Self.seaLevel) {
            return true
        }
        if part.kind == .sea, people.residents > 0 {
            // An island that the coastline lacks: people live there all the same.
            part.kind = .settled
            part.site = inhabitedSite(range)
            part.isOpen = false
        }
        if part.kind == .sea, view.level == Self.seaLevel { part.site = cornerSite(view) }
        part.area = Float(CellShape(view.cell).area)
        result.parts.append(part)
        return false
    }

    /// Where the first of some residents live.
    private func inhabitedSite(_ range: Range<Int>) -> SIMD2<UInt32> {
        let leaf = CellID(rawValue: population.cells[range.lowerBound]).faceIJ()
        return SIMD2(leaf.i, leaf.j)
    }

    /// The point of a cell nearest the middle of its parent, so that the four children of a parent together make a region
    /// that is hardly wider than the parent.
    private func cornerSite(_ view: CellView) -> SIMD2<UInt32> {
        // A level-18 cell's breadth from the corner, so that the published center is inside.
        let inset: Int64 = 1 << 12
        let parent = CellShape(view.cell.parent)
        let diagonal = max(
            parent.corners[0].distance(to: parent.corners[2]), parent.corners[1].distance(to: parent.corners[3]))
        let x = view.i & view.size == 0 ? view.i + view.size - inset : view.i + inset
        // Where four together are too wide, two are not: the middle of the side between them.
        let isWide = diagonal / 2 > emptyReach - 500
        let y = isWide ? view.j + view.size / 2 : view.j & view.size == 0 ? view.j + view.size - inset : view.j + inset
        return SIMD2(UInt32(x), UInt32(y))
    }

    /// A point of the cell on land, near its middle if may be; nil where no center on land could be published.
    private func landSite(_ view: CellView, _ walker: CellWalker) -> SIMD2<Int64>? {
        ShoreSearch(view: view, edges: walker.edges[view.edges]) { x, y in
            walker.label(in: view, x: x, y: y).isLand
        }.site()
    }

    // MARK: Cut cells

    private func isCuttable(
        _ view: CellView, _ walker: CellWalker, _ codes: UInt16, _ isFew: Bool
    ) -> Bool {
        if codes & Label.landBit == 0, !view.reference.isLand {
            return view.level >= Self.seaBorderLevel && view.edges.count <= Self.edgesPerSeaCut
        }
        let coarsest = codes & Label.landBit != 0 ? Self.shoreLevel : Self.settledLevel
        guard view.level >= coarsest else { return false }
        if view.level >= Self.finestLevel { return true }
        return isFew && view.edges.count <= Self.edgesPerCut
    }

    /// Appends the pieces of a cut cell; false where the cell must be divided for its cut to be faithful.
    private func appendCut(
        _ view: CellView, _ walker: CellWalker, _ range: Range<Int>, _ isSettled: Bool,
        _ result: inout RootParts
    ) throws -> Bool {
        let exact = ExactLabels(view: view, edges: Array(walker.edges[view.edges]))
        let cut = try CutCellBuilder(view, context: context) { exact.label(x: $0, y: $1) }
            .build(exact.edges[...])
        if !cut.isFaithful, view.level < Self.finestLevel { return false }
        for (index, piece) in cut.pieces.enumerated() {
            let people = population.people(range) { leaf in
                let (_, i, j, _) = CellID(rawValue: leaf).faceIJ()
                return cut.country(atLeaf: FaceIJ(face: UInt8(view.face), i: i, j: j)) == piece.country
            }
            let kind: PartKind = piece.isLand || people.residents > 0 ? isSettled ? .settled : .empty : .sea
            result.parts.append(
                Part(
                    cell: view.cell, country: piece.country, kind: kind, people: people,
                    area: Float(piece.area), site: SIMD2(UInt32(piece.site.x), UInt32(piece.site.y)),
                    isAshore: piece.isLand,
                    cut: Int32(result.cuts.count), piece: Int32(index)))
        }
        result.cuts.append(cut)
        return true
    }
}

/// Labels within one cell, from the edges that meet it.
private struct ExactLabels {
    let view: CellView
    let edges: [FaceEdge]

    func label(x: Int64, y: Int64) -> Label {
        var view = view
        view.edges = 0..<edges.count
        return CellWalker(edges: edges).label(in: view, x: x, y: y)
    }
}
