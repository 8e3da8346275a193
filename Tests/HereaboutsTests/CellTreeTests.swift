import CS2Oracle
import FixedRandom
import Testing

@testable import Hereabouts

/// Ids, tokens and the tree against the S2 library.
@Suite struct CellTreeTests {
    @Test func `grid positions and back`() {
        var random = SplitMix64(seed: 21)
        for k in 0..<60_000 {
            let level = k % 31
            let cell = k % 2 == 0 ? random.cell(level: level) : random.cellOnFaceEdge(level: level)
            let ours = cell.faceIJ()
            #expect(ours == CellOracle.faceIJ(cell))
            #expect(CellID(face: ours.face, i: ours.i, j: ours.j, level: level) == cell)
            let leaf = s2OracleLeafFromFaceIJ(Int32(ours.face), Int32(ours.i), Int32(ours.j))
            #expect(CellID(face: ours.face, i: ours.i, j: ours.j, level: 30).rawValue == leaf)
        }
    }

    @Test func `ancestors children and ranges`() {
        var random = SplitMix64(seed: 22)
        for k in 0..<30_000 {
            let level = k % 31
            let cell = random.cell(level: level)
            let id = cell.rawValue
            #expect(cell.isValid && cell.level == level && cell.isLeaf == (level == 30))
            #expect(cell.level == Int(s2OracleLevel(id)))
            #expect(cell.rangeMin.rawValue == s2OracleRangeMin(id) && cell.rangeMax.rawValue == s2OracleRangeMax(id))
            #expect(cell.next.rawValue == s2OracleNext(id))
            let above = Int(random.next() % UInt64(level + 1))
            #expect(cell.parent(level: above).rawValue == s2OracleParent(id, Int32(above)))
            if level > 0 { #expect(cell.parent == cell.parent(level: level - 1)) }
            if level < 30 {
                for position in 0..<4 {
                    let child = cell.child(position)
                    #expect(child.rawValue == s2OracleChild(id, Int32(position)) && child.parent == cell)
                }
            }
        }
    }

    @Test func `contains relatives`() {
        var random = SplitMix64(seed: 23)
        for _ in 0..<20_000 {
            let cell = random.cell(level: Int(random.next() % 31))
            // Relatives, or the answer would nearly always be no.
            let relative = cell.parent(level: Int(random.next() % UInt64(cell.level + 1)))
            let stranger = random.cell(level: Int(random.next() % 31))
            for other in [relative, relative.next, stranger, cell] where other.isValid {
                #expect(cell.contains(other) == (s2OracleContains(cell.rawValue, other.rawValue) != 0))
                #expect(other.contains(cell) == (s2OracleContains(other.rawValue, cell.rawValue) != 0))
            }
        }
    }

    @Test func `validity of any bits`() {
        var random = SplitMix64(seed: 24)
        for k in 0..<50_000 {
            let bits = random.next() << UInt64(k % 64)
            #expect(CellID(rawValue: bits).isValid == (bits != 0 && s2OracleIsValid(bits) != 0))
        }
    }

    @Test func `tokens of cells and of any bits`() {
        var random = SplitMix64(seed: 25)
        for k in 0..<50_000 {
            let cell = k % 2 == 0 ? random.cell(level: k % 31) : CellID(rawValue: random.next() >> UInt64(k % 64))
            let token = cell.token
            #expect(token == CellOracle.token(cell))
            #expect(CellID(token: token) == cell)
            #expect(CellID(token: token.uppercased()) == cell)
            #expect(CellOracle.cell(token: token) == cell)
        }
        #expect(CellID(rawValue: 0).token == "X" && CellID(token: "X") == CellID(rawValue: 0))
        #expect(CellID(rawValue: 1).token == "0000000000000001")
    }

    @Test(arguments: ["", "x", "g", "89c2 ", " 89c2", "-1", "0x89", "00000000000000001", "8½", "８"])
    func `refuses what is no token`(text: String) {
        #expect(CellID(token: text) == nil)
    }

    /// Along the curve at one level: every cell once, each touching the next.
    @Test func `the curve visits every cell once`() {
        var cell = CellID(face: 0, i: 0, j: 0, level: 0)
        for _ in 0..<4 { cell = cell.child(0) }
        var seen: Set<CellID> = []
        while cell.isValid {
            #expect(seen.insert(cell).inserted)
            if cell.next.isValid { #expect(CellOracle.edgeNeighbors(cell).contains(cell.next)) }
            cell = cell.next
        }
        #expect(seen.count == 6 * 256)
    }
}
