import Files
import Hereabouts

/// Reports kept until the end of a run, to be read device by device: half a million in memory, the others in a temporary
/// file without a name, in runs that are grouped by device and merged as they are read. Where no such file can be written
/// all of them stay in memory.
final class SpilledReports {
    /// Reports of one run; 8 MiB.
    private static let runLength = 1 << 19
    /// Reports that are read at a time from each run; 64 KiB.
    private static let blockLength = 1 << 12

    private let runLength: Int
    private var newest = HeldReports()
    /// The runs in the file, in reports.
    private var runs: [Range<Int>] = []
    private let file = SpillFile<HeldReports.Entry>()
    private var canSpill = true
    private var deviceCount = 0

    /// - Parameter runLength: how many reports are kept in memory.
    init(runLength: Int = SpilledReports.runLength) { self.runLength = runLength }

    var isEmpty: Bool { runs.isEmpty && newest.count == 0 }

    func append(_ report: Report) {
        if newest.count >= runLength, canSpill { spill() }
        newest.append(report)
        deviceCount = max(deviceCount, Int(report.device) + 1)
    }

    private func spill() {
        let groups = newest.groups(devices: deviceCount)
        do throws(SystemError) {
            var block: [HeldReports.Entry] = []
            for place in 0..<newest.count {
                block.append(newest.entry(groups[place]))
                guard block.count == Self.blockLength || place == newest.count - 1 else { continue }
                try file.append(block)
                block.removeAll(keepingCapacity: true)
            }
        } catch {
            canSpill = false
            return
        }
        let start = runs.last?.upperBound ?? 0
        runs.append(start..<start + newest.count)
        newest = HeldReports()
    }

    /// Calls a function with the reports of some devices: by the devices' numbers, and each device's as they came.
    ///
    /// - Throws: what the function throws; `TraceError.cannotRead` of the temporary file.
    func forEach(
        where isWanted: (Int) -> Bool = { _ in true }, _ body: (Report) throws(TraceError) -> Void
    ) throws(TraceError) {
        var cursors: [Cursor] = []
        for run in runs { cursors.append(Cursor(run)) }
        let groups = newest.groups(devices: deviceCount)
        var place = 0
        while true {
            // The runs are in order of time, so that of each device the first has its first reports.
            var device = place < newest.count ? Int(newest[groups[place]].device) : Int.max
            for index in cursors.indices {
                if let head = try cursors[index].head(file) { device = min(device, Int(head.report.device)) }
            }
            guard device < Int.max else { return }
            let isWanted = isWanted(device)
            for index in cursors.indices {
                while let report = try cursors[index].head(file)?.report, report.device == device {
                    if isWanted { try body(report) }
                    cursors[index].advance()
                }
            }
            while place < newest.count {
                let report = newest[groups[place]]
                guard report.device == device else { break }
                if isWanted { try body(report) }
                place += 1
            }
        }
    }

    /// What is left of a run.
    private struct Cursor {
        private var rest: Range<Int>
        private var block: [HeldReports.Entry] = []
        private var place = 0

        init(_ run: Range<Int>) { rest = run }

        /// The next report; nil at the end.
        mutating func head(_ file: SpillFile<HeldReports.Entry>) throws(TraceError) -> HeldReports.Entry? {
            if place == block.count {
                guard !rest.isEmpty else { return nil }
                let next = rest.prefix(SpilledReports.blockLength)
                block = try file.read(next)
                (place, rest) = (0, next.upperBound..<rest.upperBound)
            }
            return block[place]
        }

        mutating func advance() { place += 1 }
    }
}
