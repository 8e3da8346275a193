import Files
import Foundation
import Hereabouts
import HereaboutsLive
import Relay

/// A file that says whether a decision of the owner is under way: of 4 KiB, written in place, so that it can be written where
/// the disk is full.
final class DecisionMark {
    private let descriptor: Int32

    private static let byteCount = 4096
    private static let magic = Array("HEREMARK".utf8)

    /// - Parameter owner: whose the file may be, where it is not this process's.
    /// - Throws: `StateFileError`.
    init(_ path: String, owner: uid_t) throws(StateFileError) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(.last) }
        if let fault = ForeignFile.fault(ofFile: descriptor, owner: owner) {
            close(descriptor)
            throw .foreign(fault)
        }
    }

    deinit { close(descriptor) }

    /// How everything is to be paused after a decision that did not end; nil where none is under way. What cannot be read may
    /// have said anything.
    func read() -> Desk.PauseMode? {
        guard lseek(descriptor, 0, SEEK_SET) == 0,
            let bytes = (try? readAll(descriptor, limit: Self.byteCount)) ?? nil
        else { return .quiet }
        // One that was just made is empty.
        if bytes.isEmpty || bytes == Self.bytes(nil) { return nil }
        return bytes == Self.bytes(.told) ? .told : .quiet
    }

    /// Writes what `read` will give; durable when it returns.
    func write(_ mode: Desk.PauseMode?) throws(StateFileError) {
        let bytes = Self.bytes(mode)
        while true {
            // SAFETY: as many bytes as the array has.
            let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
            if count == bytes.count { break }
            guard count < 0, errno == EINTR else { throw .system(count < 0 ? .last : SystemError(number: EIO)) }
        }
        do throws(SystemError) { try sync(descriptor) } catch { throw .system(error) }
    }

    private static func bytes(_ mode: Desk.PauseMode?) -> [UInt8] {
        var bytes = magic + [1, mode?.rawValue ?? 0]
        bytes.append(littleEndian: XXH64.hash(bytes))
        return bytes + Array(repeating: 0, count: byteCount - bytes.count)
    }
}
