"""Gives every pandas.DataFrame `.hereabouts`:

    import hereabouts.pandas

    df.join(df.hereabouts.snap())      # of its columns lat and lon, latitude and longitude, or those that are named
    df.hereabouts.convert(id="user", time="ts")
"""

from __future__ import annotations

from typing import Any

import pandas

from . import convert, snap

_NAMES = {"latitude": ("latitude", "lat"), "longitude": ("longitude", "lon", "lng", "long")}


@pandas.api.extensions.register_dataframe_accessor("hereabouts")
class HereaboutsAccessor:
    """Regions of a frame's positions, as `hereabouts.snap` and `hereabouts.convert` give them."""

    def __init__(self, frame: pandas.DataFrame):
        self._frame = frame

    def _columns(self, **named: str | None) -> dict[str, str]:
        found = {}
        for kind, name in named.items():
            names = [name] if name is not None else [name for name in self._frame.columns if str(name).lower() in _NAMES[kind]]
            if len(names) != 1:
                raise ValueError(f"name the column: {kind}=")
            found[kind] = names[0]
        return found

    def snap(
        self, latitude: str | None = None, longitude: str | None = None, *, errors: str | None = None, threads: int = 1
    ) -> pandas.DataFrame:  # fmt: skip
        """The regions' columns, with the frame's index."""
        columns = self._columns(latitude=latitude, longitude=longitude)
        found = snap(*(self._frame[name] for name in columns.values()), errors=errors, threads=threads)
        return found.to_pandas(self._frame.index)

    def convert(self, *, time: str, latitude: str | None = None, longitude: str | None = None, **options: Any) -> pandas.DataFrame:
        """The answers of `hereabouts.convert`, whose options these are."""
        return convert(self._frame, time=time, **self._columns(latitude=latitude, longitude=longitude), **options)
