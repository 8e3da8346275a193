"""The extension for SQLite in its command line: Python's own module may be built without extensions."""

import csv
import io
import json
import os
import shutil
import subprocess

import pytest
from conftest import ATLAS, BUILT, HEADER, examples

EXTENSION = BUILT / "sqlite/hereabouts.so"
if not EXTENSION.exists() or not shutil.which("sqlite3"):
    pytest.skip("the extension for SQLite is not built, or there is no sqlite3", allow_module_level=True)


def sqlite(*commands, atlas=ATLAS, database=":memory:", input=None):
    environment = dict(os.environ, HEREABOUTS_ATLAS=str(atlas))
    arguments = ["sqlite3", "-batch", str(database), "-cmd", f".load {EXTENSION.with_suffix('')}", *commands]
    return subprocess.run(arguments, env=environment, input=input, capture_output=True, text=True)


def test_every_row_is_the_commands(positions, expected):
    # What is read is text, as SQLite's command line reads it: "" and "nan" are no numbers, and "inf" is none of SQLite's.
    done = sqlite(
        "create table positions(latitude real, longitude real)",
        ".mode csv",
        f".import {positions} positions",
        "select hereabouts_snap(latitude, longitude), hereabouts_region(latitude, longitude) from positions order by rowid",
    )
    assert done.returncode == 0 and done.stderr == ""
    rows = [HEADER]
    for record, id in csv.reader(io.StringIO(done.stdout)):
        if record == "":
            assert id == ""
            rows.append(",,,,,\n")
            continue
        # A number's digits are kept.
        record = json.loads(record, parse_float=str, parse_int=str)
        assert list(record) == ["id", "latitude", "longitude", "horizontal_accuracy", "country", "place"] and record["id"] == id
        place = record["place"] or ""
        rows.append(
            ",".join(
                [
                    record["latitude"],
                    record["longitude"],
                    record["horizontal_accuracy"],
                    id,
                    record["country"],
                    f'"{place}"' if "," in place else place,
                ]
            )
            + "\n"
        )
    assert "".join(rows) == expected


def test_values():
    done = sqlite(
        ".nullvalue NULL",
        "select hereabouts_region(31.7619, -106.4850), hereabouts_region('31.7619', '-106.4850')",
        "select hereabouts_region(31, -106) = hereabouts_region(31.0, -106.0)",
        "select hereabouts_region(null, 1), hereabouts_region('x', 1), hereabouts_region(9e999, 1)",
        "select hereabouts_snap(90.1, 1), hereabouts_snap(x'31', 1)",
    )
    assert done.stdout == "r86e759b06f|r86e759b06f\n1\nNULL|NULL|NULL\nNULL|NULL\n" and done.stderr == ""


def test_atlas():
    assert sqlite("select hereabouts_attribution()").stdout.startswith("© OpenStreetMap contributors (ODbL 1.0)\n")


def test_indexed_and_generated(scratch):
    done = sqlite(
        "create table fixes(latitude, longitude, region text generated always as (hereabouts_region(latitude, longitude)) stored)",
        "create index by_region on fixes(hereabouts_region(latitude, longitude))",
        "insert into fixes(latitude, longitude) values (31.7619, -106.4850), (31.7380, -106.4850), (null, 1)",
        "select count(*), count(region) from fixes",
        "explain query plan select * from fixes where hereabouts_region(latitude, longitude) = 'r86e758d955'",
        "pragma integrity_check",
        database=scratch / "fixes.sqlite",
    )
    assert done.stderr == "" and done.stdout == "3|2\nQUERY PLAN\n`--SEARCH fixes USING INDEX by_region (<expr>=?)\nok\n"


def test_an_atlas_that_is_none_is_an_error():
    done = sqlite("select 1", atlas="/nowhere")
    assert "HEREABOUTS_ATLAS /nowhere: the atlas cannot be opened or read" in done.stderr
    done = sqlite("select 1", atlas=__file__)
    assert "the file is not an atlas" in done.stderr


def test_examples():
    code = "".join(code for code, _ in examples("SQLite"))
    done = sqlite(input="\n".join(line for line in code.splitlines() if not line.startswith(".load")))
    assert done.stderr == "" and done.stdout == "".join(text for _, text in examples("SQLite"))
