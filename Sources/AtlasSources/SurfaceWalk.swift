/// Walks the quadtrees of a population surface in the order of its streams.
struct SurfaceWalk {
    private let cells: InflatedStream, classes: InflatedStream
    private let ratioStreams: [InflatedStream]
    /// Promised residents per estimated resident, by class.
    private let shares: [Double]
    /// The cell that the next byte of `cells` is of; 0 behind the last.
    private var id: UInt64
    private var level = 0
    /// Those of the current source cell; nil until its first residents.
    private var ratios: SIMD8<Float>?
    private var residents = 0.0

    /// A byte of the cells stream for a cell that is divided.
    private static let divided: UInt8 = 255
    private static let faces: UInt64 = 6
    /// The class of settlements that a list adds.
    private static let classOfListed = 1
    /// More than twice as many people as there are: it bounds the number of points.
    private static let maximumResidents = 2e10
    /// 2^((v - 49) / 12) residents, by byte of the cells stream. Products with powers of two are exact, so that every
    /// machine has the same.
    private static let residentsByByte: [Double] = (0..<256).map { byte in
        let twelfths = [
            1.0, 1.0594630943592953, 1.122462048309373, 1.189207115002721, 1.2599210498948732, 1.3348398541700344,
            1.4142135623730951, 1.4983070768766815, 1.5874010519681996, 1.681792830507429, 1.7817974362806785,
            1.887748625363387,
        ]
        // 60 = 5 × 12 keeps the exponent from being negative.
        let steps = byte - 49 + 60
        return twelfths[steps % 12] * Double(sign: .plus, exponent: steps / 12 - 5, significand: 1)
    }
    /// 2^((r - 128) / 8), by byte of a source's stream; 0 for 0.
    private static let ratioByByte: [Float] = (0..<256).map { byte in
        let eighths: [Float] = [
            1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
            1.681792830507429, 1.8340080864093424,
        ]
        return byte == 0 ? 0 : eighths[byte % 8] * Float(sign: .plus, exponent: byte / 8 - 16, significand: 1)
    }

    init(cells: InflatedStream, classes: InflatedStream, ratios: [InflatedStream], shares: [Double]) {
        (self.cells, self.classes, self.ratioStreams, self.shares) = (cells, classes, ratios, shares)
        id = Self.lowestBit(level: 0)
    }

    private static func lowestBit(level: Int) -> UInt64 { 1 << UInt64(60 - 2 * level) }

    /// The next inhabited cell; nil behind the last, where every stream must be at its end.
    mutating func next() throws(SurfaceProblem) -> SurfaceCell? {
        while id != 0 {
            if level <= SurfaceReader.sourceLevel { ratios = nil }
            let byte = try cells.next()
            if byte == Self.divided {
                guard level < SurfaceReader.finestLevel else { throw .tooDeep }
                // The first child.
                id -= 3 * Self.lowestBit(level: level + 1)
                level += 1
                continue
            }
            let current = id
            advance()
            if byte != 0 { return try cell(current, Self.residentsByByte[Int(byte)]) }
        }
        for stream in [cells, classes] + ratioStreams { try stream.finish() }
        return nil
    }

    /// To the next cell that is not within the current one.
    private mutating func advance() {
        while level > 0, id >> UInt64(61 - 2 * level) & 3 == 3 {
            level -= 1
            let bit = Self.lowestBit(level: level)
            id = id & (0 &- bit) | bit
        }
        if level == 0, id >> 61 == Self.faces - 1 {
            id = 0
        } else {
            id += 2 * Self.lowestBit(level: level)
        }
    }

    private mutating func cell(_ id: UInt64, _ estimate: Double) throws(SurfaceProblem) -> SurfaceCell {
        let number = Int(try classes.next())
        guard number < shares.count, shares[number] > 0 else { throw .badClass }
        residents += estimate
        guard residents <= Self.maximumResidents else { throw .tooManyResidents }
        if ratios == nil {
            var read = SIMD8<Float>()
            for (index, stream) in ratioStreams.enumerated() {
                read[index] = Self.ratioByByte[Int(try stream.next())]
            }
            ratios = read
        }
        return SurfaceCell(
            id: id, residents: estimate, promised: estimate * shares[number], ratios: ratios!,
            isListed: number == Self.classOfListed)
    }
}
