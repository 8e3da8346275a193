import Foundation
import GRDB
import Hereabouts
import HereaboutsLive
import LiveFilter

/// The state of a filter in an SQLite file: of each device its key, the region that stands and its ticks; no position.
///
/// There is a transaction for each tick.
package final class SQLiteLiveStore: LiveStore {
    private let file: StateFile

    /// "HERE" as SQLite's application identifier, and the version of the tables.
    private static let applicationID: Int32 = 0x4845_5245
    private static let version: Int32 = 1

    /// Opens a state, or begins one.
    ///
    /// - Parameters:
    ///   - fingerprint: that of the atlas.
    ///   - reportsEveryAnswer: what gives a report; a state is of one such choice.
    /// - Throws: `LiveStoreError`.
    package init(
        path: String, fingerprint: UInt64, interval: Duration, reportsEveryAnswer: Bool
    ) throws(LiveStoreError) {
        let interval = Int64(interval / .nanoseconds(1)), fingerprint = Int64(bitPattern: fingerprint)
        let mismatch: LiveStoreError?
        do throws(StateFileError) {
            file = try StateFile(path: path, applicationID: Self.applicationID, version: Self.version) { database in
                try Self.create(
                    database, fingerprint: fingerprint, interval: interval, reportsEveryAnswer: reportsEveryAnswer)
            }
            mismatch = try file.read { database in
                guard let row = try Row.fetchOne(database, sql: "SELECT atlas, interval, every FROM run") else {
                    return .damaged
                }
                if try row.value(0) != fingerprint { return .otherAtlas }
                if try row.value(1) != interval { return .otherInterval }
                return try row.value(2) == reportsEveryAnswer ? nil : .otherOutput
            }
        } catch {
            throw LiveStoreError(error)
        }
        if let mismatch { throw mismatch }
    }

    private static func create(
        _ database: Database, fingerprint: Int64, interval: Int64, reportsEveryAnswer: Bool
    ) throws {
        try database.execute(
            sql: """
                CREATE TABLE run (
                    atlas INTEGER NOT NULL, interval INTEGER NOT NULL, every INTEGER NOT NULL,
                    tick INTEGER, isPublished INTEGER NOT NULL) STRICT;
                CREATE TABLE device (
                    key TEXT PRIMARY KEY, tick INTEGER NOT NULL, state BLOB NOT NULL, isReported INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX deviceByTick ON device (tick);
                """)
        try database.execute(
            sql: "INSERT INTO run VALUES (?, ?, ?, NULL, 1)", arguments: [fingerprint, interval, reportsEveryAnswer])
    }

    package func unpublishedTick() throws(LiveStoreError) -> Timestamp? {
        try attempt { () throws(StateFileError) in
            try file.read { database in
                try Int64.fetchOne(database, sql: "SELECT tick FROM run WHERE isPublished = 0")
            }
        }.map(Timestamp.init(nanosecondsSince1970:))
    }

    package func forEachDevice(_ body: (String, DeviceState, Bool) -> Void) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.read { database in
                let rows = try Row.fetchCursor(database, sql: "SELECT key, state, isReported FROM device ORDER BY key")
                while let row = try rows.next() {
                    guard let state = Self.state(trimmed: try row.value(1)) else { throw StateFileError.damaged }
                    body(try row.value(0), state, try row.value(2))
                }
            }
        }
    }

    package func commit(
        _ count: Int, at tick: Timestamp, _ answer: (Int) -> LiveAnswer?
    ) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.write { database in
                let statement = try database.cachedStatement(
                    sql: "INSERT OR REPLACE INTO device (key, tick, state, isReported) VALUES (?, ?, ?, ?)")
                for place in 0..<count {
                    guard let answer = answer(place) else { continue }
                    try statement.execute(arguments: [
                        answer.key, answer.state.pacer.tick.nanosecondsSince1970, Data(Self.trimmed(answer.state)),
                        answer.isReported,
                    ])
                }
                try database.execute(
                    sql: "UPDATE run SET tick = ?, isPublished = 0", arguments: [tick.nanosecondsSince1970])
            }
        }
    }

    /// The bytes of a state without the zeros at their end: of most devices a quarter is left.
    private static func trimmed(_ state: DeviceState) -> ArraySlice<UInt8> {
        let bytes = state.bytes
        return bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)]
    }

    private static func state(trimmed bytes: Data) -> DeviceState? {
        guard bytes.count <= DeviceState.byteCount else { return nil }
        return DeviceState(bytes: Array(bytes) + Array(repeating: 0, count: DeviceState.byteCount - bytes.count))
    }

    package func notePublished() throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.write { database in try database.execute(sql: "UPDATE run SET isPublished = 1") }
        }
    }

    package func forgetDevices(silentSince cutoff: Timestamp) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.write { database in
                try database.execute(
                    sql: "DELETE FROM device WHERE tick <= ?", arguments: [cutoff.nanosecondsSince1970])
            }
        }
    }

    /// Closes the file; the log beside it goes into it.
    package func close() { file.close() }

    private func attempt<Result>(_ body: () throws(StateFileError) -> Result) throws(LiveStoreError) -> Result {
        do throws(StateFileError) { return try body() } catch { throw LiveStoreError(error) }
    }
}

extension LiveStoreError {
    fileprivate init(_ error: StateFileError) {
        self =
            switch error {
            case .notAState: .notAState
            case .damaged: .damaged
            case .inUse: .inUse
            case .failed(ResultCode.SQLITE_FULL.rawValue): .full
            case .failed(let code): .failed(code)
            }
    }
}
