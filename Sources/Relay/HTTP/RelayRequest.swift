import Dialects
import Hereabouts
import HereaboutsLive

/// A request as the routes see it.
package struct RelayRequest: Sendable {
    package enum Method: Sendable { case get, post, other }

    package var method: Method
    /// The parts of the path between its slashes, decoded.
    package var path: [String]
    /// What stands behind the question mark.
    package var query: [UInt8]
    /// The `Authorization` header.
    package var authorization: [UInt8]?
    /// What the `User-Agent` header says.
    package var program = SenderProgram.another
    /// What the `Content-Encoding` header says.
    package var encoding = BodyEncoding.identity

    package init(method: Method, path: [String], query: [UInt8] = [], authorization: [UInt8]? = nil) {
        (self.method, self.path, self.query, self.authorization) = (method, path, query, authorization)
    }

    /// Takes a request's target apart; nil for one that is no path.
    package init?(method: Method, target: String, authorization: [UInt8]?) {
        guard target.utf8.first == UInt8(ascii: "/") else { return nil }
        let sides = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let parts = sides[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
        guard parts.count <= 8 else { return nil }
        self.init(
            method: method, path: parts.map { String(decoding: Self.decoded($0), as: UTF8.self) },
            query: sides.count > 1 ? Array(sides[1]) : [], authorization: authorization)
    }

    private static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}

/// An answer without a stream.
package struct RelayAnswer: Hashable, Sendable {
    package var status: Int
    package var contentType: StaticText?
    package var headers: [[String]] = []
    package var body: [UInt8] = []
    /// Whether it is given to who presented a token that holds.
    package var isToHolder = false

    /// Types of content.
    package enum StaticText: String, Hashable, Sendable {
        case json = "application/json"
        case geoJSON = "application/geo+json"
        case html = "text/html; charset=utf-8"
        case text = "text/plain; charset=utf-8"
        /// Prometheus'.
        case metrics = "text/plain; version=0.0.4; charset=utf-8"
    }

    package init(_ status: Int, _ contentType: StaticText? = nil, _ body: [UInt8] = []) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
    }
}

/// What is to be done with a request, once its head is there.
package enum RelayAction: Sendable {
    /// Answer; what follows of the request is not read.
    case refuse(RelayAnswer)
    /// Read the body to its end without keeping it, then answer.
    case discardBody(then: BodylessRequest)
    /// Read the body likewise, then answer with the outlines around a region, which another thread makes.
    case outlines(OutlinesRequest)
    /// Read a body of at most so many bytes, then give it to `RelayRoutes.receive`.
    case readBody(SenderRequest, limit: Int)
    /// Open a stream of events.
    case stream(StreamRequest)
}

/// A request whose answer does not depend on its body.
package enum BodylessRequest: Hashable, Sendable {
    case answer(RelayAnswer)
    case devices(consumer: String)
    case ownerDevices
    case location(device: String, consumer: String, purpose: String?)
    case geolocate(device: String, consumer: String)
}

/// A request for the outlines around a region.
package struct OutlinesRequest: Hashable, Sendable {
    package let near: String
    /// The one that asks.
    package let token: Int64
}

/// A message of a sender.
package struct SenderRequest: Hashable, Sendable {
    /// Nil where the token is in the message.
    package var device: String?
    package var dialect: DialectReader.Dialect?
    package var query: [UInt8]
    package var program = SenderProgram.another
    package var encoding = BodyEncoding.identity
    /// What it is answered with where nothing in it is a sender's: it may be of a browser.
    package var otherwise: RelayAnswer?
}

/// A stream of events.
package enum StreamRequest: Hashable, Sendable {
    case of(device: String, consumer: String, stream: Relay.Stream, purpose: String?, token: Int64)
    /// The owner's.
    case views(token: Int64)

    /// Whether nothing exact can ever be in it.
    package var isReduced: Bool {
        switch self {
        case .of(_, _, .updates(reduced: true, _), _, _): true
        case .of(_, _, _, let purpose, _): purpose == nil
        case .views: false
        }
    }

    /// Whose it is; nil for the owner's.
    package var consumer: String? {
        switch self {
        case .of(_, let consumer, _, _, _): consumer
        case .views: nil
        }
    }

    /// The one that it is opened with, and ends with.
    package var token: Int64 {
        switch self {
        case .of(_, _, _, _, let token), .views(let token): token
        }
    }
}
