import CProcess

/// The commit that this program was built from, which the Makefile has the linker write into it (scripts/commit-options).
package enum BuildCommit {
    /// The commit's 40 digits, and whether the sources differed from it; `unknown` where nobody said.
    package static var description: String {
        let words = (0..<3).map { hereabouts_commit_word(Int32($0)) }
        guard words.contains(where: { $0 != 0 }) else { return "unknown" }
        let digits = zip(words, [16, 16, 8]).map { word, count in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return digits.joined() + (hereabouts_commit_word(3) != 0 ? ", and changes" : "")
    }
}
