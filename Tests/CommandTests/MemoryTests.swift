import CommandSupport
import Foundation
import Testing

/// What a run holds in memory, by the system's measure of its process.
@Suite struct MemoryTests {
    /// The most mebibytes that a run on a GPX of many fixes has at once. The document comes over a pipe, with a fix each second.
    private func mostMebibytes(_ arguments: [String], days: Int) throws -> Int {
        let place = Workplace()
        let program = """
            import resource, subprocess, sys
            day = ''.join('<trkpt lat="%.5f" lon="5.1"><time>@T%02d:%02d:%02dZ</time></trkpt>\\n'
                          % (44 + abs(second - 43200) * 1e-5, second // 3600, second // 60 % 60, second % 60)
                          for second in range(86400))
            run = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            run.stdin.write(b'<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>')
            for number in range(int(sys.argv[1])):
                run.stdin.write(day.replace('@', '2024-%02d-%02d' % (number // 28 + 1, number % 28 + 1)).encode())
            run.stdin.write(b'</trkseg></trk></gpx>')
            run.stdin.close()
            assert run.wait() == 0
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
            """
        let result = try place.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["python3", "-c", program, "\(days)", command.path, "convert"] + arguments,
            environment: ["HEREABOUTS_ATLAS": atlasPath])
        #expect(result.status == 0, "\(result.errors)")
        return try #require(Int(result.output.trimmingCharacters(in: .newlines)))
    }

    /// 3.5 million fixes: 84 MB where each waits in memory.
    @Test(
        .optimized,
        arguments: [
            ["--to", "csv"], ["--to", "gpx"], ["--to", "csv", "--devices", "tracks"],
            ["--to", "csv", "--state", "state", "-o", "out.csv"],
        ])
    func `a record of each fix takes no memory for each`(_ arguments: [String]) throws {
        #expect(try mostMebibytes(arguments + ["--emit", "fixes", "--accept-jumps"], days: 40) <= 64)
    }
}
