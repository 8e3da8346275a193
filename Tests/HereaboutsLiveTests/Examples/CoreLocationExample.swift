import Hereabouts
import HereaboutsLive

/// The owner's side: a device, two consumers, and what they may have.
func setUp(_ service: LocationService) async throws {
    try await service.addDevice("phone")
    try await service.addConsumer(Consumer("family"))
    try await service.addConsumer(Consumer("partner", fullAccuracyPurposes: ["meet-up"]))
    // Around here, until revoked.
    try await service.grant(.reduced(), of: "phone", to: "family")
    // Exactly, for two hours, for a purpose.
    try await service.grant(.fullAccuracy("meet-up", for: .seconds(7_200)), of: "phone", to: "partner")
}

/// CLLocationUpdate.liveUpdates(): show each location until the device is at rest.
func follow(_ service: LocationService, show: (LocationUpdate) -> Void) async throws {
    for try await update in service.updates(of: "phone", for: "family") {
        show(update)
        if update.stationary { break }
    }
}

/// CLServiceSession(authorization: .whenInUse, fullAccuracyPurposeKey: "meet-up"): exact while the session is held.
func meetUp(_ service: LocationService) async throws -> Location? {
    let session = try await service.session(
        of: "phone", for: "partner", authorization: .whenInUse, fullAccuracyPurposeKey: "meet-up")
    defer { session.invalidate() }
    let update = try await service.updates(of: "phone", for: "partner", .automotiveNavigation)
        .first { $0.location?.accuracy == .full || $0.fullAccuracyDenied }
    return update?.location
}

/// CLServiceSession.diagnostics: whether the owner has decided, and how.
func decision(_ session: ServiceSession) async throws -> Diagnostics? {
    try await session.diagnostics.first { !$0.authorizationRequestInProgress }
}

/// CLMonitor: told when the device comes to a country, at a tick.
func arrival(in country: Country, _ service: LocationService) async throws -> Timestamp? {
    let monitor = try await service.monitor(of: "phone", for: "family")
    try await monitor.add(.country(CountryCondition(country)), identifier: "destination")
    for try await event in monitor.events where event.state == .satisfied { return event.date }
    return nil
}

/// What the owner does with what is asked, where Core Location shows a prompt.
func decide(_ service: LocationService) async throws {
    for request in try await service.pendingRequests() {
        switch request.kind {
        case .whenInUse: try await service.accept(request, validity: .session)
        case .always, .fullAccuracy: try await service.decline(request)
        }
    }
}
