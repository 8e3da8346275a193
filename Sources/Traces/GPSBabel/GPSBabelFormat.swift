extension TraceFormat {
    /// What gpsbabel reads and no other format does.
    package static let gpsbabel = TraceFormat(
        name: "gpsbabel", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try GPSBabelFormat.recognized(&reader) != nil },
        open: { (reader, options) throws(TraceError) in
            var reader = reader
            guard let format = try GPSBabelFormat.recognized(&reader) else {
                throw .unknownToGPSBabel(file: reader.label)
            }
            return try GPSBabelInput(reader, format: format, options: options)
        },
        makeSink: nil)
}

/// A format that gpsbabel reads, and how a file of it is known: by its content, or else by its name, where that means one
/// format only and the content is of no known kind.
struct GPSBabelFormat: Sendable {
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
        GPSBabelFormat(name: "gdb", extensions: ["gdb"]),
        GPSBabelFormat(name: "gtm", extensions: ["gtm"]),
        GPSBabelFormat(name: "humminbird_ht", extensions: ["ht"]),
        GPSBabelFormat(name: "ignrando", extensions: ["rdn"]),
        GPSBabelFormat(name: "ik3d", extensions: ["ikt"]),
        GPSBabelFormat(name: "lowranceusr", extensions: ["usr"]),
        GPSBabelFormat(name: "magellanx", extensions: ["upt"]),
        GPSBabelFormat(name: "mapasia_tr7", extensions: ["tr7"]),
        GPSBabelFormat(name: "mmo", extensions: ["mmo"]),
        GPSBabelFormat(name: "mynav", extensions: ["trc"]),
        GPSBabelFormat(name: "sbn", extensions: ["sbn"]),
        GPSBabelFormat(name: "sbp", extensions: ["sbp"]),
        GPSBabelFormat(name: "wbt-tk1", extensions: ["tk1"]),
        GPSBabelFormat(name: "wintec_tes", extensions: ["tes"]),
        GPSBabelFormat(name: "xol", extensions: ["xol"]),
    ]

    /// The format of an input; nil of one that is not for gpsbabel. Nothing is consumed.
    static func recognized(_ reader: inout InputReader) throws(TraceError) -> GPSBabelFormat? {
        let kind = try reader.kind()
        if let kind, let format = all.first(where: { $0.kind == kind }) { return format }
        guard kind == nil || kind == .otherXML || kind == .binary else { return nil }
        var parts = reader.label.lowercased().split(separator: "/").last?.split(separator: ".").dropFirst() ?? []
        if let last = parts.last, Compression(extension: String(last)) != nil { parts.removeLast() }
        guard let last = parts.last else { return nil }
        return all.first { $0.extensions.contains(String(last)) }
    }
}
