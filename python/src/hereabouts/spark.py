"""Regions on Spark, 4.1 and later, classic sessions and Spark Connect:

    import hereabouts.spark as hs

    hs.snap(df, "lat", "lon")                  # a column `region` in place of the coordinates: a structure of what is published
    hs.convert(df, id="user", time="ts", latitude="lat", longitude="lon")   # paced, a batch or a stream
    hs.register(spark)                         # SQL: hereabouts_snap(lat, lon), hereabouts_region(lat, lon)

Every executor needs this package and the driver's atlas, as a file: see `add_atlas`. A job whose executors have another ends with an error.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
from pyspark import SparkFiles
from pyspark.sql import functions
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import (
    ArrayType, DoubleType, FractionalType, LongType, MapType, NumericType, StringType, StructField, StructType, TimestampNTZType,
    TimestampType,
)  # fmt: skip

from . import _COLUMNS, _END, Atlas, RegionArray, _nanoseconds, _reopened, atlas as _default

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["add_atlas", "convert", "region_expr", "register", "snap", "snap_expr"]

_REGION = StructType(
    [StructField(name, StringType() if name in ("id", "country", "place") else DoubleType()) for name in _COLUMNS]
)


class _Source(NamedTuple):
    """An atlas as an executor finds it: where the executor says, where `add_atlas` put it, where it was on the driver, or in its distribution."""

    path: str
    fingerprint: str

    @classmethod
    def of(cls, atlas: Atlas | None) -> _Source:
        atlas = atlas or _default()
        return cls(os.path.abspath(atlas.path), atlas.fingerprint)

    def open(self) -> Atlas:
        return _reopened(self.path, self.fingerprint, SparkFiles.get(os.path.basename(self.path)))


def add_atlas(spark: SparkSession, atlas: Atlas | None = None) -> None:
    """Sends the atlas's file to every executor of a session, 24 MB each. Without it, an executor takes the file that its environment's
    HEREABOUTS_ATLAS names, the driver's path, or the distribution `hereabouts-atlas`, whichever is the same atlas."""
    path = _Source.of(atlas).path
    if hasattr(spark, "_jsparkSession"):
        spark.sparkContext.addFile(path)
    else:
        spark.addArtifacts(path, file=True)


