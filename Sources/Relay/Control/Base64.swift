private import Foundation

/// Base 64 (RFC 4648, section 4).
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Nil for anything else.
    package static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { Array($0) } }
}
