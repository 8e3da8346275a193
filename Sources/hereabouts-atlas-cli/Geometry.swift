import CommandCore
import Hereabouts
import PROJBridge
import TraceCommands
import Traces
import Zones

extension GeometryProvider {
    /// By GEOS and PROJ.
    static let linked = GeometryProvider(
        zones: { file, atlas, atlasPath in
            Result { () throws(CommandFailure) in try zones(file, atlas, atlasPath) }
        },
        reference: { system in
            do throws(PROJError) {
                // Whether there is a way to WGS 84 shows now, and not on the threads.
                _ = try PositionTransform(from: system)
            } catch {
                return .failure(CommandFailure(.unusable, "--crs: \(error)"))
            }
            return .success(CoordinateReference(name: system) { makeTransform(from: system) })
        })

    /// The transformation of one thread, from a system for which one was made before.
    private static func makeTransform(from system: String) -> CoordinateReference.Transform {
        guard let transform = try? PositionTransform(from: system) else {
            return { positions in
                // Without one nothing can be read.
                for index in unsafe positions.elements.indices {
                    unsafe positions.elements[index] = Coordinate(latitude: .nan, longitude: .nan)
                }
            }
        }
        return { positions in
            guard let base = unsafe positions.elements.baseAddress else { return }
            let stride = MemoryLayout<Coordinate>.stride
            // SAFETY: a coordinate is two numbers, the latitude first.
            unsafe base.withMemoryRebound(to: Double.self, capacity: 2 * positions.elements.count) { numbers in
                unsafe transform.transform(x: numbers + 1, y: numbers, stride: stride, count: positions.elements.count)
            }
        }
    }

    private static func zones(
        _ file: String, _ atlas: Atlas, _ atlasPath: String
    ) throws(CommandFailure) -> WithheldRegions {
        do {
            let zones = try ZoneFile.read(file)
            let regions = try ZoneRegions(zones, atlas: atlas, atlasPath: atlasPath)
            return WithheldRegions(
                regions.all,
                circles: zones.map { ZoneCircle(middle: $0.middle, reachMeters: $0.reachMeters) },
                countries: regions.countries)
        } catch let error as ZoneError {
            throw CommandFailure(.unusable, "\(file): \(error)")
        } catch {
            throw CommandFailure(.unusable, "\(atlasPath): \(error)")
        }
    }
}
