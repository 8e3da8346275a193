import Hereabouts
import Zones

/// Any bytes as a file of zones: within bounds, the same when read again, and nothing of the file in an error.
func fuzzZones(_ input: [UInt8]) {
    do throws(ZoneError) {
        let zones = try ZoneFile.parse(input)
        check(!zones.isEmpty && zones.count <= ZoneFile.maximumZones, "another number of zones than allowed")
        for zone in zones {
            check(zone.reachMeters > 0 && zone.reachMeters <= Zone.maximumReachMeters, "a zone out of range")
            let place = zone.middle
            check(place.latitude.magnitude <= 90 && place.longitude.magnitude <= 180, "a position out of range")
        }
        let rows = zones.map { zone in
            "\(zone.middle.latitude),\(zone.middle.longitude),\(max(1, zone.reachMeters))\n"
        }
        let again = try? ZoneFile.parse(Array(rows.joined().utf8))
        check(again?.map(\.middle) == zones.map(\.middle), "zones are not read again from rows")
    } catch {
        checkPrivacy("\(error)", input: input)
    }
}
