import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A single output that has records is not replaced by one without.
@Suite struct EmptyOutputTests {
    private let scratch = Scratch()
    private let rows = "id,time,lat,lon\na,1772323200,48.2,16.3\na,1772327200,48.4,16.3\n"

    /// Converts a table to `out`.
    private func run(
        _ table: String, _ format: TraceFormat = .csv, compression: Compression? = nil,
        _ change: (inout ConvertRun.Options) -> Void = { _ in }
    ) -> TraceError? {
        var options = ConvertRun.Options()
        options.format = format
        change(&options)
        let input = InputName.file(scratch.write(Array(table.utf8), as: "input"))
        do throws(TraceError) {
            _ = try ConvertRun.run(
                [input], to: .file(scratch.path("out"), compression: compression), atlas: worldAtlas, options: options,
                observer: RunObserver())
            return nil
        } catch {
            return error
        }
    }

    private var isRefused: TraceError { .replacesRecords(file: scratch.path("out")) }

    @Test func `the same table twice with a state keeps both`() {
        let state = scratch.path("state")
        #expect(run(rows) { $0.state = state } == nil)
        let (output, pace) = (scratch.read("out"), scratch.read("state"))
        #expect(run(rows) { $0.state = state } == isRefused)
        #expect(scratch.read("out") == output && scratch.read("state") == pace)
        #expect(scratch.names == ["input", "out", "state"])
        // The state goes on as if that run had not been.
        #expect(run(rows + "a,1772337200,48.6,16.3\n") { $0.state = state } == nil)
        #expect(String(decoding: scratch.read("out")!, as: UTF8.self).split(separator: "\n").count == 2)
        #expect(run(rows) { ($0.state, $0.allowsEmpty) = (state, true) } == nil)
        #expect(String(decoding: scratch.read("out")!, as: UTF8.self).split(separator: "\n").count == 1)
    }

    @Test func `a run of bad records replaces nothing`() {
        for format in TraceFormat.outputs {
            for compression in [nil, Compression.gzip, .zstd] {
                #expect(run(rows, format, compression: compression) == nil)
                let output = scratch.read("out")
                #expect(run("id,time,lat,lon\na,1772323200,98.2,16.3\n", format, compression: compression) == isRefused)
                #expect(run("id,time,lat,lon\n", format) == isRefused)
                #expect(scratch.read("out") == output)
                #expect(run("id,time,lat,lon\n", format, compression: compression) { $0.allowsEmpty = true } == nil)
                #expect(scratch.read("out") != output)
                // What is there has no records now.
                #expect(run("id,time,lat,lon\n", format, compression: compression) == nil, "\(format.name)")
            }
        }
    }

    @Test func `where no file is an empty one is written`() {
        for format in TraceFormat.outputs {
            #expect(run("id,time,lat,lon\n", format) == nil)
            #expect(scratch.names.contains("out"))
            try? FileManager.default.removeItem(atPath: scratch.path("out"))
        }
    }

    @Test func `what is no output of ours is kept`() {
        for text in ["old", "\u{1}\u{2}", "lat,lon\n1,2\n", "<gpx><wpt lat=\"1\" lon=\"2\"/></gpx>", "{\"a\":1}\n"] {
            _ = scratch.write(Array(text.utf8), as: "out")
            #expect(run("id,time,lat,lon\n") == isRefused, "\(text)")
            #expect(scratch.read("out") == Array(text.utf8))
        }
        for text in [
            "", "\n \n", "track,time,latitude,longitude\n", "<gpx/>",
            "{\"type\":\"FeatureCollection\",\"features\":[]}",
        ] {
            _ = scratch.write(Array(text.utf8), as: "out")
            #expect(run("id,time,lat,lon\n") == nil, "\(text)")
        }
    }

    /// What stands there may be what is to be withheld.
    @Test func `with zones outputs are replaced`() throws {
        #expect(run(rows) == nil)
        let regions = try [48.2, 48.4].map { try worldAtlas.snap(latitude: $0, longitude: 16.3) }
        let zones = WithheldRegions(Set(regions))
        #expect(run(rows) { $0.withheld = zones } == nil)
        #expect(String(decoding: scratch.read("out")!, as: UTF8.self).split(separator: "\n").count == 1)
    }

    @Test func `a dry run says the same`() {
        #expect(run(rows) == nil)
        let output = scratch.read("out")
        var options = ConvertRun.Options()
        (options.format, options.dryOutput) = (.csv, scratch.path("out"))
        let input = InputName.file(scratch.write(Array("id,time,lat,lon\n".utf8), as: "input"))
        #expect(throws: isRefused) {
            _ = try ConvertRun.run(
                [input], to: .file("/dev/null"), atlas: worldAtlas, options: options, observer: RunObserver())
        }
        #expect(scratch.read("out") == output)
    }
}
