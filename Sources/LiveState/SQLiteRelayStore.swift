import Foundation
import GRDB
import HereaboutsLive
import Relay

/// The state of the relay in an SQLite file: decisions, tokens by their digests, and of each device the region that stands
/// and its ticks; no position and no token. Version 1, of tokens without days and ends, becomes version 2 when it is opened.
package final class SQLiteRelayStore: RelayStore {
    private let file: StateFile
    private let path: String

    /// "HERL" as SQLite's application identifier, and the version of the tables.
    private static let applicationID: Int32 = 0x4845_524C
    private static let version: Int32 = 2

    /// Opens a state, or begins one.
    ///
    /// - Throws: `RelayStoreError`.
    package init(path: String) throws(RelayStoreError) {
        self.path = path
        do throws(StateFileError) {
            file = try StateFile(path: path, applicationID: Self.applicationID, version: Self.version) { database in
                // An id of a token is used once.
                try database.execute(
                    sql: """
                        CREATE TABLE relay (spreadKey INTEGER NOT NULL, decisions BLOB) STRICT;
                        CREATE TABLE device (name TEXT PRIMARY KEY, state BLOB NOT NULL) STRICT, WITHOUT ROWID;
                        CREATE TABLE token (
                            id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
                            name TEXT NOT NULL, digest BLOB NOT NULL CHECK (length(digest) = 32),
                            made INTEGER, used INTEGER, end INTEGER) STRICT;
                        """)
                try database.execute(
                    sql: "INSERT INTO relay VALUES (?, NULL)",
                    arguments: [Int64(bitPattern: UInt64.random(in: .min ... .max))])
            } upgrade: { database, _ in
                // Days since 1970, and seconds.
                try database.execute(
                    sql: """
                        ALTER TABLE token ADD COLUMN made INTEGER; ALTER TABLE token ADD COLUMN used INTEGER;
                        ALTER TABLE token ADD COLUMN end INTEGER;
                        """)
            }
            let isWhole = try file.read { database in try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM relay") == 1
            }
            if !isWhole { throw .damaged }
        } catch {
            throw RelayStoreError(error)
        }
    }

    package func loadDecisions() throws(RelayStoreError) -> [UInt8]? {
        try read { database in try Data.fetchOne(database, sql: "SELECT decisions FROM relay").map { Array($0) } }
    }

    package func keepDecisions(_ snapshot: [UInt8]) throws(RelayStoreError) {
        try write { database in
            try database.execute(sql: "UPDATE relay SET decisions = ?", arguments: [Data(snapshot)])
        }
    }

    package func loadDevices() throws(RelayStoreError) -> [(name: String, state: DeviceState)] {
        try read { database in
            var devices: [(name: String, state: DeviceState)] = []
            let rows = try Row.fetchCursor(database, sql: "SELECT name, state FROM device ORDER BY name")
            while let row = try rows.next() {
                guard let state = DeviceState(bytes: try row.value(1) as Data) else { throw StateFileError.damaged }
                devices.append((try row.value(0), state))
            }
            return devices
        }
    }

    package func keepDevices(_ states: [(name: String, state: DeviceState)]) throws(RelayStoreError) {
        guard !states.isEmpty else { return }
        try write { database in
            let statement = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO device (name, state) VALUES (?, ?)")
            for (name, state) in states { try statement.execute(arguments: [name, Data(state.bytes)]) }
        }
    }

    package func forgetDevices(_ names: [String]) throws(RelayStoreError) {
        guard !names.isEmpty else { return }
        try write { database in
            let statement = try database.cachedStatement(sql: "DELETE FROM device WHERE name = ?")
            for name in names { try statement.execute(arguments: [name]) }
        }
    }

    package func spreadKey() throws(RelayStoreError) -> UInt64 {
        try read { database in
            guard let row = try Row.fetchOne(database, sql: "SELECT spreadKey FROM relay") else {
                throw StateFileError.damaged
            }
            return UInt64(bitPattern: try row.value(0))
        }
    }

    package func loadTokens() throws(RelayStoreError) -> [KeptToken] {
        try read { database in
            var tokens: [KeptToken] = []
            let rows = try Row.fetchCursor(
                database, sql: "SELECT id, kind, name, digest, made, used, end FROM token ORDER BY id")
            while let row = try rows.next() {
                let holder: KeptToken.Holder
                switch try row.value(1) as Int {
                case 0: holder = .device(try row.value(2))
                case 1: holder = .consumer(try row.value(2))
                case 2: holder = .owner
                default: throw StateFileError.damaged
                }
                let digest: Data = try row.value(3)
                guard digest.count == 32 else { throw StateFileError.damaged }
                tokens.append(
                    KeptToken(
                        id: try row.value(0), holder: holder, digest: Array(digest), madeDay: try row.optional(4),
                        usedDay: try row.optional(5), end: try row.optional(6)))
            }
            return tokens
        }
    }

    package func addToken(
        _ holder: KeptToken.Holder, digest: [UInt8], madeDay: Int64, end: Int64?
    ) throws(RelayStoreError) -> Int64 {
        let (kind, name) =
            switch holder {
            case .device(let name): (0, name)
            case .consumer(let name): (1, name)
            case .owner: (2, "")
            }
        return try write { database in
            try database.execute(
                sql: "INSERT INTO token (kind, name, digest, made, end) VALUES (?, ?, ?, ?, ?)",
                arguments: [kind, name, Data(digest), madeDay, end])
            return database.lastInsertedRowID
        }
    }

    package func noteUse(ofTokens ids: [Int64], day: Int64) throws(RelayStoreError) {
        try write { database in
            let statement = try database.cachedStatement(sql: "UPDATE token SET used = ? WHERE id = ?")
            for id in ids { try statement.execute(arguments: [day, id]) }
        }
    }

    package func backup() throws(RelayStoreError) -> [UInt8] {
        let copy = path + ".copy"
        try? FileManager.default.removeItem(atPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        // SQLite takes an empty file, and its mode.
        let descriptor = unsafe open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(14) }
        Foundation.close(descriptor)
        do throws(StateFileError) { try file.copy(to: copy) } catch { throw RelayStoreError(error) }
        guard let bytes = FileManager.default.contents(atPath: copy) else { throw .failed(14) }
        return Array(bytes)
    }

    /// Whether bytes begin as those of a backup do: SQLite's mark, and this application's identifier.
    package static func isBackup(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 512 && bytes.starts(with: "SQLite format 3\0".utf8)
            && bytes[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == UInt32(bitPattern: applicationID)
    }

    package func removeToken(_ id: Int64) throws(RelayStoreError) -> Bool {
        try write { database in
            try database.execute(sql: "DELETE FROM token WHERE id = ?", arguments: [id])
            return database.changesCount == 1
        }
    }

    /// Closes the file; the log beside it goes into it.
    package func close() { file.close() }

    private func write<Result>(_ body: (Database) throws -> Result) throws(RelayStoreError) -> Result {
        do throws(StateFileError) { return try file.write(body) } catch { throw RelayStoreError(error) }
    }

    private func read<Result>(_ body: (Database) throws -> Result) throws(RelayStoreError) -> Result {
        do throws(StateFileError) { return try file.read(body) } catch { throw RelayStoreError(error) }
    }
}

extension RelayStoreError {
    init(_ error: StateFileError) {
        self =
            switch error {
            case .notAState: .notAState
            case .damaged: .damaged
            case .inUse: .inUse
            case .failed(let code): .failed(code)
            }
    }
}
