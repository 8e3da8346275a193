import Foundation
import GRDB
import Hereabouts
import HereaboutsLive
import LiveFilter

/// The state of a filter in an SQLite file: of each device its key, the region that stands and its ticks; no position.
///
/// A write-ahead log, a transaction for each tick, durable when it was committed: neither the end of the process nor that
/// of the machine takes back a tick whose reports were written. One run has the file at a time.
package final class SQLiteLiveStore: LiveStore {
    private let queue: DatabaseQueue

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
        // Only its owner may read who was answered, and where. SQLite gives the files beside it the same mode.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(14) }
        Foundation.close(descriptor)
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .immediateError
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL")
        }
        queue = try Self.attempt { try DatabaseQueue(path: path, configuration: configuration) }
        let interval = Int64(interval / .nanoseconds(1)), fingerprint = Int64(bitPattern: fingerprint)
        let mismatch: LiveStoreError? = try Self.attempt {
            try queue.write { database in
                try Self.prepare(
                    database, fingerprint: fingerprint, interval: interval, reportsEveryAnswer: reportsEveryAnswer)
            }
        }
        if let mismatch { throw mismatch }
    }

    private static func prepare(
        _ database: Database, fingerprint: Int64, interval: Int64, reportsEveryAnswer: Bool
    ) throws -> LiveStoreError? {
        let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
        if id == 0, version == 0, tables == 0 {
            try database.execute(
                sql: """
                    CREATE TABLE run (
                        atlas INTEGER NOT NULL, interval INTEGER NOT NULL, every INTEGER NOT NULL,
                        tick INTEGER, isPublished INTEGER NOT NULL) STRICT;
                    CREATE TABLE device (
                        key TEXT PRIMARY KEY, tick INTEGER NOT NULL, state BLOB NOT NULL, isReported INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX deviceByTick ON device (tick);
                    PRAGMA application_id = \(applicationID);
                    PRAGMA user_version = \(Self.version);
                    """)
            try database.execute(
                sql: "INSERT INTO run VALUES (?, ?, ?, NULL, 1)",
                arguments: [fingerprint, interval, reportsEveryAnswer])
            return nil
        }
        guard id == applicationID, version == Self.version else { return .notAState }
        guard let row = try Row.fetchOne(database, sql: "SELECT atlas, interval, every FROM run") else {
            return .damaged
        }
        if row[0] != fingerprint { return .otherAtlas }
        if row[1] != interval { return .otherInterval }
        return row[2] == reportsEveryAnswer ? nil : .otherOutput
    }

    package func unpublishedTick() throws(LiveStoreError) -> Timestamp? {
        try Self.attempt {
            try queue.read { database in
                try Int64.fetchOne(database, sql: "SELECT tick FROM run WHERE isPublished = 0")
            }
        }.map(Timestamp.init(nanosecondsSince1970:))
    }

    package func forEachDevice(_ body: (String, DeviceState, Bool) -> Void) throws(LiveStoreError) {
        let isSound = try Self.attempt {
            try queue.read { database in
                let rows = try Row.fetchCursor(database, sql: "SELECT key, state, isReported FROM device ORDER BY key")
                while let row = try rows.next() {
                    guard let key = row[0] as String?, let bytes = row[1] as Data?,
                        let state = Self.state(trimmed: bytes)
                    else { return false }
                    body(key, state, row[2])
                }
                return true
            }
        }
        if !isSound { throw .damaged }
    }

    package func commit(
        _ count: Int, at tick: Timestamp, _ answer: (Int) -> LiveAnswer?
    ) throws(LiveStoreError) {
        try Self.attempt {
            try queue.write { database in
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
        try Self.attempt {
            try queue.write { database in try database.execute(sql: "UPDATE run SET isPublished = 1") }
        }
    }

    package func forgetDevices(silentSince cutoff: Timestamp) throws(LiveStoreError) {
        try Self.attempt {
            try queue.write { database in
                try database.execute(
                    sql: "DELETE FROM device WHERE tick <= ?", arguments: [cutoff.nanosecondsSince1970])
            }
        }
    }

    /// Closes the file; the log beside it goes into it.
    package func close() { try? queue.close() }

    private static func attempt<Result>(_ body: () throws -> Result) throws(LiveStoreError) -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw .inUse
            case .SQLITE_NOTADB: throw .notAState
            case .SQLITE_CORRUPT: throw .damaged
            case .SQLITE_FULL: throw .full
            default: throw .failed(error.resultCode.rawValue)
            }
        } catch {
            throw .failed(1)
        }
    }
}
