import Foundation

/// What the figures were taken on.
struct Machine {
    var processor: String
    var cores: Int
    var system: String
    var swift: String

    init() {
        processor = Self.processorName() ?? "unknown processor"
        cores = ProcessInfo.processInfo.activeProcessorCount
        system = Self.systemName() ?? ProcessInfo.processInfo.operatingSystemVersionString
        swift = Self.firstLine(of: ["swift", "--version"]) ?? "Swift of unknown version"
    }

    private static func processorName() -> String? {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else {
            return firstLine(of: ["sysctl", "-n", "machdep.cpu.brand_string"])
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func systemName() -> String? {
        guard let text = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        return line?.dropFirst("PRETTY_NAME=".count).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }

    /// The first line a program of the search path prints; nil where it cannot be run.
    private static func firstLine(of arguments: [String]) -> String? {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
}
