import Dialects
import Hereabouts

/// Any bytes as a message of a phone, in each dialect.
func fuzzDialects(_ input: [UInt8]) {
    let reader = DialectReader()
    let clock = Timestamp(nanosecondsSince1970: 1_772_349_299_000_000_000)
    for dialect in [nil] + DialectReader.Dialect.allCases {
        let received = reader.received(query: [], body: input, in: dialect, at: clock).received
        let again = reader.received(query: [], body: input, in: dialect, at: clock).received
        check(again == received, "another opinion of a message")
        checkPrivacy("\(received)", input: input)
        if dialect == .ownTracks { checkIsJSON(received, input) }
        guard case .fixes(let fixes) = received else { continue }
        check(fixes.fixes.count <= DialectLimits.batchCount, "a batch beyond its limit")
        for fix in fixes.fixes { checkRoundTrip(fix, reader) }
    }
    let query = reader.received(query: input, body: [], in: .osmAnd, at: clock).received
    checkPrivacy("\(query)", input: input)
    checkPrivacy("\(String(describing: Credential(authorization: input)))", input: input)
}

/// What is read as something is JSON, and what is refused as none is none.
private func checkIsJSON(_ received: Received, _ input: [UInt8]) {
    let body = input.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(input.dropFirst(3)) : input
    switch received {
    case .overLimit, .unusable(.empty): break
    case .unusable(.notJSON): check(!JSONGrammar.isValue(body), "JSON that is taken for none")
    default: check(JSONGrammar.isValue(body), "a message that is no JSON")
    }
}

/// A fix that is written is read as it was, but for what is rounded.
private func checkRoundTrip(_ claimed: ClaimedFix, _ reader: DialectReader) {
    let clock = Timestamp(nanosecondsSince1970: 1_772_349_299_000_000_000)
    let fix = claimed.fix(receivedAt: clock)
    check((-90...90).contains(fix.coordinate.latitude), "a latitude out of range")
    check((-180...180).contains(fix.coordinate.longitude), "a longitude out of range")
    check(fix.horizontalAccuracy.map { $0 > 0 && $0.isFinite } ?? true, "an accuracy that is none")
    let written = OverlandMessage.batch([.full(fix)], device: claimed.device ?? "")
    guard case .fixes(let fixes) = reader.received(query: [], body: written, in: .overland, at: clock).received,
        let read = fixes.fixes.first
    else { return check(false, "what is written cannot be read") }
    check(abs(read.coordinate.latitude - fix.coordinate.latitude) <= 0.6e-7, "another latitude")
    check(abs(read.coordinate.longitude - fix.coordinate.longitude) <= 0.6e-7, "another longitude")
    check(read.device == claimed.device, "another device")
    let milliseconds = fix.time.nanosecondsSince1970 / 1_000_000
    check(read.time?.nanosecondsSince1970 == milliseconds * 1_000_000, "another time")
}

/// Any bytes as what a gpsd server sends, and as what a client of it sends; the first one says how they are divided.
func fuzzGPSD(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let step = 1 + Int(first)
    let session = Array(input.dropFirst())
    let greeting = Array("{\"class\":\"VERSION\",\"proto_major\":3,\"proto_minor\":14}\n".utf8)
    var whole = GPSDClient(), divided = GPSDClient()
    let expected = whole.receive(greeting + session)
    var reports = divided.receive(greeting).reports
    var server = GPSDServer(), parted = GPSDServer()
    let now = Timestamp(nanosecondsSince1970: 1_772_349_299_000_000_000)
    let fix = Fix(coordinate: Coordinate(latitude: 1.5, longitude: 2.5), time: now, horizontalAccuracy: 3)
    let answer = server.receive(session, standing: .full(fix), tick: now, now: now)
    var answers: [UInt8] = []
    var rest = session[...]
    while !rest.isEmpty {
        reports += divided.receive(rest.prefix(step)).reports
        answers += parted.receive(rest.prefix(step), standing: .full(fix), tick: now, now: now)
        rest = rest.dropFirst(step)
    }
    check(reports == expected.reports, "other reports of the same bytes")
    check(answers == answer && parted.isWatching == server.isWatching, "another answer to the same bytes")
    for report in reports { checkPrivacy("\(report)", input: input) }
    for line in answer.split(separator: 10) {
        check(line.last == 13 && JSONGrammar.isValue(Array(line.dropLast())), "an answer that is no JSON")
        let classes = ["VERSION", "DEVICES", "DEVICE", "WATCH", "POLL", "TPV", "ERROR"]
        check(
            classes.contains { line.starts(with: Array("{\"class\":\"\($0)\",".utf8)) }, "an answer of another class")
    }
    // Each request has three bytes and a name at least.
    check(answer.count <= 400 * (session.count + 1), "an answer beyond its request")
}
