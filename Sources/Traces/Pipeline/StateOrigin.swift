import Hereabouts

/// The other atlas that a state was made with. Its paces go on in this one, and so do regions that both have cell by cell.
package struct StateOrigin: Sendable {
    /// Opened by the caller, validated as a whole or ending the process on damage.
    let atlas: Atlas
    /// What was withheld, by that atlas.
    let withheld: WithheldRegions?

    package init(_ atlas: Atlas, withheld: WithheldRegions?) { (self.atlas, self.withheld) = (atlas, withheld) }

    /// That of the states.
    var fingerprint: UInt64 { atlas.fingerprint ^ (withheld?.fingerprint ?? 0) }

    /// How many of a state's regions the atlas had, and how many of these were dropped.
    struct Move: Equatable {
        var regions = 0, dropped = 0
    }
}

extension StateOrigin {
    /// A state's records with the regions that another atlas has too.
    func moved(_ content: PaceFormat.Content, to other: Atlas) -> (PaceFormat.Content, Move) {
        var isKept: [RegionID: Bool] = [:]
        for record in content.confirmed + content.unconfirmed {
            for id in record.state.allRegions + [record.lastReport].compactMap(\.self) where isKept[id] == nil {
                isKept[id] = atlas.hasAlike(id, in: other)
            }
        }
        func moved(_ record: PaceRecord) -> PaceRecord {
            var record = record
            record.state = record.state.keeping { isKept[$0] == true }
            record.lastReport = record.lastReport.flatMap { isKept[$0] == true ? $0 : nil }
            return record
        }
        var content = content
        content.confirmed = content.confirmed.map(moved)
        content.unconfirmed = content.unconfirmed.map(moved)
        return (content, Move(regions: isKept.count, dropped: isKept.values.count { !$0 }))
    }
}
