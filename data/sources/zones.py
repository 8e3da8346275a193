"""Reads the world's time zones, cut along OpenStreetMap's boundaries, and their countries from tzdata's zone.tab."""

import importlib.resources
from dataclasses import dataclass

import numpy as np
from timezonefinder import TimezoneFinder

MICRO = 1_000_000  # the source has exactly six decimals; rings are kept as integers of a millionth of a degree
HIGH_SEAS = "XZ"


@dataclass
class Zone:
    """The polygons of a zone that lie in one country; polygon = [outline, hole, ...], ring = closed (n, 2) array."""

    name: str
    code: str
    polygons: list


def read_zones():
    """All zones in the order of their names. Zones of the oceans (Etc/...) have the code XZ."""
    country_of = {}
    with importlib.resources.files("tzdata").joinpath("zoneinfo/zone.tab").open(encoding="utf-8") as table:
        for line in table:
            if not line.startswith("#"):
                code, _, name = line.rstrip("\n").split("\t")[:3]
                country_of[name] = code
    finder = TimezoneFinder()
    zones = []
    for index, name in sorted(enumerate(finder.timezone_names), key=lambda pair: pair[1]):
        code = HIGH_SEAS if name.startswith("Etc/") else country_of[name]
        shape = finder.get_geometry(tz_id=index, use_id=True, coords_as_pairs=False)
        zones.append(Zone(name, code, [[_ring(*ring) for ring in polygon] for polygon in shape]))
    return zones


def _ring(longitudes, latitudes):
    degrees = np.stack([longitudes, latitudes], 1)
    ring = np.round(degrees * MICRO).astype(np.int64)
    assert np.abs(ring / MICRO - degrees).max() < 1e-9
    return ring if (ring[0] == ring[-1]).all() else np.concatenate([ring, ring[:1]])
