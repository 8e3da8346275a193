"""Writes borders.geojsonl: the zones by country, corrected where a zone is not a country (see SOURCES.md).

Where two countries' features overlap, the one with the higher rank has the land; at equal rank the smaller code.
"""

import sys

import numpy as np
import shapely

import dcw
from zones import HIGH_SEAS, MICRO, Zone, read_zones

# AQ and the islands are laid over the ocean; countries overlap each other where the source leaves a dispute open.
OCEAN, ISLAND, COUNTRY, PREFERRED, ANTARCTICA = 0, 1, 2, 3, 4

# Who gets land that two countries claim: by GeoNames' places in it, else by DCW.
PREFERRED_CODES = {
    "GE",  # over RU: Abkhazia, South Ossetia
    "PS",  # over IL: the West Bank
    "SS",  # over SD: Kafia Kingi, Abyei
    "BJ",  # over BF: Koualou
    "BR",  # over BO: Isla Suárez
    "IT",  # over FR: the top of Mont Blanc
    "KP",  # over CN: an island in the Tumen
    "RS",  # over HR: the left bank of the Danube
}

DROPPED = {"Asia/Urumqi"}  # lies over Asia/Shanghai; both are CN

# Whole polygons of a zone that belong to another country: zone, box around them (west, south, east, north), country.
RECODED = [
    ("Asia/Bangkok", (102.1, 16.9, 108.3, 23.4), "VN"),  # northern Vietnam, and its island Bach Long Vi
    ("Europe/Oslo", (-10.0, 70.0, -7.0, 72.0), "SJ"),  # Jan Mayen
    ("America/New_York", (-75.3, 19.8, -75.0, 20.0), "CU"),  # Guantánamo
    ("Pacific/Honolulu", (-170.0, 16.0, -169.0, 17.0), "UM"),  # Johnston Atoll
    ("America/Port-au-Prince", (-75.3, 18.1, -74.7, 18.7), "UM"),  # Navassa
    ("Etc/GMT-1", (18.8, 45.5, 19.0, 45.9), "HR"),  # pockets on the right bank of the Danube
    ("Etc/GMT-5", (70.5, 39.9, 70.6, 40.0), "TJ"),  # a sliver in the Fergana valley
]

# Islands that the source leaves in the ocean: 12 nautical miles around the land that GSHHG has in the box.
NAUTICAL_MILES = 12
ISLANDS = [
    ("AU", "Ashmore and Cartier Islands", (122.9, -12.6, 123.6, -12.2)),
    ("AU", "Coral Sea Islands, north", (148.3, -18.0, 152.0, -16.0)),
    ("AU", "Coral Sea Islands, south", (153.0, -24.0, 156.0, -20.5)),
    ("BV", "Bouvet Island", (3.0, -55.0, 4.0, -54.0)),
    ("FR", "Clipperton", (-110.0, 10.0, -109.0, 11.0)),
    ("HM", "Heard Island and McDonald Islands", (72.0, -54.0, 75.0, -52.0)),
    ("JP", "Senkaku Islands", (123.0, 25.5, 125.0, 26.2)),
    ("TF", "Europa and Bassas da India", (39.0, -23.0, 41.0, -21.0)),
    ("TF", "Glorioso Islands", (47.2, -11.7, 47.5, -11.4)),
    ("TF", "Juan de Nova", (42.6, -17.2, 42.9, -16.9)),
    ("TF", "Tromelin", (54.4, -16.0, 54.6, -15.8)),
    ("UM", "Howland and Baker", (-177.0, 0.0, -176.0, 1.0)),
    ("UM", "Jarvis", (-160.5, -1.0, -159.5, 0.0)),
    ("UM", "Palmyra and Kingman Reef", (-163.0, 5.5, -161.5, 7.0)),
]

# Kosovo: DCW's line from the tripoint with Montenegro to that with North Macedonia cuts Europe/Belgrade in two.
KOSOVO_TRIPOINTS = [(20.352, 42.833), (21.591, 42.249)]
KOSOVO_INSIDE = (21.1655, 42.6629)  # Pristina
KOSOVO_TRIM_KM = 1.0  # DCW's line is used from this distance of the border with third countries

ANTARCTIC_LIMIT = -60  # ISO 3166: AQ is all south of 60 degrees South


def main(dcw_file, land_file, target):
    zones = [zone for zone in read_zones() if zone.name not in DROPPED]
    zones = [part for zone in zones for part in recoded(without_antarctica(zone))]
    cut_kosovo(zones, dcw.read_countries(dcw_file, ["XK"])["XK"])
    features = [(zone.code, zone.name, rank_of(zone.code), zone.polygons) for zone in zones if zone.polygons]
    features += islands(land_file)
    features.append(("AQ", "Antarctica", ANTARCTICA, [[antarctic_ring()]]))
    with open(target, "w", encoding="utf-8") as out:
        for feature in sorted(features, key=lambda f: f[:2]):
            out.write(feature_text(*feature))
    print(f"borders: {len(features)} features, {len({feature[0] for feature in features})} codes")


def rank_of(code):
    if code == HIGH_SEAS:
        return OCEAN
    return PREFERRED if code in PREFERRED_CODES else COUNTRY


def without_antarctica(zone):
    """Claims and stations south of 60 degrees give way to AQ; the ocean's strips stay below it."""
    kept = [p for p in zone.polygons if zone.code == HIGH_SEAS or p[0][:, 1].max() > ANTARCTIC_LIMIT * MICRO]
    return Zone(zone.name, zone.code, kept)


