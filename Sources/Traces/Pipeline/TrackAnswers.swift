import Hereabouts

/// What the timed tracks of one GPX file were answered, and when: by this their waypoints and routes are paced.
///
/// The file counts as one person's, who has one pace (contract C9):
/// - A track that begins after the tracks before it have ended keeps their pace. Tracks that overlap are different
///   devices, each with a pace of its own.
/// - A waypoint or route point within the time of a track gets the answer that stands then, and none of its own.
/// - One outside the time of all tracks is answered only if a whole interval lies between it and every other answer,
///   earlier or later. Otherwise the answer before it stands, if that is not an interval old.
struct TrackAnswers {
    /// The time from a track's first fix to its newest.
    private struct Span {
        var first, newest: Timestamp
        var device: Int
        /// The answer that stood at the first fix.
        var opening: Region
    }

    private struct Answer {
        var time: Timestamp
        var device: Int
        var region: Region
    }

    private var spans: [Span] = []
    /// The answers of each track, in order of time, one track's after the other's.
    private var answers: [Answer] = []
    /// The span that ends last.
    private var latest = 0

    var isEmpty: Bool { spans.isEmpty }

    /// The device whose pace a track keeps that begins at `time`; nil if it has none to keep.
    func predecessor(at time: Timestamp) -> Int? {
        guard !spans.isEmpty, spans[latest].newest < time else { return nil }
        return spans[latest].device
    }

    /// Notes that a track's fix was taken, after which `region` stands.
    mutating func note(_ time: Timestamp, device: Int, region: Region, recomputed: Bool) {
        if let last = spans.indices.last, spans[last].device == device {
            spans[last].first = min(spans[last].first, time)
            spans[last].newest = max(spans[last].newest, time)
        } else {
            spans.append(Span(first: time, newest: time, device: device, opening: region))
        }
        let last = spans.count - 1
        if spans[last].newest >= spans[latest].newest { latest = last }
        if recomputed { answers.append(Answer(time: time, device: device, region: region)) }
    }

    /// What is to become of a point that is no track's.
    enum Ruling: Equatable {
        /// This answer stands.
        case stands(Region)
        /// It may be answered, keeping the pace of the device that was answered last, if there is one.
        case answered(after: Int?)
        /// No answer stands, and none may be given.
        case silent
    }

    /// Rules on points in order of time.
    struct Judge {
        private let spans: [Span]
        private let answers: [Answer]
        private let interval: Int64
        private var nextSpan = 0
        private var nextAnswer = 0
        /// Of the spans that have begun, the one that ends last.
        private var running: Span?
        /// The answer given last.
        private var last: Answer?

        /// - Parameter intervalNanoseconds: the least time between two answers.
        init(_ answers: TrackAnswers, intervalNanoseconds: Int64) {
            spans = answers.spans.sorted { $0.first < $1.first }
            self.answers = answers.answers.sorted { $0.time < $1.time }
            interval = intervalNanoseconds
        }

        /// Rules on a point, none of those before it being later.
        mutating func ruling(at time: Timestamp) -> Ruling {
            while nextSpan < spans.count, spans[nextSpan].first <= time {
                if running.map({ spans[nextSpan].newest > $0.newest }) ?? true { running = spans[nextSpan] }
                nextSpan += 1
            }
            while nextAnswer < answers.count, answers[nextAnswer].time <= time {
                if last.map({ $0.time <= answers[nextAnswer].time }) ?? true { last = answers[nextAnswer] }
                nextAnswer += 1
            }
            if let running, time <= running.newest {
                // A track that began within an interval of another's answer opened with that.
                guard let last, last.time >= running.first else { return .stands(running.opening) }
                return .stands(last.region)
            }
            if let last, Self.nanoseconds(from: last.time, to: time) < interval { return .stands(last.region) }
            if nextAnswer < answers.count, Self.nanoseconds(from: time, to: answers[nextAnswer].time) < interval {
                return .silent
            }
            return .answered(after: last?.device)
        }

        /// Notes that the point ruled on last was answered.
        mutating func note(_ time: Timestamp, device: Int, region: Region) {
            last = Answer(time: time, device: device, region: region)
        }

        private static func nanoseconds(from earlier: Timestamp, to later: Timestamp) -> Int64 {
            let (difference, overflow) = later.nanosecondsSince1970.subtractingReportingOverflow(
                earlier.nanosecondsSince1970)
            return overflow ? .max : difference
        }
    }
}
