import CommandSupport
import FixedRandom
import Foundation
import Hereabouts
import Testing

/// Every instruction set that this processor has gives the same bytes, from the command line on.
@Suite(.serialized) struct KernelSetTests {
    let place = Workplace()

    /// Numbers in every notation, in rows of every length; quotes, empty fields and bad records among them.
    private static let table: String = {
        var random = SplitMix64(seed: 23)
        let notes = ["", "x", "\"a,\"\"b\"\"\"", "\"two\nlines\"", String(repeating: "long ", count: 30)]
        var text = "note,id,time,lat,lon\r\n"
        for row in 0..<6_000 {
            let latitude = random.uniform(-90, 90), longitude = random.uniform(-180, 180)
            let digits = Int.random(in: 0...12, using: &random)
            let position =
                switch row % 50 {
                case 7: "\(latitude * 2),\(longitude)"
                case 23: ",\(longitude)"
                case 31: String(format: "%.9e,%+.3f", latitude, longitude)
                case 42: String(format: "%.4f,%.2f", latitude, longitude * 100)
                default: String(format: "%.*f,%.*f", digits, latitude, digits, longitude)
                }
            let note = notes.randomElement(using: &random)!
            text += "\(note),d\(row % 9),\(1_772_323_200 + row * 20),\(position)\(row % 3 == 0 ? "\r\n" : "\n")"
        }
        return text
    }()

    private static let samples = projectFolder.appendingPathComponent("data/samples").path

    @Test(arguments: [
        ["snap", "--threads", "1", "table.csv"], ["snap", "--threads", "2", "--keep", "note", "table.csv"],
        ["convert", "--to", "csv", "--accept-jumps", "table.csv"],
        ["convert", "--to", "geojson", "--emit", "recomputations", "--accept-jumps", "table.csv"],
        ["snap", "\(samples)/border-drives.csv"], ["convert", "--to", "gpx", "\(samples)/border-drives.csv"],
        ["convert", "--to", "gpx", "--emit", "fixes", "\(samples)/i10-el-paso.gpx"],
        ["region", "31.7619,-106.4850"],
    ])
    func `every instruction set gives the same bytes`(_ arguments: [String]) throws {
        place.write(Self.table, as: "table.csv")
        let unforced = try place.run(command, arguments, input: "")
        #expect(unforced.output.utf8.count > 100 && unforced.status == (arguments.contains("table.csv") ? 1 : 0))
        for set in KernelSet.allCases {
            guard set.isSupported else {
                print("skipped: this processor has no \(set)")
                continue
            }
            let forced = try place.run(
                command, arguments, input: "", environment: [KernelSet.variable: "\(set)"])
            #expect(forced.output == unforced.output && forced.errors == unforced.errors, "\(set)")
            #expect(forced.status == unforced.status)
        }
    }

    @Test func `a set that is not there is a mistake`() throws {
        let lacking = KernelSet.allCases.filter { !$0.isSupported }.map { "\($0)" }
        for name in ["none", "AVX2", "avx", "baseline,avx2"] + lacking {
            for arguments in [["snap", "1", "2"], ["region", "1,2"]] {
                let result = try place.run(
                    command, arguments, input: "", environment: [KernelSet.variable: name])
                #expect(result.status == 2 && result.output.isEmpty)
                #expect(result.errors.hasPrefix("hereabouts: HEREABOUTS_KERNELS: no instruction set of this processor"))
                #expect(result.errors.contains("baseline") && !result.errors.contains("none"))
            }
        }
        #expect(try place.hereabouts("snap", "1", "2", environment: [KernelSet.variable: ""]).status == 0)
    }
}
