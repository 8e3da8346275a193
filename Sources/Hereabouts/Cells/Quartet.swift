/// Four values in a fixed order, stored in place: the children, edge neighbors or vertices of a cell.
///
/// A collection without the allocation of an array. All operations are O(1).
package struct Quartet<Element>: RandomAccessCollection {
    @usableFromInline let elements: (Element, Element, Element, Element)

    @inlinable
    init(_ first: Element, _ second: Element, _ third: Element, _ fourth: Element) {
        elements = (first, second, third, fourth)
    }

    /// The position of the first element: 0.
    @inlinable public var startIndex: Int { 0 }
    /// One past the position of the last element: 4.
    @inlinable public var endIndex: Int { 4 }

    /// The element at a position in 0 … 3; any other is a programming error.
    @inlinable
    package subscript(position: Int) -> Element {
        switch position {
        case 0: return elements.0
        case 1: return elements.1
        case 2: return elements.2
        default:
            precondition(position == 3, "a quartet has positions 0 to 3")
            return elements.3
        }
    }
}

extension Quartet: Sendable where Element: Sendable {}

extension Quartet: Equatable where Element: Equatable {
    /// Whether the elements are equal one by one.
    @inlinable
    package static func == (left: Quartet, right: Quartet) -> Bool { left.elementsEqual(right) }
}
