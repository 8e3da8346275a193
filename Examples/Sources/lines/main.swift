// Lines of latitude and longitude in, the regions around them out, as `hereabouts snap` writes them:
//
//     lines world.atlas <positions.csv >regions.csv
import Foundation
import Hereabouts

let newline = UInt8(ascii: "\n")
let atlas = try Atlas(contentsOf: CommandLine.arguments[1])
var rows = RegionRows(of: atlas, as: .csv)
var input: [UInt8] = []
var output = Array("\(RowFormat.csvHeader)\n".utf8)

/// The position on a line; one that no region holds where there is none.
func position(_ line: ArraySlice<UInt8>) -> Coordinate {
    func degrees(_ text: ArraySlice<UInt8>) -> Double { Double(String(decoding: text, as: UTF8.self)) ?? .nan }
    guard let comma = line.firstIndex(of: UInt8(ascii: ",")) else { return Coordinate(latitude: .nan, longitude: .nan) }
    return Coordinate(latitude: degrees(line[..<comma]), longitude: degrees(line[(comma + 1)...]))
}

/// Writes a row for each line. Many positions at once are several times as fast as one by one.
func write(_ lines: ArraySlice<UInt8>) throws {
    let lines = lines.split(separator: newline, omittingEmptySubsequences: false)
    for region in try atlas.regions(at: lines.lazy.map(position)) {
        try rows.append(region, to: &output)
        output.append(newline)
    }
    try FileHandle.standardOutput.write(contentsOf: output)
    output.removeAll(keepingCapacity: true)
}

while let piece = try FileHandle.standardInput.read(upToCount: 1 << 20), !piece.isEmpty {
    input += piece
    guard let end = input.lastIndex(of: newline) else { continue }
    try write(input[..<end])
    input.removeSubrange(...end)
}
if !input.isEmpty { try write(input[...]) }
