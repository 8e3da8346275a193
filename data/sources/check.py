"""Compares borders.geojsonl with two independent sources, and fails if a difference is not explained.

GeoNames: the country of each place. DCW: the land of each country. The disagreements are written as a Markdown list.
"""

import csv
import sys
from collections import Counter, defaultdict

import numpy as np
import shapely

import dcw
import partition

PLACES_AGREEMENT = 0.999  # of all places in the world
COUNTRY_AGREEMENT = 0.97  # of the places of each country that has at least
COUNTRY_PLACES = 20
OVERLAP = 0.97  # intersection over union with DCW's land, or a difference under
DIFFERENCE_KM2 = 200
SOME_OVERLAP = 0.5  # for the smallest countries
STRAY_KM2 = 60  # of DCW's land on the high seas: shores that reach too far, and rocks
NEAR_BORDER_KM = 1.0
EARTH_KM = 6371.007  # radius of the sphere with the Earth's area


def main(borders, places_file, dcw_file, explained_file, report_file):
    world = partition.faces(partition.read_features(borders))
    failures = [f"a gap of {face.area} square degrees" for code, face in world if code is None]
    area = sum(face.area for _, face in world)
    if abs(area - 360 * 180) > 1e-6:
        failures.append(f"the partition covers {area} square degrees, not {360 * 180}")
    failures += check_places(world, places_file, report_file)
    failures += check_land(world, dcw.read_countries(dcw_file), explained_file)
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


def check_places(world, places_file, report_file):
    with open(places_file, encoding="utf-8", newline="") as lines:
        places = list(csv.DictReader(lines))
    x = np.array([float(place["longitude"]) for place in places])
    y = np.array([float(place["latitude"]) for place in places])
    theirs = np.array([place["country"] for place in places])
    tree = shapely.STRtree(shapely.points(x, y))
    ours = np.full(len(places), "--")
    for code, face in world:
        found = tree.query(face)
        shapely.prepare(face)
        ours[found[shapely.contains_xy(face, x[found], y[found])]] = code or "--"

    bad = np.flatnonzero(ours != theirs)
    totals, misses = Counter(theirs), Counter(theirs[bad])
    failures = []
    if len(bad) > len(places) * (1 - PLACES_AGREEMENT):
        failures.append(f"{len(bad)} of {len(places)} places lie in another country than GeoNames says")
    for code, missed in sorted(misses.items()):
        if totals[code] >= COUNTRY_PLACES and missed > totals[code] * (1 - COUNTRY_AGREEMENT):
            failures.append(f"{missed} of {totals[code]} places of {code} lie in another country")
    print(f"places: {len(places) - len(bad)} of {len(places)} agree ({100 - 100 * len(bad) / len(places):.3f} %)")
    write_report(report_file, places, ours, bad, borders_near(world, x[bad], y[bad], theirs[bad], ours[bad]), totals)
    return failures


def borders_near(world, x, y, theirs, ours):
    """Distance in km from each place to the country that GeoNames says it is in."""
    result = []
    for lon, lat, code in zip(x, y, theirs):
        shrink = [np.cos(np.radians(lat)), 1]
        near = shapely.box(lon - 1, lat - 1, lon + 1, lat + 1)
        faces = [face for own, face in world if own == code and face.intersects(near)]
        parts = [shapely.clip_by_rect(face, *near.bounds) for face in faces]
        parts = [shapely.transform(part, lambda p: p * shrink) for part in parts if not part.is_empty]
        point = shapely.Point(lon * shrink[0], lat)
        result.append(min((part.distance(point) for part in parts), default=np.inf) * 111.2)
    return result


def write_report(report_file, places, ours, bad, distances, totals):
    groups = defaultdict(list)
    for i, distance in zip(bad, distances):
        groups[places[i]["country"], ours[i]].append((places[i]["name"], distance))
    near = sum(distance <= NEAR_BORDER_KM for distance in distances)
    with open(report_file, "w", encoding="utf-8") as out:
        out.write("# Places that GeoNames and the borders put in different countries\n\n")
        out.write("Written by `data/sources/check.py`. ")
        out.write(f"{len(bad)} of {len(places)} places; {near} of them within {NEAR_BORDER_KM:g} km of ")
        out.write("the country that GeoNames names.\n")
        out.write("Distance: from the place to that country's border; none where it is over 100 km.\n\n")
        out.write("| GeoNames | borders | places | of | which, with the distance in km |\n|---|---|---|---|---|\n")
        for (code, own), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            names = ", ".join(name + (f" {d:.1f}" if d < 111 else "") for name, d in members)
            out.write(f"| {code} | {own} | {len(members)} | {totals[code]} | {names} |\n")


def check_land(world, second, explained_file):
    with open(explained_file, encoding="utf-8", newline="") as lines:
        explained = {row["code"]: (float(row["km2"]), row["reason"]) for row in csv.DictReader(lines)}
    shared = shared_land(world, second)
    failures, used = [], set()
    for code in sorted(({code for code, _ in world if code} | second.keys()) - {"XZ"}):
        common = shared[code, code]
        lost = {own: km2 for (theirs, own), km2 in shared.items() if theirs == code != own}
        gained = {theirs: km2 for (theirs, own), km2 in shared.items() if own == code != theirs}
        difference = sum(lost.values()) + sum(gained.values())
        union = common + difference
        if (common < OVERLAP * union and difference > DIFFERENCE_KM2) or common <= SOME_OVERLAP * union:
            used.add(code)
            if code not in explained or difference > explained[code][0]:
                share = common / union if union else 0
                text = f"{code}: {share:.3f} of the land in common with DCW, {difference:.1f} km2 differ"
                failures.append(text + f"; DCW's land that is now {most(lost)}; land that DCW gives to {most(gained)}")
    stray = sum(km2 for (_, own), km2 in shared.items() if own == "XZ")
    if stray > STRAY_KM2:
        failures.append(f"{stray:.1f} km2 of DCW's land belong to no country")
    failures += [f"{code} differs no longer: remove its explanation" for code in sorted(explained.keys() - used)]
    print(f"land: {len(second)} countries compared with DCW, {len(used)} differ, {stray:.0f} km2 on the high seas")
    return failures


def shared_land(world, second):
    """{(DCW's code, our code): km2 of the land in both}."""
    parts = [(code, part) for code, land in second.items() for part in shapely.get_parts(equal_area(land))]
    tree = shapely.STRtree([part for _, part in parts])
    shared = defaultdict(float)
    for own, face in world:
        face = equal_area(coarse(face))
        shapely.prepare(face)
        for i in tree.query(face, predicate="intersects"):
            code, part = parts[i]
            whole = shapely.contains_properly(face, part)
            shared[code, own] += part.area if whole else shapely.intersection(face, part).area
    return shared


def most(areas):
    largest = sorted(areas.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{code} {km2:.0f}" for code, km2 in largest if km2 >= 0.5) or "none"


def coarse(polygon):
    lines = [shapely.simplify(ring, 0.002, preserve_topology=False) for ring in (polygon.exterior, *polygon.interiors)]
    outline, *holes = map(shapely.get_coordinates, lines)
    return shapely.Polygon(outline, [hole for hole in holes if len(hole) >= 4]) if len(outline) >= 4 else polygon


def equal_area(geometry):
    """Lambert's cylindrical projection, in km."""
    projected = shapely.transform(
        geometry, lambda p: np.stack([np.radians(p[:, 0]) * EARTH_KM, np.sin(np.radians(p[:, 1])) * EARTH_KM], 1)
    )
    return projected if projected.is_valid else shapely.make_valid(projected)


if __name__ == "__main__":
    main(*sys.argv[1:])
