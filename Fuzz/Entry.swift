import Foundation

/// A fuzzer for everything that reads what others wrote: `hereabouts-fuzz TARGET [arguments of libFuzzer]`. Built without
/// libFuzzer it takes inputs instead, `hereabouts-fuzz TARGET FILE…`, and tries each once.
///
/// Each target knows more than whether the code crashes: it checks what came out by other means. It works on files in
/// the current folder, which should be one in memory that holds nothing else; `scripts/fuzz` sees to that.
@main
enum Entry {
    private static let targets: [(name: String, test: @Sendable ([UInt8]) -> Void)] = [
        ("atlas", fuzzAtlas), ("borders", fuzzBorders), ("compressed", fuzzSnap), ("convert-csv", fuzzConvert),
        ("convert-gpx", fuzzConvert), ("convert-json", fuzzConvert), ("convert-kml", fuzzConvert),
        ("convert-kmz", fuzzConvert), ("convert-tcx", fuzzConvert), ("desk", fuzzDesk), ("dialects", fuzzDialects),
        ("gpsd", fuzzGPSD), ("igc", { fuzzConvert($0, from: .igc) }), ("json", fuzzJSON), ("lines", fuzzLines),
        ("live", fuzzLive), ("nmea", { fuzzConvert($0, from: .nmea) }), ("number", fuzzNumber),
        ("places", fuzzPlaces), ("population", fuzzPopulation), ("relay-configuration", fuzzRelayConfiguration),
        ("snap", fuzzSnap), ("state", fuzzState),
        ("surface", fuzzSurface), ("takeout", { fuzzConvert($0, from: .takeout) }), ("time", fuzzTime),
        ("misplaced", fuzzMisplaced), ("zones", fuzzZones),
    ]

    #if LIBFUZZER
        // SAFETY: set once, before libFuzzer calls back on the same thread.
        private nonisolated(unsafe) static var test: ([UInt8]) -> Void = { _ in }
    #endif

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let target = targets.first(where: { $0.name == arguments[1] }) else {
            for target in targets { print(target.name) }
            exit(arguments.count > 1 ? 2 : 0)
        }
        // No other program is fuzzed.
        unsafe setenv("PATH", "", 1)
        #if LIBFUZZER
            run(target.test, arguments)
        #else
            for file in arguments.dropFirst(2) {
                guard let bytes = FileManager.default.contents(atPath: file) else {
                    print("\(file) cannot be read")
                    exit(2)
                }
                target.test(Array(bytes))
            }
            print("\(target.name): \(arguments.count - 2) inputs")
        #endif
    }

    #if LIBFUZZER
        private static func run(_ test: @escaping ([UInt8]) -> Void, _ arguments: [String]) {
            unsafe Self.test = test
            // SAFETY: libFuzzer keeps the strings for as long as the process lives, and nothing frees them.
            let words = [arguments[0]] + arguments.dropFirst(2)
            var count = CInt(words.count)
            let copies = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
            for (index, word) in words.enumerated() { unsafe copies[index] = unsafe strdup(word) }
            unsafe copies[words.count] = nil
            var vector = unsafe copies
            let status = unsafe runFuzzer(&count, &vector) { start, count in
                unsafe Entry.test(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
            exit(status)
        }
    #endif
}

#if LIBFUZZER
    /// libFuzzer's main loop, from the compiler's runtime library.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runFuzzer(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt
#endif

/// Ends the process where an oracle contradicts the code; libFuzzer then keeps the input.
func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    if holds { return }
    FileHandle.standardError.write(Data("ORACLE: \(what())\n".utf8))
    abort()
}

/// Writes a file of the current folder.
func write(_ bytes: [UInt8], to name: String) {
    check(FileManager.default.createFile(atPath: name, contents: Data(bytes)), "\(name) cannot be written")
}

/// Reads a file of the current folder; empty where there is none.
func contents(of name: String) -> [UInt8] { FileManager.default.contents(atPath: name).map { Array($0) } ?? [] }

/// Runs of at least five digits: what a coordinate has and a line or column number of a small file has not.
func longNumbers(_ text: [UInt8]) -> Set<[UInt8]> {
    Set(text.split { !(0x30...0x39).contains($0) }.filter { $0.count >= 5 }.map { Array($0) })
}

/// No message repeats a number of its input.
func checkPrivacy(_ message: String, input: [UInt8]) {
    // In the message, too, digits of the input may run together with others.
    for number in longNumbers(Array(message.utf8)) {
        check(Data(input).range(of: Data(number)) == nil, "digits of the input in a message: \(message)")
    }
}
