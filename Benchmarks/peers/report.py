"""The results of compare.py as tables: everything, with the goals, for results/peers.md; ten rows for the README.

    report.py README.md             writes both anew from results/peers.json; the README's table goes between its markers
    report.py --check README.md     writes nothing; fails if either is not as results/peers.json has it
"""

import json
import re
import sys
from pathlib import Path

FORMATS = {"ndjson": "NDJSON to NDJSON", "geojson": "GeoJSON to GeoJSON", "kml": "KML to KML", "gzip": "gzip to CSV"}
MARKERS = ("<!-- benchmark table: written by `make bench-readme` -->", "<!-- end of benchmark table -->")


def number(value):
    """Two or three significant digits, thousands grouped."""
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"


def spread(sample):
    return f"{number(sample['median'])} ({number(sample['least'])}–{number(sample['most'])})"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def ratio(ours, theirs):
    return f"{ours / theirs:.1f} ×"


def goals(result):
    """The goals of the project: what is asked, what was measured, and whether that is enough."""
    rows = []

    def at_least(what, wanted, actual):
        rows.append((what, f"≥ {wanted:g} ×", f"{actual:.1f} ×", actual >= wanted))

    points = result.get("points", {})
    for name, title, wanted in [("drive", "along a trace", {"h3": 20, "s2": 6}),
                                ("land", "random land points", {"h3": 10, "s2": 3}),
                                ("border", "within 200 m of a border", {"geos": 10})]:
        for peer, factor in wanted.items():
            if peer in points.get(name, {}):
                label = {"h3": "H3's cell and center", "s2": "S2's cell and center",
                         "geos": "GEOS's STRtree and contains"}[peer]
                at_least(f"one point with center and accuracy, {title}: as fast as {label}", factor,
                         points[name][peer]["median"] / points[name]["batch"]["median"])
    for name, title in [("mixed", "random"), ("drive", "drives"), ("drives", "1,000 drives at once"),
                        ("long", "drives, {:,} rows"), ("random", "random, {:,} rows")]:
        csv = result.get("csv", {}).get(name)
        if csv:
            title = title.format(csv["rows"])
            one = csv["one"]["median"]
            at_least(f"`snap` CSV, {title}, one thread: rows per second of polars's", 4, one / csv["polars 1"]["median"])
            at_least(f"`snap` CSV, {title}, one thread: rows per second of DuckDB's", 5, one / csv["duckdb 1"]["median"])
            at_least(f"`snap` CSV, {title}, two threads: rows per second of our one thread's (arithmetic alone, in the same "
                     f"rounds: {csv['ceiling']:.1f} ×)", 1.7, csv["two"]["median"] / one)
    if "gpx" in result:
        gpx = result["gpx"]
        at_least("`convert` GPX, every fix written, one thread: points per second of gpsbabel's", 15,
                 gpx["fixes"]["median"] / gpx["gpsbabel"]["median"])
        at_least("`convert` GPX, changes written, one thread: points per second of gpsbabel's", 15,
                 gpx["changes"]["median"] / gpx["gpsbabel"]["median"])
    for name, peer, wanted, label in [
            ("ndjson", "duckdb", 4, "DuckDB's"), ("ndjson", "jq", 30, "jq's"), ("geojson", "ogr2ogr", 10, "ogr2ogr's"),
            ("kml", "ogr2ogr", 10, "ogr2ogr's")]:
        if name in result.get("formats", {}):
            one = result["formats"][name]
            at_least(f"`snap` {FORMATS[name]}, one thread: records per second of {label}", wanted,
                     one["ours"]["median"] / one[peer]["median"])
    if "fleet" in result:
        fixes = result["fleet"]["one"]["median"]
        rows.append(("`convert` CSV of 10,000 interleaved devices, paced, one thread", "≥ 5 million fixes/s",
                     f"{fixes / 1e6:.1f} million fixes/s", fixes >= 5e6))
    if "start" in result:
        start = result["start"]
        for key, title in [("answer", ""), ("uncached", ", nothing in the file cache")]:
            first = start[key]["median"]
            rows.append((f"one position, process start to answer{title} (a process's own start: "
                         f"{number(start['version']['median'])} ms)", "≤ 20 ms", f"{number(first)} ms", first <= 20))
    for name, title in [("drive", "drives"), ("mixed", "random")]:
        sizes = result.get("growth", {}).get(name)
        if sizes:
            first, *_, last = sizes
            rows.append((
                f"time per row and peak memory, {title}, from {int(first):,} to {int(last):,} rows", "flat",
                ", ".join(number(size["nanoseconds_per_row"]) for size in sizes.values()) + " ns; "
                + ", ".join(number(size["peak_mebibytes"]) for size in sizes.values()) + " MiB", None))
    return rows


