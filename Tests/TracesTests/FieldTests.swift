import FixedRandom
import Foundation
import Hereabouts
import Testing
import TextCoding

@testable import Traces

/// Fields and numbers found many bytes at a time, in every instruction set, against what is found byte by byte.
@Suite struct FieldTests {
    private static let sets = KernelSet.allCases.compactMap { FieldKernels($0) }

    /// The bytes with a block's padding, which is full of what must not be found.
    private func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + Array(repeatElement(UInt8(ascii: ","), count: 64)) }

    @Test func `every processor has the baseline`() { #expect(FieldKernels(.baseline) != nil) }

    @Test func `the structural index lists separators in order`() {
        var random = SplitMix64(seed: 31)
        let alphabet = Array(",,;\n\n\r\"abc0123456789.-é".utf8)
        for count in Array(0...200) + [4096, 70_001] {
            // A little of everything, nothing but ends, and none.
            for letters in [alphabet, [10], [UInt8(ascii: "x")]] {
                let bytes = (0..<count).map { _ in letters.randomElement(using: &random)! }
                let expected = bytes.indices.filter { bytes[$0] == 10 || bytes[$0] == UInt8(ascii: ",") }
                for functions in Self.sets {
                    var index = StructuralIndex(functions)
                    // SAFETY: the padding follows the block.
                    unsafe padded(bytes).withUnsafeBufferPointer { text in
                        unsafe index.build(
                            UnsafeBufferPointer(rebasing: text[..<count]), delimiter: UInt8(ascii: ","), columns: 1)
                    }
                    guard count > 0 else { continue }
                    #expect(index.count == expected.count)
                    #expect((0..<index.count).map { index[$0 + 1] } == expected)
                    #expect(index.hasQuotes == bytes.contains(UInt8(ascii: "\"")))
                    #expect(index.hasReturns == bytes.contains(13))
                }
            }
        }
    }

    @Test func `records are regular where a line has as many fields as there are columns`() {
        var random = SplitMix64(seed: 33)
        var irregular = 0, uniform = 0
        for _ in 0..<3000 {
            // Mostly so many fields; now and then one more or less.
            let columns = Int.random(in: 1...4, using: &random)
            let lines = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                let dice = Int.random(in: 0..<20, using: &random)
                let fields = max(1, columns + (dice == 0 ? 1 : dice == 1 ? -1 : 0))
                return (0..<fields).map { _ in String(repeating: "x", count: Int.random(in: 0...20, using: &random)) }
            }
            let text = lines.map { $0.joined(separator: ",") + "\n" }.joined()
            let isRegular = lines.map { $0.count == columns }
            uniform += isRegular.allSatisfy { $0 } ? 1 : 0
            irregular += isRegular[0] ? 0 : 1
            for kernels in Self.sets {
                var index = StructuralIndex(kernels)
                // SAFETY: the padding follows the block.
                unsafe padded(Array(text.utf8)).withUnsafeBufferPointer { bytes in
                    let base = bytes.baseAddress!
                    unsafe index.build(
                        UnsafeBufferPointer(rebasing: bytes[..<text.utf8.count]), delimiter: UInt8(ascii: ","),
                        columns: columns)
                    // From each line on, as many as there are before the first that is not.
                    var separators = 0
                    for line in lines.indices {
                        let expected = isRegular[line...].prefix { $0 }.count
                        for limit in [1, 2, 100] {
                            let found = unsafe index.regularRecords(base, after: separators, limit: limit)
                            #expect(found == min(expected, limit))
                        }
                        let table = index.table(after: separators)
                        let fields = (0..<expected).map { record in
                            (0..<columns).map { column in
                                let span = table.span(record, column)
                                return unsafe String(
                                    decoding: bytes[Int(span.start)..<Int(span.end)], as: UTF8.self)
                            }
                        }
                        #expect(fields == Array(lines[line..<line + expected]))
                        separators += lines[line].count
                    }
                }
            }
        }
        #expect(uniform > 1000 && irregular > 100)
    }

    /// The two numbers in each set, and one by one.
    private func numbers(_ first: String, _ second: String) -> [[Double]] {
        let bytes = padded(Array("\(first),\(second)\n".utf8)), middle = UInt32(first.utf8.count)
        let ends = [.max, middle, middle + 1 + UInt32(second.utf8.count)]
        // SAFETY: the fields lie in the bytes, with the slack after them.
        return unsafe bytes.withUnsafeBufferPointer { text in
            let base = text.baseAddress!
            var results = [
                [
                    unsafe FixedPoint.parse(base, count: first.utf8.count),
                    unsafe FixedPoint.parse(base + Int(middle) + 1, count: second.utf8.count),
                ]
            ]
            for functions in Self.sets {
                var position = [Coordinate(latitude: 0, longitude: 0)]
                let others = unsafe ends.withUnsafeBufferPointer { ends in
                    let fields = unsafe FieldTable(entries: ends.baseAddress!, stride: 2)
                    return unsafe functions.parsePositions(
                        base, fields, latitude: 0, longitude: 1, count: 1, into: &position)
                }
                results.append([position[0].latitude, position[0].longitude])
                #expect(others == (position[0].latitude.isNaN ? 1 : 0))
            }
            return results
        }
    }

    private func expectSame(_ first: String, _ second: String) {
        let results = numbers(first, second)
        let isFixedPoint = [first, second].map { $0.wholeMatch(of: /-?[0-9]{1,7}\.[0-9]{1,8}/) != nil }
        for (text, (value, isFixedPoint)) in zip([first, second], zip(results[0], isFixedPoint)) {
            #expect(isFixedPoint ? value.bitPattern == Double(text)!.bitPattern : value.isNaN, "\(text)")
        }
        for pair in results.dropFirst() {
            let areFixedPoint = isFixedPoint == [true, true]
            #expect(areFixedPoint ? pair.map(\.bitPattern) == results[0].map(\.bitPattern) : pair.allSatisfy(\.isNaN))
        }
    }

    @Test func `numbers of every length are correctly rounded`() {
        var random = SplitMix64(seed: 32)
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in Character(String(Int.random(in: 0...9, using: &random))) })
        }
        for whole in 0...9 {
            for fraction in 0...10 {
                for sign in ["", "-", "+", "--", " "] {
                    for _ in 0..<8 {
                        expectSame("\(sign)\(digits(whole)).\(digits(fraction))", "-106.4869300")
                        expectSame("31.7", "\(sign)\(digits(whole)).\(digits(fraction))")
                    }
                }
            }
        }
        for _ in 0..<20_000 {
            expectSame(
                "-\(digits(Int.random(in: 1...7, using: &random))).\(digits(Int.random(in: 1...8, using: &random)))",
                "\(digits(Int.random(in: 1...3, using: &random))).\(digits(Int.random(in: 1...8, using: &random)))")
        }
    }

    @Test func `what is not fixed-point is NaN in every set`() {
        for text in [
            "", "-", ".", "-.", "1", "-1", "1.", ".5", "-.5", "1e3", "1.5e3", "1.5E1", "0x1.8", "nan", "inf", "1,5",
            "1.2.3",
            "12345678.5", "1.123456789", "1:5", "1/5", "1.5 ", " 1.5", "1.5\r", "١.٥", "1.\u{7f}", "\u{0}1.5",
            "1.5\u{0}",
        ] {
            expectSame(text, "2.5")
            expectSame("2.5", text)
        }
        // Every byte in the place of a digit and of the point.
        for byte in UInt8.min...127 where byte != 10 && byte != UInt8(ascii: ",") {
            let mark = String(UnicodeScalar(byte))
            expectSame("1\(mark)5", "-2.5")
            expectSame("2.5", "12.3\(mark)5")
            expectSame("1\(mark)2.75", "2.5")
        }
    }
}
