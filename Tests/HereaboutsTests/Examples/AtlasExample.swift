import Hereabouts

/// Opens an atlas for a service: damage anywhere in the file shows now.
func openForService(_ path: String) throws(AtlasFileError) -> Atlas {
    try Atlas(contentsOf: path)
}

/// Opens an atlas for a single answer: only what the answer needs is read and validated.
func answerOnce(_ position: Coordinate, atlasPath: String) throws -> ReducedLocation {
    let atlas = try Atlas(contentsOf: atlasPath, validation: .onFirstUse)
    do {
        let here = try atlas.reducedLocation(at: position)
        try atlas.checkUnchanged()
        return here
    } catch LookupError.atlas(let damage) {
        throw damage  // The file is damaged where this answer needs it: fetch it again.
    }
}

/// The lines to show beside a map or under a table of reduced locations.
func credits(of atlas: Atlas) throws -> String {
    try atlas.attribution.map(\.description).joined(separator: "\n")
}
