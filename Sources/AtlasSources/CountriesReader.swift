/// A country's name and how many people live there in all.
package struct CountryTotal: Hashable, Sendable {
    /// The border code, at most 8 bytes.
    package var code: String
    /// The name for people.
    package var name: String
    /// Estimated residents.
    package var population: Int

    /// Makes a total of its parts, as they are.
    package init(code: String, name: String, population: Int) {
        self.code = code
        self.name = name
        self.population = population
    }
}

/// Reads country totals from CSV (RFC 4180, UTF-8) with the columns `code`, `name` and `population`, in any order.
package struct CountriesReader {
    /// The file, as the user named it.
    package let path: String

    /// Prepares to read a file.
    package init(path: String) { self.path = path }

    /// Reads the file, in its order. O(n).
    /// - Throws: `InputError.unreadable`; `InputError.badRow`, also for a code that is there twice.
    package func read() throws(InputError) -> [CountryTotal] {
        var table = try CSVTable(path: path, columns: ["code", "name", "population"])
        var totals: [CountryTotal] = []
        var codes: Set<String> = []
        while try table.next() {
            let code = try table.code("code")
            guard codes.insert(code).inserted else { throw table.error(.repeatedCode) }
            totals.append(
                CountryTotal(
                    code: code, name: try table.requiredText("name"), population: try table.population("population")))
        }
        return totals
    }
}
