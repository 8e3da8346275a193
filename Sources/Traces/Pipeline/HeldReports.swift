import Hereabouts

/// Reports kept until the end of a run: sixteen bytes each, in pages, so that none is ever moved.
struct HeldReports {
    private struct Entry {
        /// The device's number, and above it whether there is a time.
        var device: UInt32
        var region: Region
        var nanoseconds: Int64
    }

    private static let pageCount = 1 << 14
    private static let hasTime: UInt32 = 1 << 31

    private var pages: [[Entry]] = []
    private(set) var count = 0
    /// Whether no report came after one of a device with a higher number.
    private var isGrouped = true
    private var newestDevice: UInt32 = 0

    mutating func append(_ report: Report) {
        precondition(report.device < Self.hasTime, "more devices than any input has")
        if report.device < newestDevice { isGrouped = false }
        newestDevice = report.device
        if count % Self.pageCount == 0 {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(Self.pageCount)
        }
        pages[pages.count - 1].append(
            Entry(
                device: report.time == nil ? report.device : report.device | Self.hasTime, region: report.region,
                nanoseconds: report.time?.nanosecondsSince1970 ?? 0))
        count += 1
    }

    subscript(number: Int) -> Report {
        let entry = pages[number / Self.pageCount][number % Self.pageCount]
        let time = entry.device & Self.hasTime != 0 ? Timestamp(nanosecondsSince1970: entry.nanoseconds) : nil
        return Report(device: entry.device & ~Self.hasTime, region: entry.region, time: time)
    }

    /// The reports' numbers, device by device, each device's in their order.
    struct Groups {
        /// Where each device's numbers begin, and where the last one's end.
        fileprivate(set) var starts: [Int]
        /// Nil where they are as they came.
        fileprivate var order: [UInt32]?

        /// The number of the report at a place.
        subscript(place: Int) -> Int { order.map { Int($0[place]) } ?? place }
    }

    /// - Complexity: O(reports + devices), by counting.
    func groups(devices: Int) -> Groups {
        var starts = [Int](repeating: 0, count: devices + 1)
        for page in pages { for entry in page { starts[Int(entry.device & ~Self.hasTime) + 1] += 1 } }
        for device in 0..<devices { starts[device + 1] += starts[device] }
        if isGrouped { return Groups(starts: starts, order: nil) }
        var next = starts
        var order = [UInt32](repeating: 0, count: count)
        for number in 0..<count {
            let device = Int(self[number].device)
            order[next[device]] = UInt32(number)
            next[device] += 1
        }
        return Groups(starts: starts, order: order)
    }
}
