extension TraceFormat {
    /// What gpsbabel reads and no other format does, by its content, or else by the name of its file.
    package static let gpsbabel = TraceFormat(
        name: "gpsbabel", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try GPSBabelFormat.recognized(&reader) != nil },
        open: { (reader, options) throws(TraceError) in
            var reader = reader
            guard let (format, isByContent) = try GPSBabelFormat.recognized(&reader) else {
                throw .unknownToGPSBabel(file: reader.label)
            }
            return try GPSBabelInput(reader, format: format, needsPoint: !isByContent, options: options)
        },
        makeSink: nil)

    /// Whatever the content, what gpsbabel calls by this name.
    ///
    /// - Parameter argument: `gpsbabel:NAME`; nil for any other, and for a name of other characters than letters, digits,
    ///   `_` and `-`: options of gpsbabel's may name files.
    package static func gpsbabel(named argument: String) -> TraceFormat? {
        let prefix = "gpsbabel:"
        let name = argument.dropFirst(prefix.count)
        guard argument.hasPrefix(prefix), (1...40).contains(name.utf8.count),
            name.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20) || "_-".utf8.contains($0)
            })
        else { return nil }
        let format = GPSBabelFormat(name: String(name))
        return TraceFormat(
            name: argument, hasBlankRecords: false, recognizes: { _ in true },
            open: { (reader, options) throws(TraceError) in
                try GPSBabelInput(reader, format: format, needsPoint: false, options: options)
            },
            makeSink: nil)
    }
}

/// A format that gpsbabel reads, and how a file of it is known: by its content; or else by its name, where that means one
/// format only and the content is no text. What a text is shows in its first lines, or an option says it.
package struct GPSBabelFormat: Sendable {
    /// gpsbabel's name for it.
    let name: String
    /// The kind of file that it is.
    var kind: FileKind?
    /// The extensions of names.
    var extensions: [String] = []

    /// The formats with tracks. Those that we read are not among them, nor those without times.
    static let all = [
        GPSBabelFormat(name: "garmin_fit", kind: .fit, extensions: ["fit"]),
        GPSBabelFormat(name: "ozi", kind: .oziExplorer, extensions: ["plt"]),
        GPSBabelFormat(name: "energympro", extensions: ["cpo"]),
        GPSBabelFormat(name: "gdb", kind: .garminDatabase, extensions: ["gdb"]),
        GPSBabelFormat(name: "gtm", kind: .trackMaker, extensions: ["gtm"]),
        GPSBabelFormat(name: "humminbird_ht", extensions: ["ht"]),
        GPSBabelFormat(name: "ignrando", extensions: ["rdn"]),
        GPSBabelFormat(name: "ik3d", extensions: ["ikt"]),
        GPSBabelFormat(name: "lowranceusr", kind: .lowrance, extensions: ["usr"]),
        GPSBabelFormat(name: "magellanx", kind: .magellan, extensions: ["upt"]),
        GPSBabelFormat(name: "mapasia_tr7", extensions: ["tr7"]),
        GPSBabelFormat(name: "mmo", extensions: ["mmo"]),
        GPSBabelFormat(name: "mynav", extensions: ["trc"]),
        GPSBabelFormat(name: "sbn", extensions: ["sbn"]),
        GPSBabelFormat(name: "sbp", extensions: ["sbp"]),
        GPSBabelFormat(name: "wbt-tk1", extensions: ["tk1"]),
        GPSBabelFormat(name: "wintec_tes", extensions: ["tes"]),
        GPSBabelFormat(name: "xol", extensions: ["xol"]),
    ]

    /// The format of an input, and whether its content says so; nil of one that is not for gpsbabel. Nothing is consumed.
    static func recognized(
        _ reader: inout InputReader
    ) throws(TraceError) -> (format: GPSBabelFormat, isByContent: Bool)? {
        let kind = try reader.kind()
        if let kind, let format = all.first(where: { $0.kind == kind }) { return (format, true) }
        guard kind == nil || kind == .binary, let format = named(byFile: reader.label), try !reader.startsLikeText()
        else {
            return nil
        }
        return (format, false)
    }

    /// The format that the name of a file says.
    private static func named(byFile file: String) -> GPSBabelFormat? {
        var parts = file.lowercased().split(separator: "/").last?.split(separator: ".").dropFirst() ?? []
        if let last = parts.last, Compression(extension: String(last)) != nil { parts.removeLast() }
        guard let last = parts.last else { return nil }
        return all.first { $0.extensions.contains(String(last)) }
    }

    /// What to try with a text that no format recognizes, where the name of its file means one of gpsbabel's; else nil.
    package static func hint(ofText file: String) -> String? {
        named(byFile: file).map { "if it is what gpsbabel calls \($0.name), add --from gpsbabel:\($0.name)" }
    }
}

extension InputReader {
    /// Bytes that are looked at for what no text has.
    private static let textReach = 4096

    /// Whether the input starts with what a text may have. Nothing is consumed.
    fileprivate mutating func startsLikeText() throws(TraceError) -> Bool {
        var isText = true
        unsafe try peek { bytes, isAtEnd in
            isText = unsafe bytes.prefix(Self.textReach).allSatisfy {
                $0 >= 0x20 || (8...13).contains($0) || $0 == 0x1a || $0 == 0x1b
            }
            return !isText || isAtEnd || bytes.count >= Self.textReach
        }
        return isText
    }
}
