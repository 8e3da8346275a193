import CZLib

/// How a request's body is encoded (RFC 9110, section 8.4).
package enum BodyEncoding: Hashable, Sendable {
    case identity
    /// gzip, or deflate, which is zlib's format.
    case deflated
    case unknown

    /// - Parameter fields: the values of `Content-Encoding`.
    init(_ fields: [String]) {
        let names = fields.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
        switch names {
        case []: self = .identity
        case ["gzip"], ["x-gzip"], ["deflate"]: self = .deflated
        default: self = .unknown
        }
    }

    /// Why a body has no content.
    enum Failure: Error {
        /// It is not what its encoding says, or the encoding is not known.
        case unreadable
        /// The content is longer than it may be.
        case tooLong
    }

    /// What a body says.
    ///
    /// - Parameter limit: the longest content, in bytes.
    func content(of body: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        switch self {
        case .identity: return body
        case .deflated: return try Self.inflated(body, limit: limit)
        case .unknown: throw .unreadable
        }
    }

    private static func inflated(_ body: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = unsafe z_stream()
        guard unsafe hereabouts_inflate_any_init(&stream) == Z_OK else { throw .unreadable }
        defer { unsafe inflateEnd(&stream) }
        var packed = body, content = [UInt8](repeating: 0, count: limit + 1)
        let status = unsafe packed.withUnsafeMutableBufferPointer { packed in
            unsafe content.withUnsafeMutableBufferPointer { content in
                // SAFETY: zlib reads and writes as many bytes as it is told, which both have, during this call alone.
                unsafe stream.next_in = packed.baseAddress
                unsafe stream.avail_in = UInt32(packed.count)
                unsafe stream.next_out = content.baseAddress
                unsafe stream.avail_out = UInt32(content.count)
                return unsafe inflate(&stream, Z_FINISH)
            }
        }
        let count = unsafe content.count - Int(stream.avail_out)
        guard count <= limit else { throw .tooLong }
        guard status == Z_STREAM_END, unsafe stream.avail_in == 0 else { throw .unreadable }
        return Array(content.prefix(count))
    }
}
