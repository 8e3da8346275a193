"""Reads GSHHG, the shoreline database of the Generic Mapping Tools, from its binned netCDF file.

The file cuts every shoreline polygon at the edges of one-degree bins. Inside a bin a piece is a run of points on a
lattice of 1/65535 degree, relative to the bin's south-west corner; the cut ends lie exactly on the bin's edge, so the
pieces of one polygon join again by equal lattice points. All arithmetic here is on integers.
"""

from collections import defaultdict

import netCDF4
import numpy as np

LATTICE = 65535  # lattice steps per degree
TURN = 360 * LATTICE

LAND, LAKE, ISLAND_IN_LAKE, POND = 1, 2, 3, 4
GROUNDING_LINE = 6  # a second outline of Antarctica, inside the ice front, which is level 1


def read_polygons(path):
    """Returns {polygon id: (level, area in km2, id of the enclosing polygon, ring)}.

    A ring is an (n, 2) array of lattice x = longitude * 65535 (not wrapped: it may leave 0...360 degrees) and
    y = (latitude + 90) * 65535, first point repeated. Only the ring of Antarctica ends 360 degrees from its start.
    """
    data = netCDF4.Dataset(path)
    data.set_auto_mask(False)
    data.set_auto_scale(False)
    assert data.version == "2.3.7" and data["Bin_size_in_minutes"][0] == 60

    info = data["Embedded_npts_levels_exit_entry_for_a_segment"][:]
    count = (info >> 9).astype(np.int64)
    level = (info >> 6) & 7
    entry = (info >> 3) & 7  # side of the bin where the piece begins; 4: a whole polygon inside the bin
    start = data["Id_of_first_point_in_a_segment"][:].astype(np.int64)
    polygon = data["Id_of_GSHHS_ID"][:]
    area = np.abs(data["The_km_squared_area_of_polygons"][:])  # rivers wide enough to be lakes are stored as negative
    parent = data["Id_of_parent_polygons"][:]

    bins = np.repeat(np.arange(360 * 180), data["N_segments_in_a_bin"][:].astype(np.int64))
    dx = data["Relative_longitude_from_SW_corner_of_bin"][:].view(np.uint16)
    dy = data["Relative_latitude_from_SW_corner_of_bin"][:].view(np.uint16)
    x = np.repeat(bins % 360 * LATTICE, count) + dx
    y = np.repeat((179 - bins // 360) * LATTICE, count) + dy

    rings, levels, pieces = {}, {}, defaultdict(list)
    for i in range(len(polygon)):
        key, piece = int(polygon[i]), slice(start[i], start[i] + count[i])
        points = np.stack([x[piece], y[piece]], 1)
        levels[key] = int(level[i])
        if entry[i] == 4:
            rings[key] = points
        else:
            pieces[key].append(points)
    for key, parts in pieces.items():
        rings[key] = _join(parts)
    return {key: (levels[key], float(area[key]), int(parent[key]), rings[key]) for key in sorted(rings)}


def _join(parts):
    """Joins the pieces of one polygon end to start, and moves each by whole turns so that longitude never jumps.

    A ring may touch itself at a bin's edge, where two pieces start; hence Hierholzer's walk, which leaves none behind.
    """
    by_start = defaultdict(list)
    for part in reversed(parts):
        by_start[_wrapped(part[0])].append(part)
    walk, order = [(_wrapped(parts[0][0]), None)], []
    while walk:
        if by_start[walk[-1][0]]:
            part = by_start[walk[-1][0]].pop()
            walk.append((_wrapped(part[-1]), part))
        else:
            order.append(walk.pop()[1])
    ring = [parts[0][:1]]
    for part in order[-2::-1]:
        end = ring[-1][-1]
        assert _wrapped(part[0]) == _wrapped(end)
        ring.append((part + [end[0] - part[0][0], 0])[1:])
    ring = np.concatenate(ring)
    assert _wrapped(ring[0]) == _wrapped(ring[-1]) and len(ring) == sum(len(part) - 1 for part in parts) + 1
    return ring


def _wrapped(point):
    return int(point[0]) % TURN, int(point[1])
