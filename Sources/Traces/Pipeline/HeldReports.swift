import Hereabouts

/// Reports in memory: sixteen bytes each, in pages, so that none is ever moved.
struct HeldReports {
    /// A report in sixteen bytes.
    struct Entry: BitwiseCopyable {
        /// The device's number, and above it whether there is a time.
        fileprivate let device: UInt32
        fileprivate let region: Region
        fileprivate let nanoseconds: Int64

        var report: Report {
            Report(
                device: device & ~hasTime, region: region,
                time: device & hasTime != 0 ? Timestamp(nanosecondsSince1970: nanoseconds) : nil)
        }
    }

    private static let pageCount = 1 << 14
    fileprivate static let hasTime: UInt32 = 1 << 31

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

    subscript(number: Int) -> Report { entry(number).report }

    func entry(_ number: Int) -> Entry { pages[number / Self.pageCount][number % Self.pageCount] }

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
