extension Desk {
    /// A name that a desk knows something by: text, 1 … `Desk.Limits.nameByteCount` bytes of UTF-8. A literal, or an interpolation, is one.
    public protocol Identifier: RawRepresentable<String>, Hashable, Comparable, Codable, Sendable,
        ExpressibleByStringInterpolation, CustomStringConvertible
    {
        /// Takes any text; it is validated where something is added.
        init(rawValue: String)
    }
}

extension Desk.Identifier {
    /// Takes any text; it is validated where something is added.
    public init(_ text: some StringProtocol) { self.init(rawValue: String(text)) }
    /// A name in the source.
    public init(stringLiteral name: String) { self.init(rawValue: name) }
    /// The text.
    public var description: String { rawValue }
    /// Whether the left name comes first in the order of Unicode scalars.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a device: what is located.
public struct DeviceID: Desk.Identifier {
    /// The text.
    public let rawValue: String
    /// Takes any text; it is validated when the device is added.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Names a consumer: who asks.
public struct ConsumerID: Desk.Identifier {
    /// The text.
    public let rawValue: String
    /// Takes any text; it is validated when the consumer is added.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Names a purpose of full accuracy in a consumer's own table.
public struct PurposeKey: Desk.Identifier {
    /// The text.
    public let rawValue: String
    /// Takes any text; it is validated when the consumer is added.
    public init(rawValue: String) { self.rawValue = rawValue }
}
