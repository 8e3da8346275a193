import AtlasFixture
import Files
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import LiveFilter
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

        // Each says whether it was done.
        func remove(_ name: String) { _ = unsafe unlink(file(name)) }
        func give(_ name: String, to user: uid_t) -> Bool { unsafe lchown(file(name), user, user) == 0 }
        func setMode(_ name: String, _ mode: mode_t) -> Bool { unsafe chmod(file(name), mode) == 0 }
        func makeFolder(_ name: String) -> Bool { unsafe mkdir(file(name), 0o700) == 0 }
        func makePipe(_ name: String) -> Bool { unsafe mkfifo(file(name), 0o600) == 0 }
        func makeName(_ other: String, of name: String) -> Bool { unsafe link(file(name), file(other)) == 0 }
        func makeLink(_ name: String, to target: String) -> Bool { unsafe symlink(target, file(name)) == 0 }
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
            _ = store.spreadKey()
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
        var desk = try Desk(atlas: Atlas(bytes: fixture.bytes), now: moment(start))
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
        let key = store.spreadKey()
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
        #expect(store.spreadKey() == key)
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
                "relay.sqlite", "relay.sqlite.lock", "relay.sqlite.mark",
            ])
    }

    private func fixture(_ name: String) throws -> [UInt8] {
        try Array(
            Data(
                contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                    .appendingPathComponent("Live/\(name).sqlite")))
    }

    /// Each made by a relay of its version: a device that was answered, tokens of which one was revoked, two grants, a request
    /// and a pause.
    @Test(arguments: [1, 2]) func `a state of an earlier version becomes one of this, and nothing is lost`(version: Int)
        throws
    {
        let bytes = try fixture("state-version-\(version)")
        #expect(bytes[63] == UInt8(version))
        for round in 0..<2 {
            if round == 0 { folder.write(bytes, to: "relay.sqlite") }
            let store = try open()
            let tokens = try store.loadTokens()
            #expect(tokens.map(\.id) == [1, 2, 4])
            #expect(tokens.map(\.holder) == [.device("phone"), .consumer("family"), .consumer("page")])
            #expect(tokens.map(\.madeDay) == Array(repeating: version == 1 ? nil : 20_786, count: 3))
            #expect(tokens.map(\.usedDay) == (version == 1 ? [nil, nil, nil] : [20_786, 20_786, nil]))
            #expect(tokens.allSatisfy { $0.end == nil })
            let text = version == 1 ? "AAJnro3a2cNBUHfYnmpb_i" : "BY7ka7WWaYcAzNLL6FqPd8"
            #expect(TokenTable(tokens).holder(of: Array(text.utf8)) == .device("phone"))
            let device = try #require(try store.loadDevices().first)
            #expect(device.name == "phone")
            let decisions = try #require(try store.loadDecisions())
            let now = version == 1 ? Timestamp(secondsSince1970: 1_795_894_990)! : device.state.pacer.tick
            let atlas = try Places.atlas.get()
            // They do not say of which atlas they are.
            let isSame = OtherAtlas.keepingRegions(of: atlas)
            var desk = try Desk(snapshot: decisions, atlas: atlas, otherAtlas: isSame, now: now)
            #expect(desk.pauseMode == (version == 1 ? .told : .quiet) && desk.requests.map(\.device) == ["tablet"])
            let family = try #require(desk.standings.first { $0.consumer == "family" && $0.device == "phone" })
            #expect(family.grants.map(\.fullAccuracyPurposeKey) == [nil, "pickup"])
            // Its pace goes on: at the tick that was answered there is no other answer.
            let index = try #require(desk.deviceIndex("phone"))
            try desk.restore(device.state, ofDevice: index, from: nil, otherAtlas: isSame)
            #expect(desk.state(ofDevice: index)?.pacer.tick == device.state.pacer.tick)
            store.close()
            #expect(folder.bytes("relay.sqlite")?[63] == 3)
        }
        // A later id than all that were given.
        #expect(try open().addToken(.owner, digest: Token().digest, madeDay: 9, end: nil) == 5)
    }

    @Test func `a state of the filter of an earlier version becomes one of this, and nothing is lost`() throws {
        folder.write(try fixture("live-state-version-1"), to: "live")
        // That of its time.
        let atlas = UInt64(bitPattern: -3_683_831_494_399_084_095)
        let tick = Timestamp(secondsSince1970: 1_790_007_300)!
        for _ in 0..<2 {
            let store = try SQLiteLiveStore(
                path: folder.file("live"), fingerprint: atlas, interval: .seconds(900), reportsEveryAnswer: false)
            var devices: [String: (tick: Timestamp, isReported: Bool)] = [:]
            try store.forEachDevice { devices[$0] = ($1.pacer.tick, $2) }
            #expect(devices.keys.sorted() == ["anna", "ben", "céline"])
            #expect(devices.values.allSatisfy { $0.tick == tick } && devices["ben"]?.isReported == true)
            #expect(devices["anna"]?.isReported == false)
            #expect(try store.unpublishedTick() == nil)
            store.close()
        }
        #expect(folder.bytes("live")?[63] == 2)
    }

    // MARK: Damage

    /// What is kept, in any order of calls.
    private struct Content: Equatable {
        var decisions: [UInt8]?
        var devices: [String: DeviceState]
        var tokens: [KeptToken]
        var key: UInt64

        init(_ store: SQLiteRelayStore) throws {
            decisions = try store.loadDecisions()
            devices = Dictionary(uniqueKeysWithValues: try store.loadDevices().map { ($0.name, $0.state) })
            tokens = try store.loadTokens()
            key = store.spreadKey()
        }
    }

    /// Writes a state with one changed bit as the file `flipped`, again and again.
    ///
    /// - Parameter read: reads it; a store's error says that the bit was found.
    private func flipBits(of good: [UInt8], seed: UInt64, _ read: (_ bit: Int) throws -> Void) throws {
        var random = SplitMix64(seed: seed), found = 0
        for round in 0..<1500 {
            var bytes = good
            let bit = round < 200 ? round * 4 : Int.random(in: 0..<bytes.count * 8, using: &random)
            bytes[bit / 8] ^= 1 << (bit % 8)
            folder.write(bytes, to: "flipped")
            do { try read(bit) } catch let error where error is RelayStoreError || error is LiveStoreError {
                found += 1
            }
        }
        #expect(found > 200)
    }

    @Test func `a bit that is not what it was changes nothing, or is found`() throws {
        let states = try states(3)
        let store = try open()
        try store.keepDecisions((0..<500).map { UInt8(truncatingIfNeeded: $0) })
        try store.keepDevices((0..<60).map { ("device \($0)", states[$0 % 3]) })
        try store.keepDevices((0..<20).map { ("device \($0)", states[2]) })
        try store.forgetDevices(["device 4", "device 5"])
        for number in 0..<40 {
            _ = try store.addToken(.device("device \(number)"), digest: Token().digest, madeDay: 3, end: nil)
        }
        try store.noteUse(ofTokens: [1, 2, 99], day: 4)
        _ = try store.removeToken(7)
        let content = try Content(store)
        store.close()
        let good = try #require(folder.bytes("relay.sqlite"))
        try flipBits(of: good, seed: 59) { bit in
            let store = try open("flipped")
            defer { store.close() }
            let read = try Content(store)
            #expect(read == content, "bit \(bit)")
        }
    }

    @Test func `a bit of the filter's state that is not what it was gives no early answer`() throws {
        let states = try states(3)
        func open(_ name: String) throws -> SQLiteLiveStore {
            try SQLiteLiveStore(
                path: folder.file(name), fingerprint: 5, interval: .seconds(900), reportsEveryAnswer: false)
        }
        struct Content: Equatable {
            var devices: [String: DeviceState] = [:], reported: Set<String> = []
            var tick: Timestamp?
            init(_ store: SQLiteLiveStore) throws {
                var devices: [String: DeviceState] = [:], reported: Set<String> = []
                try store.forEachDevice {
                    devices[$0] = $1
                    if $2 { reported.insert($0) }
                }
                (self.devices, self.reported, tick) = (devices, reported, try store.unpublishedTick())
            }
        }
        let store = try open("live")
        for (place, state) in states.enumerated() {
            try store.commit(60 - place * 20, at: state.pacer.tick, ticks: [1, 2, 3, 0]) {
                LiveAnswer(key: "device \($0)", state: state, isReported: $0 % 2 == 0)
            }
            if place == 1 { try store.notePublished() }
        }
        try store.forgetDevices(silentSince: states[0].pacer.tick)
        let content = try Content(store)
        #expect(content.devices.count == 40 && content.tick == states[2].pacer.tick)
        store.close()
        let good = try #require(folder.bytes("live"))
        try flipBits(of: good, seed: 60) { bit in
            let store = try open("flipped")
            defer { store.close() }
            let read = try Content(store)
            #expect(read == content, "bit \(bit)")
        }
    }

    // MARK: Others' files

    private func foreign(_ name: String, _ path: String? = nil) -> ForeignFile? {
        var relay: ForeignFile?, live: ForeignFile?
        do throws(RelayStoreError) {
            try SQLiteRelayStore(path: path ?? folder.file(name)).close()
        } catch {
            if case .foreign(let fault) = error { relay = fault }
        }
        do throws(LiveStoreError) {
            try SQLiteLiveStore(
                path: path ?? folder.file(name), fingerprint: 1, interval: .seconds(900), reportsEveryAnswer: false
            ).close()
        } catch {
            if case .foreign(let fault) = error { live = fault }
        }
        #expect(relay == live)
        return relay
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make another user's files"))
    func `a state that another user made, or may change, is not taken`() throws {
        for suffix in Self.suffixes {
            let name = "relay.sqlite" + suffix
            try open().close()
            if folder.bytes(name) == nil { folder.write([], to: name) }
            #expect(folder.give(name, to: Self.other))
            #expect(foreign("relay.sqlite") == .otherOwner, "\(suffix)")
            #expect(folder.give(name, to: 0) && folder.makeName("another", of: name))
            #expect(foreign("relay.sqlite") == .otherNames, "\(suffix)")
            folder.remove("another")
            folder.remove(name)
            #expect(folder.makePipe(name))
            #expect(foreign("relay.sqlite") == .otherKind, "\(suffix)")
            folder.remove(name)
            folder.write([], to: name)
            #expect(folder.setMode(name, 0o666))
            #expect(foreign("relay.sqlite") == .writableByOthers, "\(suffix)")
            for suffix in Self.suffixes { folder.remove("relay.sqlite" + suffix) }
        }
        try open().close()
        #expect(folder.give("relay.sqlite.mark", to: Self.other))
        #expect(error(of: "relay.sqlite") == .foreign(.otherOwner))
    }

    private static let suffixes = ["", ".lock", "-wal", "-shm", "-journal"]
    private static let other: uid_t = 65_534

    @Test(.enabled(if: geteuid() == 0, "only root can make another user's files"))
    func `a state is not where others can put another in its place`() throws {
        for (owner, mode, fault) in [
            (0, 0o755, nil), (0, 0o1777, nil), (0, 0o777, .openFolder), (Self.other, 0o755, .openFolder),
        ] as [(uid_t, mode_t, ForeignFile?)] {
            #expect(folder.give("", to: owner) && folder.setMode("", mode))
            #expect(foreign("x") == fault)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) { folder.remove(name) }
        }
        #expect(folder.give("", to: 0))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make another user's files"))
    func `a folder is its relay's alone, and a link to it may be root's`() throws {
        func fault(_ name: String) throws -> ForeignFile? { try ForeignFile.fault(ofFolder: folder.file(name)) }
        #expect(folder.makeFolder("private") && folder.makeLink("state", to: "private"))
        // As systemd makes them for a dynamic user.
        for name in ["private", "state", "state/"] { #expect(try fault(name) == nil) }
        #expect(folder.give("state", to: Self.other))
        for name in ["state", "state//"] { #expect(try fault(name) == .foreignLink) }
        #expect(folder.setMode("private", 0o720))
        #expect(try fault("private") == .writableByOthers)
        #expect(folder.give("private", to: Self.other))
        #expect(try fault("private") == .otherOwner)
        folder.write([], to: "file")
        for name in ["file", "missing"] { #expect(throws: SystemError.self) { try fault(name) } }
    }

    // MARK: Decisions that were under way

    @Test func `what is said of a decision that is under way is found by the next run, and what is damaged pauses`()
        throws
    {
        var store = try open()
        #expect(store.loadMark() == nil)
        for mode in [Desk.PauseMode.told, .quiet, nil] {
            try store.keepMark(mode)
            store.close()
            store = try open()
            #expect(store.loadMark() == mode)
        }
        store.close()
        let good = try #require(folder.bytes("relay.sqlite.mark"))
        #expect(good.count == 4096)
        var random = SplitMix64(seed: 61)
        for round in 0..<200 {
            var bytes = good
            if round < 100 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
            } else {
                bytes = Array(bytes.prefix(.random(in: 1..<bytes.count, using: &random)))
            }
            folder.write(bytes, to: "relay.sqlite.mark")
            let store = try open()
            #expect(store.loadMark() == .quiet)
            store.close()
        }
    }

    @Test func `tokens are added many at a time`() throws {
        let store = try open()
        #expect(try store.addToken(.owner, digest: Token().digest, madeDay: 1, end: nil) == 1)
        let digests = (0..<500).map { _ in Token().digest }
        #expect(try store.addTokens(digests.enumerated().map { (.device("d\($0)"), $1) }, madeDay: 2) == 501)
        #expect(try store.loadTokens().dropFirst().map(\.digest) == digests)
        #expect(try store.removeToken(501) && store.addTokens([(.owner, digests[0])], madeDay: 2) == 502)
        #expect(try store.loadTokens().count == 501)
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
        #expect(copy.spreadKey() == store.spreadKey())
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

    @Test(.enabled(if: geteuid() == 0, "only root can make another user's files"))
    func `root restores the state of a relay's user, who has it again`() throws {
        let store = try open()
        try store.keepDecisions([1])
        folder.write(try store.backup(), to: "backup")
        store.close()
        for suffix in ["", ".lock", ".mark"] { #expect(folder.give("relay.sqlite" + suffix, to: Self.other)) }
        #expect(folder.give("", to: Self.other) && folder.setMode("", 0o700))
        _ = try RelayRestore.restore(folder.file("backup"), in: folder.path, stamp: "a") { try $0.keepDecisions([2]) }
        for suffix in ["", ".lock", ".mark"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("relay.sqlite" + suffix))
            #expect(attributes[.ownerAccountID] as? UInt32 == Self.other)
        }
        let restored = try SQLiteRelayStore(path: folder.file("relay.sqlite"), owner: Self.other)
        #expect(try restored.loadDecisions() == [2])
        restored.close()
        // Whoever else has made it.
        #expect(folder.give("relay.sqlite", to: 65_533))
        #expect(throws: RelayStoreError.foreign(.otherOwner)) {
            try SQLiteRelayStore(path: folder.file("relay.sqlite"), owner: Self.other)
        }
        #expect(folder.give("", to: 0))
    }

    @Test func `each state has a spread key of its own`() throws {
        let first = try open("a"), second = try open("b")
        #expect(first.spreadKey() != second.spreadKey())
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
        #expect(error(of: "newer") == .otherVersion)
        // With the rollback journal that SQLite's files have by default.
        bytes[18] = 1
        bytes[19] = 1
        folder.write(bytes, to: "rollback")
        #expect(error(of: "rollback") == .otherVersion)
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

    @Test func `a state that is gone is known to be`() throws {
        let store = try open()
        #expect(store.isInPlace)
        try FileManager.default.removeItem(atPath: folder.file("relay.sqlite"))
        #expect(!store.isInPlace)
        folder.write([], to: "relay.sqlite")
        #expect(!store.isInPlace)
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
