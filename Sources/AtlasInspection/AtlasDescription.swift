import Foundation
import Hereabouts

/// What `hereabouts atlas info` prints.
package struct AtlasDescription {
    /// The text, without a final line end.
    package let text: String

    private struct About: Decodable {
        struct Source: Decodable {
            var name: String
            var version: String?
            var license: String?
            var attribution: String?

            /// `about` has had its member `licence` since format 1.
            enum CodingKeys: String, CodingKey {
                case name, version, attribution
                case license = "licence"
            }
        }
        var sources: [Source]
        var summary: AtlasSummary
    }

    package init(_ atlas: Atlas) throws {
        let about = try JSONDecoder().decode(About.self, from: Data(try atlas.aboutJSON.utf8))
        var lines = ["made from"]
        for source in about.sources {
            lines.append("  \(source.name) \(source.version ?? ""), \(source.license ?? "license not stated")")
            if let attribution = source.attribution { lines.append("    \(attribution)") }
        }
        if about.sources.contains(where: { $0.license?.hasPrefix("ODbL") ?? false }) {
            lines += [
                "", "license                 Open Database License 1.0 (ODbL), as its source has:",
                "                        https://opendatacommons.org/licenses/odbl/1-0/",
            ]
        }
        let limits = atlas.limits
        lines += [
            "",
            "made for                K = \(limits.anonymity), accuracy \(Int(limits.smallestAccuracyMeters)) to "
                + "\(Int(limits.largestAccuracyMeters)) m, \(Int(limits.largestLeftoverAccuracyMeters)) m with a leftover, up to "
                + "\(Int(limits.largestEmptyAccuracyMeters)) m where hardly anybody lives",
            "steadiness              \(Int(atlas.steadinessMeters)) m beyond every region",
            about.summary.description,
        ]
        text = lines.joined(separator: "\n")
    }
}
