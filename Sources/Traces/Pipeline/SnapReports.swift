import Hereabouts

/// The reports of `snap`, one for each fix, and where they go.
final class SnapReports {
    private let disguise: Disguise
    private let withheld: WithheldRegions?
    private var sink: any ReportSink & ~Copyable
    private var keys = DeviceKeys()
    /// By how much each device's clock is moved.
    private var shifts: [Int64] = []
    /// Whether the inputs' devices have keys; nil before the first input.
    private var isKeyed: Bool?
    private var person = ""
    /// The devices that stand for the input's tracks.
    private var devices: [UInt32: Int] = [:]
    private var last: (track: UInt32, device: Int)?
    var out = ByteBuffer(capacity: 1 << 16)

    init(_ format: TraceFormat, atlas: Atlas, options: SnapRun.Options) {
        guard let makeSink = format.makeSink else { preconditionFailure("a format that can be written") }
        sink = makeSink(atlas)
        (disguise, withheld) = (options.disguise, options.withheld)
    }

    /// Begins an input.
    ///
    /// - Parameter person: the name of its clock, where it has no device keys.
    func begin(_ input: any TraceInput, person: String) throws(TraceError) {
        let isKeyed = input.identity.isKeyed
        guard self.isKeyed == nil || self.isKeyed == isKeyed else { throw .mixedKeys(file: input.file) }
        if self.isKeyed == nil, case .keyed(let name) = input.identity { sink.setKeyName(Array(name.utf8)) }
        self.isKeyed = isKeyed
        self.person = person
        (devices, last) = ([:], nil)
    }

    /// Writes the report of a fix; nothing where its region is withheld.
    ///
    /// - Returns: whether there is one.
    func write(_ region: Region, _ piece: borrowing Piece, _ index: Int) -> Bool {
        guard let region = withheld.published(region) else { return false }
        let device = device(piece, index)
        sink.write(Report(device: UInt32(device), region: region, time: time(piece, index, device)), to: &out)
        return true
    }

    /// Writes a bad record, of which nothing is copied, where the format has such.
    func writeBlank() -> Bool { sink.writeBlank(device: nil, at: nil, to: &out) }

    func finish(to output: borrowing OutputFile) throws(TraceError) { try sink.finish(&out, to: output) }

    private func time(_ piece: borrowing Piece, _ index: Int, _ device: Int) -> Timestamp? {
        guard piece.batch.times.count > 0, let time = piece.batch.times[index] else { return nil }
        return disguise.written(time, shift: shifts[device])
    }

    /// The device of a record, made when its first record comes.
    private func device(_ piece: borrowing Piece, _ index: Int) -> Int {
        if isKeyed == true {
            let key = unsafe piece.key(index)
            let found = unsafe keys.number(of: key, hash: keys.hash(key))
            if found.isNew {
                let key = unsafe Array(key)
                sink.addDevice(key: disguise.name(ofKey: key), kind: .track)
                shifts.append(disguise.shift(of: .device(key)))
            }
            return found.number
        }
        let track = piece.batch.tracks.count > 0 ? piece.batch.tracks[index] : .only
        if let last, last.track == track.number { return last.device }
        let device = devices[track.number] ?? add(track)
        last = (track.number, device)
        return device
    }

    private func add(_ track: Track) -> Int {
        devices[track.number] = shifts.count
        sink.addDevice(key: nil, kind: track.kind)
        shifts.append(disguise.shift(of: .person(person)))
        return shifts.count - 1
    }
}

/// Reads a piece's fixes, and looks their regions up.
final class ReportWorker: SnapWorker {
    private let atlas: Atlas
    private var cache: CellCache
    private let reader: (any RecordReader)?
    private let transform: CoordinateReference.Transform?
    private let acceptsNullIsland: Bool
    private var regions = Column<Region>()

    init(_ atlas: Atlas, input: any TraceInput, options: SnapRun.Options) {
        self.atlas = atlas
        cache = CellCache(atlas)
        reader = input.makeReader(hash: KeyHash())
        transform = input.reference?.makeTransform()
        acceptsNullIsland = options.acceptsNullIsland || (input as? CSVInput)?.arePairs == true
    }

    override func process(_ piece: inout Piece) {
        if let reader {
            reader.begin(piece.buffer)
            while reader.read(piece.buffer, into: &piece.batch, limit: .max) {}
        }
        piece.batch.refuseProblems()
        if let transform { piece.batch.transform(from: 0, transform) }
        if !acceptsNullIsland { piece.batch.refuseNullIsland() }
        regions.removeAll()
        let count = piece.batch.count
        // SAFETY: both have room for so many.
        unsafe regions.append(count) { regions in
            unsafe atlas.snap(
                UnsafeBufferPointer(piece.batch.positions.elements),
                into: UnsafeMutableBufferPointer(start: regions, count: count), cache: &cache)
        }
    }

    /// The region of a fix of the piece; `invalid` of one without.
    func region(_ index: Int) -> Region { regions[index] }
}
