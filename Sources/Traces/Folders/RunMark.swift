import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A hidden file in a folder of outputs, from which the next run knows whether the outputs that are there are its own.
///
/// It is locked, so that two runs cannot write at once. A run appends a line if the last one is not the same, and the last
/// whole line counts, so that no kill leaves less than what the run before knew. A line has a checksum of the inputs' names,
/// sizes and times of change, the settings and the atlas; and `replacing` or `adding`. A checksum of all files together tells
/// nothing of one.
///
/// - With the same checksum, the run goes on where the other was interrupted: the answers are the same, and of the outputs
///   the missing ones are written.
/// - Otherwise outputs that stay are *reserved*: any tick at which their inputs have fixes may have its answer there, and is
///   not answered with a fix of another file (contract C9).
/// - An interrupted run that replaced outputs left old ones beside new ones: then none stays.
///
/// Without zones the numbers of the reserved outputs follow, and the file is removed when all outputs are written. With
/// zones it stays, and maps inputs to outputs, since neither the names nor the number of the outputs tell. Then the mode is
/// `ended` when all are written, and these words follow, names percent-encoded:
///
/// ```text
/// zones=FINGERPRINT   of the zones and the atlas: all outputs in the folder are of the same
/// INPUT=OUTPUT        an input and its output; without OUTPUT, one without answers
/// INPUT=OUTPUT*       the same, reserved
/// =OUTPUT             of an earlier run, to be removed when all outputs are written
/// ```
struct RunMark: ~Copyable {
    static let name = ".hereabouts-run"
    /// More than the lines of any runs come to.
    static let maximumBytes = 1 << 28

    /// What became of an input.
    struct Entry: Equatable {
        /// The output below its folder; nil where the input has no answer.
        var output: String?
        var isReserved = false
    }

    private let output: String
    private let path: String
    private var descriptor: Int32 = -1
    private let inputs: [String]
    /// Nil without zones.
    private let zones: String?
    private let checksum: String
    private let isReplacing: Bool
    /// The line to be written.
    private var line = ""
    /// The length of the lines of earlier runs, in bytes, and the last of these.
    private let lengthBefore: Int
    private let lastBefore: Substring?
    /// Which outputs stay as they are, and which of them are reserved.
    let isKept, isReserved: [Bool]
    /// What earlier runs with these zones say of inputs, by their names.
    private var entries: [String: Entry]
    /// Outputs of earlier runs that are no input's any more.
    private var stale: Set<String>
    /// Whether the entries are those of this run, of which some outputs are missing.
    private let goesOn: Bool

