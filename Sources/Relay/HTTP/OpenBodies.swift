/// What is kept in memory of bodies that have not ended, by the device whose token they came with.
struct OpenBodies {
    /// All of them, in bytes.
    static let limit = 64 << 20
    /// Those of one device; and those whose sender is known by what is in them, together.
    static let limitOfDevice = 8 << 20
    static let limitOfStrangers = 16 << 20

    private var counts: [String?: Int] = [:]
    private(set) var byteCount = 0

    /// Makes room for some bytes of a device's; false where there is none.
    mutating func take(_ count: Int, of device: String?) -> Bool {
        let held = counts[device, default: 0] + count
        guard held <= (device == nil ? Self.limitOfStrangers : Self.limitOfDevice), byteCount + count <= Self.limit
        else {
            return false
        }
        counts[device] = held
        byteCount += count
        return true
    }

    /// Gives back what was taken.
    mutating func giveBack(_ count: Int, of device: String?) {
        guard count > 0 else { return }
        let held = counts[device, default: 0] - count
        counts[device] = held > 0 ? held : nil
        byteCount -= count
    }
}
