/// What becomes of states that were kept with another atlas.
///
/// Answers under two atlases narrow a position down to what two regions have in common. So a region of the other atlas counts
/// only where it is the same in both.
public enum OtherAtlas: Sendable {
    /// They are refused, with `otherAtlas`.
    case refused
    /// Their pace is kept: nobody is answered again sooner. Their regions are forgotten, and the next tick gives new ones.
    case keepingPaces
    /// Their pace is kept, and those regions that are the same in the atlas given, cell by cell. It must be the one that they
    /// were kept with.
    case keepingRegions(of: Atlas)
}

/// Takes over states that were kept with an atlas.
package struct StateImport {
    private let atlas: Atlas
    private enum Rule { case whole, paces, regions(Atlas) }
    private let rule: Rule
    private var isKept: [RegionID: Bool] = [:]

    /// - Parameters:
    ///   - fingerprint: of the atlas that they were kept with; nil where that is not known.
    ///   - atlas: that from now on.
    ///   - other: what becomes of those of another one.
    /// - Throws: `AtlasError`: `otherAtlas`, or damage in one of the two.
    package init(from fingerprint: UInt64?, to atlas: Atlas, _ other: OtherAtlas) throws(AtlasError) {
        self.atlas = atlas
        if fingerprint == atlas.fingerprint {
            rule = .whole
            return
        }
        switch other {
        case .refused: throw .otherAtlas
        case .keepingPaces: rule = .paces
        case .keepingRegions(let old):
            guard fingerprint ?? old.fingerprint == old.fingerprint else { throw .otherAtlas }
            if old.fingerprint == atlas.fingerprint {
                rule = .whole
            } else {
                // Comparing reads cells that no lookup has validated.
                try old.validateOnce()
                try atlas.validateOnce()
                rule = .regions(old)
            }
        }
    }

    /// Whether states stay as they are.
    package var isWhole: Bool { if case .whole = rule { true } else { false } }

    /// A state with those regions that count.
    package mutating func state(_ state: Pacer.State) -> Pacer.State {
        switch rule {
        case .whole: return state
        case .paces: return state.keeping { _ in false }
        case .regions(let old):
            for id in state.regions where isKept[id] == nil { isKept[id] = old.hasAlike(id, in: atlas) }
            return state.keeping { isKept[$0] == true }
        }
    }
}