    /// Decides what stays, and locks the folder unless the run is dry. The folder is made if there is none.
    init(
        output: String, plan: FolderPlan, atlas: Atlas, options: FolderRun.Options
    ) throws(TraceError) {
        self.output = output
        path = "\(output)/\(Self.name)"
        inputs = plan.inputs.map(\.file.name)
        let zones = options.convert.withheld.flatMap {
            $0.hasZones ? String(atlas.fingerprint ^ $0.zonesFingerprint, radix: 16) : nil
        }
        self.zones = zones
        if !options.isDry {
            try makeFolders(output)
            descriptor = try Self.openLocked(path, output: output)
        }
        let content: String, before: Line
        do throws(TraceError) {
            content = try Self.contents(descriptor, path: path)
            before = Line(content)
            guard before.isEmpty || before.zones == zones else { throw .otherZones(output) }
            if zones != nil { try before.requireOwn(output, besides: plan) }
        } catch {
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        (lengthBefore, lastBefore) = (before.lengthBefore, before.text)
        (entries, stale) = (before.entries, before.stale)
        let existing = plan.inputs.map { input in
            let name = zones == nil ? input.output : before.entries[input.file.name]?.output
            return name.map { unsafe access("\(output)/\($0)", F_OK) == 0 } ?? false
        }
        let isThere = plan.inputs.indices.map { index in
            existing[index] || before.entries[plan.inputs[index].file.name].map { $0.output == nil } ?? false
        }
        checksum = Self.checksum(plan, atlas: atlas, options: options)
        let staysAtAll = options.skipsExisting && before.mode != "replacing"
        let isSame = before.checksum == checksum
        let kept = staysAtAll ? isThere : isThere.map { _ in false }
        var reserved = kept
        if isSame {
            reserved = kept.indices.map {
                kept[$0]
                    && (before.reserved.contains($0) || before.entries[plan.inputs[$0].file.name]?.isReserved == true)
            }
        }
        isReplacing = zip(existing, kept).contains { $0 && !$1 }
        (isKept, isReserved, goesOn) = (kept, reserved, staysAtAll && isSame)
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A run that wrote nothing leaves nothing.
        if lengthBefore == 0 && line.isEmpty { _ = unsafe unlink(path) }
        close(descriptor)
    }

    // MARK: Names

    /// What is known of an input, by its number: of one whose output stays, and of all where the run goes on.
    func entry(_ index: Int) -> Entry? { isKept[index] || goesOn ? entries[inputs[index]] : nil }

    /// Outputs of inputs that are not read any more. They stay.
    func others(besides answered: [Bool]) -> [String] { unanswered(answered).compactMap { entries[$0]?.output } }

    /// The inputs of earlier runs that this one does not answer.
    private func unanswered(_ answered: [Bool]) -> [String] {
        let own = Set(zip(inputs, answered).compactMap { $1 ? $0 : nil })
        return entries.keys.filter { !own.contains($0) }.sorted()
    }

    // MARK: Writing

    /// Makes the mark safe. To be called before the first output gets its name.
    ///
    /// - Parameters:
    ///   - outputs: those of the inputs; nil where one has no answer.
    ///   - answered: which inputs could be read.
    mutating func write(_ outputs: [String?] = [], answered: [Bool] = []) throws(TraceError) {
        if zones == nil {
            let numbers = isReserved.indices.filter { isReserved[$0] }.map(String.init)
            line = ([checksum, isReplacing ? "replacing" : "adding"] + numbers).joined(separator: " ")
        } else {
            take(outputs, answered: answered)
            line = text(isReplacing ? "replacing" : "adding")
        }
        do throws(SystemError) {
            if lastBefore != line[...] {
                let end = off_t(lengthBefore)
                guard ftruncate(descriptor, end) == 0, lseek(descriptor, end, SEEK_SET) == end else { throw .last }
                try writeAll(Array("\(line)\n".utf8), to: descriptor)
            }
            try sync(descriptor)
        } catch {
            throw .cannotWrite(file: path, error)
        }
    }

    /// Takes over what becomes of the inputs.
    private mutating func take(_ outputs: [String?], answered: [Bool]) {
        let others = unanswered(answered)
        var new: [String: Entry] = [:]
        for index in inputs.indices where answered[index] {
            new[inputs[index]] = Entry(output: outputs[index], isReserved: isReserved[index])
        }
        let written = Set(new.values.compactMap(\.output))
        for name in others {
            if let entry = entries[name], entry.output.map({ !written.contains($0) }) ?? true { new[name] = entry }
        }
        stale.formUnion(entries.values.compactMap(\.output))
        stale.subtract(new.values.compactMap(\.output))
        entries = new
    }

    private func text(_ mode: String) -> String {
        let words = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, entry in
            "\(Self.encoded(name))=\(entry.output.map(Self.encoded) ?? "")\(entry.isReserved ? "*" : "")"
        }
        return ([checksum, mode, "zones=\(zones ?? "")"] + words + stale.sorted().map { "=\(Self.encoded($0))" })
            .joined(separator: " ")
    }

    /// All outputs are there. Without zones the mark is removed. With zones outputs that are no input's any more are, and the
    /// mark says that the run has ended; where it cannot, the next run takes this one for interrupted.
    mutating func end() {
        guard zones != nil else {
            _ = unsafe unlink(path)
            return
        }
        for name in stale { _ = unsafe unlink("\(output)/\(name)") }
        stale = []
        _ = try? Self.replace(path, by: "\(text("ended"))\n")
    }

    private static func replace(_ path: String, by text: String) throws(SystemError) {
        var file = try TemporaryFile(replacing: path, mode: 0o600)
        try writeAll(Array(text.utf8), to: file.descriptor)
        try file.publish()
    }

