import Foundation
import GRDB
import HereaboutsLive
import Relay

/// The state of the relay in an SQLite file: decisions, tokens by their digests, and of each device the region that stands
/// and its ticks; no position and no token. Beside it is a file that says whether a decision is under way.
///
/// Version 1, of tokens without days and ends, and version 2, without checksums, become version 3 when they are opened.
package final class SQLiteRelayStore: RelayStore {
    private let file: StateFile
    private let path: String
    private let mark: DecisionMark
    private let key: Int64

    private static let relay = SummedTable(name: "relay", columns: ["spreadKey", "decisions"])
    private static let device = SummedTable(name: "device", columns: ["name", "state"])
    private static let token = SummedTable(
        name: "token", columns: ["id", "kind", "name", "digest", "made", "used", "end"])

    /// "HERL" as SQLite's application identifier, and the version of the tables.
    private static let applicationID: Int32 = 0x4845_524C
    private static let version: Int32 = 3

    /// Opens a state, or begins one.
    ///
    /// - Parameter owner: whose it may be, where it is not this process's.
    /// - Throws: `RelayStoreError`.
    package init(path: String, owner: uid_t = geteuid()) throws(RelayStoreError) {
        self.path = path
        do throws(StateFileError) {
            file = try StateFile(
                path: path, applicationID: Self.applicationID, version: Self.version, owner: owner
            ) { database in
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
                try Self.beginSums(database)
                try Self.relay.putOnly([Int64(bitPattern: UInt64.random(in: .min ... .max)), nil], in: database)
            } upgrade: { database, version in
                if version == 1 {
                    // Days since 1970, and seconds.
                    try database.execute(
                        sql: """
                            ALTER TABLE token ADD COLUMN made INTEGER; ALTER TABLE token ADD COLUMN used INTEGER;
                            ALTER TABLE token ADD COLUMN end INTEGER;
                            """)
                }
                try Self.beginSums(database)
            }
            key = try file.read { database in try Self.relay.readOnly(in: database) { row in try row.value(0) } }
            mark = try DecisionMark(path + ".mark", owner: owner)
        } catch {
            throw RelayStoreError(error)
        }
    }

    private static func beginSums(_ database: Database) throws {
        try SummedTable.makeSums(in: database)
        for table in [relay, device, token] { try table.begin(in: database) }
    }

    package func loadDecisions() throws(RelayStoreError) -> [UInt8]? {
        try read { database in
            try Self.relay.readOnly(in: database) { row in (try row.optional(1) as Data?).map { Array($0) } }
        }
    }

    package func keepDecisions(_ snapshot: [UInt8]) throws(RelayStoreError) {
        try write { database in
            try Self.relay.putOnly([key, Data(snapshot)], in: database)
        }
    }

    package func loadMark() -> Desk.PauseMode? { mark.read() }

    package func keepMark(_ mode: Desk.PauseMode?) throws(RelayStoreError) {
        do throws(StateFileError) { try mark.write(mode) } catch { throw RelayStoreError(error) }
    }

    package func loadDevices() throws(RelayStoreError) -> [(name: String, state: DeviceState)] {
        try read { database in
            var devices: [(name: String, state: DeviceState)] = []
            try Self.device.read(in: database) { row in
                guard let state = DeviceState(bytes: try row.value(1) as Data) else { throw StateFileError.damaged }
                devices.append((try row.value(0), state))
            }
            return devices
        }
    }

    package func keepDevices(_ states: [(name: String, state: DeviceState)]) throws(RelayStoreError) {
        guard !states.isEmpty else { return }
        try write { database in
            try Self.device.update(in: database) { sum in
                for (name, state) in states { try Self.device.put([name, Data(state.bytes)], in: database, &sum) }
            }
        }
    }

    package func forgetDevices(_ names: [String]) throws(RelayStoreError) {
        guard !names.isEmpty else { return }
        try write { database in
            try Self.device.update(in: database) { sum in
                for name in names { try Self.device.remove(where: "name = ?", [name], in: database, &sum) }
            }
        }
    }

    package func spreadKey() -> UInt64 { UInt64(bitPattern: key) }

    package func loadTokens() throws(RelayStoreError) -> [KeptToken] {
        try read { database in
            var tokens: [KeptToken] = []
            try Self.token.read(in: database) { row in
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
        try addTokens([(holder, digest)], madeDay: madeDay, end: end)
    }

    /// Adds many tokens in one transaction.
    ///
    /// - Returns: the last one's id.
    @discardableResult
    package func addTokens(
        _ tokens: [(holder: KeptToken.Holder, digest: [UInt8])], madeDay: Int64, end: Int64? = nil
    ) throws(RelayStoreError) -> Int64 {
        try write { database in
            // An id of a token is used once.
            let used = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'token'")
            var id = used ?? 0
            try Self.token.update(in: database) { sum in
                for (holder, digest) in tokens {
                    let (kind, name) =
                        switch holder {
                        case .device(let name): (0, name)
                        case .consumer(let name): (1, name)
                        case .owner: (2, "")
                        }
                    id += 1
                    try Self.token.put([id, kind, name, Data(digest), madeDay, nil, end], in: database, &sum)
                }
            }
            return id
        }
    }

    package func noteUse(ofTokens ids: [Int64], day: Int64) throws(RelayStoreError) {
        try write { database in
            try Self.token.update(in: database) { sum in
                let statement = try database.cachedStatement(
                    sql: "SELECT \(Self.token.columns.joined(separator: ", ")) FROM token WHERE id = ?")
                for id in ids {
                    guard let row = try Row.fetchOne(statement, arguments: [id]) else { continue }
                    var values: [(any DatabaseValueConvertible)?] = Array(row.databaseValues)
                    values[5] = day
                    try Self.token.put(values, in: database, &sum)
                }
            }
        }
    }

    package func backup() throws(RelayStoreError) -> [UInt8] {
        let copy = path + ".copy"
        try? FileManager.default.removeItem(atPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        // SQLite takes an empty file, and its mode.
        let descriptor = unsafe open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(.last) }
        Foundation.close(descriptor)
        do throws(StateFileError) { try file.copy(to: copy) } catch { throw RelayStoreError(error) }
        guard let bytes = FileManager.default.contents(atPath: copy) else { throw .system(.last) }
        return Array(bytes)
    }

    /// Whether bytes begin as those of a backup do: SQLite's mark, and this application's identifier.
    package static func isBackup(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 512 && bytes.starts(with: "SQLite format 3\0".utf8)
            && bytes[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == UInt32(bitPattern: applicationID)
    }

    package func removeToken(_ id: Int64) throws(RelayStoreError) -> Bool {
        try write { database in
            try Self.token.update(in: database) { sum in
                try Self.token.remove(where: "id = ?", [id], in: database, &sum) == 1
            }
        }
    }

    package var isInPlace: Bool { file.isInPlace }

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
            case .otherVersion: .otherVersion
            case .damaged: .damaged
            case .inUse: .inUse
            case .foreign(let fault): .foreign(fault)
            case .system(let error): .system(error)
            case .failed(let code): .failed(code)
            }
    }
}
