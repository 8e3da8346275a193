import CommandSupport
import Foundation
import Testing

/// System calls that fail or are watched, by a library that the test compiles and has loaded before the command.
@Suite(.serialized) struct FaultTests {
    let place = Workplace()

    /// Where `close` and `fsync` fail for the files whose names `FAIL_CLOSE` and `FAIL_SYNC` are part of, calls that matter
    /// to a machine that fails are written to the file `CALLS`, and the clock shows the second `CLOCK`.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <time.h>
        #include <unistd.h>
        static void name_of(int fd, char *name) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = readlink(link, name, 4095);
            name[length < 0 ? 0 : length] = 0;
        }
        static int fails(const char *variable, const char *name) {
            const char *part = getenv(variable);
            return part && strstr(name, part) != NULL;
        }
        static void note(const char *call, const char *name) {
            const char *path = getenv("CALLS");
            int (*real_close)(int) = dlsym(RTLD_NEXT, "close");
            int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
            if (fd < 0) return;
            const char *base = strrchr(name, '/');
            dprintf(fd, "%s %s\\n", call, base ? base + 1 : name);
            real_close(fd);
        }
        int close(int fd) {
            char name[4096];
            name_of(fd, name);
            int result = ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
            if (!fails("FAIL_CLOSE", name)) return result;
            errno = EIO;
            return -1;
        }
        int fsync(int fd) {
            char name[4096];
            name_of(fd, name);
            note("fsync", name);
            if (fails("FAIL_SYNC", name)) return errno = EIO, -1;
            return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
        }
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, time);
            const char *seconds = getenv("CLOCK");
            if (seconds && clock == CLOCK_REALTIME) time->tv_sec = atoll(seconds);
            return result;
        }
        int rename(const char *from, const char *to) {
            note("rename", to);
            if (fails("KILL_RENAME", to)) raise(SIGKILL);
            if (fails("FAIL_RENAME", to)) return errno = EIO, -1;
            return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
        }
        """

    /// The library's path; nil, with a word about it, where no C compiler makes one.
    private func library() throws -> String? {
        place.write(Self.source, as: "faults.c")
        let result = try place.shell("${CC:-clang} -shared -fPIC -o faults.so faults.c -ldl")
        if result.status == 0 { return place.path("faults.so") }
        print("skipped: faults cannot be made here")
        return nil
    }

    private static let table = "id,time,lat,lon\na,1772323200,31.76,-106.48\na,1772324100,48.2,16.3\n"

    @Test func `a file that cannot be made safe is a failure`() throws {
        guard let library = try library() else { return }
        place.write(Self.table, as: "table.csv")
        place.write("old", as: "out.csv")
        for fault in ["FAIL_CLOSE", "FAIL_SYNC"] {
            for words in [["snap"], ["convert", "--to", "csv"], ["convert", "--state", "state"]] {
                let result = try place.run(
                    command, words + ["table.csv", "-o", "out.csv"],
                    environment: ["LD_PRELOAD": library, fault: "out.csv"])
                #expect(result.status == 2 && result.complaints == "hereabouts: out.csv: Input/output error\n")
                #expect(place.read("out.csv") == "old" && place.names.allSatisfy { !$0.hasSuffix(".partial") })
            }
        }
        // What was never published was never answered.
        let retry = try place.hereabouts("convert", "--state", "state", "table.csv", "-o", "out.csv")
        #expect(retry.status == 0 && place.read("out.csv")?.split(separator: "\n").count == 3)
    }

    /// A run is killed as it publishes its output, and then the runs after it fail as well before they get anywhere.
    @Test(arguments: ["FAIL_RENAME", "KILL_RENAME"])
    func `what was staged outlives runs that fail`(_ fault: String) throws {
        guard let library = try library() else { return }
        place.write(Self.table, as: "table.csv")
        let arguments = ["convert", "--state", "state", "table.csv", "-o", "out.csv"]
        let killed = try place.run(command, arguments, environment: ["LD_PRELOAD": library, "KILL_RENAME": "out.csv"])
        #expect(killed.signalled && place.read("out.csv") == nil)
        for _ in 0..<2 {
            let failed = try place.run(command, arguments, environment: ["LD_PRELOAD": library, fault: "state"])
            #expect((failed.status == 2 || failed.signalled) && place.read("out.csv") == nil)
        }
        #expect(try place.run(command, arguments).status == 0)
        #expect(place.read("out.csv")?.split(separator: "\n").count == 3)
        // A kill leaves files behind, of which only a staged one is somebody's to find.
        #expect(place.names.filter { $0.hasPrefix("out.csv.") }.count == (fault == "KILL_RENAME" ? 2 : 0))
    }

    /// If somebody removes it, nobody knows whether it had been published, and the next run says so.
    @Test func `what was staged and is gone counts as given`() throws {
        guard let library = try library() else { return }
        place.write(Self.table, as: "table.csv")
        let arguments = ["convert", "--state", "state", "table.csv", "-o", "out.csv"]
        _ = try place.run(command, arguments, environment: ["LD_PRELOAD": library, "KILL_RENAME": "out.csv"])
        for name in place.names where name.hasSuffix(".partial") {
            try FileManager.default.removeItem(atPath: place.path(name))
        }
        let next = try place.run(command, arguments)
        #expect(next.status == 0 && next.errors.contains("out.csv: staged by an interrupted run"))
        #expect(place.read("out.csv")?.split(separator: "\n").count == 1)
    }

    /// Converts the table to standard output, beginning from a state without devices, with a fault in the state's file.
    private func runOnANewState(_ library: String, _ fault: String) throws -> CommandResult {
        place.write(Self.table, as: "table.csv")
        let arguments = ["convert", "--to", "csv", "--state", "state"]
        #expect(try place.run(command, arguments, input: "id,time,lat,lon\n").status == 0)
        return try place.run(
            command, arguments + ["table.csv"], environment: ["LD_PRELOAD": library, fault: "state"])
    }

    @Test func `a state that cannot be sealed is told of`() throws {
        guard let library = try library() else { return }
        let result = try runOnANewState(library, "FAIL_RENAME")
        #expect(result.status == 0 && result.errors.contains("could not be rewritten"))
        #expect(
            try place.hereabouts("convert", "--to", "csv", "--state", "state", "table.csv").output.split(
                separator: "\n"
            ).count == 1)
    }

    /// On standard output nothing comes out before the state is safe.
    @Test func `answers that cannot be kept are not given`() throws {
        guard let library = try library() else { return }
        let result = try runOnANewState(library, "FAIL_SYNC")
        #expect(result.status == 2 && result.output.isEmpty && result.errors.contains("state: Input/output error"))
    }

    /// 2300, which is beyond the range of times.
    @Test func `a clock beyond the range of times ends no run`() throws {
        guard let library = try library() else { return }
        place.write(Self.table, as: "table.csv")
        let environment = ["LD_PRELOAD": library, "CLOCK": "10413792000", "HEREABOUTS_ATLAS": atlasPath]
        for words in [["snap"], ["convert", "--to", "csv"]] {
            let result = try place.run(command, words + ["table.csv"], environment: environment)
            #expect(result.status == 0 && !result.output.isEmpty)
        }
        let live = try place.run(
            command, ["live"], input: "{\"id\":\"a\",\"latitude\":48.2,\"longitude\":16.3}\n", environment: environment)
        #expect(live.status == 0 && live.output.isEmpty)
        #expect(live.errors.components(separatedBy: "the clock is beyond 2262-04-10").count == 2)
    }

    @Test func `content is safe before its name`() throws {
        guard let library = try library() else { return }
        place.write(Self.table, as: "table.csv")
        let result = try place.run(
            command, ["convert", "--state", "state", "table.csv", "-o", "out.csv"],
            environment: ["LD_PRELOAD": library, "CALLS": place.path("calls")])
        #expect(result.status == 0)
        let calls = try #require(place.read("calls")).split(separator: "\n").map { line in
            line.split(separator: ".").first.map { $0 + (line.hasSuffix(".partial") ? " partial" : "") } ?? ""
        }
        // The state is made; the output is safe, then what the state says of it, then its name; the state is sealed.
        let folder = "fsync \(place.folder.lastPathComponent)"
        #expect(
            calls == [
                "fsync state partial", folder, "fsync out partial", "fsync state", "fsync out partial", "rename out",
                folder, "fsync state partial", "rename state", folder,
            ])
    }
}
