"""The extension for DuckDB in the distribution of PyPI."""

import os
import shutil
import subprocess
import sys
import threading

import pytest
from conftest import ATLAS, BUILT, HEADER, examples

duckdb = pytest.importorskip("duckdb")
EXTENSION = BUILT / "duckdb/hereabouts.duckdb_extension"
if not EXTENSION.exists():
    pytest.skip("the extension for DuckDB is not built", allow_module_level=True)


def connect(threads=2):
    os.environ["HEREABOUTS_ATLAS"] = str(ATLAS)
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": str(threads)})
    connection.execute(f"load '{EXTENSION}'")
    return connection


@pytest.fixture(scope="module")
def table(positions):
    connection = connect()
    connection.execute(
        f"create table positions as select row_number() over () as row, latitude, longitude from read_csv('{positions}', "
        "header = false, auto_detect = false, columns = {'latitude': 'double', 'longitude': 'double'})"
    )
    return connection


def test_every_row_is_the_commands(table, expected, scratch):
    with open(scratch / "duckdb.csv", "w") as file:
        file.write(HEADER)
        rows = table.execute(
            "select r.latitude, r.longitude, r.horizontal_accuracy, r.id, r.country, r.place from "
            "(select row, hereabouts_snap(latitude, longitude) as r from positions) order by row"
        ).fetchall()
        for latitude, longitude, accuracy, id, country, place in rows:
            place = f'"{place}"' if place and "," in place else place or ""
            file.write(f"{latitude:.5f},{longitude:.5f},{accuracy:.0f},{id},{country},{place}\n" if id else ",,,,,\n")
    assert (scratch / "duckdb.csv").read_text() == expected
    different = table.execute(
        "select count(*) from positions where "
        "hereabouts_region(latitude, longitude) is distinct from hereabouts_snap(latitude, longitude).id "
        "or (hereabouts_snap(latitude, longitude) is null) <> (hereabouts_region(latitude, longitude) is null)"
    )
    assert different.fetchone() == (0,)


def test_chunks_constants_and_nulls(table):
    query = table.execute
    assert query("select hereabouts_region(31.7619, -106.4850)").fetchone() == ("r86e759b06f",)
    about = query("select distinct hereabouts_fingerprint(), hereabouts_attribution() from positions").fetchall()
    assert len(about) == 1 and len(about[0][0]) == 16 and about[0][1].startswith("© OpenStreetMap contributors (ODbL 1.0)\n")
    assert query("select hereabouts_region(null, 1), hereabouts_snap(1, null), hereabouts_region('inf'::double, 1)").fetchone() == (
        None,
        None,
        None,
    )
    for count in (0, 1, 511, 512, 513, 2048, 2049, 100_000):
        assert query(
            "select count(*), count(region), count(distinct region) from "
            "(select hereabouts_region(31.7619, if(i % 3 = 0, null, -106.4850)) region "
            f"from range({count}) t(i))"
        ).fetchone() == (count, count - (count + 2) // 3, int(count > 1))
    # A filter and an order between hand over chunks of other shapes.
    some = "from positions where latitude between 31 and 32 or latitude is null order by longitude limit 5000"
    assert query(
        f"select bool_and(hereabouts_region(latitude, longitude) = hereabouts_snap(latitude, longitude).id) from ({some})"
    ).fetchone() == (True,)
    # A longer text than lies in a row.
    assert query("select hereabouts_snap(31.738, x).place from (values (-106.485), (null), (-106.485)) t(x)").fetchall() == [
        ("Ciudad Juárez",),
        (None,),
        ("Ciudad Juárez",),
    ]


def test_threads(table):
    one, two = connect(threads=1), connect(threads=4)
    query = "select sum(hash(hereabouts_snap(degrees(asin(sin(i * 12.9898))), i % 360 - 180))) from range(300000) t(i)"
    assert one.execute(query).fetchone() == two.execute(query).fetchone()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(two.cursor().execute(query).fetchone())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [one.execute(query).fetchone()] * 3


def test_a_guest():
    """Signals and threads of the process are the host's own, and an atlas that is none is an error."""
    program = f"""
import duckdb, os, sys
def state():
    return [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn", "SigCgt", "Threads"))]
connection = duckdb.connect(config={{"allow_unsigned_extensions": "true", "threads": "1"}})
connection.execute("select 1")
before = state()
try:
    connection.execute("load '{EXTENSION}'")
    assert connection.execute("select hereabouts_region(31.7619, -106.4850)").fetchone() == ("r86e759b06f",)
    print("loaded", before == state())
except duckdb.Error as error:
    assert connection.execute("select 1").fetchone() == (1,)
    print(error)
"""

    def run(atlas):
        environment = {name: value for name, value in os.environ.items() if name != "HEREABOUTS_ATLAS"} | (
            {"HEREABOUTS_ATLAS": str(atlas)} if atlas else {}
        )
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run(ATLAS) == "loaded True\n"
    assert "the file is not an atlas" in run(__file__)
    assert "the atlas cannot be opened or read" in run("/nowhere")


def test_an_atlas_that_is_overwritten_and_truncated_in_use(scratch):
    copy = scratch / "duckdb.atlas"
    shutil.copy(ATLAS, copy)
    program = f"""
import duckdb
connection = duckdb.connect(config={{"allow_unsigned_extensions": "true"}})
connection.execute("load '{EXTENSION}'")
with open("{copy}", "r+b") as file:
    file.write(bytes(1 << 20))
    file.truncate(1 << 20)
query = "select count(distinct hereabouts_snap(degrees(asin(sin(i * 12.9898))), i % 360 - 180)) from range(100000) t(i)"
print(connection.execute(query).fetchone()[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ, HEREABOUTS_ATLAS=str(copy)), capture_output=True, text=True
    )
    assert done.returncode == 0 and int(done.stdout) > 10_000, done.stderr


def test_examples():
    connection = connect()
    for code, text in examples("DuckDB"):
        *before, last = [statement for statement in code.strip().split(";\n") if not statement.startswith("LOAD")] or [None]
        for statement in before:
            connection.execute(statement)
        if text:
            assert str(connection.sql(last)).strip() == text.strip()
        elif last:
            connection.execute(last)
