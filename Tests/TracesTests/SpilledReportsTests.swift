import FixedRandom
import Hereabouts
import Testing

@testable import Traces

@Suite struct SpilledReportsTests {
    @Test(arguments: [1, 2, 7, 100, 5000, 1 << 19]) func `reports come device by device, each as it came`(
        runLength: Int
    ) throws {
        for (seed, devices) in [1, 3, 50, 3000].enumerated() {
            var random = SplitMix64(seed: UInt64(seed))
            for isGrouped in [false, true] {
                let reports = SpilledReports(runLength: runLength)
                #expect(reports.isEmpty)
                var expected: [[(region: Region, time: Timestamp?)]] = Array(repeating: [], count: devices)
                for number in 0..<12_345 {
                    let device =
                        isGrouped ? number * devices / 12_345 : Int.random(in: 0..<devices, using: &random)
                    let region = Region(index: UInt32.random(in: 0..<1 << 20, using: &random))
                    let time = number % 5 == 0 ? nil : Timestamp(nanosecondsSince1970: Int64(number) - 6000)
                    reports.append(Report(device: UInt32(device), region: region, time: time))
                    expected[device].append((region, time))
                }
                #expect(!reports.isEmpty)
                for part in 0..<3 {
                    var found: [[(region: Region, time: Timestamp?)]] = Array(repeating: [], count: devices)
                    var last = 0, isSorted = true
                    try reports.forEach(where: { part == 2 || $0 % 2 == part }) { report throws(TraceError) in
                        isSorted = isSorted && Int(report.device) >= last
                        last = Int(report.device)
                        found[last].append((report.region, report.time))
                    }
                    #expect(isSorted)
                    let wanted = expected.enumerated().map { part == 2 || $0.offset % 2 == part ? $0.element : [] }
                    #expect(found.map { $0.map(\.region) } == wanted.map { $0.map(\.region) })
                    #expect(found.map { $0.map(\.time) } == wanted.map { $0.map(\.time) })
                }
            }
        }
    }
}
