import ArgumentParser
import AtlasInspection
import CommandCore
import Hereabouts
import Traces

extension AtlasCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List an atlas's regions as CSV: centers, accuracies, places and residents.",
            discussion: """
                The regions of one country that promise fewer than 20,000 residents:
                  hereabouts atlas list | awk -F, '$5 == "LU" && $8 < 20000'

                anonymity is the estimated number of residents, anonymity_lower_bound the number that is promised; both to \
                two digits. Nine in ten residents live within concentration meters of one of them.
                """)

        @Argument(
            help: ArgumentHelp("The atlas. (default: see 'hereabouts help')", valueName: "file"), completion: .file())
        var file: String?
        @OptionGroup var atlas: AtlasOptions

        private static let regionsPerWrite = 16_384

        func run() throws {
            let path = try AtlasSearch.path(option: file ?? atlas.atlas)
            let atlas = try AtlasSearch.open(option: path)
            try printOutput(
                "region,latitude,longitude,horizontal_accuracy,country,place,anonymity,anonymity_lower_bound,concentration"
            )
            for first in stride(from: 0, to: atlas.regionCount, by: Self.regionsPerWrite) {
                var rows = ByteBuffer(capacity: 128 * Self.regionsPerWrite)
                do {
                    for index in first..<min(first + Self.regionsPerWrite, atlas.regionCount) {
                        if index > first { rows.append(UInt8(ascii: "\n")) }
                        try Self.append(Region(index: UInt32(index)), of: atlas, to: &rows)
                    }
                    try atlas.checkUnchanged()
                } catch {
                    throw CommandFailure(.unusable, "\(path): \(error)")
                }
                try printOutput(String(decoding: rows.array, as: UTF8.self))
            }
        }

        private static func append(_ region: Region, of atlas: Atlas, to row: inout ByteBuffer) throws {
            let location = try atlas.reducedLocation(of: region)
            row.append(text: location.region.description)
            row.append(",")
            row.append(degrees: location.coordinate.latitude)
            row.append(",")
            row.append(degrees: location.coordinate.longitude)
            row.append(",")
            row.append(decimal: Int(location.horizontalAccuracy.rounded(.up)))
            row.append(",")
            row.append(csv: Array(location.country.code.utf8))
            row.append(",")
            row.append(csv: Array((location.place?.description ?? "").utf8))
            row.append(",")
            row.append(decimal: PrintedResidents.estimate(try atlas.anonymity(of: region)))
            row.append(",")
            row.append(decimal: PrintedResidents.lowerBound(try atlas.anonymityLowerBound(of: region)))
            row.append(",")
            if let concentration = try atlas.concentration(of: region) { row.append(decimal: Int(concentration)) }
        }
    }
}
