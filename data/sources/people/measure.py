"""Measures an atlas from outside: what the censuses count in its regions, and where GeoNames' places answer.

    python data/sources/people/measure.py COMMAND ATLAS POPULATION PLACES

COMMAND is the command `hereabouts`, POPULATION the folder with the censuses, PLACES the file places.csv. Only the command's
own output is used (`snap`, `atlas list`). Each cell or block group counts at one point: its middle, or its center of
population.
"""

import collections
import csv
import io
import subprocess
import sys

import numpy as np

import census
from settlements import Settlements

K = 20_000
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDS = (0, 3_000, 6_000, 11_000, 16_000)  # meters of accuracy
CITIES, POSITIONS = 400, 250  # and in each so many positions
FARTHEST = 16_250  # meters: the largest accuracy on land, and the steadiness margin


class Atlas:
    def __init__(self, command, path):
        self.command, self.path = command, path
        listing = subprocess.run([command, "atlas", "list", path], capture_output=True, check=True).stdout
        rows = list(csv.DictReader(io.StringIO(listing.decode())))
        self.index = {row["region"]: number for number, row in enumerate(rows)}
        self.accuracy = np.array([int(row["horizontal_accuracy"]) for row in rows])
        self.promised = np.array([int(row["anonymity_lower_bound"]) for row in rows])
        self.empty = np.array([int(row["anonymity"]) == 0 for row in rows])
        self.near = np.array([row["place"].startswith("near ") for row in rows])
        self.country = [row["country"] for row in rows]

    def regions(self, latitude, longitude):
        """The region of each position, by its number."""
        table = "latitude,longitude\n" + "".join(map("%.6f,%.6f\n".__mod__, zip(latitude, longitude)))
        run = [self.command, "snap", "--atlas", self.path, "-"]
        out = subprocess.run(run, input=table.encode(), capture_output=True, check=True).stdout.decode()
        return np.array([self.index[line.split(",", 4)[3]] for line in out.splitlines()[1:]])


def report(atlas, name, latitude, longitude, people):
    counted = np.bincount(atlas.regions(latitude, longitude), weights=people, minlength=len(atlas.accuracy))
    total = counted.sum()
    claims = atlas.promised >= K

    def share(regions):
        return f"{100 * counted[regions].sum() / total:5.2f} %"

    print(f"{name}: {total:,.0f} people counted")
    print(f"  in regions with fewer than {K:,}: {share(counted < K)}; fewer than {K // 2:,}: {share(counted < K // 2)}")
    print(f"  promised {K:,}, and fewer counted: {share(claims & (counted < K))}; fewer than half: {share(claims & (counted < K / 2))}")
    wrong = claims & (counted < K) & (counted > 0)
    bands = [(atlas.accuracy > least) & (atlas.accuracy <= most) for least, most in zip(BANDS, BANDS[1:])]
    print(f"    in {wrong.sum()} regions; of those with an accuracy up to", *(
        f"{most / 1000:.0f} km {100 * counted[wrong & band].sum() / counted[band].sum():.2f} %"
        for most, band in zip(BANDS[1:], bands)))
    print(f"  promised fewer: {share(~claims)}; named for a place that is only near: {share(atlas.near)}")
    order = np.argsort(atlas.accuracy, kind="stable")
    sums = np.cumsum(counted[order])
    accuracies = [atlas.accuracy[order][np.searchsorted(sums, part * total)] for part in SHARES]
    print("  accuracy in meters at 5, 25, 50, 75, 95 % of people:", *accuracies)


def report_cities(atlas, places):
    """What positions spread over the discs of the largest places answer: as many in each, evenly along a sunflower's spiral."""
    largest = np.argsort(-places.population, kind="stable")[:CITIES, None]
    step = np.arange(POSITIONS) + 0.5
    distance, angle = places.radius[largest] / 111.2 * np.sqrt(step / POSITIONS), step * np.pi * (3 - 5**0.5)
    latitude = places.latitude[largest] + distance * np.cos(angle)
    longitude = places.longitude[largest] + distance * np.sin(angle) / np.cos(np.radians(latitude))
    regions = atlas.regions(latitude.ravel(), longitude.ravel())
    near, empty = atlas.near[regions], atlas.empty[regions]
    print(f"positions in the {CITIES} largest cities: {100 * near.mean():.1f} % answer with a place that is only near, "
          f"{100 * (near & ~empty).mean():.1f} % where people live, {100 * (near & empty).mean():.1f} % elsewhere")


def report_places(atlas, rows):
    regions = atlas.regions([float(row["latitude"]) for row in rows], [float(row["longitude"]) for row in rows])
    wide = [number for number in range(len(rows)) if atlas.accuracy[regions[number]] > FARTHEST]
    print(f"places with an accuracy above {FARTHEST:,} m: {len(wide)} of {len(rows)}")
    countries = collections.Counter(rows[number]["country"] for number in wide)
    print("  by country:", *(f"{code} {count}" for code, count in countries.most_common(20)))
    for number in wide:
        print(f"  {rows[number]['name']}, {rows[number]['country']}: {atlas.accuracy[regions[number]]} m, in {atlas.country[regions[number]]}")


def main(command, atlas, population, places):
    atlas = Atlas(command, atlas)
    report(atlas, "EU", *census.eu_middles(f"{population}/eu-census-2021-1km.csv.xz"))
    report(atlas, "US", *census.us_centers(f"{population}/us-block-groups-2020.csv.xz"))
    with open(places, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    report_places(atlas, rows)
    report_cities(atlas, Settlements(places, sorted({row["country"] for row in rows})))


if __name__ == "__main__":
    main(*sys.argv[1:])