def snap(df: DataFrame, latitude: str, longitude: str, *, name: str = "region", atlas: Atlas | None = None) -> DataFrame:
    """The frame with a column of regions in place of its coordinates: id, latitude, longitude, horizontal_accuracy, country and place;
    null where there is no position. `select("user", "region.*")` makes columns of them.

    latitude, longitude: columns of numbers, in degrees. They are dropped; `snap_expr` is for frames that keep them.
    """
    _check_numbers(df, latitude, longitude)
    if name in df.columns and name not in (latitude, longitude):
        raise ValueError("the frame has a column of that name: name=")
    source, names = _Source.of(atlas), df.columns
    where = [names.index(latitude), names.index(longitude)]
    kept = [place for place in range(len(names)) if place not in where]

    def snapped(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        found = source.open()
        for batch in batches:
            regions = pyarrow.array(found.snap(*(batch.column(place) for place in where)))
            columns = [*(batch.column(place) for place in kept), regions]
            yield pyarrow.RecordBatch.from_arrays(columns, [*(names[place] for place in kept), name])

    # Half the time of an Arrow UDF, whose structures Spark takes apart.
    return df.mapInArrow(snapped, StructType([*(df.schema[place] for place in kept), StructField(name, _REGION)]))


def snap_expr(latitude: Column | str, longitude: Column | str, *, atlas: Atlas | None = None) -> Column:
    """The structure of what is published around a position, as a column; null where there is no position."""
    return _snap_udf(_Source.of(atlas))(latitude, longitude)


def region_expr(latitude: Column | str, longitude: Column | str, *, atlas: Atlas | None = None) -> Column:
    """The ids of regions, such as "r86e759b06f", as a column: half the work of `snap_expr`."""
    return _region_udf(_Source.of(atlas))(latitude, longitude)


def register(spark: SparkSession, *, atlas: Atlas | None = None) -> None:
    """Makes the functions hereabouts_snap(latitude, longitude) and hereabouts_region(latitude, longitude) known to a session's SQL."""
    source = _Source.of(atlas)
    spark.udf.register("hereabouts_snap", _snap_udf(source))
    spark.udf.register("hereabouts_region", _region_udf(source))


def convert(
    df: DataFrame, *, id: str, time: str, latitude: str, longitude: str, accuracy: str | None = None, interval: str | float = "15min",
    emit: str = "changes", partitions: int | None = None, atlas: Atlas | None = None,
) -> DataFrame:  # fmt: skip
    """Paces the devices of a frame, as `hereabouts.convert` does: columns of the key, `time` (the tick) and `region`.

    id, time: a key for each device, and a column of timestamps; those without a zone, which a stream may not have, are UTC.
    emit: "changes" gives an answer where it differs from the last, "recomputations" each.
    partitions: into how many the devices are divided; without it, as many as the session shuffles into.

    Of fixes of one device with one time, the one of least latitude and longitude counts. Rows without a key, a time or a position are
    passed over. A stream needs a watermark on its time: a tick is answered when the watermark has passed it, so the answers are a
    batch's. Until then the checkpoint holds each device's newest fix of the tick: keep it as safe as the input.
    """
    if emit not in ("changes", "recomputations"):
        raise ValueError("emit is 'changes' or 'recomputations'")
    _check_numbers(df, latitude, longitude, *([accuracy] if accuracy else []))
    if not isinstance(df.schema[time].dataType, (TimestampType, TimestampNTZType)):
        raise TypeError("time: a column of timestamps is needed")
    if df.isStreaming and isinstance(df.schema[time].dataType, TimestampNTZType):
        raise TypeError("time: a stream's timestamps need a zone")
    if id in ("time", "region"):
        raise ValueError("the answers have a column of the key's name: rename it")
    source, step = _Source.of(atlas), _nanoseconds(interval)
    column = lambda name: functions.col(_quoted(name))  # noqa: E731
    fixes = df.select(
        column(id).alias("key"), column(time).alias("time"), column(latitude).cast("double").alias("latitude"),
        column(longitude).cast("double").alias("longitude"),
        (column(accuracy).cast("double") if accuracy else functions.lit(None).cast("double")).alias("accuracy"),
    )  # fmt: skip
    fixes = fixes.where(
        "key is not null and year(time) between 1678 and 2261 and latitude between -90 and 90 and longitude between -540 and 540"
    )
    key = StructField("key", df.schema[id].dataType)
    if isinstance(key.dataType, (ArrayType, MapType, StructType)):
        raise TypeError("id: a column of texts, numbers or bytes is needed")
    if isinstance(key.dataType, FractionalType):
        fixes = fixes.where("not isnan(key)")
    if df.isStreaming:
        answers = _paced_stream(fixes, key, source, step, emit)
    else:
        spread = fixes.repartition(partitions, "key") if partitions else fixes.repartition("key")
        ordered = spread.sortWithinPartitions("key", "time", "latitude", "longitude", "accuracy")
        schema = StructType([key, StructField("time", TimestampType()), StructField("region", _REGION)])
        answers = ordered.mapInArrow(_paced_batches(source, step, emit), schema)
    return answers.select(functions.col("key").alias(id), "time", "region")


# MARK: Insides


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _check_numbers(df: DataFrame, *names: str) -> None:
    """Texts are refused before Spark converts them: its errors quote their values."""
    for name in names:
        if not isinstance(df.schema[name].dataType, NumericType):
            raise TypeError("columns of numbers are needed")


def _snap_udf(source: _Source) -> Any:
    def hereabouts_snap(latitude: pyarrow.Array, longitude: pyarrow.Array) -> pyarrow.Array:
        return pyarrow.array(source.open().snap(latitude, longitude))

    return functions.arrow_udf(hereabouts_snap, _REGION)


def _region_udf(source: _Source) -> Any:
    def hereabouts_region(latitude: pyarrow.Array, longitude: pyarrow.Array) -> pyarrow.Array:
        return source.open().snap(latitude, longitude)._id_array()

    return functions.arrow_udf(hereabouts_region, "string")


class _Answers:
    """Answers of devices in the order of their ticks, as columns."""

    def __init__(self, atlas: Atlas, emit: str):
        self._atlas, self._emits_all = atlas, emit == "recomputations"
        self.rows, self.ticks, self._regions = [], [], []

    def pace(self, row: Any, step: int, times: Any, latitudes: Any, longitudes: Any, accuracies: Any, state: bytes) -> bytes:
        """Adds the answers to fixes whose ticks are over, and gives the state."""
        ticks, regions, news, state, _ = self._atlas.pace(step, times, latitudes, longitudes, accuracies, _END, state)
        for place, tick in enumerate(numpy.frombuffer(ticks, "i8").tolist()):
            if self._emits_all or news[place]:
                self.rows.append(row)
                self.ticks.append(tick // 1000)
                self._regions.append(regions[4 * place : 4 * place + 4])
        return state

    @property
    def regions(self) -> RegionArray:
        return RegionArray(self._atlas, b"".join(self._regions))


def _tick(time: int, step: int) -> int:
    """The first multiple of the interval at or after a time."""
    return -(-time // step) * step


def _paced_batches(source: _Source, step: int, emit: str) -> Any:
    """Paces batches that are ordered by key and time. A device may go on in the next batch; only its newest fix waits for that."""

    def pace(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        atlas, device, state, waiting = source.open(), None, b"", None
        for batch in batches:
            answers = _Answers(atlas, emit)
            if batch.num_rows == 0:
                continue
            runs = pyarrow.compute.run_end_encode(batch.column("key"))
            times = batch.column("time").cast(pyarrow.int64()).to_numpy() * 1000
            numbers = [
                batch.column(name).to_numpy(zero_copy_only=False) for name in ("latitude", "longitude", "accuracy")
            ]
            keys = runs.values.to_pylist()
            if waiting is not None and device != keys[0]:
                answers.pace(-1, step, *waiting, state)
            start = 0
            for row, end in enumerate(runs.run_ends.to_pylist()):
                if row > 0 or device != keys[0]:
                    state, waiting = b"", None
                fixes = [times[start:end], *(column[start:end] for column in numbers)]
                if waiting is not None:
                    fixes = [numpy.concatenate(pair) for pair in zip(waiting, fixes)]
                # The device ends here, or its last interval is left to the next batch, of which the newest fix counts.
                over = len(fixes[0])
                if row == len(keys) - 1:
                    over = int(numpy.searchsorted(fixes[0], _tick(int(fixes[0][-1]), step) - step, "right"))
                    first = int(numpy.searchsorted(fixes[0], fixes[0][-1], "left"))
                    waiting = [numpy.ascontiguousarray(column[first : first + 1]) for column in fixes]
                state = answers.pace(row, step, *(numpy.ascontiguousarray(column[:over]) for column in fixes), state)
                start = end
            yield _batch(batch.schema.field("key").type, [device if row < 0 else keys[row] for row in answers.rows], answers)
            device, key_type = keys[-1], batch.schema.field("key").type
        if waiting is not None:
            answers = _Answers(atlas, emit)
            answers.pace(0, step, *waiting, state)
            yield _batch(key_type, [device] * len(answers.rows), answers)

    return pace


def _batch(key_type: pyarrow.DataType, keys: list[Any], answers: _Answers) -> pyarrow.RecordBatch:
    ticks = pyarrow.array(answers.ticks, pyarrow.timestamp("us", "UTC"))
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(keys, key_type), ticks, pyarrow.array(answers.regions)], ["key", "time", "region"]
    )


_FIX = struct.Struct("<qddd")


class _Pacing(StatefulProcessor):
    """A device of a stream: its pacer's state, the newest fix of each tick that is not over, and the last tick that is. Spark drops and
    counts the fixes that come after the watermark."""

    def __init__(self, source: _Source, step: int, emit: str):
        self._source, self._step, self._emit = source, step, emit

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._device = handle.getValueState("device", "state binary, waiting binary, through bigint")

    def _stored(self) -> tuple[bytes, dict[int, tuple], int]:
        if not self._device.exists():
            return b"", {}, -_END
        state, waiting, through = self._device.get()
        fixes = _FIX.iter_unpack(bytes(waiting))
        return bytes(state), {_tick(fix[0], self._step): fix for fix in fixes}, through

    def _store(self, state: bytes, waiting: dict[int, tuple], through: int) -> None:
        self._device.update((state, b"".join(_FIX.pack(*waiting[tick]) for tick in sorted(waiting)), through))

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
        state, waiting, through = self._stored()
        ticks = set(waiting)
        for frame in rows:
            columns = (frame[name].tolist() for name in ("micros", "latitude", "longitude", "accuracy"))
            for micros, latitude, longitude, accuracy in zip(*columns):
                fix = (micros * 1000, latitude, longitude, float("nan") if accuracy is None else accuracy)
                tick = _tick(fix[0], self._step)
                known = waiting.get(tick)
                if tick > through and (known is None or (-fix[0], fix[1:]) < (-known[0], known[1:])):
                    waiting[tick] = fix
        for tick in waiting.keys() - ticks:
            self._handle.registerTimer(-(-tick // 1_000_000))
        self._store(state, waiting, through)
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:
        import pandas

        state, waiting, through = self._stored()
        over = expiredTimerInfo.getExpiryTimeInMs() * 1_000_000
        fixes = [waiting.pop(tick) for tick in sorted(waiting) if tick <= over]
        if not fixes:
            return
        columns = [numpy.array(column, kind) for column, kind in zip(zip(*fixes), ("i8", "f8", "f8", "f8"))]
        answers = _Answers(self._source.open(), self._emit)
        state = answers.pace(0, self._step, *columns, state)
        self._store(state, waiting, max(through, _tick(fixes[-1][0], self._step)))
        if answers.rows:
            yield pandas.DataFrame({"key": [key[0]] * len(answers.rows), "micros": answers.ticks, **answers.regions.to_dict()})


def _paced_stream(fixes: DataFrame, key: StructField, source: _Source, step: int, emit: str) -> DataFrame:
    schema = StructType([key, StructField("micros", LongType()), *_REGION])
    # Pandas would have times in the session's zone.
    moment = functions.unix_micros(functions.col("time").cast("timestamp"))
    answers = (
        fixes.withColumn("micros", moment)
        .groupBy("key")
        .transformWithStateInPandas(_Pacing(source, step, emit), schema, "Append", "EventTime")
    )
    region = functions.struct(*_COLUMNS).alias("region")
    return answers.select("key", functions.timestamp_micros("micros").alias("time"), region)
