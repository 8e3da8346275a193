import CommandSupport
import Foundation
import Testing

/// What tests of files that somebody else made have in common.
extension Workplace {
    /// Runs the command for twenty seconds at most: 124 is the status of one that hangs.
    func runBriefly(_ arguments: [String], environment: [String: String] = [:]) throws -> CommandResult {
        try run(
            URL(fileURLWithPath: "/usr/bin/env"), ["timeout", "-k", "1", "20", command.path] + arguments,
            environment: ["HEREABOUTS_ATLAS": atlasPath].merging(environment) { _, new in new })
    }

    func makePipe(_ name: String) { #expect(unsafe mkfifo(path(name), 0o644) == 0) }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }
}

/// A table that is in no degrees, and what it may declare.
enum Reference {
    static let utm = "x,y\n500000,4000000\n"
    static let zone13 = """
        PROJCS["WGS 84 / UTM zone 13N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],\
        PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],\
        PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",-105],PARAMETER["scale_factor",0.9996],\
        PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1]]
        """
}
