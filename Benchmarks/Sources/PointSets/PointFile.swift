import Foundation
import Hereabouts

/// Points as all programs read them: latitude and longitude in degrees, as little-endian 64-bit floating-point numbers.
package enum PointFile {
    package static func write(_ points: [Coordinate], to path: String) throws {
        let numbers = points.flatMap { [$0.latitude.bitPattern.littleEndian, $0.longitude.bitPattern.littleEndian] }
        // SAFETY: the bytes are the array's, copied for the time of the call.
        let data = unsafe numbers.withUnsafeBytes { bytes in unsafe Data(bytes) }
        try data.write(to: URL(fileURLWithPath: path))
    }

    package static func read(_ path: String) throws -> [Coordinate] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        // SAFETY: numbers are loaded without a need for alignment, and only whole pairs within the bytes.
        return unsafe data.withUnsafeBytes { bytes in
            (0..<bytes.count / 16).map { index in
                let latitude = unsafe bytes.loadUnaligned(fromByteOffset: index * 16, as: UInt64.self)
                let longitude = unsafe bytes.loadUnaligned(fromByteOffset: index * 16 + 8, as: UInt64.self)
                return Coordinate(
                    latitude: Double(bitPattern: UInt64(littleEndian: latitude)),
                    longitude: Double(bitPattern: UInt64(littleEndian: longitude)))
            }
        }
    }
}
