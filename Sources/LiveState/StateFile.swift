import Files
import Foundation
import GRDB

/// Why a state file cannot be used.
enum StateFileError: Error {
    /// It is of another application.
    case notAState
    /// It is of a version that is not known here.
    case otherVersion
    case damaged
    /// Another run has it.
    case inUse
    /// Others may have put it there, or may change it.
    case foreign(ForeignFile)
    /// It cannot be opened, or the file beside it cannot be written.
    case system(SystemError)
    /// SQLite's result code.
    case failed(Int32)
}

/// An SQLite file of this application, with a write-ahead log: each transaction is durable when it was committed, so that
/// neither the end of the process nor that of the machine takes it back. One run has the file at a time, by a lock on a file
/// beside it: SQLite's own tools may read it meanwhile.
final class StateFile {
    private let path: String
    private let identity: FileIdentity?
    private let queue: DatabaseQueue
    private let lock: FileLock

    /// Opens a file, or makes one with mode 0600.
    ///
    /// - Parameters:
    ///   - applicationID: SQLite's application identifier, which says whose file it is.
    ///   - version: that of the tables.
    ///   - create: makes the tables in an empty file.
    ///   - upgrade: makes those of this version of those of an earlier one, in the same transaction.
    ///   - owner: whose the file, those beside it and their folder may be, where they are not this process's: root restores
    ///     the state of a relay's user.
    init(
        path: String, applicationID: Int32, version: Int32, owner: uid_t = geteuid(),
        create: (Database) throws -> Void, upgrade: (Database, _ from: Int32) throws -> Void
    ) throws(StateFileError) {
        if let fault = ForeignFile.fault(ofFolderOf: path, owner: owner) { throw .foreign(fault) }
        lock = try FileLock(path + ".lock", owner: owner)
        // Only its owner may read who was answered, and where. SQLite gives the files beside it the same mode.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(.last) }
        self.path = path
        identity = FileIdentity(descriptor: descriptor)
        let fault = ForeignFile.fault(ofFile: descriptor, owner: owner)
        let problem = Self.problem(of: descriptor, applicationID, version)
        Foundation.close(descriptor)
        if let fault { throw .foreign(fault) }
        try Self.checkFiles(beside: path, owner)
        // SQLite would change the file's journal before anything in it could be read.
        if let problem { throw problem }
        var configuration = Configuration()
        configuration.journalMode = .wal
        // A copy that is being made by other tools ends soon.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in try database.execute(sql: "PRAGMA synchronous = FULL") }
        queue = try Self.attempt { try DatabaseQueue(path: path, configuration: configuration) }
        let isVersionKnown: Bool = try write { database in
            let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let known = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
            if id == applicationID, known == version { return true }
            if id == applicationID, (1..<version).contains(known) {
                try upgrade(database, known)
                try database.execute(sql: "PRAGMA user_version = \(version)")
                return true
            }
            if id == applicationID { return false }
            guard id == 0, known == 0, tables == 0 else { throw StateFileError.notAState }
            try create(database)
            try database.execute(
                sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            return true
        }
        if !isVersionKnown { throw .otherVersion }
        // What somebody put there meanwhile SQLite has opened, and it is there still.
        try Self.checkFiles(beside: path, owner)
    }

    /// SQLite takes what it finds in these for what was committed last.
    private static func checkFiles(beside path: String, _ owner: uid_t) throws(StateFileError) {
        for suffix in ["-wal", "-shm", "-journal"] {
            if let fault = ForeignFile.fault(ofFile: path + suffix, owner: owner) { throw .foreign(fault) }
        }
    }

    /// Why an SQLite file is not to be opened: it is another application's, or of a version that is not known. It has no
    /// write-ahead log (bytes 18 and 19 of its header), as ours have but for copies, which have our identifier (bytes 68 to 71)
    /// and a version (60 to 63).
    private static func problem(of descriptor: Int32, _ applicationID: Int32, _ version: Int32) -> StateFileError? {
        var header = [UInt8](repeating: 0, count: 72)
        // SAFETY: as many bytes as the array has.
        let count = unsafe header.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        func number(_ start: Int) -> UInt32 { header[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        guard count == header.count, header.starts(with: "SQLite format 3\0".utf8), header[18] == 1 else { return nil }
        guard number(68) == UInt32(bitPattern: applicationID) else { return .notAState }
        return (1...UInt32(version)).contains(number(60)) ? nil : .otherVersion
    }

    /// Whether the file that was opened still has its name.
    var isInPlace: Bool { FileIdentity(path: path) == identity }

    /// Runs a transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws(StateFileError) -> Result {
        try Self.attempt { try queue.write(body) }
    }

    /// Reads at one moment.
    func read<Result>(_ body: (Database) throws -> Result) throws(StateFileError) -> Result {
        try Self.attempt { try queue.read(body) }
    }

    /// Copies what is in the file at one moment to a new file.
    func copy(to path: String) throws(StateFileError) {
        try Self.attempt {
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
    }

    /// Closes the file; the log beside it goes into it.
    func close() {
        try? queue.close()
        lock.release()
    }

    private static func attempt<Result>(_ body: () throws -> Result) throws(StateFileError) -> Result {
        do {
            return try body()
        } catch let error as StateFileError {
            throw error
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw .inUse
            case .SQLITE_NOTADB: throw .notAState
            // Our statements are sound: an error in one is a table that is not as it was made.
            case .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_FORMAT, .SQLITE_MISMATCH: throw .damaged
            default: throw .failed(error.resultCode.rawValue)
            }
        } catch {
            throw .damaged
        }
    }
}

extension Row {
    /// A column's value. Damage may have given it a type that its table does not permit.
    ///
    /// - Throws: `StateFileError.damaged`.
    func value<Value: DatabaseValueConvertible>(_ column: Int) throws(StateFileError) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else { throw .damaged }
        return value
    }

    /// The same of one that may be null.
    func optional<Value: DatabaseValueConvertible>(_ column: Int) throws(StateFileError) -> Value? {
        let value: DatabaseValue = self[column]
        return value.isNull ? nil : try self.value(column)
    }
}
