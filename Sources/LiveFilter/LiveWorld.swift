import Files
import Hereabouts
import HereaboutsLive

/// What the filter has of the world: a clock, an input to wait for, and an output.
package protocol LiveWorld: AnyObject {
    /// The present.
    func now() -> Timestamp

    /// Waits for bytes of the input.
    ///
    /// - Parameter moment: until when; nil for as long as it takes. It may come back before, with `nothing`.
    func wait(until moment: Timestamp?) -> LiveEvent

    /// Writes bytes to the output, all of them before it returns.
    func write(_ bytes: [UInt8]) throws(SystemError)
}

/// What ended a wait.
package enum LiveEvent: Sendable {
    /// At least one byte.
    case bytes([UInt8])
    /// The moment has come, or may have.
    case nothing
    /// The input has ended.
    case end
    /// Somebody wants the filter to end.
    case stopped
    /// Nobody reads the output any more.
    case outputClosed
    /// The input cannot be read.
    case failed(SystemError)
}

/// What the filter keeps over a restart: of each device its key and `DeviceState`, which has regions and ticks.
package protocol LiveStore: AnyObject {
    /// The tick of the last commit whose reports may not have come out; nil where all did.
    func unpublishedTick() throws(LiveStoreError) -> Timestamp?

    /// `Desk.tickNumbers` of the last commit; nil before the first, and of a state of before they were kept.
    func ticks() throws(LiveStoreError) -> [Int64]?

    /// Calls a function with every device, in order of the keys' bytes: its key, its state, and whether its last answer
    /// gives a report.
    func forEachDevice(_ body: (String, DeviceState, Bool) -> Void) throws(LiveStoreError)

    /// Keeps the answers of a tick, all or none, so that they are durable when it returns.
    ///
    /// - Parameters:
    ///   - count: how many there are.
    ///   - ticks: `Desk.tickNumbers`.
    ///   - answer: gives each of them, by its number; nil for one that is not kept.
    func commit(
        _ count: Int, at tick: Timestamp, ticks: [Int64], _ answer: (Int) -> LiveAnswer?
    ) throws(LiveStoreError)

    /// Notes that the reports of the last commit came out.
    func notePublished() throws(LiveStoreError)

    /// Removes the devices that were last answered at or before a moment.
    func forgetDevices(silentSince cutoff: Timestamp) throws(LiveStoreError)

    /// Ends its use.
    func close()
}

/// What a tick came to for a device.
package struct LiveAnswer {
    package var key: String
    package var state: DeviceState
    /// Whether it gives a report.
    package var isReported: Bool

    package init(key: String, state: DeviceState, isReported: Bool) {
        (self.key, self.state, self.isReported) = (key, state, isReported)
    }
}

/// Why a state cannot be used.
package enum LiveStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAState, otherVersion, damaged, otherAtlas, otherInterval, otherOutput, inUse
    /// Others may have put it there, or may change it.
    case foreign(ForeignFile)
    /// It cannot be opened.
    case system(SystemError)
    /// The disk is full.
    case full
    /// SQLite's result code.
    case failed(Int32)

    package var description: String {
        switch self {
        case .notAState: "is not a state of 'hereabouts live'"
        case .otherVersion: "is a state of another version of 'hereabouts'"
        case .damaged: "is damaged; the paces in it are lost. Without it every device may be answered anew at once"
        case .otherAtlas: "belongs to another atlas"
        case .otherInterval: "belongs to another interval"
        case .otherOutput: "belongs to another --emit"
        case .inUse: "is in use by another run"
        case .foreign(let fault): "\(fault): a state is a file of your own, with one name, that others cannot write to"
        case .system(let error): "\(error)"
        case .full: "cannot be written: no space left on device. Reports that did not come out follow in the next run"
        case .failed(let code): "cannot be written or read (SQLite's error \(code))"
        }
    }
}
