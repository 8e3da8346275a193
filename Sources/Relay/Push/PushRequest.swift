import Dialects
import NIOCore
import NIOHTTP1

/// A location as a receiver's protocol has it. Nothing but what stands here is sent.
struct PushRequest {
    let head: HTTPRequestHead
    let body: [UInt8]

    init(
        _ location: OutgoingLocation, of device: RelayConfiguration.Device, in dialect: RelayConfiguration.Push.Dialect,
        to url: PushURL, secret: PushSecret?
    ) {
        var target = url.target
        switch dialect {
        case .owntracks:
            body = OwnTracksMessage.location(location, of: OwnTracksIdentity(tracker: device.tracker))
        case .overland:
            body = OverlandMessage.batch([location], device: device.name)
        case .osmand:
            let query = String(decoding: OsmAndMessage.query(location, device: device.name), as: UTF8.self)
            target += target.contains("?") ? (target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&") : "?"
            target += query
            body = []
        }
        var headers: HTTPHeaders = ["Host": url.authority]
        if let secret { headers.add(name: "Authorization", value: secret.authorization) }
        if dialect != .osmand { headers.add(name: "Content-Type", value: "application/json") }
        headers.add(name: "Content-Length", value: "\(body.count)")
        headers.add(name: "Connection", value: "close")
        head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target, headers: headers)
    }
}
