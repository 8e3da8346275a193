import Hereabouts

extension ConvertRun {
    mutating func convertGPX(_ reader: inout BlockReader, to output: borrowing OutputFile) throws(TraceError) {
        let file = reader.label
        var gpx = GPXReader(file: file)
        var tracks = GPXDevices()
        let chunkBytes = options.chunkBytes
        try setKeyed(false, name: nil, file: file)
        try runLanes(threads: options.threads, stop: stop) {
            GPXLane(chunkBytes: chunkBytes)
        } take: { lane in
            lane.take(from: &reader, by: &gpx)
        } work: { _ in
        } settle: { (lane) throws(TraceError) in
            for fix in lane.fixes { try take(fix, devices: &tracks, file: file) }
            if let failure = lane.failure { throw failure }
            try flush(bytesRead: lane.input.bytesRead, to: output)
        }
        try takeHeld(&tracks, file: file)
        try flush(bytesRead: reader.bytesRead, to: output)
    }

    private mutating func take(_ fix: GPXFix, devices: inout GPXDevices, file: String) throws(TraceError) {
        summary.records += 1
        let device = devices.device(of: fix.track) { reducer.addDevice(key: nil, kind: fix.kind) }
        if let problem = fix.problem { return try refuse(problem, file: file, line: fix.line, device: device) }
        if fix.kind != .track { return devices.held.append(fix) }
        let earlier = fix.time.flatMap { devices.answers.predecessor(at: $0) }
        let outcome = reducer.take(
            fix.coordinate, at: fix.time, horizontalAccuracy: fix.horizontalAccuracy, of: device, after: earlier,
            to: &out)
        if case .taken(let recomputed) = outcome {
            if let time = fix.time, let region = reducer.region(of: device) {
                devices.answers.note(time, device: device, region: region, recomputed: recomputed)
            }
            return
        }
        try settle(outcome, file: file, line: fix.line, device: device)
    }

    /// Takes the waypoints and route points, now that the file's tracks are known.
    private mutating func takeHeld(_ devices: inout GPXDevices, file: String) throws(TraceError) {
        let isTimed = !devices.answers.isEmpty || devices.held.contains { $0.time != nil }
        // In a file without times they are snapped one after the other; beside times they would undo the pacing.
        for fix in devices.held where fix.time == nil {
            let device = devices.device(of: fix.track) { preconditionFailure("a device for every held point") }
            let outcome: FixReducer.Outcome =
                isTimed
                ? .bad(.timeMissing)
                : reducer.take(
                    fix.coordinate, at: nil, horizontalAccuracy: fix.horizontalAccuracy, of: device, to: &out)
            try settle(outcome, file: file, line: fix.line, device: device)
        }
        let timed = devices.held.filter { $0.time != nil }
        let order = timed.indices.sorted { (timed[$0].time!, $0) < (timed[$1].time!, $1) }
        var judge = TrackAnswers.Judge(devices.answers, intervalNanoseconds: reducer.intervalNanoseconds)
        for index in order { try take(timed[index], judge: &judge, devices: &devices, file: file) }
    }

    private mutating func take(
        _ fix: GPXFix, judge: inout TrackAnswers.Judge, devices: inout GPXDevices, file: String
    ) throws(TraceError) {
        let device = devices.device(of: fix.track) { preconditionFailure("a device for every held point") }
        guard let time = fix.time else { return }
        let outcome: FixReducer.Outcome
        switch judge.ruling(at: time) {
        case .answered(let earlier):
            outcome = reducer.takeAnew(
                Fix(coordinate: fix.coordinate, time: time, horizontalAccuracy: fix.horizontalAccuracy), of: device,
                after: earlier, to: &out)
            if case .taken = outcome, let region = reducer.region(of: device) {
                judge.note(time, device: device, region: region)
            }
        case .stands(let region):
            outcome = reducer.take(fix.coordinate, standing: region, at: time, of: device, to: &out)
        case .silent: outcome = reducer.take(fix.coordinate, standing: nil, at: time, of: device, to: &out)
        }
        try settle(outcome, file: file, line: fix.line, device: device)
    }
}

/// The devices of one file's tracks and routes (and of its waypoints, track 0), each made when its first point comes.
private struct GPXDevices {
    private var devices: [Int: Int] = [:]
    private var last = (track: -1, device: -1)
    var answers = TrackAnswers()
    /// Waypoints and route points, until the tracks are known.
    var held: [GPXFix] = []

    mutating func device(of track: Int, make: () -> Int) -> Int {
        if track == last.track { return last.device }
        let device = devices[track] ?? make()
        devices[track] = device
        last = (track, device)
        return device
    }
}

/// A piece of a document, and the points that it ends. The parsing itself must be done in order.
private struct GPXLane: ~Copyable {
    var input: LaneInput
    private(set) var fixes: [GPXFix] = []
    /// Why the document ends here, if it does not end as it should.
    private(set) var failure: TraceError?

    init(chunkBytes: Int) { input = LaneInput(chunkBytes: chunkBytes) }

    mutating func take(from reader: inout BlockReader, by gpx: inout GPXReader) -> Taken {
        let taken = input.takeBytes(from: &reader) { (block) throws(TraceError) in
            unsafe try gpx.parse(block.bytes)
        }
        failure = input.failure
        if taken == .nothing && failure == nil {
            do throws(TraceError) { try gpx.finish() } catch { failure = error }
        }
        gpx.takeFixes(&fixes)
        return taken
    }
}
