"""The distributions as they are installed, against the command: HEREABOUTS_COMMAND names it."""

import array
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hereabouts as hb

COMMAND = os.environ["HEREABOUTS_COMMAND"]
ELPASO = (31.7619, -106.4850)


def command(arguments, text):
    done = subprocess.run([COMMAND, *arguments, "--atlas", hb.atlas().path], input=text, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture(scope="module")
def positions():
    random.seed(62)
    places = [(math.degrees(math.asin(random.uniform(-1, 1))), random.uniform(-180, 180)) for _ in range(30_000)]
    places += [(31.75 + random.uniform(-0.3, 0.3), -106.48 + random.uniform(-0.3, 0.3)) for _ in range(10_000)]
    places += [(a, o) for a in (-90.0, 90.0, 0.0) for o in (-540.0, -180.0, 0.0, 180.0, 540.0)]
    # As the command reads them.
    return np.array([[float(f"{a:.7f}"), float(f"{o:.7f}")] for a, o in places])


@pytest.fixture(scope="module")
def expected(positions):
    lines = "latitude,longitude\n" + "".join(f"{a:.7f},{o:.7f}\n" for a, o in positions)
    return command(["snap", "--from", "csv", "--accept-null-island"], lines)


def is_expected(found, expected):
    rows = zip(found.id, found.latitude, found.longitude, found.horizontal_accuracy, found.country, found.place)
    for (id, latitude, longitude, accuracy, country, place), row in zip(rows, expected, strict=True):
        assert (id, country, place or "") == (row["region"], row["country"], row["place"])
        assert (f"{latitude:.5f}", f"{longitude:.5f}", f"{accuracy:.0f}") == (row["latitude"], row["longitude"], row["horizontal_accuracy"])


class Stream:
    """What another producer of Arrow's gives."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column.__arrow_c_stream__(requested_schema)


def test_columns_equal_the_command(positions, expected):
    latitude, longitude = positions.T
    found = hb.snap(latitude, longitude)
    is_expected(found, expected)
    frame = pd.DataFrame({"lat": latitude, "lon": longitude})
    shapes = [
        (np.ascontiguousarray(latitude), np.ascontiguousarray(longitude)),
        (latitude.astype(">f8"), longitude.astype(">f8")),
        (frame["lat"], frame["lon"]),
        (frame["lat"].astype("Float64"), frame["lon"].astype("Float64")),
        (pl.Series(latitude), pl.Series(longitude)),
        (pa.array(latitude), pa.chunked_array([longitude[:100], longitude[100:]])),
        (array.array("d", latitude), list(longitude)),
        (frame["lat"].astype(object), Stream(pa.chunked_array([longitude]))),
        (latitude[::-1][::-1], np.repeat(longitude, 2)[::2]),
    ]
    for some, others in shapes:
        assert hb.snap(some, others) == found
    small = latitude.astype("f4"), longitude.astype("f4")
    assert hb.snap(*small) == hb.snap(*(column.astype("f8") for column in small))
    for kind in ("i1", "u1", "<i2", ">i4", "i8", "u8"):
        whole = np.arange(0, 90).astype(kind)
        assert hb.snap(whole, whole) == hb.snap(np.arange(0.0, 90), np.arange(0.0, 90))


def test_one_at_a_time():
    one = hb.snap(*ELPASO)
    assert (one.id, one.latitude, one.longitude, one.horizontal_accuracy, one.country, one.place) == one.record()
    assert one.record() == ("r86e759b06f", 31.7813, -106.47685, 4110.0, "US", "El Paso") and list(one.to_dict()) == list(hb._COLUMNS)
    assert repr(one).startswith("Region(id='r86e759b06f', latitude=31.7813,") and len({one, hb.region(one.id)}) == 1
    assert one != hb.snap(31.7380, -106.4850) and one != "r86e759b06f" and hb.snap(np.float32(31.75), 0 - 106) is not None
    with pytest.raises(TypeError):
        hb.Region()
    assert hb.region(one.id) == one == hb.snap([ELPASO[0]], [ELPASO[1]])[0]
    with pytest.raises(KeyError):
        hb.region("r86e759b06e")
    with pytest.raises(ValueError, match="latitude is from"):
        hb.snap(91, 0)
    assert hb.snap(float("nan"), 0, errors="null") is None


def test_outlines_are_those_of_the_command():
    shapely = pytest.importorskip("shapely")
    if not os.path.exists(COMMAND + "-atlas"):
        pytest.skip("hereabouts-atlas is not beside the command: make build")
    generator = np.random.default_rng(62)
    latitude = np.degrees(np.arcsin(generator.uniform(-1, 1, 40))).tolist() + (31.75 + generator.uniform(-0.1, 0.1, 20)).tolist()
    longitude = generator.uniform(-180, 180, 40).tolist() + (-106.48 + generator.uniform(-0.1, 0.1, 20)).tolist()
    for latitude, longitude in list(zip(latitude, longitude)) + [(89.999, 0), (-89.99, 7), (-16.8, 179.999), (51.4, 4.93), (45.0, 90.0)]:
        one = hb.snap(latitude, longitude)
        shape = shapely.geometry.shape(one.outline)
        assert shape.is_valid and shape.buffer(1e-9).contains(shapely.Point(one.longitude, one.latitude))
        assert {ring.is_ccw for polygon in shapely.get_parts(shape) for ring in [polygon.exterior]} == {True}
        told = subprocess.run([COMMAND + "-atlas", "region", "--geojson", "--atlas", hb.atlas().path, one.id], capture_output=True, text=True)
        if told.returncode == 0:
            other = shapely.geometry.shape(json.loads(told.stdout)["geometry"])
            assert shape.symmetric_difference(other).area < 2e-6 * other.length and len(shapely.get_parts(shape)) == len(shapely.get_parts(other))


def test_outlines_without_shapely_are_the_same_area():
    shapely = pytest.importorskip("shapely")
    one = hb.snap(31.7380, -106.4850)
    code = f"import sys, json; sys.modules['shapely'] = None\nimport hereabouts as hb\nprint(json.dumps(hb.region({one.id!r}).__geo_interface__))"
    feature = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    parts, whole = shapely.geometry.shape(feature["geometry"]), shapely.geometry.shape(one.outline)
    assert feature["properties"] == one.to_dict() and len(parts.geoms) > 10
    assert sum(part.area for part in parts.geoms) == pytest.approx(whole.area, rel=1e-5)
    assert shapely.union_all(parts.geoms, grid_size=1e-6).symmetric_difference(whole).area < 1e-4 * whole.area


def test_geopandas():
    geopandas = pytest.importorskip("geopandas")
    frame = pd.DataFrame({"lat": [31.7619, 31.7380, np.nan], "lon": [-106.4850, -106.4850, 0]}, index=["a", "b", "c"])
    points = geopandas.GeoSeries(geopandas.points_from_xy(frame["lon"], frame["lat"], crs=4326), index=frame.index)
    found = hb.snap(points)
    assert found == hb.snap(frame["lat"], frame["lon"]) and list(found.valid) == [True, True, False]
    assert hb.snap(points.to_crs(3857)) == found
    outlines = found.to_geopandas(frame.index)
    assert outlines.crs == "EPSG:4326" and outlines["country"].tolist()[:2] == ["US", "MX"] and outlines.loc["c", "geometry"] is None
    assert outlines.contains(points).tolist() == [True, True, False] and list(outlines.index) == ["a", "b", "c"]
    for wrong, error in ((geopandas.GeoSeries([points.iloc[0].buffer(1)], crs=4326), TypeError), (points.set_crs(None, allow_override=True), ValueError)):
        with pytest.raises(error):
            hb.snap(wrong)


def test_what_is_pickled_is_of_the_same_atlas():
    import pickle

    found = hb.snap([31.7619, None], [-106.485, 0])
    for one in (found, found[0], hb.atlas()):
        assert pickle.loads(pickle.dumps(one)) == one or one is hb.atlas()
    assert pickle.loads(pickle.dumps(hb.atlas())).fingerprint == hb.atlas().fingerprint
    changed = pickle.dumps(found[0]).replace(hb.atlas().fingerprint.encode(), b"0123456789abcdef")
    with pytest.raises(hb.AtlasError, match="0123456789abcdef is needed"):
        pickle.loads(changed)


def test_what_is_no_position():
    latitude, longitude = [31.7619, None, math.nan, 95, 0, math.inf], [-106.485, 0, 0, 0, 541, 0]
    found = hb.snap(latitude, longitude)
    assert list(found.valid) == [True] + [False] * 5 and list(found.id) == ["r86e759b06f"] + [None] * 5
    assert [one and one.country for one in found] == ["US"] + [None] * 5
    assert found.to_arrow().field("id").null_count == found.to_arrow().null_count == 5 and found.to_pandas()["place"].isna().sum() == 5
    with pytest.raises(ValueError, match="^row 1 is no position$"):
        hb.snap(latitude, longitude, errors="raise")
    for empty in ([], np.array([]), pl.Series([], dtype=pl.Float64)):
        assert len(hb.snap(empty, empty)) == 0 and list(hb.snap(empty, empty).to_pandas()["id"]) == []
    for wrong in (["x"], np.array([[1.0]]), np.array(["1"]), np.array([1j])):
        with pytest.raises((TypeError, ValueError)):
            hb.snap(wrong, wrong)
    with pytest.raises(ValueError, match="of one length"):
        hb.snap([1.0], [1.0, 2.0])


def test_frames_and_arrow(positions):
    found = hb.snap(*positions[:5_000].T)
    table = pa.table({"region": pa.array(found)})
    flat = table.flatten()
    assert flat["region.country"].to_pylist() == list(found.country) and flat["region.id"].to_pylist() == list(found.id)
    assert [f"r{cell:016x}".rstrip("0") for cell in found.cell.tolist()] == list(found.id)
    assert flat["region.place"].to_pylist() == list(found.place)
    frame = found.to_polars()
    assert frame["place"].to_list() == list(found.place) and frame.schema["horizontal_accuracy"] == pl.Float64
    assert pl.Series(found).struct.field("country").to_list() == list(found.country)
    assert found.to_pandas()["latitude"].tolist() == found.latitude.tolist()
    assert found[10:20].id.tolist() == found.id[10:20].tolist() and found[-1].id == found.id[-1]
    del found  # Arrow's consumers keep what they took.
    assert flat["region.country"].null_count == 0


def test_nobody_prints_a_position():
    found = hb.snap([31.7619123, 31.75], [-106.4850456, -106.48])
    for text in (repr(found), found._repr_html_(), repr(hb.atlas()), repr(hb.Pacer())):
        assert "7619" not in text and "4850" not in text
    assert "El Paso" in found._repr_html_() and repr(found).startswith("<RegionArray of 2: [r86e759b06f")


@pytest.mark.parametrize("make", [list, np.array, pd.Series, lambda texts: pd.Series(texts, dtype=object), pl.Series, pa.array, lambda texts: pa.chunked_array([texts])])
def test_no_error_has_a_value(make):
    texts, numbers = make(["31.7619x", "31.7619"]), [1.0, 2.0]
    frame = pd.DataFrame({"lat": pd.Series(list(texts)).astype(str), "lon": 1.0, "ts": pd.date_range("2026-05-09", periods=2)})
    calls = [
        lambda: hb.snap(texts, numbers),
        lambda: hb.snap(numbers, texts, errors="raise"),
        lambda: hb.Pacer().answer([0, 1], texts, numbers),
        lambda: hb.convert(frame, time="ts", latitude="lat", longitude="lon"),
        lambda: hb.convert(pl.from_pandas(frame), time="ts", latitude="lat", longitude="lon"),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="numbers is needed") as raised:
            call()
        assert "7619" not in str(raised.getrepr(style="short", chain=True)).replace(repr(texts), "")


def drives():
    random.seed(7)
    rows = []
    for device in range(40):
        latitude, longitude = random.uniform(31, 33), random.uniform(-107, -105)
        north, east = random.uniform(-0.002, 0.002), random.uniform(-0.002, 0.002)
        for minute in range(0, 400, random.choice((1, 3, 7))):
            rows.append((f"d{device:02}", 1_790_000_100 + 60 * minute + device, latitude + north * minute, longitude + east * minute))
    random.shuffle(rows)
    return rows


@pytest.mark.parametrize("emit", ["changes", "recomputations"])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_convert_equals_the_command(kind, emit):
    rows = [(id, time, round(a, 7), round(o, 7)) for id, time, a, o in drives()]
    text = "id,time,latitude,longitude\n" + "".join(f"{id},{time},{a:.7f},{o:.7f}\n" for id, time, a, o in sorted(rows, key=lambda row: row[1]))
    expected = command(["convert", "--from", "csv", "--to", "csv", "--emit", emit], text)
    times = np.array([row[1] for row in rows], "int64").astype("datetime64[s]").astype("datetime64[ms]")
    columns = {"user": [row[0] for row in rows], "ts": times, "lat": [row[2] for row in rows], "lon": [row[3] for row in rows]}
    frame = (pd.DataFrame if kind == "pandas" else pl.DataFrame)(columns)
    found = hb.convert(frame, id="user", time="ts", latitude="lat", longitude="lon", emit=emit)
    assert type(found) is type(frame)
    found = found if kind == "pandas" else found.to_pandas()
    mine = sorted(zip(found["user"], found["time"].dt.strftime("%Y-%m-%dT%H:%M:%SZ"), found["id"]))
    assert mine == sorted((row["id"], row["time"], row["region"]) for row in expected) and len(mine) > 150


def test_a_pacer_goes_on_with_its_state():
    rows = sorted((time, a, o) for id, time, a, o in drives() if id == "d03")
    times, latitudes, longitudes = (list(column) for column in zip(*rows))
    times = [time * 1_000_000_000 for time in times]
    whole = hb.Pacer()
    ticks, regions, news = whole.answer(times, latitudes, longitudes)
    answers = []
    state, interval = b"", 900_000_000_000
    for tick in range(-(-times[0] // interval), -(-times[-1] // interval) + 1):
        rows = [row for row, time in enumerate(times) if -(-time // interval) == tick]
        pacer = hb.Pacer("15min", state=state)
        found = pacer.answer([times[row] for row in rows], [latitudes[row] for row in rows], [longitudes[row] for row in rows], until=tick * interval)
        answers += zip(found[0], found[1].id, found[2])
        state = pacer.state
    assert answers == list(zip(ticks, regions.id, news)) and state == whole.state and len(answers) > 10
    again = hb.Pacer(state=state)
    assert len(again.answer(times, latitudes, longitudes)[0]) == 0
    with pytest.raises(ValueError):
        hb.Pacer(state=state[:-1] + b"x").answer(times, latitudes, longitudes)


def test_a_guest_that_behaves(tmp_path):
    code = (
        "import signal, os, locale\n"
        "before = [signal.getsignal(n) for n in range(1, 32) if n not in (9, 19)], os.listdir('/proc/self/fd'), os.listdir('/proc/self/task'), locale.setlocale(0)\n"
        "import hereabouts as hb\n"
        "hb.snap([1.0] * 1000, [2.0] * 1000).to_dict()\n"
        "after = [signal.getsignal(n) for n in range(1, 32) if n not in (9, 19)], os.listdir('/proc/self/fd'), os.listdir('/proc/self/task'), locale.setlocale(0)\n"
        "assert before[0] == after[0] and len(before[1]) == len(after[1]) and len(before[2]) == len(after[2]) and before[3] == after[3]\n"
    )
    # Without NumPy, as it may be installed. NumPy starts threads of its own.
    subprocess.run([sys.executable, "-c", "import sys; sys.modules['numpy'] = None\n" + code], check=True)
    copy = tmp_path / "copy.atlas"
    content = open(hb.atlas().path, "rb").read()
    copy.write_bytes(content)
    atlas = hb.Atlas(copy)
    copy.write_bytes(b"")
    assert atlas.snap(*ELPASO).country == "US" and atlas.version is None and hb.atlas().version == "2026.11.29"
    for damaged in (b"", b"x" * 100, content[:-1], content[:5000] + b"x" + content[5001:]):
        copy.write_bytes(damaged)
        with pytest.raises(hb.AtlasError):
            hb.Atlas(copy)
    with pytest.raises(FileNotFoundError):
        hb.Atlas(tmp_path / "none")
    child = os.fork()
    if child == 0:
        os._exit(7 if atlas.snap(*ELPASO).place == "El Paso" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads(positions):
    expected, wrong = hb.snap(*positions.T), []

    def work():
        for _ in range(5):
            if hb.snap(*positions.T) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(10)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
    for count in (0, 1, 2, 3, 10_001):
        rows = np.concatenate([positions, [[91, 0]]])[-count or len(positions) + 1 :]
        assert hb.snap(*rows.T, threads=3) == hb.snap(*rows.T)
    with pytest.raises(ValueError, match="^row 40015 is no position$"):
        hb.snap([*positions[:, 0], 91], [*positions[:, 1], 0], errors="raise", threads=2)
    with pytest.raises(ValueError, match="of one length"):
        hb.snap([1.0], [1.0, 2.0], threads=2)
    with pytest.raises(ValueError, match="^threads is"):
        hb.snap([1.0], [1.0], threads=0)


def test_the_accessor_of_pandas(positions):
    import hereabouts.pandas  # noqa: F401

    frame = pd.DataFrame({"Lat": positions[:50, 0], "lng": positions[:50, 1]}, index=range(100, 150))
    found = frame.hereabouts.snap()
    assert found.equals(hb.snap(frame["Lat"], frame["lng"]).to_pandas(frame.index)) and len(frame.join(found).dropna(subset="id")) == 50
    renamed = frame.rename(columns={"Lat": "y", "lng": "x"})
    assert renamed.hereabouts.snap("y", "x").equals(found)
    with pytest.raises(ValueError, match="^name the column: latitude=$"):
        renamed.hereabouts.snap()
    with pytest.raises(ValueError, match="^name the column: longitude=$"):
        frame.assign(lon=0).hereabouts.snap()
    frame["ts"] = pd.date_range("2026-05-09", periods=50, freq="min")
    paced = frame.hereabouts.convert(time="ts", emit="recomputations")
    assert paced.equals(hb.convert(frame, time="ts", latitude="Lat", longitude="lng", emit="recomputations")) and len(paced) == 5


def test_the_expression_of_polars(positions):
    import hereabouts.polars as hbp

    lat, lon = ([*column, None, float("nan"), 95.0] for column in positions.T)
    frame = pl.concat([pl.DataFrame({"lat": lat, "lon": lon}), pl.DataFrame({"lat": lat[::-1], "lon": lon[::-1]})], rechunk=False)
    expected = hb.snap(frame["lat"], frame["lon"]).to_polars()
    assert expected["id"].null_count() == 6
    assert frame.select(hbp.snap("lat", "lon")).unnest("region").equals(expected)
    lazy = frame.lazy().with_columns(hbp.snap(pl.col("lat"), pl.col("lon")))
    assert lazy.collect_schema()["region"] == pl.Struct(dict(expected.schema))
    for engine in ("in-memory", "streaming"):
        found = lazy.collect(engine=engine)
        assert found["region"].null_count() == 6 and found["region"].struct.unnest().equals(expected)
        assert found["lat"].equals(frame["lat"], null_equal=True)
    assert lazy.filter(pl.col("region").struct.field("country") == "MX").collect().height == (expected["country"] == "MX").sum() > 1000
    by = lazy.group_by(pl.col("lat") > 0).agg(pl.col("region").struct.field("id").n_unique()).collect()
    assert by.height == 3
    small = pl.DataFrame({"lat": pl.Series([31, 32], dtype=pl.Int8), "lon": pl.Series([-106.5, -106.25], dtype=pl.Float32)})
    assert small.select(hbp.snap("lat", "lon")).unnest("region").equals(hb.snap([31, 32], [-106.5, -106.25]).to_polars())
    # One of a column and a number; no rows; slices, whose arrays have offsets.
    assert frame.head(9).select(hbp.snap("lat", -106.5))["region"].struct.field("id").to_list() == list(hb.snap(lat[:9], [-106.5] * 9).id)
    assert frame.clear().select(hbp.snap("lat", "lon")).height == 0 and frame.clear().lazy().select(hbp.snap("lat", "lon")).collect().height == 0
    assert frame.slice(40_013, 9).select(hbp.snap("lat", "lon")).unnest("region").equals(expected.slice(40_013, 9))
    with pytest.raises(pl.exceptions.PolarsError, match="columns of numbers are needed") as raised:
        pl.DataFrame({"lat": ["31.7619"], "lon": [-106.4850]}).select(hbp.snap("lat", "lon"))
    assert "7619" not in str(raised.value) and "4850" not in str(raised.value)
    code = "import pickle, sys, polars as pl\nimport hereabouts\npl.DataFrame({'lat': [1.0], 'lon': [2.0]}).select(pickle.loads(sys.stdin.buffer.read()))"
    import pickle

    elsewhere = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(hbp.snap("lat", "lon")), capture_output=True)
    assert elsewhere.returncode == 1 and b"not open in this process" in elsewhere.stderr


def test_times_that_nanoseconds_do_not_hold():
    rows = {"user": ["a", "a", "b", "b"], "lat": [31.7] * 4, "lon": [-106.5] * 4}
    times = np.array(["3000-01-01", "2026-05-09T00:00:01", "1500-01-01", "NaT"], "datetime64[us]")
    for frame in (pd.DataFrame({**rows, "ts": times}), pl.DataFrame({**rows, "ts": times})):
        answers = hb.convert(frame, id="user", time="ts", latitude="lat", longitude="lon")
        assert list(answers["user"]) == ["a"] and str(answers["time"][0]).startswith("2026-05-09 00:15:00")
    with pytest.raises(ValueError, match="rename it"):
        hb.convert(frame.rename({"user": "id"}), id="id", time="ts", latitude="lat", longitude="lon")


def test_a_fleet_is_many_pacers():
    generator = np.random.default_rng(5)
    rows = 3000
    keys = generator.integers(0, 20, rows)
    times = np.sort(generator.integers(0, 40_000, rows)) * 1_000_000_000
    lat, lon = 31.7 + generator.normal(0, 0.2, rows), -106.5 + generator.normal(0, 0.2, rows)
    whole = hb.Fleet().answer(keys, times, lat.astype(">f8"), lon)
    expected = {key: hb.Pacer().answer(times[keys == key], lat[keys == key], lon[keys == key]) for key in dict.fromkeys(keys)}
    assert whole[0] == [key for key, (ticks, _, _) in expected.items() for _ in ticks]
    assert list(whole[1]) == [tick for ticks, _, _ in expected.values() for tick in ticks]
    assert whole[3] == [new for _, _, news in expected.values() for new in news]
    assert list(whole[2]) == [region for _, regions, _ in expected.values() for region in regions]
    # In pieces that end with a tick, with the states between them in a new fleet.
    answers, states = [], {}
    for start in range(0, 40_000, 5400):
        piece = slice(*np.searchsorted(times, [start * 1_000_000_000, (start + 5400) * 1_000_000_000]))
        fleet = hb.Fleet(states=states)
        until = (start + 5400) * 1_000_000_000
        answers += zip(*fleet.answer(keys[piece], times[piece], lat[piece], lon[piece], until=until))
        states = fleet.states
    in_order = lambda answers: sorted(((key, tick, region.id, new) for key, tick, region, new in answers))
    assert in_order(answers) == in_order(zip(*whole)) and len(fleet) == 20
    with pytest.raises(ValueError):
        hb.Fleet(states={0: b"wrong"}).answer([0], [1], [1.0], [1.0])
    fleet.remove(0)
    assert len(fleet) == 19 and len(hb.Fleet().answer([None, 1], [1, 2], [1.0, 1.0], [1.0, 1.0])[0]) == 1


def test_the_stub_is_the_module():
    import ast
    from importlib.resources import files

    from hereabouts import _core

    body = ast.parse(files("hereabouts").joinpath("_core.pyi").read_text()).body
    names = lambda nodes: {getattr(node, "name", None) or node.target.id for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
    public = lambda object: {name for name in dir(object) if not name.startswith("_")}
    stub = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    assert names(body) == public(_core)
    for name in ("Atlas", "Region"):
        assert names(stub[name].body) - {"__new__"} == public(getattr(_core, name))


def test_without_numpy():
    code = "import sys; sys.modules['numpy'] = None\nimport hereabouts as hb\nr = hb.snap([31.7619, None], [-106.485, 0])\nassert r.id == ['r86e759b06f', None] and r.place == ['El Paso', None] and r.valid == [True, False], r.to_dict()\nassert [one and one.country for one in r] == ['US', None]"
    subprocess.run([sys.executable, "-c", code], check=True)
