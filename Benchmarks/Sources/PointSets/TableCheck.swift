import Foundation
import Hereabouts

/// Proves a table that `hereabouts snap` wrote: every row, in order, has what the library gives for its position.
package struct TableCheck {
    private let atlas: Atlas

    package init(atlas: Atlas) { self.atlas = atlas }

    /// - Throws: `WrongResult` at the first row that is missing, too many or wrong.
    package func check(_ path: String, rows: Int, of table: TableWriter) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        let header = Array("id,time,latitude,longitude,horizontal_accuracy,region,country,place\n".utf8)
        guard data.starts(with: header) else { throw WrongResult("the header is another") }
        var expected: [Region: [UInt8]] = [:]
        var place = data.startIndex + header.count
        for row in 0..<rows {
            let region = try atlas.region(at: table.point(row, of: rows))
            let columns = try expected[region] ?? Array(self.columns(of: region).utf8)
            expected[region] = columns
            guard let end = data[place...].firstIndex(of: UInt8(ascii: "\n")), data[place..<end].hasSuffix(columns)
            else {
                throw WrongResult("row \(row + 1) is not what the library gives")
            }
            place = end + 1
        }
        guard place == data.endIndex else { throw WrongResult("there are more than \(rows) rows") }
    }

    /// Latitude to place, from a comma on.
    private func columns(of region: Region) throws -> String {
        let location = try atlas.reducedLocation(of: region)
        let place = location.place?.description ?? ""
        let quoted = place.contains { ",\"".contains($0) } ? "\"\(place.replacing("\"", with: "\"\""))\"" : place
        return String(format: ",%.5f,%.5f,", location.coordinate.latitude, location.coordinate.longitude)
            + "\(Int(location.horizontalAccuracy.rounded(.up))),\(location.region),\(location.country),\(quoted)"
    }
}

/// A check of results that did not hold.
package struct WrongResult: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

extension Data {
    fileprivate func hasSuffix(_ bytes: [UInt8]) -> Bool {
        count >= bytes.count && suffix(bytes.count).elementsEqual(bytes)
    }
}
