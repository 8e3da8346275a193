/// The names of the columns or members that the inputs of a run have their device keys in: keys under different names may
/// mean different things, and one value of both would be taken for one device.
struct KeyNames {
    private let named: Set<String>
    private var first: String?

    /// - Parameter options: what options name; inputs may have their keys under any of them.
    init(_ options: ConvertRun.Options) { named = Set(options.keyColumns.map(Self.letters)) }

    /// Takes the name of the next input with device keys.
    ///
    /// - Throws: `keysDiffer` where one before it has another, and options do not name both.
    mutating func take(_ name: String, file: String) throws(TraceError) {
        guard let first else {
            self.first = name
            return
        }
        let names: Set = [Self.letters(first), Self.letters(name)]
        guard names.count == 1 || names.isSubset(of: named) else {
            throw .keysDiffer(file: file, name: name, first: first)
        }
    }

    private static func letters(_ name: String) -> String {
        String(CSVHeader.lowercase(name).unicodeScalars.filter { !" _-#".unicodeScalars.contains($0) })
    }
}
