import Files
import Foundation
import Relay

/// Puts a backup in the place of a relay's state.
package enum RelayRestore {
    /// Why nothing was restored.
    package enum Failure: Error {
        /// The file, and what is wrong with it.
        case backup(RelayStoreError)
        /// The state, and why it cannot be replaced.
        case state(RelayStoreError)
        case system(String, SystemError)
    }

    private static let name = "relay.sqlite"
    /// The files beside it that SQLite has.
    private static let suffixes = ["", "-wal", "-shm"]

    /// Replaces the state of a relay that does not run. The one that it replaces is kept beside it.
    ///
    /// - Parameters:
    ///   - file: what `RelayStore.backup()` gave.
    ///   - folder: of the state; the files get its owner, and mode 0600.
    ///   - stamp: what the name of the state that is replaced ends with.
    ///   - prepare: changes what is restored, before it is in its place.
    /// - Returns: the path of the state that was replaced; nil where there was none.
    package static func restore(
        _ file: String, in folder: String, stamp: String, prepare: (SQLiteRelayStore) throws -> Void
    ) throws -> String? {
        let path = folder + "/" + name, candidate = path + ".restored"
        let lock: FileLock, owner: (user: uid_t, group: gid_t)
        do throws(StateFileError) {
            owner = try Self.owner(of: folder)
            lock = try FileLock(path + ".lock", owner: owner.user)
        } catch {
            throw Failure.state(RelayStoreError(error))
        }
        defer { lock.release() }
        // Whatever comes of it, the relay's user is to have it again.
        try setOwner(of: path + ".lock", to: owner)
        let manager = FileManager.default
        guard let bytes = manager.contents(atPath: file).map({ Array($0) }) else { throw Failure.system(file, .last) }
        guard SQLiteRelayStore.isBackup(bytes) else { throw Failure.backup(.notAState) }
        func remove() {
            for suffix in suffixes + [".lock", ".mark"] { try? manager.removeItem(atPath: candidate + suffix) }
        }
        remove()
        defer { remove() }
        guard manager.createFile(atPath: candidate, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw Failure.system(candidate, .last) }
        do throws(RelayStoreError) {
            let store = try SQLiteRelayStore(path: candidate, owner: owner.user)
            defer { store.close() }
            do { try prepare(store) } catch let error as RelayStoreError { throw error } catch { throw .damaged }
        } catch {
            throw Failure.backup(error)
        }
        // What did not get from the log into the file would be lost.
        let log = try? manager.attributesOfItem(atPath: candidate + "-wal")[.size] as? Int
        guard (log ?? 0) == 0 else { throw Failure.system(candidate, SystemError(number: EIO)) }
        try setOwner(of: candidate, to: owner)
        var replaced: String?
        for suffix in suffixes where manager.fileExists(atPath: path + suffix) {
            try move(path + suffix, to: path + ".replaced-" + stamp + suffix)
            replaced = path + ".replaced-" + stamp
        }
        try move(candidate, to: path)
        return replaced
    }

    private static func move(_ path: String, to other: String) throws(Failure) {
        guard unsafe rename(path, other) == 0 else { throw .system(other, .last) }
    }

    private static func owner(of folder: String) throws(StateFileError) -> (user: uid_t, group: gid_t) {
        var status = stat()
        // SAFETY: the status is written to `status`.
        guard unsafe stat(folder, &status) == 0 else { throw .system(.last) }
        return (status.st_uid, status.st_gid)
    }

    private static func setOwner(of path: String, to owner: (user: uid_t, group: gid_t)) throws(Failure) {
        var status = stat()
        // SAFETY: the status is written to `status`.
        guard unsafe lstat(path, &status) == 0, (status.st_uid, status.st_gid) != owner else { return }
        guard unsafe lchown(path, owner.user, owner.group) == 0 else { throw .system(path, .last) }
    }
}
