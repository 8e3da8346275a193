"""The region around a position: fixed, public, sized by how many people live there, and on the right side of every border.

    import hereabouts as hb

    hb.snap(31.7619, -106.4850)                   # a Region: .id, .latitude, .longitude, .horizontal_accuracy, .country, .place
    r = hb.snap(df["lat"], df["lon"])             # a RegionArray, from NumPy, pandas, Polars, Arrow, or any sequence
    r.id, r.country, r.to_pandas(), r.to_arrow()  # columns; Arrow's consumers take r itself
    hb.convert(df, id="user", time="ts", latitude="lat", longitude="lon")   # at most four answers an hour, as the command
    hb.region("r86e759b06f").outline              # a GeoJSON geometry; r.to_geopandas() has them all

Latitude comes first, both in degrees. What is published is the region's center and a radius in meters that contains all of it; nothing
tells where in it a position lies. All of one data set should be of one atlas: pin the distribution `hereabouts-atlas`, and note
`hb.atlas().fingerprint` beside what you publish, with `hb.atlas().attribution`.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from numbers import Real
from typing import Any, Iterator, Mapping

from . import _core
from ._core import AtlasError

__all__ = ["Atlas", "AtlasError", "Fleet", "Pacer", "Region", "RegionArray", "atlas", "convert", "region", "snap"]
__version__ = _core.version

_NONE = 0xFFFFFFFF
_COLUMNS = ("id", "latitude", "longitude", "horizontal_accuracy", "country", "place")


class Region(_core.Region):
    """A region of an atlas; `hereabouts.snap` and `hereabouts.region` give it.

    `id` is published, with `latitude`, `longitude` and `horizontal_accuracy`: the center in degrees and the radius in meters that contains
    all of the region; `country`; and `place`, which is "El Paso", or "near Marfa" for a place outside of it, or None.
    """

    __slots__ = ()

    @property
    def outline(self) -> dict[str, Any]:
        """The region's shape, as a GeoJSON geometry. Where Shapely is installed its parts are united; else there is a polygon for each."""
        from ._outline import outline

        return outline(self)

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        return {"type": "Feature", "id": self.id, "properties": self.to_dict(), "geometry": self.outline}

    def to_dict(self) -> dict[str, Any]:
        """What is published, by its names."""
        return dict(zip(_COLUMNS, self.record()))

    def __repr__(self) -> str:
        return f"Region({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def __reduce__(self) -> Any:
        return _restored, (self.atlas, self.id)


def _restored(atlas: Atlas, id: str) -> Region:
    return atlas.region(id)


