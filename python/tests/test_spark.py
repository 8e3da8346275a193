"""hereabouts.spark in a session of two threads, against hereabouts itself: PYSPARK_PYTHON is to be this environment's."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

pyspark = pytest.importorskip("pyspark")

import hereabouts as hb  # noqa: E402
import hereabouts.spark as hs  # noqa: E402
from pyspark.sql import SparkSession, functions as F  # noqa: E402

STATES = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture(scope="module")
def spark():
    options = {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.sql.session.timeZone": "America/Denver",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000", "spark.sql.streaming.stateStore.providerClass": STATES,
        "spark.sql.streaming.noDataMicroBatches.enabled": "true", "spark.log.level": "ERROR",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def drives():
    """Devices that go about El Paso and rest, two days, in no order; some fixes are none."""
    generator = np.random.default_rng(62)
    devices, fixes = 2000, 40
    steps = generator.normal(0, 0.004, (2, devices, fixes)) * (generator.random((devices, fixes)) < 0.4)
    where = np.cumsum(steps, axis=2) + generator.normal(0, 0.15, (2, devices, 1)) + np.array([31.7, -106.45])[:, None, None]
    times = np.sort(generator.integers(0, 2 * 86_400_000_000, (devices, fixes)), axis=1)
    # Exactly at ticks, and at the same time as another.
    times[:, ::17] -= times[:, ::17] % 900_000_000
    frame = pd.DataFrame({
        "user": np.repeat([f"device {k}" for k in range(devices)], fixes),
        "ts": (pd.Timestamp("2026-05-09", tz="UTC") + pd.to_timedelta(times.ravel(), unit="us")).astype("datetime64[us, UTC]"),
        "lat": where[0].ravel(), "lon": where[1].ravel(), "acc": generator.choice([np.nan, 5, 100, 9000], devices * fixes),
    })  # fmt: skip
    frame = frame.drop_duplicates(["user", "ts"])
    frame.loc[frame.index[::500], "lat"] = np.nan
    frame.loc[frame.index[1::700], "lon"] = 999
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


def read(spark, frame, folder):
    """As a table of Spark, which was a file."""
    folder.mkdir(exist_ok=True)
    pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "fixes.parquet")
    return spark.read.parquet(str(folder))


def flat(answers, key="user"):
    """Answers of Spark as those of hereabouts.convert, in its order."""
    rows = answers.select(key, F.unix_micros("time").alias("time"), "region.*").toArrow().to_pandas()
    return rows.sort_values([key, "time"], kind="stable").reset_index(drop=True)


def plain(frame):
    frame = frame.copy()
    frame["time"] = frame["time"].astype("datetime64[us, UTC]").astype("int64")
    return frame


def test_columns_are_those_of_snap(spark, drives, tmp_path):
    df = read(spark, drives, tmp_path / "in").withColumn("float", F.col("lat").cast("float"))
    found = hs.snap(df, "lat", "lon")
    assert found.columns == ["user", "ts", "acc", "float", "region"]
    expected = hb.snap(drives["lat"], drives["lon"]).to_pandas()
    table = found.select("region.*").toArrow().to_pandas()
    pd.testing.assert_frame_equal(table, expected.astype(table.dtypes.to_dict()))
    assert found.where("region is null").count() == int((~hb.snap(drives["lat"], drives["lon"]).valid).sum()) > 0
    few = df.select("float", F.lit(-106).alias("whole"), F.lit("31.7619").alias("text"), F.expr("cast(31.75 as decimal(8, 4))").alias("decimal"))
    assert hs.snap(few, "float", "whole").count() == df.count()
    assert hs.snap(few, "decimal", "whole").first()["region"]["id"] == hb.snap(31.75, -106.0).id
    with pytest.raises(TypeError, match="^columns of numbers are needed$"):
        hs.snap(few, "text", "whole")
    with pytest.raises(Exception, match="a column of numbers is needed") as raised:
        few.select(hs.snap_expr("text", "whole")).collect()
    assert "7619" not in str(raised.value)
    with pytest.raises(ValueError, match="name="):
        hs.snap(df.withColumn("region", F.lit(1)), "lat", "lon")


def test_sql(spark, drives, tmp_path):
    hs.register(spark)
    read(spark, drives, tmp_path / "in").createOrReplaceTempView("fixes")
    counts = spark.sql("select hereabouts_region(lat, lon) id, count(*) n from fixes where hereabouts_snap(lat, lon).country = 'MX' group by 1")
    frame = hb.snap(drives["lat"], drives["lon"]).to_pandas()
    assert {row.id: row.n for row in counts.collect()} == frame[frame["country"] == "MX"]["id"].value_counts().to_dict()
    assert spark.sql("select hereabouts_region(null, 1d), hereabouts_region(91d, 0d)").first()[:] == (None, None)


@pytest.mark.parametrize("emit", ["changes", "recomputations"])
def test_a_batch_is_paced_as_convert(spark, drives, tmp_path, emit):
    names = dict(id="user", time="ts", latitude="lat", longitude="lon", accuracy="acc", emit=emit)
    expected = plain(hb.convert(drives, **names))
    df = read(spark, drives, tmp_path / "in")
    for frame in (df, df.coalesce(1), df.repartition(7)):
        pd.testing.assert_frame_equal(flat(hs.convert(frame, **names)), expected, check_dtype=False)
    # Keys of other kinds; times without a zone.
    numbered = df.withColumn("user", F.substring("user", 8, 9).cast("int")).withColumn("ts", F.to_timestamp_ntz(F.date_format(F.to_utc_timestamp("ts", "America/Denver"), "yyyy-MM-dd HH:mm:ss.SSSSSS")))
    found = flat(hs.convert(numbered, partitions=2, **names))
    assert sorted(zip(found["user"], found["time"], found["id"])) == sorted((int(user[7:]), time, id) for user, time, id in zip(expected["user"], expected["time"], expected["id"]))


def run_stream(spark, folder, names, tmp_path):
    """What there is of the stream's files, and back."""
    schema = "user string, ts timestamp, lat double, lon double, acc double"
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder)).withWatermark("ts", "10 minutes")
    writer = hs.convert(source, **names).writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def test_a_stream_has_the_answers_of_the_batch(spark, drives, tmp_path):
    names = dict(id="user", time="ts", latitude="lat", longitude="lon", accuracy="acc")
    expected = plain(hb.convert(drives, **names))
    files = tmp_path / "in"
    files.mkdir()
    # Half a day to a file; in it in no order. The query is started anew for each.
    end = pd.DataFrame({"user": ["end"], "ts": pd.to_datetime(["2026-06-01T00:00:00Z"]), "lat": [0.0], "lon": [0.0], "acc": [np.nan]})
    halves = (drives["ts"] - drives["ts"].min()) // pd.Timedelta("12h")
    late = drives.dropna(subset="lat").head(1)
    for number, piece in enumerate([drives[halves == half] for half in sorted(halves.unique())] + [end, late]):
        table = pa.Table.from_pandas(piece.astype({"ts": "datetime64[us, UTC]"}), preserve_index=False)
        pa.parquet.write_table(table, files / f"{number}.parquet")
        query = run_stream(spark, files, names, tmp_path)
    assert sum(operator["numRowsDroppedByWatermark"] for progress in query.recentProgress for operator in progress["stateOperators"]) == 1
    pd.testing.assert_frame_equal(flat(spark.read.parquet(str(tmp_path / "out"))), expected, check_dtype=False)
    states = spark.read.format("statestore").option("stateVarName", "device").load(str(tmp_path / "checkpoint"))
    # Nothing of a fix is kept once its tick is over.
    waiting = states.where("length(value.waiting) > 0").select("key.key").collect()
    assert states.count() == 2001 and [row[0] for row in waiting] == ["end"]


