import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
    private var file: Int32 = -1
    private var canSpill = true
    private var deviceCount = 0

    /// - Parameter runLength: how many reports are kept in memory.
    init(runLength: Int = SpilledReports.runLength) { self.runLength = runLength }

    deinit { if file >= 0 { close(file) } }

    var isEmpty: Bool { runs.isEmpty && newest.count == 0 }

    func append(_ report: Report) {
        if newest.count >= runLength, canSpill { spill() }
        newest.append(report)
        deviceCount = max(deviceCount, Int(report.device) + 1)
    }

    private func spill() {
        let groups = newest.groups(devices: deviceCount)
        do throws(SystemError) {
            if file < 0 { file = try openAnonymousFile() }
            var block: [HeldReports.Entry] = []
            for place in 0..<newest.count {
                block.append(newest.entry(groups[place]))
                guard block.count == Self.blockLength || place == newest.count - 1 else { continue }
                // SAFETY: entries are trivial, and have no bytes between their members.
                unsafe try block.withUnsafeBufferPointer { block throws(SystemError) in
                    unsafe try writeAll(UnsafeRawBufferPointer(block).assumingMemoryBound(to: UInt8.self), to: file)
                }
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
        mutating func head(_ file: Int32) throws(TraceError) -> HeldReports.Entry? {
            if place == block.count {
                guard !rest.isEmpty else { return nil }
                try read(file)
            }
            return block[place]
        }

        mutating func advance() { place += 1 }

        private mutating func read(_ file: Int32) throws(TraceError) {
            let count = min(rest.count, SpilledReports.blockLength)
            let size = MemoryLayout<HeldReports.Entry>.stride, offset = off_t(rest.lowerBound * size)
            var failure: SystemError?
            block = unsafe Array(unsafeUninitializedCapacity: count) { entries, initialized in
                var done = 0
                while done < count * size {
                    // SAFETY: the memory has room for what is left.
                    let result = unsafe pread(
                        file, UnsafeMutableRawPointer(entries.baseAddress!) + done, count * size - done,
                        offset + off_t(done))
                    if result > 0 {
                        done += result
                    } else if result == 0 || errno != EINTR {
                        failure = result == 0 ? SystemError(number: EIO) : .last
                        break
                    }
                }
                initialized = done / size
            }
            if let failure { throw .cannotRead(file: "a temporary file of this run", failure) }
            (place, rest) = (0, rest.lowerBound + count..<rest.upperBound)
        }
    }
}