class Atlas(_core.Atlas):
    """The world's regions, from one file. Threads may share it, and so do children after a fork.

    path: a file; without one, the environment's HEREABOUTS_ATLAS, else that of the distribution `hereabouts-atlas`.
    map: map the file instead of reading it. It must never be written to then: replace it by renaming another into its place.
    """

    def __new__(cls, path: str | os.PathLike[str] | None = None, *, map: bool = False) -> Atlas:
        path = os.fspath(path) if path is not None else _find()
        self = super().__new__(cls, path, 1 if map else 0)
        self.path = path
        return self

    def __reduce__(self) -> Any:
        return _reopened, (self.path, self.fingerprint)

    @property
    def version(self) -> str | None:
        """The version of the distribution that it came with; None for another file."""
        if self.path != _distributed():
            return None
        import hereabouts_atlas

        return hereabouts_atlas.__version__

    def __len__(self) -> int:
        return self.region_count

    def __repr__(self) -> str:
        return f"<hereabouts.Atlas {self.fingerprint}: {len(self):,} regions>"

    def region(self, id: str) -> Region:
        """The region with an id. KeyError where the atlas has none."""
        index = self.region_with_id(id)
        if index < 0:
            raise KeyError("the atlas has no region with this id")
        return self.region_at(Region, index)

    def snap(
        self, latitude: Any, longitude: Any = None, *, errors: str | None = None, threads: int = 1
    ) -> Region | RegionArray | None:  # fmt: skip
        """See `hereabouts.snap`."""
        return self._snap(latitude, longitude, errors, threads)

    def _snap(self, latitude: Any, longitude: Any, errors: str | None, threads: int) -> Region | RegionArray | None:
        if errors is not None and errors not in ("null", "raise"):
            raise ValueError("errors is 'null' or 'raise'")
        # Numbers of other libraries are asked for last: that takes a microsecond.
        if isinstance(latitude, float) and isinstance(longitude, float) or isinstance(latitude, Real) and isinstance(longitude, Real):
            region = self.snap_one(Region, latitude, longitude)
            if region is None and errors != "null":
                raise ValueError("latitude is from -90 to 90, longitude from -540 to 540 degrees")
            return region
        if longitude is None:
            latitude, longitude = _points(latitude)
        regions, invalid = self._handles(memoryview(_numbers(latitude)), memoryview(_numbers(longitude)), threads)
        found = RegionArray(self, regions)
        if invalid and errors == "raise":
            raise ValueError(f"row {found.valid.index(False) if isinstance(found.valid, list) else int(found.valid.argmin())} is no position")
        return found

    def _handles(self, latitude: memoryview, longitude: memoryview, threads: int) -> tuple[bytes, int]:
        if threads < 1:
            raise ValueError("threads is 1 or more")
        if threads == 1 or latitude.ndim != 1 or latitude.shape != longitude.shape:
            return self.regions(latitude, longitude)
        size = max(-(-len(latitude) // threads), 1)
        ranges = [slice(start, start + size) for start in range(0, len(latitude), size)]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(lambda rows: self.regions(latitude[rows], longitude[rows]), ranges))
        return b"".join(regions for regions, _ in parts), sum(invalid for _, invalid in parts)


def _reopened(path: str, fingerprint: str, *others: str) -> Atlas:
    """The atlas of a pickle, in another process or on another machine: where the environment says, at one of the paths, or in its
    distribution, whichever is the one."""
    known = _known.get(fingerprint)
    if known is not None:
        return known
    found = []
    for candidate in (os.environ.get("HEREABOUTS_ATLAS"), *others, path, _distributed()):
        if candidate and os.path.isfile(candidate):
            atlas = Atlas(candidate)
            if atlas.fingerprint == fingerprint:
                return _known.setdefault(fingerprint, atlas)
            found.append(atlas.fingerprint)
    raise AtlasError(f"the atlas {fingerprint} is needed; here is {', '.join(found) or 'none'}")


class RegionArray:
    """Regions of an atlas, one for each position; None where there was no position.

    Its columns are NumPy arrays where NumPy is installed, else lists. It is an Arrow array of structures: pass it to pyarrow, Polars,
    DuckDB, nanoarrow or whatever takes one.
    """

    def __init__(self, atlas: Atlas, regions: bytes):
        self.atlas = atlas
        self._regions = regions
        self._described: tuple[bytes, ...] | None = None

    def __len__(self) -> int:
        return len(self._regions) // 4

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            regions = array("I", self._regions)[key]
            return RegionArray(self.atlas, regions.tobytes())
        if not -len(self) <= key < len(self):
            raise IndexError("no such row")
        start = key % len(self) * 4
        region = int.from_bytes(self._regions[start : start + 4], "little")
        return None if region == _NONE else self.atlas.region_at(Region, region)

    def __iter__(self) -> Iterator[Region | None]:
        for region in array("I", self._regions):
            yield None if region == _NONE else self.atlas.region_at(Region, region)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegionArray) and (self._regions, self.atlas.fingerprint) == (other._regions, other.atlas.fingerprint)

    __hash__ = None

    def __repr__(self) -> str:
        shown = ", ".join("None" if one is None else one.id for one in self[:6])
        return f"<RegionArray of {len(self):,}: [{shown}{', …' if len(self) > 6 else ''}]>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape('' if value is None else str(value))}</td>" for value in (one.record() if one else [None] * 6)) + "</tr>"
            for one in self[:10]
        )
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        more = f"<p>{len(self):,} rows</p>" if len(self) > 10 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def _bytes(self, column: int) -> bytes:
        if self._described is None:
            self._described = self.atlas.describe(self._regions)
        return self._described[column]

    def _column(self, column: int, code: str) -> Any:
        numpy = _numpy()
        if numpy is not None:
            return numpy.frombuffer(self._bytes(column), {"d": "<f8", "Q": "<u8"}[code])
        return list(array(code, self._bytes(column)))

    def _texts(self, offsets: bytes, texts: bytes) -> Any:
        values = _core.texts(offsets, texts)
        numpy = _numpy()
        return values if numpy is None else numpy.array(values, object)

    @property
    def valid(self) -> Any:
        """Whether each row was a position."""
        numpy = _numpy()
        if numpy is not None:
            return numpy.frombuffer(self._regions, "<u4") != _NONE
        return [region != _NONE for region in array("I", self._regions)]

    @property
    def cell(self) -> Any:
        """The number of each id: a cell of S2 of level 18; 0 where there is none."""
        return self._column(1, "Q")

    def _id_array(self) -> Any:
        """The ids as a pyarrow.Array."""
        import pyarrow

        # The bits of booleans are those of a validity.
        buffers = [pyarrow.array(self.valid).buffers()[1], *map(pyarrow.py_buffer, self.atlas.ids(self._regions))]
        return pyarrow.Array.from_buffers(pyarrow.string(), len(self), buffers)

    @property
    def id(self) -> Any:
        """The published identifiers, such as "r86e759b06f"."""
        return self._texts(*self.atlas.ids(self._regions))

    @property
    def latitude(self) -> Any:
        """Of the regions' centers, in degrees; NaN where there is none."""
        return self._column(2, "d")

    @property
    def longitude(self) -> Any:
        """Of the regions' centers, in degrees; NaN where there is none."""
        return self._column(3, "d")

    @property
    def horizontal_accuracy(self) -> Any:
        """The radius in meters that contains all of a region; NaN where there is none."""
        return self._column(4, "d")

    accuracy = horizontal_accuracy

    @property
    def country(self) -> Any:
        """ISO 3166-1 alpha-2 codes, XZ for the high seas."""
        return self._texts(self._bytes(5), self._bytes(6))

    @property
    def place(self) -> Any:
        """The places that regions are named for: "El Paso", "near Marfa", or None."""
        return self._texts(self._bytes(7), self._bytes(8))

    def to_dict(self) -> dict[str, Any]:
        """All columns by their names, `id` as text."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def to_pandas(self, index: Any = None) -> Any:
        """A pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.to_dict(), index=index)

    def to_arrow(self) -> Any:
        """A pyarrow.StructArray, null where there was no position."""
        import pyarrow

        return pyarrow.array(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        import polars

        return polars.Series(self).struct.unnest()

    def to_geopandas(self, index: Any = None) -> Any:
        """A geopandas.GeoDataFrame with the regions' outlines as its geometry, in degrees (EPSG:4326). Needs Shapely."""
        import geopandas

        from ._outline import shape

        handles = array("I", self._regions)
        shapes = {region: shape(self.atlas.region_at(Region, region)) for region in set(handles) if region != _NONE}
        geometry = geopandas.GeoSeries([shapes.get(region) for region in handles], crs="EPSG:4326", index=index)
        return geopandas.GeoDataFrame(self.to_dict(), geometry=geometry, index=index)

    def __arrow_c_schema__(self) -> object:
        return _core.arrow_schema()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _core.arrow_schema(), self.atlas.arrow_array(self._regions)


class Pacer:
    """Paces one device: at :00, :15, :30 and :45 its newest fix is answered, and nothing in between.

    `state` carries it over a restart: store it before you publish the answers that it covers.
    """

    def __init__(self, interval: str | float = "15min", *, state: bytes = b"", atlas: Atlas | None = None):
        self.atlas = atlas or _default()
        self._interval = _nanoseconds(interval)
        self.state = state

    def answer(self, time: Any, latitude: Any, longitude: Any, accuracy: Any = None, *, until: int | None = None) -> tuple[Any, RegionArray, Any]:
        """Takes fixes in order of their times (nanoseconds since 1970, UTC) and gives (ticks, regions, whether each is new).

        until: ticks up to this moment are over, in nanoseconds; without it all of them are. A last fix of a later tick is forgotten.
        """
        end = _END if until is None else until
        accuracies = None if accuracy is None else _numbers(accuracy)
        ticks, regions, news, state, _ = self.atlas.pace(
            self._interval, _times(time), _numbers(latitude), _numbers(longitude), accuracies, end, self.state
        )
        self.state = state
        return array("q", ticks), RegionArray(self.atlas, regions), [bool(new) for new in news]


class Fleet:
    """Paces many devices, each by its key: what `Pacer` does for one.

    `states` carries them over a restart, by key, as bytes: store them before you publish the answers that they cover.
    """

    def __init__(self, interval: str | float = "15min", *, states: Mapping[Any, bytes] | None = None, atlas: Atlas | None = None):
        self.atlas = atlas or _default()
        self.states: dict[Any, bytes] = dict(states or {})
        self._interval = _nanoseconds(interval)

    def __len__(self) -> int:
        return len(self.states)

    def remove(self, key: Any) -> None:
        """Forgets a device: its next fix is answered as a first one."""
        self.states.pop(key, None)

    def answer(
        self, key: Any, time: Any, latitude: Any, longitude: Any, accuracy: Any = None, *, until: int | None = None
    ) -> tuple[list[Any], Any, RegionArray, list[bool]]:  # fmt: skip
        """Takes fixes of devices, each device's in order of their times, and gives (keys, ticks, regions, whether each is new), by the
        first appearance of the keys.

        key: a key for each fix; a null one is passed over. For the rest see `Pacer.answer`.
        """
        times = memoryview(_times(time)).cast("B").cast("q")
        columns = [None if column is None else _doubles(_numbers(column)) for column in (latitude, longitude, accuracy)]
        rows: dict[Any, list[int]] = {}
        for row, one in enumerate(key):
            if one is not None and one == one:
                rows.setdefault(one, []).append(row)
        keys, ticks, regions, news = [], array("q"), b"", b""
        # All states change, or none.
        states = dict(self.states)
        for one, own in rows.items():
            taken = [None if column is None else _taken(column, own, "d") for column in columns]
            answered, found, is_new, states[one], _ = self.atlas.pace(
                self._interval, _taken(times, own, "q"), *taken, _END if until is None else until, states.get(one, b"")
            )
            ticks.frombytes(answered)
            keys += [one] * len(is_new)
            regions += found
            news += is_new
        self.states = states
        return keys, ticks, RegionArray(self.atlas, regions), [bool(new) for new in news]


def snap(latitude: Any, longitude: Any = None, *, errors: str | None = None, threads: int = 1) -> Region | RegionArray | None:
    """The region around a position, or the regions around many.

    latitude, longitude: degrees, in [-90, 90] and [-540, 540]. Two numbers give a Region; columns of one length (anything with a buffer
    of numbers, pandas and Polars series, Arrow arrays, sequences) give a RegionArray. So does one GeoSeries of points.
    errors: what becomes of null, NaN and numbers out of range. "null", the default for columns, gives None there; "raise", the default
    for two numbers, raises ValueError with the row.
    threads: how many share the rows of columns. They have ended when the call returns.
    """
    return (_opened or _default())._snap(latitude, longitude, errors, threads)


def region(id: str) -> Region:
    """The region with an id, such as "r86e759b06f". KeyError where the atlas has none."""
    return _default().region(id)


def convert(
    frame: Any, *, id: str | None = None, time: str, latitude: str, longitude: str, accuracy: str | None = None,
    interval: str | float = "15min", emit: str = "changes", atlas: Atlas | None = None,
) -> Any:  # fmt: skip
    """Paces the devices of a pandas or Polars frame, as `hereabouts convert` does: an answer at most every interval.

    id: the column of device keys; without one, all fixes are of one device. time: a column of datetimes; those without a zone are UTC.
    emit: "changes" gives an answer where it differs from the last, "recomputations" each.
    Returns a frame of the same kind with the columns of keys (if any), `time` (the tick), and the region's; ordered by key and time. Rows
    without a key, a time (from 1678 to 2261) or a position are passed over.
    """
    import numpy

    if emit not in ("changes", "recomputations"):
        raise ValueError("emit is 'changes' or 'recomputations'")
    if id in ("time", *_COLUMNS):
        raise ValueError("the answers have a column of the key's name: rename it")
    atlas = atlas or _default()
    is_polars = type(frame).__module__.split(".")[0] == "polars"
    times = _datetimes(frame[time], is_polars)
    where = [numpy.asarray(_numbers(frame[name]), float) for name in (latitude, longitude)]
    accuracies = None if accuracy is None else numpy.asarray(_numbers(frame[accuracy]), float)
    keys = numpy.array([""] * len(times), object) if id is None else numpy.asarray(frame[id].to_numpy(), object)
    sound = (times != _NOT_A_TIME) & numpy.isfinite(where[0]) & numpy.isfinite(where[1])
    sound &= numpy.array([key is not None and key == key for key in keys], bool)
    rows = numpy.flatnonzero(sound)[numpy.argsort(times[sound], kind="stable")]
    rows = numpy.array(sorted(rows, key=lambda row: str(keys[row])), int)
    accuracies = None if accuracies is None else accuracies[rows]
    out_keys, ticks, found, news = Fleet(interval, atlas=atlas).answer(keys[rows], times[rows], where[0][rows], where[1][rows], accuracies)
    kept = [place for place, new in enumerate(news) if new or emit == "recomputations"]
    out_keys, out_ticks = [out_keys[place] for place in kept], [ticks[place] for place in kept]
    found = RegionArray(atlas, b"".join(found._regions[4 * place : 4 * place + 4] for place in kept))
    columns: dict[str, Any] = {} if id is None else {id: out_keys}
    columns["time"] = numpy.array(out_ticks, "int64").view("datetime64[ns]")
    columns |= found.to_dict()
    if is_polars:
        import polars

        texts = {"id": polars.String, "country": polars.String, "place": polars.String}
        return polars.DataFrame(columns, schema_overrides=texts).with_columns(polars.col("time").dt.replace_time_zone("UTC"))
    import pandas

    result = pandas.DataFrame(columns)
    result["time"] = result["time"].dt.tz_localize("UTC")
    return result


def atlas() -> Atlas:
    """The atlas that is used where none is named; opened once."""
    return _default()


# MARK: Insides

_lock = threading.Lock()
_opened: Atlas | None = None
_known: dict[str, Atlas] = {}  # by fingerprint, those that pickles named
_NOT_A_TIME, _END = -(1 << 63), (1 << 63) - 1


def _default() -> Atlas:
    global _opened
    if _opened is None:
        with _lock:
            if _opened is None:
                _opened = Atlas()
    return _opened


def _find() -> str:
    found = os.environ.get("HEREABOUTS_ATLAS") or _distributed()
    if found is None:
        raise AtlasError("no atlas: install hereabouts-atlas, set HEREABOUTS_ATLAS, or name a file by Atlas(path)")
    return found


def _distributed() -> str | None:
    """The file of the distribution `hereabouts-atlas`, if it is installed."""
    try:
        import hereabouts_atlas
    except ImportError:
        return None
    return hereabouts_atlas.path()


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _points(series: Any) -> tuple[Any, Any]:
    """Latitudes and longitudes of a GeoSeries of points; NaN for those that are missing or empty."""
    if not hasattr(series, "geom_type") or not hasattr(series, "crs"):
        raise TypeError("latitude and longitude are needed, or a GeoSeries of points")
    if not (series.geom_type.isna() | (series.geom_type == "Point")).all():
        raise TypeError("a GeoSeries of points is needed")
    if series.crs is None:
        raise ValueError("the GeoSeries has no CRS: set_crs(4326) says that it is in degrees")
    where = series if series.crs.equals("EPSG:4326", ignore_axis_order=True) else series.to_crs(4326)
    sound = ~(where.isna() | where.is_empty)
    found = [column.where(sound).to_numpy() for column in (where[sound].y.reindex(where.index), where[sound].x.reindex(where.index))]
    return found[0], found[1]


_NOT_NUMBERS = "a column of numbers is needed"


def _numbers(column: Any) -> Any:
    """A buffer of numbers; NaN for null. Texts are refused before anybody converts them: what others say of those has their values."""
    module = type(column).__module__.split(".")[0]
    if module == "pandas" and column.dtype != object:
        import pandas

        if not pandas.api.types.is_numeric_dtype(column.dtype):
            raise TypeError(_NOT_NUMBERS)
        return column.to_numpy(dtype="float64", na_value=float("nan"))
    if module == "polars":
        import polars

        if not column.dtype.is_numeric() and column.dtype != polars.Null:
            raise TypeError(_NOT_NUMBERS)
        return column.cast(polars.Float64).to_numpy()
    try:
        memoryview(column)
        return column
    except (TypeError, ValueError):
        pass
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        import pyarrow

        if module != "pyarrow":
            column = pyarrow.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pyarrow.array(column)
        types = pyarrow.types
        if not any(is_one(column.type) for is_one in (types.is_floating, types.is_integer, types.is_decimal, types.is_null)):
            raise TypeError(_NOT_NUMBERS)
        return column.cast("float64").to_numpy(zero_copy_only=False)
    try:
        return array("d", (float("nan") if value is None else value for value in column))
    except TypeError:
        raise TypeError(_NOT_NUMBERS) from None


def _doubles(column: Any) -> memoryview:
    view = memoryview(column)
    if view.format in ("d", "@d"):
        return view
    numpy = _numpy()
    return memoryview(array("d", column) if numpy is None else numpy.asarray(column, float))


def _taken(column: memoryview, rows: list[int], code: str) -> Any:
    """Rows of a column, in growing order."""
    if rows[-1] - rows[0] + 1 == len(rows):
        return column[rows[0] : rows[-1] + 1]
    return array(code, (column[row] for row in rows))


def _times(column: Any) -> Any:
    try:
        memoryview(column)
        return column
    except TypeError:
        return array("q", column)


def _datetimes(column: Any, is_polars: bool) -> Any:
    """Nanoseconds since 1970, UTC, as NumPy's 64-bit integers; no time for those that are before 1678 or after 2261."""
    import numpy

    if is_polars:
        import polars

        if not isinstance(column.dtype, polars.Datetime):
            raise TypeError("time: a column of datetimes is needed")
        times = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if column.dtype.time_zone else column
        times = times.to_numpy()
    else:
        if column.dtype.kind != "M":
            raise TypeError("time: a column of datetimes is needed")
        times = (column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column).to_numpy()
    seconds = times.astype("datetime64[s]").view("int64")
    sound = (seconds > -9_223_372_036) & (seconds < 9_223_372_036)
    return numpy.ascontiguousarray(numpy.where(sound, times, numpy.datetime64("NaT")).astype("datetime64[ns]")).view("int64")


_UNITS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400}


def _nanoseconds(interval: str | float) -> int:
    """Of an interval such as "15min", "90s", "1h", or a number of seconds."""
    if isinstance(interval, str):
        match = re.fullmatch(r"(\d+)\s*([a-z]+)", interval)
        if match is None or match[2] not in _UNITS:
            raise ValueError("an interval is such as '15min', '90s' or '1h'")
        seconds = int(match[1]) * _UNITS[match[2]]
    else:
        seconds = interval
    if not seconds > 0:
        raise ValueError("an interval is longer than nothing")
    return round(seconds * 1_000_000_000)
