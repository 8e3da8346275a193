import Hereabouts

/// Inputs with tracks, routes and waypoints, all of one person: see `TrackAnswers`.
extension PacingStage {
    /// Takes a point of an input with tracks. Waypoints and route points are held until the tracks are known.
    @inline(__always)
    mutating func takeTrackFix(
        _ batch: borrowing FixBatch, _ index: Int, problem: RecordProblem.Reason?, file: String, line: Int
    ) throws(TraceError) {
        let track = batch.tracks[index], time = batch.times[index]
        let accuracy = batch.accuracies[index].isNaN ? nil : batch.accuracies[index]
        let device = tracks.device(of: track.number) ?? addTrack(track)
        if let problem { return try refuse(problem, file: file, line: line, device: device) }
        guard track.kind == .track else {
            tracks.held.append(
                InputTracks.Point(
                    line: line, device: device, coordinate: batch.positions[index], time: time,
                    horizontalAccuracy: accuracy))
            return
        }
        let earlier = time.flatMap { tracks.answers.predecessor(at: $0) }
        let outcome = devices.take(
            batch.positions[index], at: time, horizontalAccuracy: accuracy, of: device, after: earlier, to: &out)
        guard case .taken(let recomputed) = outcome else {
            return try finish(outcome, file: file, line: line, device: device)
        }
        if let time, let region = devices.region(of: device) {
            tracks.answers.note(time, device: device, region: region, recomputed: recomputed)
        }
    }

    private mutating func addTrack(_ track: Track) -> Int {
        let device = devices.add(key: nil, kind: track.kind)
        tracks.add(track.number, device: device)
        return device
    }

    /// Takes the waypoints and route points, now that the input's tracks are known.
    mutating func takeHeld(file: String) throws(TraceError) {
        let held = tracks.held
        let isTimed = !tracks.answers.isEmpty || held.contains { $0.time != nil }
        // In an input without times they are snapped one after the other; beside times they would undo the pacing.
        for fix in held where fix.time == nil {
            let outcome: PacedDevices.Outcome =
                isTimed
                ? .bad(.timeMissing)
                : devices.take(
                    fix.coordinate, at: nil, horizontalAccuracy: fix.horizontalAccuracy, of: fix.device, to: &out)
            try finish(outcome, file: file, line: fix.line, device: fix.device)
        }
        let timed = held.filter { $0.time != nil }
        let order = timed.indices.sorted { (timed[$0].time!, $0) < (timed[$1].time!, $1) }
        var judge = TrackAnswers.Judge(tracks.answers, intervalNanoseconds: devices.intervalNanoseconds)
        for index in order { try take(timed[index], judge: &judge, file: file) }
    }

    private mutating func take(
        _ fix: InputTracks.Point, judge: inout TrackAnswers.Judge, file: String
    ) throws(TraceError) {
        guard let time = fix.time else { return }
        let device = fix.device
        let outcome: PacedDevices.Outcome
        switch judge.ruling(at: time) {
        case .answered(let earlier):
            outcome = devices.takeAnew(
                Fix(coordinate: fix.coordinate, time: time, horizontalAccuracy: fix.horizontalAccuracy), of: device,
                after: earlier, to: &out)
            if case .taken = outcome, let region = devices.region(of: device) {
                judge.note(time, device: device, region: region)
            }
        case .stands(let region):
            outcome = devices.take(fix.coordinate, standing: region, at: time, of: device, to: &out)
        case .silent: outcome = devices.take(fix.coordinate, standing: nil, at: time, of: device, to: &out)
        }
        try finish(outcome, file: file, line: fix.line, device: device)
    }
}

/// The devices of one input's tracks and routes (and of its waypoints, track 0), each made when its first point comes.
struct InputTracks {
    /// A waypoint or route point, until the tracks are known.
    struct Point {
        var line: Int
        var device: Int
        var coordinate: Coordinate
        var time: Timestamp?
        var horizontalAccuracy: Double?
    }

    private var devices: [UInt32: Int] = [:]
    private var last: (track: UInt32, device: Int)?
    var answers = TrackAnswers()
    var held: [Point] = []

    mutating func device(of track: UInt32) -> Int? {
        if let last, last.track == track { return last.device }
        guard let device = devices[track] else { return nil }
        last = (track, device)
        return device
    }

    mutating func add(_ track: UInt32, device: Int) {
        devices[track] = device
        last = (track, device)
    }
}
