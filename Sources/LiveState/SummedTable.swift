import GRDB
import Hereabouts

/// A table of which damage shows that SQLite does not see: each row has the XXH64 of its other columns, and the table `sums` has
/// of each such table the number of rows and the exclusive or of their checksums.
struct SummedTable {
    let name: String
    /// The columns but for the checksum, `sum`. The first is the key.
    let columns: [String]
    private let key, list, selection, insertion: String

    init(name: String, columns: [String]) {
        (self.name, self.columns, key, list) = (name, columns, columns[0], columns.joined(separator: ", "))
        selection = "SELECT sum FROM \(name) WHERE \(key) = ?"
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        insertion = "INSERT OR REPLACE INTO \(name) (\(list), sum) VALUES (\(marks), ?)"
    }

    /// Of all rows together.
    struct Sum: Equatable {
        private(set) var count: Int64 = 0
        private(set) var checksums: Int64 = 0

        fileprivate mutating func add(_ checksum: Int64) {
            count &+= 1
            checksums ^= checksum
        }

        fileprivate mutating func remove(_ checksum: Int64) {
            count &-= 1
            checksums ^= checksum
        }
    }

    /// Makes the table of sums.
    static func makeSums(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE sums (
                    name TEXT PRIMARY KEY, count INTEGER NOT NULL, checksums INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                """)
    }

    /// Sums the rows that are there, of a table that has no checksums yet.
    func begin(in database: Database) throws {
        try database.execute(sql: "ALTER TABLE \(name) ADD COLUMN sum INTEGER NOT NULL DEFAULT 0")
        try database.execute(sql: "INSERT INTO sums VALUES (?, 0, 0)", arguments: [name])
        let rows = try Row.fetchAll(database, sql: "SELECT \(list) FROM \(name)")
        try update(in: database) { sum in
            for row in rows {
                let checksum = Self.checksum(Array(row.databaseValues))
                // A key is what it is by its own type; rows of a table without one are few, and alike where they are the same.
                try database.execute(
                    sql: "UPDATE \(name) SET sum = ? WHERE \(key) IS ?", arguments: [checksum, row[0] as DatabaseValue])
                sum.add(checksum)
            }
        }
    }

    /// Changes rows by `put`, `remove` and the others, and keeps the sum of what they came to.
    func update<Result>(in database: Database, _ body: (inout Sum) throws -> Result) throws -> Result {
        var sum = try sum(in: database)
        let result = try body(&sum)
        try database.cachedStatement(sql: "UPDATE sums SET count = ?, checksums = ? WHERE name = ?")
            .execute(arguments: [sum.count, sum.checksums, name])
        return result
    }

    /// Writes a row in the place of the one with its key.
    func put(_ values: [(any DatabaseValueConvertible)?], in database: Database, _ sum: inout Sum) throws {
        let values = values.map { $0?.databaseValue ?? .null }
        let old = try Int64.fetchOne(
            try database.cachedStatement(sql: selection), arguments: [values[0]])
        if let old { sum.remove(old) }
        let checksum = Self.checksum(values)
        try database.cachedStatement(sql: insertion)
            .execute(arguments: StatementArguments(values + [checksum.databaseValue]))
        sum.add(checksum)
    }

    /// Writes the only row of a table.
    func putOnly(_ values: [(any DatabaseValueConvertible)?], in database: Database) throws {
        try update(in: database) { sum in
            try database.execute(sql: "DELETE FROM \(name)")
            sum = Sum()
            try put(values, in: database, &sum)
        }
    }

    /// Removes the rows for which a condition holds.
    ///
    /// - Returns: how many.
    @discardableResult
    func remove(
        where condition: String, _ arguments: StatementArguments, in database: Database, _ sum: inout Sum
    ) throws -> Int {
        let statement = try database.cachedStatement(sql: "DELETE FROM \(name) WHERE \(condition) RETURNING sum")
        let removed = try Int64.fetchAll(statement, arguments: arguments)
        for checksum in removed { sum.remove(checksum) }
        return removed.count
    }

    /// Calls a function with each row, whose checksum holds, in order of the keys.
    ///
    /// - Throws: `StateFileError.damaged`, of the sum after all rows were given.
    func read(in database: Database, _ body: (Row) throws -> Void) throws {
        var found = Sum()
        let rows = try Row.fetchCursor(database, sql: "SELECT \(list), sum FROM \(name) ORDER BY \(key)")
        while let row = try rows.next() {
            let checksum: Int64 = try row.value(columns.count)
            guard checksum == Self.checksum(Array(row.databaseValues.dropLast())) else { throw StateFileError.damaged }
            found.add(checksum)
            try body(row)
        }
        guard try found == sum(in: database) else { throw StateFileError.damaged }
    }

    /// The only row of a table.
    func readOnly<Result>(in database: Database, _ body: (Row) throws -> Result) throws -> Result {
        var results: [Result] = []
        try read(in: database) { results.append(try body($0)) }
        guard results.count == 1 else { throw StateFileError.damaged }
        return results[0]
    }

    private func sum(in database: Database) throws -> Sum {
        let statement = try database.cachedStatement(sql: "SELECT count, checksums FROM sums WHERE name = ?")
        guard let row = try Row.fetchOne(statement, arguments: [name]) else { throw StateFileError.damaged }
        return Sum(count: try row.value(0), checksums: try row.value(1))
    }

    private static func checksum(_ values: [DatabaseValue]) -> Int64 {
        var bytes: [UInt8] = []
        func append(_ kind: UInt8, _ content: some Collection<UInt8>) {
            bytes.append(kind)
            bytes.append(littleEndian: UInt64(content.count))
            bytes += content
        }
        for value in values {
            switch value.storage {
            case .null: append(0, [])
            case .int64(let number):
                bytes.append(1)
                bytes.append(littleEndian: number)
            // No column of ours has one.
            case .double(let number):
                bytes.append(2)
                bytes.append(littleEndian: number.bitPattern)
            case .string(let text): append(3, text.utf8)
            case .blob(let data): append(4, data)
            }
        }
        return Int64(bitPattern: XXH64.hash(bytes))
    }
}
