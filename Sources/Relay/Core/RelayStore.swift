import Files
import HereaboutsLive

/// Why a relay's state cannot be used. No case carries anything of it.
package enum RelayStoreError: Error, Hashable, Sendable {
    /// The file is not a relay's state.
    case notAState
    /// It is one of another version.
    case otherVersion
    /// The file is damaged.
    case damaged
    /// Another run has it.
    case inUse
    /// Others may have put it there, or may change it.
    case foreign(ForeignFile)
    case system(SystemError)
    /// SQLite said no, by its code.
    case failed(Int32)
}

extension RelayStoreError: CustomStringConvertible {
    /// What is said of the file, after its name.
    package var description: String {
        switch self {
        case .notAState: "is not a state of 'hereabouts serve'"
        case .otherVersion: "is a state of another version of 'hereabouts'"
        case .damaged: "is damaged: without it, tokens and grants must be made anew"
        case .inUse: "another run has it"
        case .foreign(let fault): "\(fault): a state is its relay's alone"
        case .system(let error): "\(error)"
        case .failed(let code): "SQLite cannot use it (code \(code))"
        }
    }
}

/// A token as it is kept.
package struct KeptToken: Hashable, Sendable {
    /// Whom it is for.
    package enum Holder: Hashable, Codable, Sendable {
        /// It sends a device's fixes.
        case device(String)
        /// It reads as a consumer.
        case consumer(String)
        /// The owner's page.
        case owner
    }

    /// What `token list` and `token revoke` call it.
    package let id: Int64
    package let holder: Holder
    /// SHA-256 of the token's text.
    package let digest: [UInt8]
    /// The days on which it was made and used last, since 1970 in UTC; nil where that is not known.
    package var madeDay, usedDay: Int64?
    /// From when on it holds no more, in seconds since 1970; nil for one that has no end.
    package var end: Int64?

    package init(
        id: Int64, holder: Holder, digest: [UInt8], madeDay: Int64? = nil, usedDay: Int64? = nil, end: Int64? = nil
    ) {
        (self.id, self.holder, self.digest) = (id, holder, digest)
        (self.madeDay, self.usedDay, self.end) = (madeDay, usedDay, end)
    }
}

/// Keeps what must survive a restart: decisions, tokens, and of each device its region and ticks; no position.
///
/// Each call is one transaction, durable when it returns.
package protocol RelayStore: AnyObject {
    /// `Desk.snapshot(includesDevices: false)`, nil before the first.
    func loadDecisions() throws(RelayStoreError) -> [UInt8]?
    func keepDecisions(_ snapshot: [UInt8]) throws(RelayStoreError)
    /// How everything is to be paused because a decision of the owner may be lost: the last one was under way when the relay
    /// ended. Nil where none was.
    func loadMark() -> Desk.PauseMode?
    /// Says that a decision is under way, and how a restart amid it is to begin; or that none is, by nil.
    func keepMark(_ mode: Desk.PauseMode?) throws(RelayStoreError)
    /// By device name. Those of another atlas or interval are given too; the desk knows what to do with them.
    func loadDevices() throws(RelayStoreError) -> [(name: String, state: DeviceState)]
    /// Keeps what a tick came to.
    func keepDevices(_ states: [(name: String, state: DeviceState)]) throws(RelayStoreError)
    func forgetDevices(_ names: [String]) throws(RelayStoreError)
    /// The key by which pushes are spread; chosen at random once.
    func spreadKey() throws(RelayStoreError) -> UInt64
    func loadTokens() throws(RelayStoreError) -> [KeptToken]
    /// Gives the new token's id.
    func addToken(
        _ holder: KeptToken.Holder, digest: [UInt8], madeDay: Int64, end: Int64?
    ) throws(RelayStoreError) -> Int64
    /// Keeps the day on which some tokens were used last.
    func noteUse(ofTokens ids: [Int64], day: Int64) throws(RelayStoreError)
    /// False where there is none.
    func removeToken(_ id: Int64) throws(RelayStoreError) -> Bool
    /// All of it at one moment, as the bytes of a file that can be opened in its place.
    func backup() throws(RelayStoreError) -> [UInt8]
    /// Whether what is kept is where it was when it was opened, and would be found there by the next run.
    var isInPlace: Bool { get }
    func close()
}
