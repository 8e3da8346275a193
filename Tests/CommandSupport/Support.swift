import FixedRandom
import Foundation
import Hereabouts
import Testing

/// The project's folder.
package let projectFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

package let atlasPath = projectFolder.appendingPathComponent("data/world.atlas").path

/// The committed atlas.
package let worldAtlas: Atlas = {
    do {
        return try Atlas(contentsOf: atlasPath)
    } catch {
        fatalError("data/world.atlas cannot be opened: \(error)")
    }
}()

/// The command that `HEREABOUTS_COMMAND` names, or else the one beside the test bundle.
package let command: URL = {
    let named = ProcessInfo.processInfo.environment["HEREABOUTS_COMMAND"].map { URL(fileURLWithPath: $0) }
    #if os(Linux)
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let folders = [program.deletingLastPathComponent()]
    #else
        let folders = Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    #endif
    let candidates = [named].compactMap(\.self) + folders.map { $0.appendingPathComponent("hereabouts") }
    guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
        fatalError("the command is not built: swift build")
    }
    return found
}()

extension Trait where Self == ConditionTrait {
    /// Skips a test that takes minutes with a command that is not optimized, as `make test` has it.
    package static var optimized: Self {
        let variables = ProcessInfo.processInfo.environment
        return .enabled(
            if: variables["HEREABOUTS_TESTS"] != nil || variables["HEREABOUTS_COMMAND"] != nil,
            "skipped: the command is not optimized (make test)")
    }

    /// Leaves a test to `make test-all`.
    package static var full: Self {
        .enabled(if: SampleSize.isFull, "make test-all has it")
    }
}

/// What a command did.
package struct CommandResult {
    package var status: Int32
    package var signalled: Bool
    package var output: String
    package var errors: String

    /// The errors without how tables were read.
    package var complaints: String {
        errors.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains(": read as: ") }
            .joined(separator: "\n")
    }
}

/// A folder that is removed with the value, to run the command in.
package final class Workplace {
    package let folder: URL

    package init() {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    package func write(_ text: String, as name: String) { write(Array(text.utf8), as: name) }

    package func write(_ bytes: [UInt8], as name: String) {
        _ = FileManager.default.createFile(atPath: path(name), contents: Data(bytes))
    }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    package func read(_ name: String) -> String? {
        try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    /// A process in this folder, not started.
    package func process(_ executable: URL, _ arguments: [String], environment: [String: String] = [:]) -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        var variables = ProcessInfo.processInfo.environment
        variables["HEREABOUTS_ATLAS"] = nil
        variables["PATH"] = command.deletingLastPathComponent().path + ":" + (variables["PATH"] ?? "/usr/bin:/bin")
        process.environment = variables.merging(environment) { _, new in new }
        return process
    }

    /// Runs a program to its end. Output goes over files, so that no pipe can fill up.
    ///
    /// Whatever is run, no six digits in a row of its input come back on standard error.
    package func run(
        _ executable: URL, _ arguments: [String], input: [UInt8], environment: [String: String] = [:]
    ) throws -> CommandResult {
        let process = process(executable, arguments, environment: environment)
        let scratch = Workplace()
        for (name, bytes) in [("in", input), ("out", []), ("err", [])] { scratch.write(bytes, as: name) }
        func file(_ name: String) -> URL { scratch.folder.appendingPathComponent(name) }
        process.standardInput = try FileHandle(forReadingFrom: file("in"))
        process.standardOutput = try FileHandle(forWritingTo: file("out"))
        process.standardError = try FileHandle(forWritingTo: file("err"))
        try process.run()
        process.waitUntilExit()
        let result = CommandResult(
            status: process.terminationStatus, signalled: process.terminationReason == .uncaughtSignal,
            output: scratch.read("out") ?? "", errors: scratch.read("err") ?? "")
        // Those of the folder's name are no input's, though a state may hold them too.
        for digits in sixDigits(result.errors).subtracting(sixDigits(folder.path)) {
            let inputs = names.filter { $0.hasSuffix(".csv") || $0.hasSuffix(".gpx") || !$0.contains(".") }
            let texts = inputs.map { try? Data(contentsOf: folder.appendingPathComponent($0)) } + [Data(input)]
            #expect(
                !texts.contains { $0?.range(of: Data(digits.utf8)) != nil }, "digits of the input on standard error")
        }
        return result
    }

    /// The same with a text as input.
    package func run(
        _ executable: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> CommandResult {
        try run(executable, arguments, input: Array(input.utf8), environment: environment)
    }

    /// All runs of six digits in a text.
    private func sixDigits(_ text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        return Set(
            bytes.indices.dropLast(5).map { bytes[$0..<$0 + 6] }
                .filter { $0.allSatisfy { (0x30...0x39).contains($0) } }.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Runs the command.
    package func hereabouts(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) throws -> CommandResult {
        try run(command, arguments, input: input, environment: environment)
    }

    /// Runs a line of shell, in which `hereabouts` is the command.
    package func shell(_ line: String) throws -> CommandResult {
        try run(URL(fileURLWithPath: "/bin/sh"), ["-c", line])
    }
}

/// The reduced columns of a position, written by other means than the code under test.
package func reducedColumns(_ latitude: Double, _ longitude: Double) throws -> String {
    let location = try worldAtlas.reducedLocation(of: try worldAtlas.snap(latitude: latitude, longitude: longitude))
    let place = location.place?.description ?? ""
    let quoted =
        place.contains { ",\"\n\r".contains($0) } ? "\"\(place.replacingOccurrences(of: "\"", with: "\"\""))\"" : place
    return String(format: "%.5f,%.5f,", location.coordinate.latitude, location.coordinate.longitude)
        + "\(Int(location.horizontalAccuracy.rounded(.up))),\(location.region),\(location.country),\(quoted)"
}

/// A GPX track through two places, half an hour apart.
package let ride = """
    <?xml version="1.0"?>
    <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>To work</name><trkseg>
    <trkpt lat="31.761934" lon="-106.485021"><ele>1140.5</ele><time>2026-03-01T08:00:00Z</time></trkpt>
    <trkpt lat="31.761934" lon="-106.485021"><time>2026-03-01T08:10:00Z</time></trkpt>
    <trkpt lat="48.208234" lon="16.373721"><time>2026-03-01T08:30:00Z</time></trkpt>
    </trkseg></trk></gpx>

    """
