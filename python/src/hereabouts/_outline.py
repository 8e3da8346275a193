"""Shapes of regions, of the parts that the C library gives: quadrilaterals on the faces of a cube, where they meet exactly."""

from __future__ import annotations

from array import array
from typing import Any

from . import _core

_LEAVES = float(1 << 30)  # on a face's side; a leaf is a centimeter


def _rings(region: _core.Region) -> list[tuple[int, list[tuple[float, float]]]]:
    """The face of each part and its corners, without those that coincide."""
    rings = []
    for cell, _, s, t in region.atlas.parts(region.index):
        corners = [corner for place, corner in enumerate(zip(s, t)) if corner != (s[place - 1], t[place - 1])]
        if len(corners) >= 3:
            rings.append((cell >> 61, corners + corners[:1]))
    return rings


def _on_earth(face: int, ring: Any, scale: float = 1) -> list[tuple[float, float]]:
    """A closed ring as longitudes and latitudes."""
    s, t = (array("d", (corner[axis] / scale for corner in ring)) for axis in (0, 1))
    latitudes, longitudes = (array("d", bytes) for bytes in _core.ring(face, s, t))
    return list(zip(longitudes, latitudes))


def shape(region: _core.Region) -> Any:
    """A shapely polygon or multipolygon: parts are united on each quarter of a face, and only then brought to degrees."""
    import shapely

    quarters: dict[tuple[int, bool, bool], list[Any]] = {}
    for face, ring in _rings(region):
        middle = [sum(corner[axis] for corner in ring[:-1]) / (len(ring) - 1) >= 0.5 for axis in (0, 1)]
        corners = [(s * _LEAVES, t * _LEAVES) for s, t in ring]
        quarters.setdefault((face, *middle), []).append(shapely.Polygon(corners))
    drawn = []
    for (face, *_), polygons in sorted(quarters.items(), key=lambda item: item[0]):
        united = shapely.simplify(shapely.union_all(polygons, grid_size=1), 1)
        for polygon in shapely.get_parts(united):
            rings = [_on_earth(face, ring.coords, _LEAVES) for ring in (polygon.exterior, *polygon.interiors)]
            drawn.append(shapely.make_valid(shapely.Polygon(rings[0], rings[1:])))
    return shapely.orient_polygons(shapely.union_all(drawn, grid_size=1e-6))


def outline(region: _core.Region) -> dict[str, Any]:
    """A GeoJSON geometry."""
    try:
        import shapely
    except ImportError:
        polygons = [[_on_earth(face, ring)] for face, ring in _rings(region)]
        return {"type": "MultiPolygon", "coordinates": polygons}
    return shapely.geometry.mapping(shape(region))
