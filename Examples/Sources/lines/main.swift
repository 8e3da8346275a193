// Lines of latitude and longitude in, the regions around them out, as `hereabouts snap` writes them:
//
//     lines world.atlas <positions.csv >regions.csv
import Foundation
import Hereabouts

let (newline, comma, point, minus) = (UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "-"))

/// The degrees that begin at a byte, and where they end. As the nearest `Double`, for up to 15 digits.
func degrees(_ text: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Double {
    let isNegative = place < text.count && text[place] == minus
    if isNegative { place += 1 }
    var digits = 0.0, scale = 1.0, count = 0, hasPoint = false
    while place < text.count {
        let byte = text[place]
        if byte &- 48 < 10 {
            digits = digits * 10 + Double(byte &- 48)
            count += 1
            if hasPoint { scale *= 10 }
        } else if byte == point, !hasPoint {
            hasPoint = true
        } else {
            break
        }
        place += 1
    }
    return (1...15).contains(count) ? (isNegative ? -digits : digits) / scale : .nan
}

/// The positions on lines; one that no region holds where there is none.
func positions(_ text: UnsafeBufferPointer<UInt8>) -> [Coordinate] {
    var positions: [Coordinate] = [], place = 0
    while place < text.count {
        let latitude = degrees(text, &place)
        var longitude = Double.nan
        if place < text.count, text[place] == comma {
            place += 1
            longitude = degrees(text, &place)
        }
        let isWhole = place == text.count || text[place] == newline
        positions.append(Coordinate(latitude: isWhole ? latitude : .nan, longitude: longitude))
        while place < text.count, text[place] != newline { place += 1 }
        place += 1
    }
    return positions
}

let atlas = try Atlas(contentsOf: CommandLine.arguments[1], validation: .onFirstUse)
var rows = RegionRows(of: atlas, as: .csv)
var input: [UInt8] = []
var output = Array("\(RowFormat.csvHeader)\n".utf8)
while let piece = try FileHandle.standardInput.read(upToCount: 1 << 20), !piece.isEmpty {
    piece.withUnsafeBytes { input.append(contentsOf: $0) }
    guard let end = input.lastIndex(of: newline) else { continue }
    // Many at once are several times as fast as one by one.
    let places = input.withUnsafeBufferPointer { positions(UnsafeBufferPointer(rebasing: $0[...end])) }
    try rows.append(atlas.regions(at: places), to: &output)
    try FileHandle.standardOutput.write(contentsOf: output)
    output.removeAll(keepingCapacity: true)
    input.removeSubrange(...end)
}
try rows.append(atlas.regions(at: input.withUnsafeBufferPointer { positions($0) }), to: &output)
try FileHandle.standardOutput.write(contentsOf: output)