def recoded(zone):
    """The zone, less the polygons that lie in a box of RECODED; these follow as zones of their own."""
    parts = {zone.code: []}
    for polygon in zone.polygons:
        code = zone.code
        for name, (west, south, east, north), new_code in RECODED:
            low, high = polygon[0].min(0) / MICRO, polygon[0].max(0) / MICRO
            if name == zone.name and west <= low[0] and south <= low[1] and high[0] <= east and high[1] <= north:
                code = new_code
        parts.setdefault(code, []).append(polygon)
    assert len(parts) == len({zone.code} | {code for name, _, code in RECODED if name == zone.name})
    return [Zone(zone.name, code, polygons) for code, polygons in parts.items()]


def cut_kosovo(zones, second_source):
    """Splits the polygon of Europe/Belgrade along DCW's line; every border with a third country keeps its vertices."""
    serbia = next(zone for zone in zones if zone.name == "Europe/Belgrade")
    index = next(i for i, p in enumerate(serbia.polygons) if contains(p[0], KOSOVO_INSIDE))
    outline, *holes = serbia.polygons[index]
    line = kosovo_line(second_source, outline)
    first, last = nearest_vertex(outline[:-1], line[0] / MICRO), nearest_vertex(outline[:-1], line[-1] / MICRO)
    if first > last:
        first, last, line = last, first, line[::-1]
    sides = [
        np.concatenate([outline[first : last + 1], line[::-1], outline[first : first + 1]]),
        np.concatenate([outline[last:], outline[1 : first + 1], line, outline[last : last + 1]]),
    ]
    assert all(shapely.Polygon(side).is_valid for side in sides)
    sides.sort(key=lambda side: contains(side, KOSOVO_INSIDE))
    assert not contains(sides[0], KOSOVO_INSIDE) and contains(sides[1], KOSOVO_INSIDE)
    assert all(contains(sides[0], hole[0] / MICRO) for hole in holes)
    serbia.polygons[index] = [sides[0], *holes]
    zones.append(Zone(serbia.name, "XK", [[sides[1]]]))


def kosovo_line(second_source, outline):
    """DCW's line between Serbia and Kosovo, from near one tripoint to near the other, in millionths of a degree."""
    ring = np.array(max(shapely.get_parts(second_source), key=lambda part: part.area).exterior.coords)[:-1]
    first, last = (nearest_vertex(ring * MICRO, tripoint) for tripoint in KOSOVO_TRIPOINTS)
    ring = np.concatenate([ring[first:], ring[: first + 1]])  # from start around to start
    last = (last - first) % (len(ring) - 1)
    ways = [ring[: last + 1], ring[last:][::-1]]
    line = max(ways, key=lambda way: way[:, 1].max())  # the way around the north
    border = shapely.LinearRing(plane(outline / MICRO))
    inside = shapely.contains_xy(shapely.Polygon(outline / MICRO), line[:, 0], line[:, 1])
    away = shapely.distance(shapely.points(plane(line)), border) > KOSOVO_TRIM_KM
    usable = np.flatnonzero(inside & away)
    line = line[usable[0] : usable[-1] + 1]
    return np.round(line * MICRO).astype(np.int64)


def plane(points):
    """Kilometers around Kosovo."""
    return points * [111.3 * np.cos(np.radians(42.6)), 111.1]


def nearest_vertex(ring, degrees):
    return int(np.argmin(np.hypot(*plane(ring / MICRO - degrees).T)))


def contains(ring, degrees):
    return bool(shapely.contains_xy(shapely.Polygon(ring / MICRO), *degrees))


def islands(land_file):
    """Territorial waters around the land in the boxes of ISLANDS."""
    with open(land_file, encoding="ascii") as lines:
        land = shapely.from_geojson(list(lines))
    tree = shapely.STRtree(land)
    features = []
    for code, name, box in ISLANDS:
        inside = land[tree.query(shapely.box(*box), predicate="contains")]
        shrink = [np.cos(np.radians((box[1] + box[3]) / 2)), 1]
        around = [shapely.buffer(shapely.transform(g, lambda p: p * shrink), NAUTICAL_MILES / 60) for g in inside]
        around = shapely.simplify(shapely.transform(shapely.union_all(around), lambda p: p / shrink), 0.002)
        rings = [np.round(shapely.get_coordinates(part.exterior) * 10_000) for part in shapely.get_parts(around)]
        assert rings, name
        features.append((code, name, ISLAND, [[ring.astype(np.int64) * (MICRO // 10_000)] for ring in rings]))
    return features


def antarctic_ring():
    corners = [(-180, -90), (180, -90), (180, ANTARCTIC_LIMIT), (-180, ANTARCTIC_LIMIT), (-180, -90)]
    return np.array(corners) * MICRO


def feature_text(code, name, rank, polygons):
    shape = ",".join("[" + ",".join(map(ring_text, polygon)) + "]" for polygon in polygons)
    properties = f'{{"code":"{code}","name":"{name}","rank":{rank}}}'
    geometry = f'{{"type":"MultiPolygon","coordinates":[{shape}]}}'
    return f'{{"type":"Feature","properties":{properties},"geometry":{geometry}}}\n'


def ring_text(ring):
    return "[" + ",".join("[%.6f,%.6f]" % (x / MICRO, y / MICRO) for x, y in ring.tolist()) + "]"


if __name__ == "__main__":
    main(*sys.argv[1:])
