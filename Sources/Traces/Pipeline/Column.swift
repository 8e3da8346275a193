/// A growable array of trivial values with one owner, whose memory kernels may write.
@safe struct Column<Element>: ~Copyable {
    // SAFETY: `capacity` elements, of which the first `count` are initialized; freed in deinit.
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 64) {
        precondition(_isPOD(Element.self), "a column holds trivial values")
        self.capacity = max(capacity, 1)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit { unsafe base.deallocate() }

    /// Forgets the elements and keeps the memory.
    mutating func removeAll() { count = 0 }

    /// Forgets the elements from number `count` on.
    mutating func truncate(to count: Int) { self.count = min(self.count, count) }

    /// Makes room for `more` elements. O(1) amortized.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let newCapacity = max(2 * capacity, count + more)
        // SAFETY: the larger memory holds all initialized elements, which are trivial.
        let newBase = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
        unsafe newBase.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = newBase
        capacity = newCapacity
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        // SAFETY: there is room for it.
        unsafe (base + count).initialize(to: element)
        count &+= 1
    }

    /// Appends `added` elements that `fill` initializes at the pointer it is given.
    @inline(__always)
    mutating func append<Result>(_ added: Int, _ fill: (UnsafeMutablePointer<Element>) -> Result) -> Result {
        reserve(added)
        let result = unsafe fill(base + count)
        count += added
        return result
    }

    /// Appends the elements that `fill` initializes at the pointer it is given, and counts: at most `added`.
    mutating func append(atMost added: Int, _ fill: (UnsafeMutablePointer<Element>) -> Int) {
        reserve(added)
        let filled = unsafe fill(base + count)
        precondition(filled <= added, "no more than there is room for")
        count += filled
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return unsafe base[index]
        }
        set {
            assert(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    /// The elements, until the column is changed.
    @inline(__always)
    var elements: UnsafeMutableBufferPointer<Element> {
        unsafe UnsafeMutableBufferPointer(start: base, count: count)
    }
}
