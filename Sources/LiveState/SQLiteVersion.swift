import GRDB

/// The version of SQLite that is loaded; nil where it does not say.
package func sqliteVersion() -> String? {
    try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
}
