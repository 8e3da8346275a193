import Files
private import Foundation

/// What a push target is presented with. Printing or reflecting one shows nothing of it.
package struct PushSecret: Hashable, Sendable {
    /// Why a file holds none. No case carries anything of it.
    package enum Failure: Error, Hashable, Sendable {
        /// It cannot be read.
        case system(SystemError)
        /// It is no regular file.
        case notAFile
        /// Everybody may read or write it: `chmod o= FILE`.
        case openToOthers
        /// It is not one line with `user:password` or a token.
        case malformed
    }

    /// The longest line, in bytes.
    private static let limit = 1024
    /// The value of the header `Authorization`.
    let authorization: String

    /// Takes `user:password` (RFC 7617) or a token (RFC 6750), perhaps with the end of its line.
    package init(line: some Collection<UInt8>) throws(Failure) {
        var text = Array(line)
        if text.last == 10 { text.removeLast() }
        if text.last == 13 { text.removeLast() }
        guard !text.isEmpty, text.count <= Self.limit, text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed
        }
        if text.contains(UInt8(ascii: ":")) {
            authorization = "Basic " + Data(text).base64EncodedString()
        } else {
            guard text.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed }
            authorization = "Bearer " + String(decoding: text, as: UTF8.self)
        }
    }

    /// Reads a file.
    package init(file path: String) throws(Failure) {
        // A pipe without a writer would keep the call waiting.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(.last) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(.last) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard status.st_mode & 0o007 == 0 else { throw .openToOthers }
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try readAll(descriptor, limit: Self.limit + 2) } catch { throw .system(error) }
        guard let bytes else { throw .malformed }
        try self.init(line: bytes)
    }
}

extension PushSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing.
    package var description: String { "PushSecret(redacted)" }
    /// Shows nothing.
    package var debugDescription: String { description }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
