"""The two censuses, as points that carry people."""

import lzma

import numpy as np
import rasterio.warp
import scipy.spatial

import cells

SUBPOINTS = 4  # along each side of a 1 km cell
DISC = 0.6  # radius of a block group's disc, of the mean distance to its four nearest neighbors
EU = "AT BE BG CH CY CZ DE DK EE ES FI FR GR HR HU IT LI LT LU LV MT NL NO RO SE SI".split()
US = ["PR", "US"]
LEFT_OUT = [  # states without block groups: south, north, west, east in degrees
    (38.38, 41.99, -84.83, -80.51),  # Ohio
    (30.34, 35.01, -85.62, -80.83),  # Georgia
    (41.98, 46.31, -124.6, -116.45),  # Oregon
]


def _rows(path):
    with lzma.open(path, "rt") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


def eu_points(path):
    """(latitude, longitude, people, cell number): 16 points for each cell of 1 km."""
    rows = _rows(path)
    steps = (np.arange(SUBPOINTS) + 0.5) * 1000 / SUBPOINTS
    x = rows[:, 0, None, None] + steps[None, :, None] + 0 * steps[None, None, :]
    y = rows[:, 1, None, None] + steps[None, None, :] + 0 * steps[None, :, None]
    longitude, latitude = rasterio.warp.transform("EPSG:3035", "EPSG:4326", x.ravel(), y.ravel())
    share = SUBPOINTS * SUBPOINTS
    return np.array(latitude), np.array(longitude), np.repeat(rows[:, 2] / share, share), np.repeat(np.arange(len(rows)), share)


def us_points(path):
    """(latitude, longitude, people, group number): a disc of points for each block group. Also its spacing, for coverage."""
    rows = _rows(path)
    position = 6371 * np.stack(cells.directions(rows[:, 0], rows[:, 1]), 1)
    distance, _ = scipy.spatial.cKDTree(position).query(position, k=5)
    spacing = distance[:, 1:].mean(1)
    radius = np.clip(DISC * spacing, 0.15, 25)
    count = np.where(radius < 1.5, 32, np.where(radius < 5, 96, 256))
    group = np.repeat(np.arange(len(rows)), count)
    within = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    away = radius[group] * np.sqrt((within + 0.5) / count[group]) / 110.57
    angle = within * np.pi * (3 - np.sqrt(5))
    latitude = rows[group, 0] + away * np.sin(angle)
    longitude = rows[group, 1] + away * np.cos(angle) / np.cos(np.radians(rows[group, 0]))
    return latitude, longitude, rows[group, 2] / count[group], group, position, spacing


def eu_middles(path):
    """(latitude, longitude, people): the middle of each cell of 1 km."""
    rows = _rows(path)
    longitude, latitude = rasterio.warp.transform("EPSG:3035", "EPSG:4326", rows[:, 0] + 500, rows[:, 1] + 500)
    return np.array(latitude), np.array(longitude), rows[:, 2]


def us_centers(path):
    """(latitude, longitude, people): each block group's center of population."""
    return _rows(path).T


class Counted:
    """Points of a census by blocks of cells, and their groups: a group's people keep together and go ashore."""

    def __init__(self, latitude, longitude, people, group, level, block_level):
        face, i, j = cells.cells_at(latitude, longitude, level)
        side = level - block_level
        block, _ = cells.hilbert(face, i >> side, j >> side, block_level)
        number = face * (1 << (2 * block_level)) + block
        order = np.argsort(number, kind="stable")
        mask = (1 << side) - 1
        self.cell = (((i & mask) << side) | (j & mask))[order].astype(np.int32)
        self.people, self.group = people[order], group[order]
        self.starts = np.searchsorted(number[order], np.arange(6 * (1 << (2 * block_level)) + 1))
        self.groups = int(group.max()) + 1

    def numbers(self):
        """Numbers of the blocks with points."""
        return np.flatnonzero(np.diff(self.starts))

    def block(self, number):
        piece = slice(self.starts[number], self.starts[number + 1])
        return self.cell[piece], self.people[piece], self.group[piece]

    def go_ashore(self, land_of):
        """Moves each group's people to its points on land. `land_of(number)` is a block's land. Groups without any keep all points."""
        ashore = np.zeros(len(self.cell), bool)
        for number in self.numbers():
            piece = slice(self.starts[number], self.starts[number + 1])
            ashore[piece] = land_of(number).ravel()[self.cell[piece]]
        total = np.bincount(self.group, self.people, self.groups)
        kept = np.bincount(self.group, self.people * ashore, self.groups)
        lost = (kept == 0)[self.group]
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(kept > 0, total / kept, 1)[self.group]
        self.people = np.where(ashore | lost, self.people * factor, 0)
        return total[kept == 0].sum()
