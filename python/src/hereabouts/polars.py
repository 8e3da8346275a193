"""Regions as an expression of Polars, eager, lazy and in its streaming engine:

    import hereabouts.polars as hbp

    frame.with_columns(hbp.snap("lat", "lon")).unnest("region")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars
from polars.plugins import register_plugin_function

from . import Atlas, _core, atlas as _default

if TYPE_CHECKING:
    from polars._typing import IntoExpr


def snap(latitude: IntoExpr, longitude: IntoExpr, *, atlas: Atlas | None = None) -> polars.Expr:
    """The structure `region` of id, latitude, longitude, horizontal_accuracy, country and place; null where there is no position.

    latitude, longitude: columns or expressions of degrees, as in `hereabouts.snap`. The atlas stays open as long as the process lives; an
    expression that is evaluated in another process, which has not made it, fails.
    """
    fingerprint = polars.lit((atlas or _default()).share(), polars.UInt64)
    return register_plugin_function(
        plugin_path=_core.__file__, function_name="snap", args=[latitude, longitude, fingerprint], is_elementwise=True
    ).alias("region")  # fmt: skip
