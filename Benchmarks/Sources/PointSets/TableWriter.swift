import Foundation
import Hereabouts

/// Writes points as the files that the command and its peers read: CSV (`id,time,lat,lon`) or a GPX track.
///
/// Row i is of device i modulo the number of devices, its time one interval after the device's row before. Each device
/// has a stretch of the points of its own; more rows than there are points go through them again.
package struct TableWriter {
    package enum Form: String, Sendable { case csv, gpx }

    private static let blockRows = 1 << 16
    /// 2026-05-09, midnight.
    private static let start = 1_778_284_800

    let points: [Coordinate]
    let devices: Int
    /// Seconds between a device's rows.
    let interval: Int

    package init(points: [Coordinate], devices: Int, interval: Int) {
        precondition(devices > 0 && !points.isEmpty)
        self.points = points
        self.devices = devices
        self.interval = interval
    }

    /// - Throws: Where the file cannot be written.
    package func write(rows: Int, as form: Form, to path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var text: [UInt8] = []
        text.reserveCapacity(Self.blockRows * 128)
        text.append(contentsOf: header(form).utf8)
        for row in 0..<rows {
            append(row, of: rows, as: form, to: &text)
            if row % Self.blockRows == Self.blockRows - 1 {
                try file.write(contentsOf: text)
                text.removeAll(keepingCapacity: true)
            }
        }
        text.append(contentsOf: footer(form).utf8)
        try file.write(contentsOf: text)
    }

    /// The point of a row.
    package func point(_ row: Int, of rows: Int) -> Coordinate {
        let stretch = max(1, min(rows, points.count) / devices)
        return points[(row % devices * stretch + row / devices) % points.count]
    }

    private func header(_ form: Form) -> String {
        switch form {
        case .csv: "id,time,lat,lon\n"
        case .gpx:
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="points" xmlns="http://www.topografix.com/GPX/1/1">
            <trk><trkseg>

            """
        }
    }

    private func footer(_ form: Form) -> String { form == .csv ? "" : "</trkseg></trk>\n</gpx>\n" }

    private func append(_ row: Int, of rows: Int, as form: Form, to text: inout [UInt8]) {
        let point = point(row, of: rows)
        switch form {
        case .csv:
            text.append(UInt8(ascii: "d"))
            Self.append(row % devices, digits: 5, to: &text)
            text.append(UInt8(ascii: ","))
            appendTime(row, to: &text)
            text.append(UInt8(ascii: ","))
            Self.append(degrees: point.latitude, to: &text)
            text.append(UInt8(ascii: ","))
            Self.append(degrees: point.longitude, to: &text)
            text.append(UInt8(ascii: "\n"))
        case .gpx:
            text.append(contentsOf: "<trkpt lat=\"".utf8)
            Self.append(degrees: point.latitude, to: &text)
            text.append(contentsOf: "\" lon=\"".utf8)
            Self.append(degrees: point.longitude, to: &text)
            text.append(contentsOf: "\"><ele>1140.5</ele><time>".utf8)
            appendTime(row, to: &text)
            text.append(contentsOf: "</time></trkpt>\n".utf8)
        }
    }

    private func appendTime(_ row: Int, to text: inout [UInt8]) {
        let seconds = Self.start + row / devices * interval
        let (year, month, day) = Self.date(days: seconds / 86_400)
        let second = seconds % 86_400
        for (number, digits, mark) in [
            (year, 4, "-"), (month, 2, "-"), (day, 2, "T"), (second / 3_600, 2, ":"), (second / 60 % 60, 2, ":"),
            (second % 60, 2, "Z"),
        ] {
            Self.append(number, digits: digits, to: &text)
            text.append(contentsOf: mark.utf8)
        }
    }

    /// The civil date of a day since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097, dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func append(_ number: Int, digits: Int, to text: inout [UInt8]) {
        var scale = 1
        for _ in 1..<digits { scale *= 10 }
        while scale > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / scale % 10))
            scale /= 10
        }
    }

    /// With seven decimals.
    private static func append(degrees: Double, to text: inout [UInt8]) {
        let whole = Int((degrees * 1e7).rounded())
        if whole < 0 { text.append(UInt8(ascii: "-")) }
        let magnitude = Int(whole.magnitude)
        let degrees = magnitude / 10_000_000
        append(degrees, digits: degrees > 99 ? 3 : degrees > 9 ? 2 : 1, to: &text)
        text.append(UInt8(ascii: "."))
        append(magnitude % 10_000_000, digits: 7, to: &text)
    }
}
