/// S2's text form of a cell id: sixteen lower-case hexadecimal digits without their trailing zeros, so that large cells
/// have short tokens, and `X` for the id 0. Tokens sort as the ids do.
extension CellID {
    /// The token. Defined for any 64 bits; at most 16 characters.
    public var token: String {
        guard rawValue != 0 else { return "X" }
        let digits = 16 - rawValue.trailingZeroBitCount / 4
        let hexadecimal = String(rawValue >> UInt64(4 * (16 - digits)), radix: 16)
        return String(repeating: "0", count: digits - hexadecimal.utf8.count) + hexadecimal
    }

    /// Parses a token of one to sixteen hexadecimal digits, upper or lower case, or `X`; nil for anything else.
    ///
    /// As in S2, the id need not be that of a cell: see `isValid`.
    package init?(token: some StringProtocol) {
        var value: UInt64 = 0
        var digits = 0
        if token.utf8.elementsEqual("X".utf8) {
            self.init(rawValue: 0)
            return
        }
        for byte in token.utf8 {
            digits += 1
            guard let digit = byte.hexadecimalDigit, digits <= 16 else { return nil }
            value = value << 4 | UInt64(digit)
        }
        guard digits > 0 else { return nil }
        self.init(rawValue: value << UInt64(4 * (16 - digits)))
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in either case; nil for any other character.
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The digit, in lower case, of a value below 16.
    var asHexadecimalDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10 }
}
