"""Writes land.geojsonl: the dry land of the Earth from GSHHG, within 100 m of it, lakes over 10 km2 taken out."""

import sys

import numpy as np
import shapely

import gshhg

LAKE_KM2 = 10  # smaller lakes stay land
TOLERANCE = 0.0008  # degrees, 89 m: simplification after GSHHG's own error of some hundred meters
DECIMALS = 5  # of a degree, 1.1 m: the precision written


def main(source, target):
    polygons = without_overlaps(shells_with_holes(gshhg.read_polygons(source)))
    assert shapely.is_valid(shapely.transform(polygons, lambda points: np.round(points, DECIMALS))).all()
    with open(target, "w", encoding="ascii") as out:
        for polygon in sorted(polygons, key=lambda p: (-p.area, p.bounds)):
            rings = ",".join(map(ring_text, [polygon.exterior, *polygon.interiors]))
            geometry = f'{{"type":"Polygon","coordinates":[{rings}]}}'
            out.write(f'{{"type":"Feature","properties":{{"code":"land"}},"geometry":{geometry}}}\n')
    print(f"land: {len(polygons)} polygons, {sum(shapely.get_num_coordinates(polygons))} vertices")


def ring_text(ring):
    return "[" + ",".join("[%.5f,%.5f]" % (x, y) for x, y in ring.coords) + "]"


def shells_with_holes(source):
    """Land and islands in lakes as polygons, their large lakes and ponds as holes; degrees, cut at the antimeridian."""
    holes, shells = {}, []
    for key, (level, area, parent, ring) in source.items():
        if level in (gshhg.LAKE, gshhg.POND) and area >= LAKE_KM2:
            holes.setdefault(parent, []).append(ring)
        elif level == gshhg.LAND:
            shells.append((key, ring))
        elif level == gshhg.ISLAND_IN_LAKE and source[parent][1] >= LAKE_KM2:
            shells.append((key, ring))
    result = []
    for key, ring in shells:
        ring = around_pole(ring)
        outline = simplified(ring)
        if outline is not None:
            inner = [simplified(beside(hole, ring)) for hole in holes.get(key, [])]
            result += cut_at_antimeridian(valid(shapely.Polygon(outline, [hole for hole in inner if hole is not None])))
    return result


def simplified(ring):
    """The ring in degrees, with fewer points, rounded; None where nothing larger than the tolerance is left."""
    line = shapely.simplify(shapely.LineString(ring / gshhg.LATTICE - [0, 90]), TOLERANCE, preserve_topology=False)
    points = np.round(shapely.get_coordinates(line), DECIMALS)
    return points if len(points) >= 4 else None


def valid(polygon):
    """The polygon itself, or what it encloses where it crosses itself; rounded again."""
    return polygon if polygon.is_valid else rounded(shapely.make_valid(polygon))


def rounded(geometry):
    return shapely.set_precision(geometry, 10**-DECIMALS)


def around_pole(ring):
    """Closes the ring that goes around the South Pole along latitude -90."""
    if ring[0][0] == ring[-1][0]:
        return ring
    assert abs(ring[0][0] - ring[-1][0]) == gshhg.TURN
    return np.concatenate([ring, [[ring[-1][0], 0], [ring[0][0], 0], ring[0]]])


def beside(hole, shell):
    """The hole, moved by whole turns to where its shell is."""
    low, high = shell[:, 0].min(), shell[:, 0].max()
    for turns in (0, -1, 1):
        moved = hole + [turns * gshhg.TURN, 0]
        if low <= moved[:, 0].min() and moved[:, 0].max() <= high:
            return moved
    raise ValueError("a lake lies outside its land")


def cut_at_antimeridian(geometry):
    """The polygons of the geometry, brought into -180...180 degrees of longitude."""
    west, _, east, _ = geometry.bounds
    if -180 <= west and east <= 180:
        return polygonal_parts(geometry)
    result = []
    for turns in (-360, 0, 360):
        moved = shapely.transform(geometry, lambda points: points + [turns, 0])
        if moved.bounds[0] < 180 and moved.bounds[2] > -180:
            result += polygonal_parts(rounded(valid(shapely.clip_by_rect(moved, -180, -90, 180, 90))))
    return result


def without_overlaps(polygons):
    """Joins polygons that overlap after simplification (islets close to a shore); all others stay as they are."""
    polygons = np.array(sorted(polygons, key=shapely.get_num_coordinates, reverse=True))
    shapely.prepare(polygons)
    tree = shapely.STRtree(polygons)
    small, large = tree.query(polygons)
    small, large = small[small > large], large[small > large]
    meet = shapely.intersects(polygons[large], polygons[small])
    root = np.arange(len(polygons))

    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for a, b in zip(small[meet], large[meet]):
        a, b = find(a), find(b)
        root[max(a, b)] = min(a, b)
    groups = {}
    for i in range(len(polygons)):
        groups.setdefault(find(i), []).append(i)
    result = []
    for members in groups.values():
        if len(members) == 1:
            result.append(polygons[members[0]])
        else:
            result += polygonal_parts(shapely.union_all(polygons[members], grid_size=10**-DECIMALS))
    return result


def polygonal_parts(geometry):
    parts = shapely.get_parts(shapely.get_parts(geometry))
    return [part for part in parts if part.geom_type == "Polygon" and part.area > 0]


if __name__ == "__main__":
    main(*sys.argv[1:])
