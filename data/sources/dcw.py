"""Reads the Digital Chart of the World (DCW-GMT): the second source, older and coarser, to compare with."""

import netCDF4
import numpy as np
import shapely

BREAK = 65535  # in the longitudes: a new ring; the latitude beside it tells its kind
HOLE = 1
STATES = {"HK": "CNHK", "MO": "CNMO"}  # which DCW keeps among the states of China
TOLERANCE = 0.002  # degrees, 222 m: enough for comparing


def read_countries(path, codes=None):
    """Returns {ISO 3166-1 alpha-2 code: valid geometry} of all countries, or of codes; degrees, -180...180."""
    data = netCDF4.Dataset(path)
    data.set_auto_mask(False)
    data.set_auto_scale(False)
    assert data.version == "2.1.1"
    names = {name[:2]: name[:2] for name in data.variables if len(name) == 6 and name.endswith("_lon")} | STATES
    return {
        code: _country(data[names[code] + "_lon"], data[names[code] + "_lat"]) for code in codes or sorted(names)
    }


def _country(longitude, latitude):
    x, y = longitude[:].astype(np.int64), latitude[:].astype(np.int64)
    points = np.stack([_degrees(longitude, x), _degrees(latitude, y)], 1)
    land, holes = [], []
    for start, end in zip(np.flatnonzero(x == BREAK), [*np.flatnonzero(x == BREAK)[1:], len(x)]):
        if end - start > 4:
            line = shapely.LineString([*points[start + 1 : end], points[start + 1]])
            ring = shapely.get_coordinates(shapely.simplify(line, TOLERANCE, preserve_topology=False))
            if len(ring) >= 4:
                (holes if y[start] == HOLE else land).append(shapely.Polygon(ring))
    geometry = _union(land)
    return shapely.difference(geometry, _union(holes)) if holes else geometry


def _degrees(variable, steps):
    return steps / float(variable.getncattr("scale")) + float(variable.getncattr("min"))


def _union(polygons):
    """Joins rings that may overlap or cross themselves."""
    polygons = [part if part.is_valid else shapely.make_valid(part) for part in polygons]
    moved = []
    for polygon in polygons:
        for turns in (0, -360):
            part = shapely.transform(polygon, lambda points: points + [turns, 0])
            if part.bounds[0] < 180 and part.bounds[2] > -180:
                moved.append(shapely.clip_by_rect(part, -180, -90, 180, 90))
    return shapely.union_all([part if part.is_valid else shapely.make_valid(part) for part in moved])
