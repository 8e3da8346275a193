import Foundation
import GRDB
import Hereabouts
import HereaboutsLive
import LiveFilter

/// The state of a filter in an SQLite file: of each device its key, the region that stands and its ticks; no position.
///
/// There is a transaction for each tick. Version 1, without checksums, becomes version 2 when it is opened.
package final class SQLiteLiveStore: LiveStore {
    private let file: StateFile

    /// "HERE" as SQLite's application identifier, and the version of the tables.
    private static let applicationID: Int32 = 0x4845_5245
    private static let version: Int32 = 2

    private static let run = SummedTable(
        name: "run", columns: ["atlas", "interval", "every", "tick", "isPublished", "ticks"])
    private static let device = SummedTable(name: "device", columns: ["key", "tick", "state", "isReported"])

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
            } upgrade: { database, _ in
                try database.execute(sql: "ALTER TABLE run ADD COLUMN ticks BLOB")
                try Self.beginSums(database)
            }
            mismatch = try file.read { database in
                try Self.run.readOnly(in: database) { row in
                    if try row.value(0) != fingerprint { return .otherAtlas }
                    if try row.value(1) != interval { return .otherInterval }
                    return try row.value(2) == reportsEveryAnswer ? nil : .otherOutput
                }
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
                    tick INTEGER, isPublished INTEGER NOT NULL, ticks BLOB) STRICT;
                CREATE TABLE device (
                    key TEXT PRIMARY KEY, tick INTEGER NOT NULL, state BLOB NOT NULL, isReported INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX deviceByTick ON device (tick);
                """)
        try beginSums(database)
        try run.putOnly([fingerprint, interval, reportsEveryAnswer, nil, true, nil], in: database)
    }

    private static func beginSums(_ database: Database) throws {
        try SummedTable.makeSums(in: database)
        for table in [run, device] { try table.begin(in: database) }
    }

    /// Changes columns of the run's row, by their numbers.
    private static func changeRun(
        in database: Database, _ changes: [Int: any DatabaseValueConvertible]
    ) throws {
        var values: [(any DatabaseValueConvertible)?] = try run.readOnly(in: database) {
            Array($0.databaseValues.dropLast())
        }
        for (column, value) in changes { values[column] = value }
        try run.putOnly(values, in: database)
    }

    package func ticks() throws(LiveStoreError) -> [Int64]? {
        try attempt { () throws(StateFileError) in
            try file.read { database in
                try Self.run.readOnly(in: database) { row in
                    guard let data = try row.optional(5) as Data? else { return nil }
                    var reader = ByteReader(Array(data)[...]), numbers: [Int64] = []
                    while let number = reader.integer(Int64.self) { numbers.append(number) }
                    guard reader.isAtEnd else { throw StateFileError.damaged }
                    return numbers
                }
            }
        }
    }

    package func unpublishedTick() throws(LiveStoreError) -> Timestamp? {
        try attempt { () throws(StateFileError) in
            try file.read { database in
                try Self.run.readOnly(in: database) { row in
                    try row.value(4) ? nil : try row.optional(3) as Int64?
                }
            }
        }.map(Timestamp.init(nanosecondsSince1970:))
    }

    package func forEachDevice(_ body: (String, DeviceState, Bool) -> Void) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.read { database in
                try Self.device.read(in: database) { row in
                    guard let state = Self.state(trimmed: try row.value(2)) else { throw StateFileError.damaged }
                    body(try row.value(0), state, try row.value(3))
                }
            }
        }
    }

    package func commit(
        _ count: Int, at tick: Timestamp, ticks: [Int64], _ answer: (Int) -> LiveAnswer?
    ) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.write { database in
                try Self.device.update(in: database) { sum in
                    for place in 0..<count {
                        guard let answer = answer(place) else { continue }
                        try Self.device.put(
                            [
                                answer.key, answer.state.pacer.tick.nanosecondsSince1970,
                                Data(Self.trimmed(answer.state)), answer.isReported,
                            ], in: database, &sum)
                    }
                }
                var bytes: [UInt8] = []
                for number in ticks { bytes.append(littleEndian: number) }
                try Self.changeRun(in: database, [3: tick.nanosecondsSince1970, 4: false, 5: Data(bytes)])
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
            try file.write { database in try Self.changeRun(in: database, [4: true]) }
        }
    }

    package func forgetDevices(silentSince cutoff: Timestamp) throws(LiveStoreError) {
        try attempt { () throws(StateFileError) in
            try file.write { database in
                try Self.device.update(in: database) { sum in
                    _ = try Self.device.remove(
                        where: "tick <= ?", [cutoff.nanosecondsSince1970], in: database, &sum)
                }
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
            case .otherVersion: .otherVersion
            case .damaged: .damaged
            case .inUse: .inUse
            case .foreign(let fault): .foreign(fault)
            case .system(let error): .system(error)
            case .failed(ResultCode.SQLITE_FULL.rawValue): .full
            case .failed(let code): .failed(code)
            }
    }
}
