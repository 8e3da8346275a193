"""Hereabouts and its peers on the same generated files, in one run, in turn.

    compare.py [--rows N] [--points N] [--rounds N] [--largest N] [--only GROUP…] [--results FOLDER]

Writes peers.json (medians and ranges) and peers.md into Benchmarks/results, and every single run, with the machine, the
versions and the time, into a file of its own in the folder runs there. Groups: points, csv, gpx, formats, fleet, start,
growth; those left out keep the figures of the last run on file only if the machine and the commit are the same.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import report
import setup
from measure import Samples, WrongResult, in_turn, machine, run, without_raw

COMMAND = os.environ.get("HEREABOUTS_COMMAND", str(setup.PROJECT / ".build/release/hereabouts"))
ATLAS = os.environ.get("HEREABOUTS_ATLAS", str(setup.PROJECT / "data/world.atlas"))
POINTS = str(setup.PROJECT / "Benchmarks/.build/release/points")
RESULTS = setup.PROJECT / "Benchmarks/results"
FLEET = 10_000  # devices of the paced table
# The tables of `snap`: their points; how many devices they are of, a row of each in turn; how often each point comes.
TABLES = {"mixed": ("mixed", 1_000, 1), "drive": ("drive", 1, 1), "drives": ("drive", 1_000, 1),
          "long": ("drive", 1, 10), "random": ("mixed", 1_000, 10)}


def say(text):
    print(text, file=sys.stderr, flush=True)


def path(name):
    return str(setup.FOLDER / name)


def make_points(name, count):
    file = path(f"{name}-{count}.points")
    if not os.path.exists(file):
        say(f"making {count} points: {name}")
        run([POINTS, "generate", ATLAS, name, str(count), file])
    return file


def make_table(points, rows, devices, seconds, name):
    if not os.path.exists(path(name)):
        say(f"making {name}")
        run([POINTS, "table", points, str(rows), str(devices), str(seconds), path(name)])
    return path(name)


def count(file, mark):
    """How often a file has some bytes that no line break parts."""
    with open(file, "rb") as opened:
        return sum(line.count(mark) for line in opened)


def expect(actual, wanted, what):
    if actual != wanted:
        raise WrongResult(f"{what}: {actual}, not {wanted}")


def compare_points(options):
    """Nanoseconds per point: from latitude and longitude to cell or region, and to its center."""
    sets = {}
    borders = setup.borders()
    for name in ["land", "drive", "border", "ocean"]:
        points = make_points(name, options.points)
        samples = {
            key: Samples(title, "ns per point")
            for key, title in {
                "batch": "Hereabouts, batch: region, center, accuracy",
                "single": "Hereabouts, a call per point: region, center, accuracy",
                "h3": "H3 (C): cell of resolution 7, center",
                "s2": "S2 (C++): cell of level 12, center",
                "geos": "GEOS: STRtree and prepared contains, 456 zones",
                "proj": "PROJ: one transform (LAEA)",
            }.items()
        }

        def ours():
            for line in run([POINTS, "snap", ATLAS, points, "3"]).output.decode().split("\n")[:-1]:
                batch, single = map(float, line.split())
                samples["batch"].add(batch)
                samples["single"].add(single)

        def peer(key, *arguments):
            def job():
                for line in run(list(arguments)).output.decode().split():
                    samples[key].add(float(line))
            return job

        jobs = {
            "Hereabouts": ours,
            "H3": peer("h3", setup.PYTHON, str(setup.HERE / "h3_cells.py"), path("h3_cells.so"), points, "3"),
            "S2": peer("s2", path("s2_cells"), points, "3"),
            "PROJ": peer("proj", path("proj_transform"), points, "3"),
        }
        if borders and name != "ocean":
            jobs["GEOS"] = peer("geos", path("geos_contains"), str(borders), points, "1")
        in_turn(jobs, options.rounds, lambda text: say(f"points, {name}, {text}"))
        sets[name] = {key: sample.summary() for key, sample in samples.items() if sample.values}
    return sets


def compare_csv(options):
    """A table of positions, CSV to CSV: rows per second."""
    tables, out = {}, path("out.csv")
    for name, (points, devices, times) in TABLES.items():
        rows, rounds = options.rows * times, options.rounds if times == 1 else max(3, options.rounds // 2)
        points = make_points(points, min(options.rows, 1_000_000))
        table = make_table(points, rows, devices, 1, f"{name}-{rows}.csv")
        samples = {}

        def job(key, title, arguments, seconds=None, environment=None):
            """`arguments` are those for an output."""
            samples[key] = Samples(title, "rows per second")
            run(arguments(out), environment=environment)
            expect(count(out, b"\n"), rows + 1, f"{title}: lines")

            def once():
                measured = run(arguments(os.devnull), environment=environment)
                took = float(measured.output) if seconds == "printed" else measured.seconds
                samples[key].add(rows / took, measured)
            return once

        def snap(threads):
            return lambda to: [COMMAND, "snap", table, "--atlas", ATLAS, "-o", to, "--threads", threads]

        def script(name, *more):
            return lambda to: [setup.PYTHON, str(setup.HERE / name), table, to, *more]

        rounding = """{printf "%s,%s,%.2f,%.2f\\n", $1, $2, $3, $4}"""
        jobs = {
            "one": job("one", "hereabouts snap, 1 thread", snap("1")),
            "two": job("two", "hereabouts snap, 2 threads", snap("2")),
        }
        if times == 1:
            jobs["cat"] = job("cat", "cat", lambda to: ["sh", "-c", f"cat {table} | cat > {to}"])
        for threads in ["1", "2"] if times == 1 else ["1"]:
            jobs[f"polars {threads}"] = job(
                f"polars {threads}", f"polars: round, {threads} thread{'s' * (threads != '1')}",
                script("round_polars.py"), "printed", {"POLARS_MAX_THREADS": threads})
            jobs[f"duckdb {threads}"] = job(
                f"duckdb {threads}", f"DuckDB: round, {threads} thread{'s' * (threads != '1')}",
                script("round_duckdb.py", threads), "printed")
        if times == 1:
            jobs["mawk"] = job(
                "mawk", "mawk: round",
                lambda to: ["sh", "-c", f"mawk -F, 'NR == 1 {{print; next}} {rounding}' {table} > {to}"])
        ceiling = Samples("two threads of arithmetic alone, of one", "times")
        jobs["ceiling"] = lambda: ceiling.add(float(run([path("two_threads")]).output))
        in_turn(jobs, rounds, lambda text: say(f"csv, {name}, {text}"))
        digests = set()
        for threads in ["1", "2"]:
            run(snap(threads)(out))
            run([POINTS, "check", ATLAS, points, str(rows), str(devices), out])
            with open(out, "rb") as opened:
                digests.add(hashlib.file_digest(opened, "sha256").digest())
        expect(len(digests), 1, "outputs of one thread and of two")
        tables[name] = {"megabytes": os.path.getsize(table) / 1e6, "rows": rows, "ceiling": ceiling.median,
                        **{key: sample.summary() for key, sample in samples.items()}}
    os.remove(out)
    return tables


def compare_gpx(options):
    """A recorded drive, GPX to GPX: track points per second."""
    rows = options.rows
    points = make_points("drive", min(rows, 1_000_000))
    track = make_table(points, rows, 1, 1, f"drive-{rows}.gpx")
    out, samples = path("out.gpx"), {}

    def job(key, title, arguments, written=None):
        """`arguments` are those for an output."""
        samples[key] = Samples(title, "points per second")
        run(arguments(out))
        if written:
            expect(count(out, b"<trkpt"), written, f"{title}: points")

        def once():
            measured = run(arguments(os.devnull))
            samples[key].add(rows / measured.seconds, measured)
        return once

    def convert(*more):
        return lambda to: [
            COMMAND, "convert", track, "--atlas", ATLAS, "--to", "gpx", "-o", to, "--threads", "1", *more]

    in_turn({
        "every fix": job("fixes", "hereabouts convert --emit fixes, 1 thread", convert("--emit", "fixes"), rows),
        "changes": job("changes", "hereabouts convert, 1 thread", convert()),
        "gpsbabel": job(
            "gpsbabel", "gpsbabel", lambda to: ["gpsbabel", "-i", "gpx", "-f", track, "-o", "gpx", "-F", to], rows),
    }, options.rounds, lambda text: say(f"gpx, {text}"))
    os.remove(out)
    return {"megabytes": os.path.getsize(track) / 1e6, **{key: sample.summary() for key, sample in samples.items()}}


def make_texts(rows):
    """The table of a thousand drives as NDJSON, GeoJSON and KML, a point per row, and compressed by gzip."""
    table = make_table(make_points("drive", min(rows, 1_000_000)), rows, 1_000, 1, f"drives-{rows}.csv")
    forms = {
        "ndjson": ("", '{"id":"%s","time":"%s","lat":%s,"lon":%s}\n', "", ""),
        "geojson": ('{"type":"FeatureCollection","features":[\n',
                    '{"type":"Feature","properties":{"id":"%s","time":"%s"},'
                    '"geometry":{"type":"Point","coordinates":[%s,%s]}}', ",\n", "\n]}\n"),
        "kml": ('<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n',
                "<Placemark><name>%s</name><TimeStamp><when>%s</when></TimeStamp>"
                "<Point><coordinates>%s,%s</coordinates></Point></Placemark>\n", "", "</Document></kml>\n"),
    }
    texts = {"csv": table, "gzip": table + ".gz"}
    for name, (head, form, between, tail) in forms.items():
        texts[name] = path(f"drives-{rows}.{name}")
        if os.path.exists(texts[name]):
            continue
        say(f"making {texts[name]}")
        with open(table, encoding="ascii") as lines, open(texts[name], "w", encoding="ascii") as text:
            text.write(head)
            for number, line in enumerate(lines):
                if number:
                    key, when, latitude, longitude = line.rstrip("\n").split(",")
                    position = (latitude, longitude) if name == "ndjson" else (longitude, latitude)
                    text.write((between if number > 1 else "") + form % (key, when, *position))
            text.write(tail)
    if not os.path.exists(texts["gzip"]):
        run(["sh", "-c", f"gzip -6 -c {table} > {texts['gzip']}"])
    return texts


def compare_formats(options):
    """The same positions in other formats, each to itself: records per second."""
    rows, texts, formats = options.rows, make_texts(options.rows), {}

    def compare(name, mark, ours, peers):
        """`ours` and each of `peers` is a title and the arguments for an output; `mark` is once in every record."""
        out, samples, jobs = path("out.csv" if name == "gzip" else f"out.{name}"), {}, {}

        def job(key, title, arguments):
            samples[key] = Samples(title, "records per second")
            run(arguments(out))
            expect(count(out, mark), rows, f"{title}: records")
            os.remove(out)

            def once():
                measured = run(arguments(os.devnull))
                took = float(measured.output) if key == "duckdb" else measured.seconds
                samples[key].add(rows / took, measured)
            return once

        for key, (title, arguments) in {"ours": ours, **peers}.items():
            jobs[key] = job(key, title, arguments)
        in_turn(jobs, options.rounds, lambda text: say(f"formats, {name}, {text}"))
        formats[name] = {"megabytes": os.path.getsize(texts[name]) / 1e6,
                         **{key: sample.summary() for key, sample in samples.items()}}

    def snap(name, form):
        return "hereabouts snap, 1 thread", lambda to: [
            COMMAND, "snap", texts[name], "--atlas", ATLAS, "-o", to, "--threads", "1", "--to", form]

    def ogr2ogr(driver, name, more=""):
        return "ogr2ogr", lambda to: [
            "sh", "-c", f"ogr2ogr -f {driver} {more} /vsistdout/ {texts[name]} > {to}"]

    rounding = "{id, time, lat: ((.lat * 100 | round) / 100), lon: ((.lon * 100 | round) / 100)}"
    compare("ndjson", b'"time"', snap("ndjson", "ndjson"), {
        "duckdb": ("DuckDB: round, 1 thread", lambda to: [
            setup.PYTHON, str(setup.HERE / "round_duckdb.py"), texts["ndjson"], to, "1"]),
        "jq": ("jq: round", lambda to: ["sh", "-c", f"jq -c '{rounding}' {texts['ndjson']} > {to}"]),
    })
    compare("geojson", b'"Feature"', snap("geojson", "geojson"), {"ogr2ogr": ogr2ogr("GeoJSON", "geojson", "-lco COORDINATE_PRECISION=2")})
    compare("kml", b"<Point>", snap("kml", "kml"), {"ogr2ogr": ogr2ogr("KML", "kml")})
    compare("gzip", b",2026-", snap("gzip", "csv"), {
        "gzip": ("gzip -dc", lambda to: ["sh", "-c", f"gzip -dc {texts['gzip']} > {to}"]),
        "plain": ("the same, of the plain CSV", snap("csv", "csv")[1]),
    })
    return formats


def compare_fleet(options):
    """A table of many devices, their rows interleaved, paced: fixes per second."""
    rows, samples = options.rows, {}
    points = make_points("drive", min(rows, 1_000_000))
    table = make_table(points, rows, FLEET, 30, f"fleet-{rows}.csv")

    def job(key, arguments, title):
        samples[key] = Samples(title, "fixes per second")

        def once():
            measured = run([COMMAND, "convert", table, "--to", "csv", "--atlas", ATLAS, *arguments])
            samples[key].add(rows / measured.seconds, measured)
            devices = {line.split(b",", 1)[0] for line in measured.output.split(b"\n")[1:-1]}
            expect(len(devices), min(FLEET, rows), f"{title}: devices")
        return once

    in_turn({
        "one": job("one", ["--threads", "1"], "hereabouts convert, 10,000 devices, 1 thread"),
        "two": job("two", ["--threads", "2"], "hereabouts convert, 10,000 devices, 2 threads"),
    }, options.rounds, lambda text: say(f"fleet, {text}"))
    return {"megabytes": os.path.getsize(table) / 1e6, **{key: sample.summary() for key, sample in samples.items()}}


def forget(files):
    """Drops files from the system's cache, where it lets us: what is mapped by others stays."""
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def compare_start(options):
    """One position: milliseconds from the start of the process to the first byte of its answer."""
    one = path("one.txt")
    with open(one, "w", encoding="ascii") as file:
        file.write("31.7619 -106.4850\n")
    snap = [COMMAND, "snap", "--atlas", ATLAS]
    samples = {}

    def job(key, title, arguments, cold=False):
        samples[key] = Samples(title, "ms")

        def once():
            if cold:
                forget([COMMAND, ATLAS])
            measured = run(arguments, stdin=one)
            samples[key].add(measured.first_byte_seconds * 1e3, measured)
            expect(bool(measured.output), True, f"{title}: an answer")
        return once

    in_turn({
        "answer": job("answer", "hereabouts snap, one position", snap),
        "uncached": job("uncached", "the same, command and atlas not in the file cache", snap, cold=True),
        "version": job("version", "hereabouts --version: the process's own start", [COMMAND, "--version"]),
        "echo": job("echo", "/bin/echo: any process's start", ["/bin/echo", "x"]),
    }, 10 * options.rounds, lambda _: None)
    return {key: sample.summary() for key, sample in samples.items()}


