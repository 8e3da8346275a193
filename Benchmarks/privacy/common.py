"""What the attacks share: the command, its atlas, people from the population surface, and where figures go."""

import csv
import hashlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent.parent
FOLDER = PROJECT / "Benchmarks/.build/privacy"
SURFACE = PROJECT / "data/population.surface"
EARTH = 6_371_008.8  # meters
SEED = 60
# Where people were counted: classes of the surface (data/sources/people/blocks.py).
AREAS = {"Europe": 3, "US": 4}
K = 20_000


def direction(latitude, longitude):
    """Unit vectors of positions in degrees, in the last dimension."""
    latitude, longitude = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], -1)


def distance(latitude, longitude, other_latitude, other_longitude):
    """Meters between positions, on a sphere."""
    chord = np.linalg.norm(direction(latitude, longitude) - direction(other_latitude, other_longitude), axis=-1)
    return 2 * EARTH * np.arcsin(np.minimum(1, chord / 2))


class Plane:
    """Meters east and north of a position, for places within some 300 km of it."""

    def __init__(self, latitude, longitude):
        self.latitude, self.longitude = latitude, longitude
        self.north = np.pi / 180 * EARTH
        self.east = self.north * np.cos(np.radians(latitude))

    def degrees(self, x, y):
        latitude = self.latitude + y / self.north
        return latitude, self.longitude + x / (self.north * np.cos(np.radians(latitude)))

    def meters(self, latitude, longitude):
        return (longitude - self.longitude) * self.north * np.cos(np.radians(latitude)), (latitude - self.latitude) * self.north


class Atlas:
    """An atlas, as the command tells it."""

    def __init__(self, command, path):
        self.command, self.path = str(command), str(path)
        self.name = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
        listing = self.run("atlas", "list", self.path)
        rows = list(csv.DictReader(io.StringIO(listing)))
        self.index = {row["region"]: number for number, row in enumerate(rows)}
        self.country = np.array([row["country"] for row in rows])
        self.latitude, self.longitude, self.accuracy, self.residents, self.promised = (
            np.array([float(row[name]) for row in rows])
            for name in ("latitude", "longitude", "horizontal_accuracy", "anonymity", "anonymity_lower_bound")
        )

    def run(self, *arguments, stdin=None):
        done = subprocess.run([self.command, *arguments], input=stdin, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{arguments[0]} ended with status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout

    def regions(self, latitude, longitude):
        """The region of each position, by its number."""
        table = "latitude,longitude\n" + "".join(map("%.6f,%.6f\n".__mod__, zip(np.ravel(latitude).tolist(), np.ravel(longitude).tolist())))
        rows = self.run("snap", "--atlas", self.path, "-", stdin=table).splitlines()[1:]
        return np.array([self.index[row.split(",", 4)[3]] for row in rows]).reshape(np.shape(latitude))

    def convert(self, table, *options):
        """The answers to a table of fixes: rows of a dict by device, in order of time, as (seconds since 1970, region)."""
        text = self.run("convert", "--atlas", self.path, "--to", "csv", *options, "-", stdin=table)
        answers = {}
        for row in csv.DictReader(io.StringIO(text)):
            if row["region"]:
                time = int(np.datetime64(row["time"].rstrip("Z")).astype("datetime64[s]").astype(np.int64))
                answers.setdefault(row["device_id"], []).append((time, self.index[row["region"]]))
        return answers


def fixes(devices, seconds, latitude, longitude):
    """A table of fixes for `Atlas.convert`; flat arrays of one length."""
    times = np.datetime_as_string(np.asarray(seconds, np.int64).astype("datetime64[s]")).tolist()
    rows = zip(np.asarray(devices).tolist(), times, np.asarray(latitude).tolist(), np.asarray(longitude).tolist())
    return "device_id,time,latitude,longitude\n" + "".join(map("%s,%sZ,%.6f,%.6f\n".__mod__, rows))


class People:
    """Cells of the surface in which people were counted, of one area, and who lives there."""

    def __init__(self, area):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cache = FOLDER / "people.npz"
        if not cache.exists() or cache.stat().st_mtime < SURFACE.stat().st_mtime:
            self._read(cache)
        with np.load(cache) as stored:
            here = stored["category"] == AREAS[area]
            self.latitude, self.longitude, self.residents, self.side = (
                stored[name][here].astype(float) for name in ("latitude", "longitude", "residents", "side")
            )
        self.share = np.cumsum(self.residents) / self.residents.sum()

    @staticmethod
    def _read(cache):
        sys.path.insert(0, str(PROJECT / "data/sources/people"))
        from surface import Surface

        surface = Surface(SURFACE)
        latitude, longitude = surface.positions()
        here = np.isin(surface.category, list(AREAS.values()))
        np.savez(
            cache, category=surface.category[here], latitude=latitude[here], longitude=longitude[here],
            residents=surface.residents[here], side=(np.pi / 2 * EARTH / (1 << surface.level[here])).astype(np.float32),
        )  # fmt: skip

    def homes(self, random, number):
        """Positions of homes, as likely as people live there; anywhere in a cell alike."""
        return self.within(random, np.searchsorted(self.share, random.random(number)))

    def within(self, random, cells):
        """A random position within each of some cells."""
        x, y = (random.random((2, len(cells))) - 0.5) * 0.8 * self.side[cells]
        latitude = self.latitude[cells] + y / (np.pi / 180 * EARTH)
        return latitude, self.longitude[cells] + x / (np.pi / 180 * EARTH * np.cos(np.radians(latitude)))


def quantile(values, weights, share=0.5):
    """The value below which that share of the weights lies."""
    order = np.argsort(values)
    sums = np.cumsum(np.asarray(weights, float)[order])
    return float(np.asarray(values)[order][np.searchsorted(sums, share * sums[-1])])