def goal_table(result):
    marks = {True: "yes", False: "**no**", None: ""}
    return table(["", "goal", "measured", "met"], [[what, goal, got, marks[met]]
                                                   for what, goal, got, met in goals(result)])


def conditions(result):
    machine, versions = result["machine"], result["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items()
                      if name not in ("hereabouts", "commit", "compiler of the C peers"))
    return (f"{machine['processor']}, {machine['cores']} cores, {machine['memory_GiB']} GiB, {machine['system']}; "
            f"{machine['date']}, load {machine['load_at_start']} at the start. Hereabouts {versions['hereabouts']} "
            f"at {versions['commit']}; {named}; C peers by {versions['compiler of the C peers']}, -O2.")


def markdown(result):
    """The whole of a run."""
    parts = ["# Hereabouts and its peers\n",
             "*Written by `make bench-peers`; the same figures as data are in [peers.json](peers.json).*\n",
             conditions(result) + "\n",
             f"Each round runs all of a table in turn, {result['rounds']} rounds; medians, least and most in brackets. "
             "Times of polars and DuckDB leave out the start of Python; those of the commands are from process start to "
             "end. Each writes to a file once, which is checked, and to /dev/null when it is timed, so that no file "
             "system is measured. The check counts rows and compares every row of `snap` with the library's single "
             "calls.\n",
             "## Goals\n", goal_table(result)]
    titles = {"land": "populated land", "drive": "along drives", "border": "within 200 m of a border",
              "ocean": "high seas", "mixed": "half populated land, half near cities",
              "drives": "along a thousand drives at once, a row of each in turn",
              "long": "along drives, each gone ten times", "random": "half populated land, half near cities, ten times"}
    if "points" in result:
        parts += [f"## One point, one thread\n\n{result['points_per_set']:,} points; nanoseconds per point.\n"]
        sets = result["points"]
        keys = list(next(iter(sets.values())))
        parts.append(table(["", *(titles[name] for name in sets)], [
            [sets["land"][key]["title"], *(spread(one[key]) if key in one else "" for one in sets.values())]
            for key in keys]))
    for name, one in result.get("csv", {}).items():
        parts.append(f"## CSV to CSV, {titles[name]}\n\n{one['rows']:,} rows, {one['megabytes']:.1f} MB.\n")
        parts.append(rate_table(one, one["rows"], "thousand rows/s"))
    if "gpx" in result:
        parts.append(f"## GPX to GPX\n\n{result['rows']:,} points, {result['gpx']['megabytes']:.1f} MB.\n")
        parts.append(rate_table(result["gpx"], result["rows"], "thousand points/s"))
    for name, one in result.get("formats", {}).items():
        parts.append(f"## {FORMATS[name]}\n\n{result['rows']:,} records along a thousand drives at once, "
                     f"{one['megabytes']:.1f} MB.\n")
        parts.append(rate_table(one, result["rows"], "thousand records/s"))
    if "fleet" in result:
        parts.append(f"## Ten thousand devices, interleaved and paced, CSV to CSV\n\n{result['rows']:,} rows, "
                     f"{result['fleet']['megabytes']:.1f} MB.\n")
        parts.append(rate_table(result["fleet"], result["rows"], "thousand fixes/s"))
    if "start" in result:
        parts.append("## Start\n\nFrom the start of the process to the first byte it writes.\n")
        parts.append(table(["", "ms", "peak MiB"], [
            [one["title"], spread(one), number(one["peak_mebibytes"])] for one in result["start"].values()]))
    if "growth" in result:
        parts.append("## Growth\n\n`snap`, one thread, CSV to /dev/null; a run on no rows is taken off in the first "
                     "figure, and is not in the second. The first rows of a file also bring the pages of the atlas that "
                     "they meet into the process and render the regions; later ones find them there.\n")
        for name, sizes in result["growth"].items():
            parts.append(table([f"rows, {titles[name]}", "ns per row", "with the start", "peak MiB"], [
                [f"{int(size):,}", number(one["nanoseconds_per_row"]), number(one["nanoseconds_per_row_with_start"]),
                 number(one["peak_mebibytes"])] for size, one in sizes.items()]))
    return "\n".join(parts)