def test_executors_have_the_driver_s_atlas(spark, monkeypatch):
    df = spark.range(3).select(F.col("id").cast("double").alias("lat"), F.lit(0.0).alias("lon"))
    other = hs._Source("/no/such.atlas", "0123456789abcdef")
    with pytest.raises(Exception, match="the atlas 0123456789abcdef is needed"):
        df.select(hs._snap_udf(other)("lat", "lon")).collect()
    hs.add_atlas(spark)
    assert os.path.exists(pyspark.SparkFiles.get(os.path.basename(hb.atlas().path)))
    assert df.select(hs.region_expr("lat", "lon")).count() == 3


def test_spark_connect(tmp_path):
    pytest.importorskip("grpc")
    code = """
import pandas as pd, hereabouts as hb, hereabouts.spark as hs
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = pd.DataFrame({"user": ["a"] * 50, "ts": pd.date_range("2026-05-09", periods=50, freq="min", tz="UTC"), "lat": 31.7, "lon": -106.5})
frame["lon"] += frame.index * 0.01
df = spark.createDataFrame(frame)
hs.add_atlas(spark)
hs.register(spark)
assert [row.region.id for row in hs.snap(df, "lat", "lon").collect()] == list(hb.snap(frame["lat"], frame["lon"]).id)
assert spark.sql("select hereabouts_region(31.7619d, -106.485d)").first()[0] == "r86e759b06f"
names = dict(id="user", time="ts", latitude="lat", longitude="lon")
assert [row.region.id for row in hs.convert(df, **names).orderBy("time").collect()] == list(hb.convert(frame, **names)["id"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
