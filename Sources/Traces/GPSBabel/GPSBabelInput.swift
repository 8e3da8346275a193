import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that gpsbabel makes GPX of, which is read as it comes. Points have the lines of that GPX.
///
/// gpsbabel gets the file as its standard input, and its name nowhere. What it says of it is dropped: its messages may
/// repeat positions. A stream is first stored in a file without a name, since gpsbabel reads some formats in no order. It has
/// a time for it, after which it is killed.
final class GPSBabelInput: TraceInput {
    /// Bytes of a stream that are stored, at most.
    static let maximumStreamBytes = 1 << 30

    let file: String
    let identity = DeviceIdentity.person
    let firstLine = 0
    let notices: [Notice] = []
    let bytesRead: Int
    var isOnFoot: Bool { gpx.isOnFoot }
    private var program: ChildProcess
    private var reader: InputReader
    private var gpx: XMLReader<GPXContent>
    /// Whether a result without a point is an error, and there was none so far.
    private var lacksPoint: Bool
    private let seconds: Int
    private let patience: Patience

    /// - Parameter needsPoint: whether the format is a guess, which a result without a point refutes.
    init(
        _ source: consuming InputReader, format: GPSBabelFormat, needsPoint: Bool, options: ConvertRun.Options
    ) throws(TraceError) {
        lacksPoint = needsPoint
        file = source.label
        let bounds = TimeBounds(options)
        gpx = XMLReader(file: file) { GPXContent($0, bounds: bounds) }
        let input = try Self.input(&source)
        defer { close(input) }
        var status = stat()
        let size = unsafe fstat(input, &status) == 0 ? Int(status.st_size) : 0
        seconds = options.gpsbabel.seconds(forBytes: size)
        patience = Patience(.seconds(seconds))
        var program = try Self.start(options.gpsbabel.name, format, input: input, file: file)
        bytesRead = source.bytesRead
        reader = source.reader(of: program.takeOutput(), patience: patience)
        self.program = program
    }

    /// All of an input, as a file.
    private static func input(_ source: inout InputReader) throws(TraceError) -> Int32 {
        if let descriptor = try source.fileFromStart() { return descriptor }
        return try store(&source)
    }

    private static func start(
        _ program: String, _ format: GPSBabelFormat, input: Int32, file: String
    ) throws(TraceError) -> ChildProcess {
        let arguments = [
            program, "-p", "", "-w", "-r", "-t", "-i", format.name, "-f", "/dev/stdin", "-o", "gpx", "-F", "-",
        ]
        do throws(SystemError) {
            return try ChildProcess(arguments, input: input)
        } catch {
            throw error.number == ENOENT
                ? TraceError.gpsbabelMissing(file: file) : .gpsbabelNotStarted(file: file, error)
        }
    }

    /// Stores a stream.
    ///
    /// - Returns: the descriptor of the file, at its start.
    private static func store(_ source: inout InputReader) throws(TraceError) -> Int32 {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try openAnonymousFile()
        } catch {
            throw .gpsbabelNotStarted(file: source.label, error)
        }
        do throws(TraceError) {
            try copy(&source, to: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func copy(_ source: inout InputReader, to descriptor: Int32) throws(TraceError) {
        var buffer = InputBuffer(readBytes: source.readBytes)
        var count = 0
        while try source.nextBytes(into: &buffer) {
            count += buffer.count
            if count > maximumStreamBytes { throw .streamTooLong(file: source.label) }
            do throws(SystemError) {
                unsafe try writeAll(buffer.bytes, to: descriptor)
            } catch {
                throw .gpsbabelNotStarted(file: source.label, error)
            }
        }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .gpsbabelNotStarted(file: source.label, .last) }
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        let isOver: Bool
        patience.begin()
        defer { patience.end() }
        do throws(TraceError) {
            isOver = try !parseNext(&buffer)
        } catch {
            // What was read before a failure counts.
            gpx.takeFixes(&batch)
            throw error
        }
        gpx.takeFixes(&batch)
        if batch.count > 0 { lacksPoint = false }
        if isOver, lacksPoint, !reader.isCancelled { throw .gpsbabelFoundNothing(file: file) }
        return !isOver
    }

    /// Parses what comes next; false at the end.
    private func parseNext(_ buffer: inout InputBuffer) throws(TraceError) -> Bool {
        if !patience.isOver, try reader.nextBytes(into: &buffer) {
            unsafe try gpx.parse(buffer.bytes)
            return true
        }
        let status = program.wait { !reader.isCancelled && !patience.isOver }
        // The program may go on then, until it is killed.
        if reader.isCancelled { return false }
        guard let status, !patience.isOver else { throw .gpsbabelTooSlow(file: file, seconds: seconds) }
        guard status == 0 else { throw .gpsbabelFailed(file: file, status: status) }
        try gpx.finish()
        return false
    }

    /// A document is parsed in order, by `next`.
    func makeReader(hash: KeyHash) -> (any RecordReader)? { nil }
}