def rate_table(group, rows, unit):
    """Rates with what one of them is to the first."""
    samples = [one for one in group.values() if isinstance(one, dict)]
    ours = samples[0]["median"]
    return table(["", unit, "MB/s in", "peak MiB", "ours is"], [
        [one["title"], f"{number(one['median'] / 1e3)} ({number(one['least'] / 1e3)}–{number(one['most'] / 1e3)})",
         number(one["median"] / rows * group["megabytes"]) if "megabytes" in group else "",
         number(one["peak_mebibytes"]), ratio(ours, one["median"])] for one in samples])


def gains(result):
    """What a user gains, in ten rows at most: ours, theirs, and how many times better ours is."""
    rows = []

    def faster(what, ours, peer, theirs, unit, scale=1.0):
        """Of times: less is better."""
        rows.append((what, f"{number(ours / scale)} {unit}", f"{peer}: {number(theirs / scale)} {unit}", ratio(theirs, ours)))

    def more(what, ours, peer, theirs, unit):
        """Of rates: more is better."""
        rows.append((what, f"{number(ours / 1e6)} million {unit}", f"{peer}: {number(theirs / 1e6)} million {unit}",
                     ratio(ours, theirs)))

    points = result.get("points", {})
    for name, title, peer, label in [
            ("drive", "a position along a trace, in a batch", "h3", "H3, cell and center"),
            ("land", "a random position on populated land, in a batch", "h3", "H3, cell and center"),
            ("land", "the same", "s2", "S2, cell and center"),
            ("border", "a position within 200 m of a border, in a batch", "geos", "GEOS, country polygons")]:
        if peer in points.get(name, {}):
            faster(title, points[name]["batch"]["median"], label, points[name][peer]["median"], "ns")
    csv = result.get("csv", {})
    for name, title, peer, label in [
            ("long", "CSV along drives, {rows} rows", "polars 1", "polars, rounding"),
            ("long", "the same", "duckdb 1", "DuckDB, rounding"),
            ("mixed", "CSV of random positions, {rows} rows", "polars 1", "polars, rounding")]:
        if peer in csv.get(name, {}):
            more(title.format(rows=f"{csv[name]['rows']:,}"), csv[name]["one"]["median"], label,
                 csv[name][peer]["median"], "rows/s")
    if "polars 1" in csv.get("long", {}):
        faster("peak memory for those {:,} rows along drives".format(csv["long"]["rows"]),
               csv["long"]["one"]["peak_mebibytes"], "polars", csv["long"]["polars 1"]["peak_mebibytes"], "MiB")
    if "gpx" in result:
        gpx = result["gpx"]
        more(f"GPX to GPX, {result['rows']:,} points", gpx["fixes"]["median"], "gpsbabel", gpx["gpsbabel"]["median"],
             "points/s")
        faster("peak memory for it", gpx["fixes"]["peak_mebibytes"], "gpsbabel", gpx["gpsbabel"]["peak_mebibytes"], "MiB")
    return rows


def gain_table(result):
    return table(["one thread", "Hereabouts", "the other", "gain"], gains(result))


def rewritten(readme, result):
    """The text of a README with the ten rows between its markers."""
    text = Path(readme).read_text(encoding="utf-8")
    begin, end = MARKERS
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"report.py: {readme} must contain each marker once: {begin} {end}")
    machine = result["machine"]
    body = (f"{begin}\n{gain_table(result)}\n{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
            f"{machine['date']}, commit {result['versions']['commit']}.\n{end}")
    return re.sub(re.escape(begin) + ".*" + re.escape(end), lambda _: body, text, flags=re.S)


def main(arguments):
    checks = arguments[:1] == ["--check"]
    if len(arguments) != (2 if checks else 1):
        sys.exit(__doc__)
    results = Path(__file__).resolve().parent.parent / "results"
    last = json.loads((results / "peers.json").read_text(encoding="utf-8"))
    for path, text in [(results / "peers.md", markdown(last)), (Path(arguments[-1]), rewritten(arguments[-1], last))]:
        if not checks:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"report.py: {path} is not as results/peers.json has it; run make bench-readme")


if __name__ == "__main__":
    main(sys.argv[1:])
