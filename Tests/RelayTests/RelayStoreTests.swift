import AtlasFixture
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import LiveState
import Relay
import Testing

@Suite("State of the relay") struct RelayStoreTests {
    /// A folder that is removed with the value.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)").path

        init() { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func file(_ name: String) -> String { path + "/" + name }
        func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: file(name)).map { Array($0) } }
        func write(_ bytes: [UInt8], to name: String) {
            _ = FileManager.default.createFile(atPath: file(name), contents: Data(bytes))
        }
    }

    private let folder = Folder()

    private func open(_ name: String = "relay.sqlite") throws(RelayStoreError) -> SQLiteRelayStore {
        try SQLiteRelayStore(path: folder.file(name))
    }

    /// The error of opening a file and reading all of it; nil where there is none.
    private func error(of name: String) -> RelayStoreError? {
        do throws(RelayStoreError) {
            let store = try open(name)
            defer { store.close() }
            _ = try store.loadDecisions()
            _ = try store.loadDevices()
            _ = try store.loadTokens()
            _ = try store.spreadKey()
            return nil
        } catch {
            return error
        }
    }

    /// States of devices that a desk made, one for each tick.
    private func states(_ count: Int) throws -> [DeviceState] {
        var fixture = AtlasFixture.small
        fixture.top[AtlasFixture.cell((1, 2))] = .value(.region(fixture.regions.count))
        fixture.regions.append(AtlasFixture.Region(latitude: 100_000, longitude: 200_000, accuracy: 60_000, country: 1))
        let start: Int64 = 1_790_000_100
        func moment(_ seconds: Int64) -> Timestamp { Timestamp(nanosecondsSince1970: seconds * 1_000_000_000) }
        var desk = Desk(atlas: try Atlas(bytes: fixture.bytes), now: moment(start))
        try desk.addDevice("phone")
        return try (0..<Int64(count)).map { tick in
            let time = start + tick * 900 + 10
            _ = try desk.report(
                Fix(coordinate: Coordinate(latitude: 1, longitude: 2), time: moment(time)), from: "phone",
                at: moment(time))
            try desk.advance(to: moment(start + (tick + 1) * 900))
            return try #require(desk.state(ofDevice: 0))
        }
    }

    @Test func `what is kept is there after the end of a run`() throws {
        let states = try states(2)
        var store = try open()
        #expect(try store.loadDecisions() == nil)
        #expect(try store.loadDevices().isEmpty && store.loadTokens().isEmpty)
        let key = try store.spreadKey()
        try store.keepDecisions([1, 2, 3])
        try store.keepDecisions([4, 5])
        try store.keepDevices([("phone", states[0]), ("a'b", states[0]), ("ü", states[1])])
        try store.keepDevices([("phone", states[1])])
        try store.forgetDevices(["ü", "unknown"])
        let digest = Token().digest
        #expect(try store.addToken(.device("phone"), digest: digest, madeDay: 1, end: nil) == 1)
        #expect(try store.addToken(.consumer("page"), digest: digest.reversed(), madeDay: 1, end: nil) == 2)
        #expect(try store.addToken(.owner, digest: digest, madeDay: 1, end: nil) == 3)
        #expect(try store.removeToken(3))
        #expect(try !store.removeToken(3))
        store.close()
        store = try open()
        #expect(try store.spreadKey() == key)
        #expect(try store.loadDecisions() == [4, 5])
        let devices = try store.loadDevices()
        #expect(devices.map(\.name) == ["a'b", "phone"] && devices.map(\.state) == [states[0], states[1]])
        #expect(
            try store.loadTokens() == [
                KeptToken(id: 1, holder: .device("phone"), digest: digest, madeDay: 1),
                KeptToken(id: 2, holder: .consumer("page"), digest: digest.reversed(), madeDay: 1),
            ])
        // No id is given twice.
        #expect(try store.addToken(.owner, digest: digest, madeDay: 1, end: nil) == 4)
        store.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "relay.sqlite", "relay.sqlite.lock",
            ])
    }

    @Test func `a state of version 1 becomes one of version 2, and nothing is lost`() throws {
        // Made by a relay of that version: a device that was answered, tokens of which one was revoked, two grants, a request
        // and a pause.
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Live/state-version-1.sqlite")
        let bytes = try Array(Data(contentsOf: file))
        #expect(bytes[63] == 1)
        for round in 0..<2 {
            if round == 0 { folder.write(bytes, to: "relay.sqlite") }
            let store = try open()
            let tokens = try store.loadTokens()
            #expect(tokens.map(\.id) == [1, 2, 4])
            #expect(tokens.map(\.holder) == [.device("phone"), .consumer("family"), .consumer("page")])
            #expect(tokens.allSatisfy { $0.madeDay == nil && $0.usedDay == nil && $0.end == nil })
            #expect(TokenTable(tokens).holder(of: Array("AAJnro3a2cNBUHfYnmpb_i".utf8)) == .device("phone"))
            #expect(try store.loadDevices().map(\.name) == ["phone"])
            let decisions = try #require(try store.loadDecisions())
            let desk = try Desk(
                snapshot: decisions, atlas: Places.atlas.get(), now: Timestamp(secondsSince1970: 1_795_894_990)!)
            #expect(desk.pauseMode == .told && desk.requests.map(\.device) == ["tablet"])
            let family = try #require(desk.standings.first { $0.consumer == "family" && $0.device == "phone" })
            #expect(family.grants.map(\.fullAccuracyPurposeKey) == [nil, "pickup"])
            store.close()
            #expect(folder.bytes("relay.sqlite")?[63] == 2)
        }
        // A later id than all that were given.
        #expect(try open().addToken(.owner, digest: Token().digest, madeDay: 9, end: nil) == 5)
    }

    @Test
    func `a backup is all of it at one moment, while it is in use, and other tools may read it meanwhile`() throws {
        let store = try open()
        let states = try states(1), digest = Token().digest
        try store.keepDecisions([1, 2, 3])
        try store.keepDevices([("phone", states[0])])
        _ = try store.addToken(.device("phone"), digest: digest, madeDay: 3, end: 4)
        try store.noteUse(ofTokens: [1, 9], day: 5)
        let bytes = try store.backup()
        #expect(SQLiteRelayStore.isBackup(bytes) && !SQLiteRelayStore.isBackup(Array("SQLite".utf8)))
        try store.keepDecisions([4])
        folder.write(bytes, to: "copy")
        let copy = try open("copy")
        #expect(try copy.loadDecisions() == [1, 2, 3] && copy.loadDevices().map(\.state) == states)
        #expect(
            try copy.loadTokens() == [
                KeptToken(id: 1, holder: .device("phone"), digest: digest, madeDay: 3, usedDay: 5, end: 4)
            ])
        #expect(try copy.spreadKey() == store.spreadKey())
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains("relay.sqlite.copy"))
    }

    @Test func `what is restored is changed first, has the folder's owner, and keeps what it replaces`()
        throws
    {
        var store = try open()
        try store.keepDecisions([1])
        folder.write(try store.backup(), to: "backup")
        try store.keepDecisions([2])
        func restore(_ file: String, _ stamp: String) throws -> String? {
            try RelayRestore.restore(folder.file(file), in: folder.path, stamp: stamp) { store in
                #expect(try store.loadDecisions() == [1])
                try store.keepDecisions([3])
            }
        }
        #expect(throws: RelayRestore.Failure.self) { try restore("backup", "a") }
        #expect(try store.loadDecisions() == [2])
        store.close()
        folder.write([], to: "empty")
        folder.write(Array(repeating: 65, count: 9000), to: "text")
        var damaged = try #require(folder.bytes("backup"))
        for place in 100..<4096 { damaged[place] = 0xff }
        folder.write(damaged, to: "damaged")
        for file in ["empty", "text", "damaged", "missing"] {
            #expect(throws: (any Error).self) { try restore(file, "b") }
            #expect(error(of: "relay.sqlite") == nil)
        }
        #expect(try restore("backup", "c") == folder.file("relay.sqlite.replaced-c"))
        store = try open()
        #expect(try store.loadDecisions() == [3])
        store.close()
        #expect(try open("relay.sqlite.replaced-c").loadDecisions() == [2])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.allSatisfy { !$0.contains("restored") })
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("relay.sqlite"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `each state has a spread key of its own`() throws {
        let first = try open("a"), second = try open("b")
        #expect(try first.spreadKey() != second.spreadKey())
    }

    @Test func `nobody else may read it`() throws {
        let store = try open()
        try store.keepDecisions([1])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("relay.sqlite-wal"))
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        store.close()
    }

    @Test func `one run has it at a time`() throws {
        let store = try open()
        #expect(throws: RelayStoreError.inUse) { try open() }
        try store.keepDecisions([1])
        #expect(throws: RelayStoreError.inUse) { try open() }
        store.close()
        #expect(error(of: "relay.sqlite") == nil)
    }

    @Test func `others' files are refused and stay as they are`() throws {
        // A database without tables that has another application's identifier, made by SQLite's own format: what ours is
        // with its identifier changed.
        try open().close()
        var bytes = try #require(folder.bytes("relay.sqlite"))
        bytes[68] ^= 1
        folder.write(bytes, to: "other")
        #expect(error(of: "other") == .notAState)
        bytes[68] ^= 1
        bytes[63] += 1
        folder.write(bytes, to: "newer")
        #expect(error(of: "newer") == .notAState)
        // With the rollback journal that SQLite's files have by default.
        bytes[18] = 1
        bytes[19] = 1
        folder.write(bytes, to: "rollback")
        #expect(error(of: "rollback") == .notAState)
        #expect(folder.bytes("rollback") == bytes)
        folder.write(Array(repeating: 65, count: 5000), to: "text")
        #expect(error(of: "text") == .notAState)
        #expect(folder.bytes("text") == Array(repeating: 65, count: 5000))
        #expect(error(of: ".") != nil && error(of: "missing/x") != nil)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("relay.sqlite"))
        #expect(error(of: "link") != nil)
        #expect(throws: RelayStoreError.self) { try SQLiteRelayStore(path: "") }
    }

    @Test func `a state of the filter is not one of the relay`() throws {
        try SQLiteLiveStore(
            path: folder.file("live"), fingerprint: 1, interval: .seconds(900), reportsEveryAnswer: false
        ).close()
        #expect(error(of: "live") == .notAState)
    }

    @Test func `damage ends in an error or in what can be read, never in a crash`() throws {
        let states = try states(1)
        let store = try open()
        try store.keepDecisions((0..<3000).map { UInt8(truncatingIfNeeded: $0) })
        try store.keepDevices((0..<200).map { ("device \($0)", states[0]) })
        for number in 0..<50 {
            _ = try store.addToken(.device("device \(number)"), digest: Token().digest, madeDay: 0, end: nil)
        }
        store.close()
        let good = try #require(folder.bytes("relay.sqlite"))
        var random = SplitMix64(seed: 12)
        var failures = 0
        for round in 0..<300 {
            var bytes = good
            switch round % 3 {
            case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            case 1:
                let start = Int.random(in: 0..<bytes.count, using: &random)
                for place in start..<min(bytes.count, start + 512) { bytes[place] = random.next() }
            default:
                for _ in 0..<8 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.next() }
            }
            folder.write(bytes, to: "damaged")
            if error(of: "damaged") != nil { failures += 1 }
        }
        #expect(failures > 100)
    }

    /// A run that is killed leaves the log as far as it was written: at any length, the state is what some transaction
    /// left.
    @Test func `a kill in the middle of a transaction leaves what the one before it left`() throws {
        let states = try states(8)
        let store = try open()
        var lengths: [Int] = []
        for (round, state) in states.enumerated() {
            // Several pages in one transaction.
            try store.keepDevices((0..<100).map { ("device \($0)", state) })
            try store.keepDecisions([UInt8](repeating: UInt8(round), count: 9000))
            lengths.append(try #require(folder.bytes("relay.sqlite-wal")).count)
        }
        let main = try #require(folder.bytes("relay.sqlite")), log = try #require(folder.bytes("relay.sqlite-wal"))
        #expect(lengths.last == log.count)
        store.close()
        var random = SplitMix64(seed: 5)
        let cuts = lengths + (0..<40).map { _ in Int.random(in: 0...log.count, using: &random) }
        for cut in cuts {
            folder.write(main, to: "killed")
            folder.write(Array(log[..<cut]), to: "killed-wal")
            let store = try open("killed")
            let devices = try store.loadDevices(), decisions = try store.loadDecisions()
            store.close()
            #expect(Set(devices.map(\.state)).count <= 1 && [0, 100].contains(devices.count))
            #expect(decisions.map { Set($0).count == 1 && $0.count == 9000 } ?? true)
            let round = devices.first.flatMap { states.firstIndex(of: $0.state) }
            if let whole = lengths.lastIndex(where: { $0 <= cut }) {
                #expect(round == whole || round == whole + 1)
                #expect(decisions?.first == UInt8(whole))
            } else {
                #expect(round == nil || round == 0)
            }
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func next() -> UInt8 { UInt8(truncatingIfNeeded: next() as UInt64) }
}
