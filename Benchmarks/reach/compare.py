"""Hereabouts in Python, DuckDB, PostgreSQL and Spark beside others, in one run, by turns: the least of ROUNDS of each. Ratios count.

    compare.py [--rows N] [--rounds N]    into Benchmarks/results/reach.md

What is not installed is left out, and said.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet

import hereabouts
import hereabouts.polars

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESOLUTION = 7  # H3's cells of 5 km², as are regions of cities


def positions(rows):
    """Anywhere in a box that is mostly land, and along a way, a meter to ten from one to the next."""
    generator, step = numpy.random.default_rng(62), numpy.arange(rows)
    way = (40 + 5 * numpy.sin(step / 50_000), 10 + 10 * numpy.cos(step / 70_000))
    return {"random land": (generator.uniform(44, 54, rows), generator.uniform(0, 30, rows)), "drives": way}


def least(cases, rounds, rows):
    """Nanoseconds a row of each case, by turns."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            began = time.perf_counter()
            case()
            best[name] = min(best[name], (time.perf_counter() - began) * 1e9 / rows)
    return best


def python(kind, latitude, longitude):
    frame = polars.DataFrame({"lat": latitude, "lon": longitude})
    cases = {
        "NumPy → regions": lambda: hereabouts.snap(latitude, longitude),
        "… → all columns as Arrow": lambda: pyarrow.array(hereabouts.snap(latitude, longitude)),
        "Polars expression, all columns": lambda: frame.select(hereabouts.polars.snap("lat", "lon")),
    }
    try:
        from h3ronpy.vector import coordinates_to_cells

        cases["h3ronpy, cells"] = lambda: coordinates_to_cells(latitude, longitude, RESOLUTION)
    except ImportError:
        missing.append("h3ronpy")
    try:
        import polars_h3

        cases["polars-h3, cells"] = lambda: frame.select(polars_h3.latlng_to_cell("lat", "lon", RESOLUTION))
    except ImportError:
        missing.append("polars-h3")
    return cases


def one_by_one(latitude, longitude):
    pairs = list(zip(latitude[:20_000].tolist(), longitude[:20_000].tolist()))
    cases = {"a call of two floats": lambda: [hereabouts.snap(*pair) for pair in pairs]}
    cases["… and its id"] = lambda: [hereabouts.snap(*pair).id for pair in pairs]
    try:
        import h3

        cases["h3-py, cell"] = lambda: [h3.latlng_to_cell(*pair, RESOLUTION) for pair in pairs]
        cases["h3-py, cell and center"] = lambda: [h3.cell_to_latlng(h3.latlng_to_cell(*pair, RESOLUTION)) for pair in pairs]
    except ImportError:
        missing.append("h3")
    return cases, len(pairs)


def imports():
    return {
        name: lambda name=name: subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
        for name in ("sys", "hereabouts", "pyarrow")
    }


def duckdb(latitude, longitude):
    import duckdb

    extension = ROOT / ".build/databases/duckdb/hereabouts.duckdb_extension"
    if not extension.exists():
        missing.append("DuckDB's extension (make databases)")
        return {}
    os.environ["HEREABOUTS_ATLAS"] = hereabouts.atlas().path
    session = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "1"})
    session.execute(f"load '{extension}'")
    frame = pyarrow.table({"lat": latitude, "lon": longitude})
    session.register("frame", frame)
    session.execute("create table fixes as select * from frame")
    ask = lambda expression: lambda: session.execute(f"select count({expression}) from fixes").fetchall()  # noqa: E731
    return {
        "DuckDB: hereabouts_region": ask("hereabouts_region(lat, lon)"),
        "DuckDB: hereabouts_snap": ask("hereabouts_snap(lat, lon).place"),
        "DuckDB: format of both columns": ask("format('{:.2f} {:.2f}', lat, lon)"),
        "DuckDB: sum of both columns": ask("lat + lon"),
    }


