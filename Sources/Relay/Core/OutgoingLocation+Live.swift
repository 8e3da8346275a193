import Dialects
import Hereabouts
import HereaboutsLive

extension OutgoingLocation {
    /// What messages may say of a delivered location: the region of a reduced one, and of a full one its position, accuracy
    /// and time.
    package init(_ location: Location) {
        if let reduced = location.reduced {
            self = .reduced(reduced, tick: location.timestamp)
        } else {
            self = .full(
                Fix(
                    coordinate: location.coordinate, time: location.timestamp,
                    horizontalAccuracy: location.horizontalAccuracy))
        }
    }
}

extension Set<Diagnostic> {
    /// The members by name. Messages have each by the name that it has in Swift.
    package init(_ diagnostics: Diagnostics) {
        self.init(
            Diagnostics.names.lazy.filter { diagnostics.contains($0.diagnostic) }
                .compactMap { Diagnostic(rawValue: $0.name) })
    }
}
