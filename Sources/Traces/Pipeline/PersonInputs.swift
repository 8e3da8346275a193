import Hereabouts

/// The inputs without device keys, by the persons they are of: those whose files have one name, but for its folder and
/// extensions, are one person's.
struct PersonInputs {
    /// A track, a route or the waypoints of an input.
    private struct InputTrack {
        var kind: ReportKind
        /// Among the persons of the input's group.
        var person: Int
        /// What stands for it in the output, once there is a report of it.
        var device: Int?
        var clock: Disguise.Clock
        /// The track in which its answers are written.
        var written: UInt32
    }

    /// A point without a time, until all times are known.
    struct Untimed {
        var file: String
        var line: Int
        var track: UInt32
        var coordinate: Coordinate
        var horizontalAccuracy: Double?
    }

    /// What inputs that belong together have.
    struct Group {
        /// One, or one for each track.
        var persons: [Person] = []
        var untimed: [Untimed] = []
        /// Where every fix has one.
        let records = FixRecords()
        /// The first of its tracks, in whose place all stand where they are joined.
        fileprivate var firstTrack: UInt32?
    }

    private let interval: Duration
    private let emission: Emission
    private let hasPersonPerTrack: Bool
    private let joinsTracks: Bool
    /// The name of each input's group.
    private let names: [String]
    /// The group of each input, and the last input of each.
    private let groupOfInput: [Int]
    private let lastInput: [Int: Int]
    private var groups: [Int: Group] = [:]
    private var tracks: [InputTrack] = []
    /// The input being read.
    private var input = -1
    private var current = Group()
    /// The tracks of the input, by their number in it.
    private var numbers: [UInt32: UInt32] = [:]
    private var last: (number: UInt32, track: UInt32)?

    init(_ inputs: [InputName], options: ConvertRun.Options) {
        interval = options.interval
        emission = options.emission
        hasPersonPerTrack = options.devices == .tracks
        joinsTracks = options.joinsTracks
        var numbers: [String: Int] = [:]
        // A state is of one person.
        let isOne = options.isOneDevice || options.state != nil
        names = inputs.map { isOne ? "" : $0.stem }
        groupOfInput = names.map { name in
            let number = numbers[name] ?? numbers.count
            numbers[name] = number
            return number
        }
        lastInput = Dictionary(groupOfInput.enumerated().map { ($1, $0) }, uniquingKeysWith: max)
    }

    /// How many groups there are.
    var groupCount: Int { lastInput.count }

    /// Begins the next input.
    mutating func begin() {
        input += 1
        current = groups.removeValue(forKey: groupOfInput[input]) ?? Group()
        for person in current.persons.indices { current.persons[person].first.beginSource() }
        (numbers, last) = ([:], nil)
    }

    /// Ends the input.
    ///
    /// - Returns: its group, where this was the last of it.
    mutating func end() -> Group? {
        let group = current
        current = Group()
        guard lastInput[groupOfInput[input]] != input else { return group }
        groups[groupOfInput[input]] = group
        return nil
    }

    /// The number in the run of a track of the input.
    @inline(__always)
    mutating func track(_ track: Track) -> UInt32 {
        if let last, last.number == track.number { return last.track }
        return lookUp(track)
    }

    private mutating func lookUp(_ track: Track) -> UInt32 {
        let found = numbers[track.number] ?? add(track)
        last = (track.number, found)
        return found
    }

    private mutating func add(_ track: Track) -> UInt32 {
        if current.persons.isEmpty || hasPersonPerTrack {
            current.persons.append(Person(interval: interval))
        }
        let number = UInt32(tracks.count), first = current.firstTrack ?? number
        current.firstTrack = first
        let clock = Disguise.Clock.person(names[max(input, 0)], track: hasPersonPerTrack ? track.number : nil)
        tracks.append(
            InputTrack(
                kind: track.kind, person: current.persons.count - 1, device: nil, clock: clock,
                written: joinsTracks ? first : number))
        numbers[track.number] = number
        return number
    }

    func kind(ofTrack track: UInt32) -> ReportKind { tracks[Int(track)].kind }

    func clock(ofTrack track: UInt32) -> Disguise.Clock { tracks[Int(track)].clock }

    /// The track in which a track's answers are written, and of which kind that is.
    func writtenTrack(of track: UInt32) -> (number: UInt32, kind: ReportKind) {
        (tracks[Int(track)].written, joinsTracks ? .track : kind(ofTrack: track))
    }

    func device(ofTrack track: UInt32) -> Int? { tracks[Int(track)].device }

    mutating func set(device: Int, ofTrack track: UInt32) { tracks[Int(track)].device = device }

    /// Takes a fix of a track of the input; see `Person.take`.
    @inline(__always)
    mutating func take(_ fix: Fix, track: UInt32, record: Int) throws(CoordinateError) {
        let (person, kind) = (tracks[Int(track)].person, tracks[Int(track)].kind)
        try current.persons[person].take(fix, track: track, kind: kind, record: record)
        if emission == .fixes { current.records.append(track: track, at: fix.time) }
    }

    /// Notes a bad record of a track of the input, for which a blank one is to be written.
    func takeBlank(track: UInt32) { current.records.append(track: track, at: nil) }

    /// The number in its group of a track's person.
    func person(ofTrack track: UInt32) -> Int { tracks[Int(track)].person }

    /// Points of the input without times.
    var untimed: [Untimed] {
        get { current.untimed }
        _modify { yield &current.untimed }
    }
}

extension InputName {
    /// The file's name without folder and extensions; empty for standard input.
    var stem: String {
        let name: Substring? =
            switch self {
            case .file(let path), .found(let path): path.split(separator: "/").last
            case .standardInput, .arguments: nil
            }
        guard let name else { return "" }
        // A name may begin with a point.
        return String(name.prefix(1) + name.dropFirst().prefix { $0 != "." })
    }
}
