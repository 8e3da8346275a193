import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Dialects

/// The project's folder.
let projectFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The committed atlas.
let worldAtlas: Atlas = {
    do {
        return try Atlas(contentsOf: projectFolder.appendingPathComponent("data/world.atlas").path)
    } catch {
        fatalError("data/world.atlas cannot be opened: \(error)")
    }
}()

func time(_ seconds: Int64, milliseconds: Int64 = 0) -> Timestamp {
    Timestamp(nanosecondsSince1970: seconds * 1_000_000_000 + milliseconds * 1_000_000)
}

/// A region's location at a tick: 2026-03-01T07:15:00Z.
func reduced(_ latitude: Double, _ longitude: Double, tick: Timestamp = time(1_772_349_300)) throws -> OutgoingLocation
{
    .reduced(
        try worldAtlas.reducedLocation(at: Coordinate(latitude: latitude, longitude: longitude)), tick: tick)
}

/// A fix of those that came of a message; fails the test where there is not exactly one.
func onlyFix(_ received: Received) throws -> ClaimedFix {
    guard case .fixes(let fixes) = received, fixes.fixes.count == 1 else {
        Issue.record("not one fix")
        throw Unusable.empty
    }
    return fixes.fixes[0]
}

func json(_ bytes: [UInt8]) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
}

/// The paths of all members of a JSON value, elements of arrays written as `[]`.
func memberPaths(_ value: Any, _ path: String = "") -> Set<String> {
    switch value {
    case let object as [String: Any]:
        object.reduce(into: []) { paths, member in
            let name = path.isEmpty ? member.key : path + "." + member.key
            paths.insert(name)
            paths.formUnion(memberPaths(member.value, name))
        }
    case let array as [Any]: array.reduce(into: []) { $0.formUnion(memberPaths($1, path + "[]")) }
    default: []
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Degrees as messages have those of regions' centers.
func fiveDecimals(_ degrees: Double) -> String { String(format: "%.5f", degrees) }
