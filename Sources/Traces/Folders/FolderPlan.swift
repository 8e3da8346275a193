import Files

/// Which files of a folder are read, each as what, and what their outputs are called.
struct FolderPlan {
    /// A file that is read.
    struct Input {
        var file: FolderWalk.File
        /// The path to open, which is also its name in messages.
        var path: String
        var format: TraceFormat
        var outputFormat: TraceFormat
        /// The path of the output below its folder.
        var output = ""
    }

    private(set) var inputs: [Input] = []
    /// What is not read, by its kind.
    private(set) var skipped: [String: Int]
    /// What could not be opened.
    private(set) var failures: [(path: String, error: TraceError)] = []
    /// The extension of compressed outputs, with its point.
    private let tail: String

    /// Extensions of files that are tables though their content does not say so.
    private static let tableExtensions: Set<String> = ["csv", "tsv", "tab", "psv", "txt", "dat"]
    /// A file is recognized by bytes read in portions of so many.
    private static let readBytes = 4096

    init(
        _ folder: String, output: FileIdentity?, options: ConvertRun.Options, format: TraceFormat?,
        compression: Compression?
    ) throws(TraceError) {
        let walk = try FolderWalk(folder, besides: output)
        skipped = walk.skipped
        tail = compression.map { $0 == .gzip ? ".gz" : ".zst" } ?? ""
        let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        failures = walk.failures.map { ("\(base)/\($0.name)", .cannotRead(file: "\(base)/\($0.name)", $0.error)) }
        for file in walk.files {
            let path = "\(base)/\(file.name)"
            do throws(TraceError) {
                switch try Self.recognize(path, options: options) {
                case .format(let found):
                    let written = format ?? (found.makeSink == nil ? .gpx : found)
                    inputs.append(Input(file: file, path: path, format: found, outputFormat: written))
                case .other(let kind): skipped[kind, default: 0] += 1
                }
            } catch {
                failures.append((path, error))
            }
        }
        nameOutputs()
    }

    private enum Recognition {
        case format(TraceFormat)
        case other(String)
    }

    /// What a file is: by its content, else by its extension.
    private static func recognize(_ path: String, options: ConvertRun.Options) throws(TraceError) -> Recognition {
        let name = FileName(path)
        let named = name.format.flatMap { part in
            TraceFormat.inputs.first { $0.name == part || $0.otherNames.contains(part) }
        }
        var reader = InputReader(try ByteSource(.found(path)), readBytes: readBytes)
        let kind = try reader.kind()
        if let format = options.inputFormat { return .format(format) }
        if named == nil, let kind, kind == .otherXML || kind == .html { return .other(kind.description) }
        let found: TraceFormat
        do throws(TraceError) {
            found = try TraceFormat.recognized(&reader, among: options.formats)
        } catch .notRead(let file, let kind) {
            if named != nil { throw .notRead(file: file, kind) }
            return .other(kind.description)
        }
        // What no format recognizes is a table or any other text.
        guard found.recognizes == nil else { return .format(found) }
        if let named, named != found { return .format(named) }
        guard named != nil || tableExtensions.contains(name.format ?? "") else { return .other("other text") }
        return try isRecording(&reader, options.csv) ? .format(found) : .other("not a recording")
    }

    /// Whether a table may be a recording: other tables, of whatever a telephone measures, lie beside recordings. Without a
    /// header it may; and where options name the columns, a table without them is a failure.
    private static func isRecording(_ reader: inout InputReader, _ options: CSVOptions) throws(TraceError) -> Bool {
        guard let (header, _) = try CSVStart.read(&reader, options: options).table else { return true }
        do throws(TraceError) {
            _ = try header.position(options: options, in: reader.label)
        } catch {
            return !error.lacksPosition
        }
        return true
    }

    // MARK: Names

    /// Gives each output its name: the input's, with the extension of the output's format in place of its own. Inputs
    /// whose outputs would have one name keep their own extension before the new one, all of them, so that no output's name
    /// depends on which of them was there first. Names that differ in case alone count as one.
    private mutating func nameOutputs() {
        let tail = tail
        func full(_ input: Input) -> String { "\(input.file.name).\(input.outputFormat.name)\(tail)" }
        for index in inputs.indices {
            inputs[index].output = "\(FileName(inputs[index].file.name).base).\(inputs[index].outputFormat.name)\(tail)"
        }
        while true {
            let groups = Dictionary(grouping: inputs.indices) { inputs[$0].output.lowercased() }
            let colliding = groups.values.filter { $0.count > 1 }.joined().filter {
                inputs[$0].output != full(inputs[$0])
            }
            // Full names differ, so this ends.
            if colliding.isEmpty { return }
            for index in colliding { inputs[index].output = full(inputs[index]) }
        }
    }

    /// An input's output by the date and number of its first answer.
    ///
    /// - Parameter name: that name with the folder, if any.
    func output(_ index: Int, called name: String) -> String { "\(name).\(inputs[index].outputFormat.name)\(tail)" }
}

/// A path and its extensions.
struct FileName {
    /// The path without the extensions of a compression and of a format.
    var base: String
    /// The extension of a format, in lower case.
    var format: String?

    init(_ path: String) {
        base = path
        if let last = Self.lastExtension(of: base), Compression(extension: last) != nil {
            base.removeLast(last.count + 1)
        }
        if let last = Self.lastExtension(of: base) {
            base.removeLast(last.count + 1)
            format = last.lowercased()
        }
    }

    /// Whether an output of a folder could be called so.
    var isOutput: Bool { TraceFormat.outputs.contains { $0.name == format } }

    /// The extension of a path's last part; nil for none, and for a name that is nothing else.
    private static func lastExtension(of path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let suffix = name[name.index(after: dot)...]
        return suffix.isEmpty || suffix.count > 10 ? nil : String(suffix)
    }
}
