import Hereabouts

/// The steps of many devices from one fix to the next in time, and the jumps among them.
struct DeviceSteps: ~Copyable {
    /// The newest fix of a device: where, in degrees to 2 m, and when.
    struct NewestFix {
        var latitude: Float = 0
        var longitude: Float = 0
        /// In nanoseconds since 1970; `Int64.min` before the first, and of a device without times.
        var time = Int64.min
    }

    private var newest = Column<NewestFix>()
    /// Counted since `forget`.
    private var steps = 0
    private(set) var jumps = 0

    /// Whether so many jumps after the first records of an input make it doubtful: at least three, and more than a thousandth
    /// of the steps.
    var areDoubtful: Bool { jumps >= 3 && 1_000 * jumps > steps }

    /// Adds the next device.
    mutating func add() { newest.append(NewestFix()) }

    /// The time of a device's newest fix, in nanoseconds since 1970; `Int64.min` before the first.
    func newestTime(of device: Int) -> Int64 { newest[device].time }

    /// Counts the step from a device's newest fix to its next; none to one that is older.
    @inline(__always)
    mutating func count(to coordinate: Coordinate, at time: Timestamp, of device: Int) {
        let last = newest[device]
        guard time.nanosecondsSince1970 >= last.time else { return }
        newest[device] = NewestFix(
            latitude: Float(coordinate.latitude), longitude: Float(coordinate.longitude),
            time: time.nanosecondsSince1970)
        guard last.time != .min else { return }
        steps += 1
        let place = Coordinate(latitude: Double(last.latitude), longitude: Double(last.longitude))
        if JumpCount.isJump(
            from: place, at: Timestamp(nanosecondsSince1970: last.time), to: coordinate, at: time)
        {
            jumps += 1
        }
    }

    /// Counts steps anew; from each device's last fix on.
    mutating func forget() { (steps, jumps) = (0, 0) }
}
