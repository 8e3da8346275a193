import Foundation

/// `snap-benchmark ATLAS COMMAND [--quick]`: prints what `make bench` prints.
@main
enum Entry {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--quick" }
        guard arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: snap-benchmark ATLAS COMMAND [--quick]\n".utf8))
            exit(2)
        }
        do {
            try Report(
                atlasPath: arguments[0], command: arguments[1], isQuick: CommandLine.arguments.contains("--quick")
            ).print()
        } catch {
            FileHandle.standardError.write(Data("snap-benchmark: \(error)\n".utf8))
            exit(1)
        }
    }
}