def compare_growth(options):
    """How cost grows: nanoseconds per row beyond a run on no rows, and peak memory."""
    sizes = [10**power for power in range(3, 10) if 10**power <= options.largest]
    grown = {}
    for name in ["drive", "mixed"]:
        points, devices = make_points(TABLES[name][0], 1_000_000), TABLES[name][1]
        empty = path(f"growth-{name}-0.csv")
        with open(empty, "w", encoding="ascii") as file:
            file.write("id,time,lat,lon\n")
        seconds = {size: Samples(f"{size} rows", "s") for size in [0, *sizes]}

        def job(size):
            def once():
                table = make_table(points, size, devices, 1, f"growth-{name}-{size}.csv") if size else empty
                # Small files are measured more often: against the start of the process their rows weigh little.
                for _ in range(max(1, min(40, 2_000_000 // max(size, 50_000)))):
                    measured = run(
                        ["sh", "-c", f"exec {COMMAND} snap {table} --atlas {ATLAS} --threads 1 > /dev/null"])
                    seconds[size].add(measured.seconds, measured)
            return once

        in_turn({f"{size} rows": job(size) for size in [0, *sizes]}, max(3, options.rounds // 2),
                lambda text: say(f"growth, {name}, {text}"))
        for size in sizes:
            os.remove(path(f"growth-{name}-{size}.csv"))
        start = seconds[0].median
        grown[name] = {
            str(size): {
                "nanoseconds_per_row": (seconds[size].median - start) / size * 1e9,
                "nanoseconds_per_row_with_start": seconds[size].median / size * 1e9,
                **seconds[size].summary(),
            } for size in sizes
        }
    return grown


GROUPS = {"points": compare_points, "csv": compare_csv, "gpx": compare_gpx, "formats": compare_formats,
          "fleet": compare_fleet, "start": compare_start, "growth": compare_growth}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the tables (1,000,000)")
    parser.add_argument("--points", type=int, default=1_000_000, help="points of the sets (1,000,000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, in which all run in turn (7)")
    parser.add_argument("--largest", type=int, default=10_000_000, help="the longest table of growth (10,000,000)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="GROUP")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder to write to (Benchmarks/results)")
    options = parser.parse_args()

    setup.prepare(say)
    result = {"machine": machine(), "versions": setup.versions(COMMAND), "rows": options.rows,
              "points_per_set": options.points, "rounds": options.rounds}
    runs = options.results / "runs" / time.strftime("%Y-%m-%dT%H%MZ.json", time.gmtime())
    runs.parent.mkdir(parents=True, exist_ok=True)
    file = options.results / "peers.json"
    measured = {name: GROUPS[name](options) for name in options.only}
    write(runs, {**result, **measured})
    if set(options.only) != set(GROUPS) and file.exists():
        before = json.loads(file.read_text(encoding="utf-8"))
        if before["versions"] == result["versions"]:
            result = {**before, **result}
    result.update(without_raw(measured))
    write(file, result)
    (options.results / "peers.md").write_text(report.markdown(result), encoding="utf-8")
    print(report.markdown(result))


def write(file, result):
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except WrongResult as wrong:
        sys.exit(f"compare.py: {wrong}")
