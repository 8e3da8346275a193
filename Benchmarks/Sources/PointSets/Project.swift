import Foundation

/// Where the project's own files are.
package enum Project {
    /// The checkout, above this package.
    package static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The atlas that `HEREABOUTS_ATLAS` names, else the committed one.
    package static let atlasPath =
        ProcessInfo.processInfo.environment["HEREABOUTS_ATLAS"] ?? folder + "/data/world.atlas"

    /// The command that `HEREABOUTS_COMMAND` names, else the release build.
    package static let commandPath =
        ProcessInfo.processInfo.environment["HEREABOUTS_COMMAND"] ?? folder + "/.build/release/hereabouts"
}
