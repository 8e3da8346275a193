import Dispatch
import GeoBridge
import Synchronization

/// Makes the polygons of parsed features valid, on several threads.
struct BordersRepair: Sendable {
    let path: String
    let features: [BordersParser.RawFeature]

    /// What became of one feature.
    private enum Outcome: Sendable {
        /// Its polygons are valid as they are.
        case valid
        /// These polygons take the place of its own.
        case repaired([[[Double]]], [BorderWarning.Repair])
        /// It cannot be used.
        case failed(FeatureProblem)
    }

    /// Validates every feature, repairs what can be repaired. O(n log n).
    /// - Throws: `InputError.badFeature` for the first feature in the file's order that cannot be repaired.
    func run(workers: Int) throws(InputError) -> Borders {
        let outcomes = outcomes(workers: workers)
        var borders = Borders(features: [], warnings: [])
        for (index, (feature, outcome)) in zip(features, outcomes).enumerated() {
            let code = feature.code ?? ""
            func warn(_ repair: BorderWarning.Repair) {
                borders.warnings.append(BorderWarning(file: path, index: index + 1, code: code, repair: repair))
            }
            if feature.hasOpenRings { warn(.ringsClosed) }
            var polygons = feature.polygons
            switch outcome {
            case .valid: break
            case .repaired(let repaired, let repairs):
                polygons = repaired
                for repair in repairs { warn(repair) }
            case .failed(let problem):
                throw .badFeature(file: path, index: index + 1, code: code, problem)
            }
            borders.features.append(
                BorderFeature(code: code, name: feature.name ?? code, rank: feature.rank, polygons: polygons))
        }
        return borders
    }

    /// One outcome a feature. Workers draw features from a common counter, so that a large one holds up nobody.
    private func outcomes(workers: Int) -> [Outcome] {
        let next = Mutex(0)
        let outcomes = Mutex([Outcome](repeating: .valid, count: features.count))
        DispatchQueue.concurrentPerform(iterations: max(1, min(workers, features.count))) { _ in
            while true {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < features.count else { return }
                let outcome = outcome(of: features[index])
                outcomes.withLock { $0[index] = outcome }
            }
        }
        return outcomes.withLock { $0 }
    }

    private func outcome(of feature: BordersParser.RawFeature) -> Outcome {
        do throws(GEOSError) {
            return try repair(feature.polygons, GEOSContext())
        } catch {
            return .failed(.unrepairable)
        }
    }

    private func repair(_ polygons: [[[Double]]], _ context: GEOSContext) throws(GEOSError) -> Outcome {
        var kept: [[[Double]]] = []
        var repairs: Set<BorderWarning.Repair> = []
        for rings in polygons {
            let polygon = try context.polygon(rings)
            if try polygon.isValid() {
                kept.append(rings)
                continue
            }
            // Lines and points, to which rings without area shrink, are not asked for.
            let repaired = try polygon.madeValid().polygonRings()
            repairs.insert(repaired.isEmpty ? .collapsed : .selfIntersection)
            kept += repaired
        }
        if kept.isEmpty { return .failed(.noArea) }
        return repairs.isEmpty ? .valid : .repaired(kept, repairs.sorted { $0.rawValue < $1.rawValue })
    }
}