    /// Letters, digits, `-`, `.`, `_` and `/` as they are, other bytes as `%` and two hexadecimal digits.
    private static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-")...UInt8(ascii: "/"), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + String(0x100 + Int(byte), radix: 16).dropFirst()
            }
        }
        return text
    }

    // MARK: File

    /// The last whole line of a mark.
    private struct Line {
        /// The length of the whole lines, in bytes.
        var lengthBefore = 0
        var text: Substring?
        var checksum: Substring = "", mode: Substring = ""
        var zones: String?
        var entries: [String: Entry] = [:]
        var stale: Set<String> = []
        /// Without zones, the numbers of the reserved outputs.
        var reserved: Set<Int> = []

        var isEmpty: Bool { text == nil }

        init(_ content: String) {
            // A line that is not whole was not written by a run that wrote anything else.
            let whole = content[..<(content.lastIndex(of: "\n").map { content.index(after: $0) } ?? content.startIndex)]
            lengthBefore = whole.utf8.count
            text = whole.split(separator: "\n").last
            let words = text?.split(separator: " ") ?? []
            guard words.count > 1 else { return }
            (checksum, mode) = (words[0], words[1])
            for word in words.dropFirst(2) {
                if word.hasPrefix("zones="), zones == nil { zones = String(word.dropFirst(6)) } else { take(word) }
            }
        }

        private mutating func take(_ word: Substring) {
            guard let equals = word.firstIndex(of: "=") else {
                if let number = Int(word) { reserved.insert(number) }
                return
            }
            let isReserved = word.hasSuffix("*")
            let name = RunMark.decoded(word[..<equals])
            let output = RunMark.decoded(word[word.index(after: equals)...].prefix { $0 != "*" })
            // What lies below the folder, and nothing else.
            guard !output.hasPrefix("/"), !output.split(separator: "/").contains("..") else { return }
            if name.isEmpty {
                stale.insert(output)
            } else {
                entries[name] = Entry(output: output.isEmpty ? nil : output, isReserved: isReserved)
            }
        }

        /// - Throws: `otherZones` where the folder has a file that an output could be, and that is no output of these zones.
        func requireOwn(_ folder: String, besides plan: FolderPlan) throws(TraceError) {
            guard FileIdentity(path: folder) != nil else { return }
            let own = stale.union(entries.values.compactMap(\.output)), inputs = Set(plan.inputs.map(\.file.identity))
            for file in try FolderWalk(folder, besides: nil).files
            where !own.contains(file.name) && !inputs.contains(file.identity) && FileName(file.name).isOutput {
                throw .otherZones(folder)
            }
        }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Opens the file, made where there is none, and locks it.
    private static func openLocked(_ path: String, output: String) throws(TraceError) -> Int32 {
        while true {
            try requireFile(path)
            let descriptor = unsafe open(
                path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .cannotWrite(file: output, .last) }
            do throws(TraceError) {
                guard let isNamed = lockFile(descriptor, named: path) else { throw .folderInUse(output) }
                // A run that ended may have removed it before we had the lock.
                if isNamed {
                    try requireOwn(descriptor, path: path)
                    return descriptor
                }
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    /// - Throws: `notAFile` where something else has the name: opening it may do anything.
    private static func requireFile(_ path: String) throws(TraceError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw .notAFile(file: path) }
    }

    /// - Throws: `foreignMark` where another user could have written it, or where writing to it changes another file.
    private static func requireOwn(_ descriptor: Int32, path: String) throws(TraceError) {
        switch ForeignFile.fault(ofFile: descriptor) {
        case nil: break
        case .otherKind: throw .notAFile(file: path)
        default: throw .foreignMark(file: path)
        }
    }

    /// The lines of the open file, or in a dry run of that which has its name; nothing of none.
    ///
    /// - Throws: `cannotRead`: a part of the lines would be another decision; `notAFile`, `foreignMark`.
    private static func contents(_ descriptor: Int32, path: String) throws(TraceError) -> String {
        if descriptor >= 0 { return try lines(descriptor, path: path) }
        let found: Int32?
        do throws(SystemError) {
            found = try openRegularFile(path, flags: O_NOFOLLOW)
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw .cannotRead(file: path, error) }
            return ""
        }
        guard let found else { throw .notAFile(file: path) }
        defer { close(found) }
        try requireOwn(found, path: path)
        return try lines(found, path: path)
    }

    private static func lines(_ descriptor: Int32, path: String) throws(TraceError) -> String {
        do throws(SystemError) {
            guard let bytes = try readAll(descriptor, limit: maximumBytes) else { throw SystemError(number: EFBIG) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw .cannotRead(file: path, error)
        }
    }

    /// Of all that the answers and the outputs' names depend on.
    private static func checksum(_ plan: FolderPlan, atlas: Atlas, options: FolderRun.Options) -> String {
        var text = ByteBuffer(capacity: 1 << 12)
        for input in plan.inputs {
            let file = input.file
            text.append(text: "\(file.name)\0\(file.size) \(file.changed) \(file.identity.inode) \(input.output)\0")
        }
        var options = options
        (options.convert.now, options.convert.threads, options.skipsExisting) = (
            .init(nanosecondsSince1970: 0), 1, false
        )
        (options.isDry, options.namesAllProblems) = (false, false)
        // Another key gives another name; nothing of the key is in it.
        let name = String(decoding: options.convert.disguise.name(ofKey: Array("run".utf8)), as: UTF8.self)
        options.convert.disguise.renaming = nil
        text.append(text: "\(options)\0\(name) \(atlas.fingerprint)")
        let sum = unsafe text.withBytes { unsafe XXH64.hash(UnsafeRawBufferPointer($0)) }
        return String(sum, radix: 16)
    }
}

/// Makes a folder and those above it, where there are none.
func makeFolders(_ path: String) throws(TraceError) {
    if unsafe mkdir(path, 0o777) == 0 { return }
    switch errno {
    case EEXIST:
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .cannotWrite(file: path, .last) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .cannotWrite(file: path, SystemError(number: ENOTDIR)) }
    case ENOENT:
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .cannotWrite(file: path, SystemError(number: ENOENT))
        }
        try makeFolders(String(path[..<slash]))
        if unsafe mkdir(path, 0o777) != 0 && errno != EEXIST { throw .cannotWrite(file: path, .last) }
    default: throw .cannotWrite(file: path, .last)
    }
}