def postgresql(latitude, longitude, scratch):
    sys.path.insert(0, str(ROOT / "Tests/Databases"))
    try:
        from test_postgresql import Server
    except BaseException as error:  # what it needs is missing: pytest's way of saying so is no Exception
        missing.append(f"PostgreSQL ({error})")
        return {}, None
    server = Server(scratch)
    server.start()
    server.run("psql", "-d", "postgres", "-c", "create database here")
    table = scratch / "fixes.csv"
    pandas.DataFrame({"lat": latitude, "lon": longitude}).to_csv(table, index=False, header=False)
    sql = "create extension hereabouts; create extension postgis; create unlogged table fixes (lat float8, lon float8)"
    server.run("psql", "-c", sql)
    server.run("psql", "-c", f"copy fixes from '{table}' csv")
    server.run("psql", "-c", "vacuum analyze fixes")
    serial = "set max_parallel_workers_per_gather = 0"
    ask = lambda expression: lambda: server.run("psql", "-c", serial, "-c", f"select count({expression}) from fixes")  # noqa: E731
    return {
        "PostgreSQL: scan": ask("lat"),
        "PostgreSQL: hereabouts_region": ask("hereabouts_region(lat, lon)"),
        "PostgreSQL: hereabouts_snap": ask("hereabouts_snap(lat, lon)"),
        "PostgreSQL: ST_GeoHash": ask("ST_GeoHash(ST_SetSRID(ST_MakePoint(lon, lat), 4326))"),
    }, server


def spark(latitude, longitude, scratch):
    try:
        from pyspark.sql import SparkSession

        import hereabouts.spark
    except ImportError:
        missing.append("pyspark")
        return {}, None
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    session = builder.config("spark.driver.memory", "3g").getOrCreate()
    rows = len(latitude)
    table = pyarrow.table({"user": numpy.arange(rows) // 10_000, "lat": latitude, "lon": longitude})
    table = table.append_column("ts", pyarrow.array((numpy.arange(rows) * 10_000_000), pyarrow.timestamp("us", "UTC")))
    pyarrow.parquet.write_table(table, scratch / "fixes.parquet")
    df = session.read.parquet(str(scratch / "fixes.parquet"))
    run = lambda frame: lambda: frame.write.format("noop").mode("overwrite").save()  # noqa: E731
    names = dict(id="user", time="ts", latitude="lat", longitude="lon")
    shuffled = df.repartition("user").sortWithinPartitions("user", "ts")
    return {
        "Spark: scan": run(df),
        "Spark: identity, mapInArrow": run(df.mapInArrow(lambda batches: batches, df.schema)),
        "Spark: snap": run(hereabouts.spark.snap(df, "lat", "lon")),
        "Spark: region_expr": run(df.select("user", "ts", hereabouts.spark.region_expr("lat", "lon"))),
        "Spark: identity after shuffle and sort": run(shuffled.mapInArrow(lambda batches: batches, df.schema)),
        "Spark: convert": run(hereabouts.spark.convert(df, **names)),
    }, session


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    hereabouts.snap([0.0], [0.0])
    found: dict[str, dict[str, float]] = {}

    def note(kind, cases, rows):
        for name, nanoseconds in least(cases, options.rounds, rows).items():
            found.setdefault(name, {})[kind] = nanoseconds
            print(f"{kind:12} {name:40} {nanoseconds:10,.0f} ns", flush=True)

    with tempfile.TemporaryDirectory(prefix="hereabouts-") as folder:
        scratch = pathlib.Path(folder)
        scratch.chmod(0o755)
        both = positions(options.rows)
        for kind, columns in both.items():
            note(kind, python(kind, *columns), options.rows)
            cases, rows = one_by_one(*columns)
            note(kind, cases, rows)
            note(kind, duckdb(*columns), options.rows)
        note("drives", {f"import {name}": case for name, case in imports().items()}, 1)
        cases, server = postgresql(*both["drives"], scratch)
        note("drives", cases, options.rows)
        if server is not None:
            server.stop()
        cases, session = spark(*both["drives"], scratch)
        note("drives", cases, options.rows)
        if session is not None:
            session.stop()
    lines = ["| nanoseconds a row | random land | drives |", "|---|---|---|"]
    for name, kinds in found.items():
        lines.append(f"| {name} | " + " | ".join(f"{kinds[kind]:,.0f}" if kind in kinds else "" for kind in both) + " |")
    lines += ["", f"{options.rows:,} rows, least of {options.rounds} rounds by turns, one thread but for Polars's own; `make bench-reach`."]
    lines += [f"Left out: {', '.join(dict.fromkeys(missing))}."] if missing else []
    (ROOT / "Benchmarks/results/reach.md").write_text("\n".join(["# Reach, beside others", "", *lines, ""]))


missing: list[str] = []
if __name__ == "__main__":
    main()
