"""GeoNames' places as discs: the density they suggest where the rasters are flat, and a population source of their own."""

import csv

import numpy as np

import cells
from rasters import Minutes

UNKNOWN = 400  # residents taken for a place whose population GeoNames does not know
CORE = 1500  # people per km² of a place of 10,000
REACH = 1.25  # the density falls to nothing between 0.75 and 1.25 radii


class Settlements:
    def __init__(self, path, codes):
        with open(path, encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        self.latitude = np.array([float(row["latitude"]) for row in rows])
        self.longitude = np.array([float(row["longitude"]) for row in rows])
        listed = np.array([int(row["population"]) for row in rows])
        self.country = np.array([codes.index(row["country"]) for row in rows])
        self.population = np.where(listed > 0, listed, UNKNOWN)
        self.density = CORE * (self.population / 10000) ** 0.25  # people per km²
        self.radius = np.sqrt(self.population / (np.pi * self.density))  # km
        self.face, self.i, self.j = cells.cells_at(self.latitude, self.longitude, 15)

    def field(self, box, latitude, longitude):
        """People per km² at each cell of a block: the largest density of any disc there, so that boroughs do not add to their city."""
        west, south, east, north = box
        reach = self.radius * REACH / 110 + 0.01
        wide = reach / np.maximum(np.cos(np.radians(self.latitude)), 0.02)
        near = (
            (self.latitude > south - reach)
            & (self.latitude < north + reach)
            & (self.longitude > west - wide)
            & (self.longitude < east + wide)
        )
        x, y, z = (a.astype(np.float32) for a in cells.directions(latitude, longitude))
        field = np.zeros(latitude.shape, np.float32)
        side = 2 * np.pi * 6371 / 4 / (latitude.shape[0] << 4) * 0.55  # km: a lower bound of a cell's side
        for index in np.flatnonzero(near):
            self._stamp(index, field, (x, y, z), latitude.shape[0], side)
        return field

    def _stamp(self, index, field, where, size, side):
        radius = max(float(self.radius[index]), 0.5)
        span = int(radius * REACH / side) + 2
        row, column = self._row(index, size)
        top, left = max(row - span, 0), max(column - span, 0)
        bottom, right = min(row + span + 1, size), min(column + span + 1, size)
        if top >= bottom or left >= right:
            return
        window = (slice(top, bottom), slice(left, right))
        a, b, c = cells.directions(self.latitude[index], self.longitude[index])
        x, y, z = where
        chord = np.sqrt((x[window] - np.float32(a)) ** 2 + (y[window] - np.float32(b)) ** 2 + (z[window] - np.float32(c)) ** 2)
        inside = np.clip((REACH - chord * (6371 / radius)) / (2 * (REACH - 1)), 0, 1) * np.float32(self.density[index])
        np.maximum(field[window], inside, out=field[window])

    def prepare(self, block, size):
        """Rows and columns of all places in the coordinates of one block."""
        face, i, j = block
        x, y, z = cells.directions(self.latitude, self.longitude)
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = cells.face_uv(face, x, y, z)
            s, t = cells.st_of(u), cells.st_of(v)
        count = size << 4
        self._rows = np.clip(np.nan_to_num(s * count - i * size, nan=-9e8), -9e8, 9e8).astype(np.int64)
        self._columns = np.clip(np.nan_to_num(t * count - j * size, nan=-9e8), -9e8, 9e8).astype(np.int64)

    def _row(self, index, size):
        return int(self._rows[index]), int(self._columns[index])

    def by_minutes(self):
        """People by cells of five minutes, every disc spread over 64 points; where discs overlap, no denser than the densest."""
        within = np.arange(64)
        away = self.radius[:, None] * np.sqrt((within + 0.5) / 64) / 110.57
        angle = within * np.pi * (3 - np.sqrt(5))
        latitude = self.latitude[:, None] + away * np.sin(angle)
        longitude = self.longitude[:, None] + away * np.cos(angle) / np.maximum(np.cos(np.radians(self.latitude))[:, None], 0.02)
        cell = Minutes.index(latitude.ravel(), longitude.ravel())
        size = Minutes.rows * Minutes.columns
        people = np.bincount(cell, np.repeat(self.population / 64, 64), size)
        densest = np.zeros(size)
        np.maximum.at(densest, cell, np.repeat(self.density, 64))
        return np.minimum(people.reshape(Minutes.rows, Minutes.columns), densest.reshape(Minutes.rows, Minutes.columns) * Minutes.areas()[:, None])
