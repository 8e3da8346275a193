import CommandCore
import Files
import Hereabouts
import TraceCommands
import Traces
import Zones

extension GeometryProvider {
    /// By GEOS and PROJ.
    static let linked = GeometryProvider(
        zoneAnswers: { file, kind, atlas, atlasPath in
            Result { () throws(CommandFailure) in
                try zoneAnswers(file, kind == .anchor ? .anchor : .withhold, atlas, atlasPath)
            }
        })

    private static func zoneAnswers(
        _ file: String, _ answer: ZoneRegions.Answer, _ atlas: Atlas, _ atlasPath: String
    ) throws(CommandFailure) -> ZoneAnswers {
        do {
            let zones = try ZoneFile.read(file)
            let regions = try ZoneRegions(zones, atlas: atlas, atlasPath: atlasPath)
            return ZoneAnswers(regions.replacements(answer))
        } catch let error as ZoneError {
            throw CommandFailure(.unusable, "\(file): \(error)")
        } catch {
            throw CommandFailure(.unusable, "\(atlasPath): \(error)")
        }
    }
}
