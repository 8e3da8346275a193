"""The two world rasters: GPW's density with the wrap undone, WorldPop's totals, both also by cells of five minutes."""

import numpy as np
import rasterio
import scipy.ndimage
import scipy.sparse

import cells

WRAP = 4096  # people per km²: GPW's tiles hold the density modulo this
ROUNDING = 0.3  # a turn counts if the prior exceeds the density by 0.7 of it
REAL_ZERO = 40  # people per km²: below this a pixel is empty, not wrapped
NOISE = 0.1  # people per km²: GPW's values below mean nothing
BAND = 512  # rows handled at once


class Minutes:
    """WorldPop's grid of five minutes: rows from north, columns from the antimeridian."""

    rows, columns = 1862, 4320
    step = 0.083333333
    north, west = 83.17458320201004, -180.001249265

    @classmethod
    def index(cls, latitude, longitude):
        """Index of the cell that holds each position; rows beyond the grid are clamped."""
        row = np.clip(np.floor((cls.north - latitude) / cls.step), 0, cls.rows - 1).astype(np.int64)
        column = np.floor((longitude - cls.west) / cls.step).astype(np.int64) % cls.columns
        return row * cls.columns + column

    @classmethod
    def areas(cls):
        """km² of a cell of each row, on WGS 84."""
        return _strip_areas(cls.north - cls.step * np.arange(cls.rows + 1)) * np.radians(cls.step)


class Pixels:
    """GPW's grid: Web Mercator, rows from north."""

    rows, columns = 23040, 32768
    size = 1222.9924525628198  # meters of the projection
    north, radius = 19411336.20707708, 6378137.0

    @classmethod
    def latitudes(cls, row):
        return np.degrees(2 * np.arctan(np.exp((cls.north - row * cls.size) / cls.radius)) - np.pi / 2)

    @classmethod
    def index(cls, latitude, longitude):
        """(row, column) of the pixel that holds each position, row -1 beyond the grid."""
        with np.errstate(divide="ignore"):
            y = cls.radius * np.log(np.tan(np.pi / 4 + np.radians(latitude) / 2))
        row = np.floor((cls.north - y) / cls.size)
        row = np.where((row >= 0) & (row < cls.rows), row, -1).astype(np.int64)
        column = np.clip(np.floor((longitude + 180) / 360 * cls.columns), 0, cls.columns - 1).astype(np.int64)
        return row, column

    @classmethod
    def areas(cls):
        """km² of a pixel of each row, on WGS 84."""
        return _strip_areas(cls.latitudes(np.arange(cls.rows + 1))) * 2 * np.pi / cls.columns


def _strip_areas(edges):
    """km² for each radian of longitude between consecutive latitudes, by Simpson's rule over the exact integrand."""
    low, high = np.radians(edges[1:]), np.radians(edges[:-1])

    def integrand(latitude):
        return cells.ellipsoid_factor(np.degrees(latitude)) * np.cos(latitude)

    return (high - low) / 6 * (integrand(low) + 4 * integrand((low + high) / 2) + integrand(high))


def _overlaps(fine, coarse):
    """Sparse matrix [coarse, fine]: the share of each fine interval within each coarse one. Edges ascend."""
    edges = np.unique(np.concatenate([fine, coarse]))
    edges = edges[(edges >= max(fine[0], coarse[0])) & (edges <= min(fine[-1], coarse[-1]))]
    middle = (edges[1:] + edges[:-1]) / 2
    of_fine, of_coarse = np.searchsorted(fine, middle) - 1, np.searchsorted(coarse, middle) - 1
    share = np.diff(edges) / np.diff(fine)[of_fine]
    return scipy.sparse.csr_matrix((share, (of_coarse, of_fine)), shape=(len(coarse) - 1, len(fine) - 1))


def to_minutes(bands):
    """Sums of people by cells of five minutes, from (first row, people per pixel) in bands of GPW's grid."""
    across = _overlaps(-180 + 360 * np.arange(Pixels.columns + 1) / Pixels.columns, Minutes.west + Minutes.step * np.arange(Minutes.columns + 1))
    down = _overlaps(-Pixels.latitudes(np.arange(Pixels.rows + 1)), -(Minutes.north - Minutes.step * np.arange(Minutes.rows + 1)))
    total = np.zeros((Minutes.rows, Minutes.columns))
    for first, people in bands:
        total += down[:, first : first + len(people)] @ (across @ people.T).T
    return total


def read_worldpop(path):
    with rasterio.open(path) as raster:
        return raster.read(1).astype(np.float64)


def unwrap(density, prior):
    """Adds as many turns of 4,096 as a prior density suggests; a turn counts from 0.7 on. A pixel without people stays as it is."""
    turns = np.clip(np.floor((prior - density) / WRAP + ROUNDING), 0, 12)
    return np.where(density < REAL_ZERO, density, density + WRAP * turns)


def prior(worldpop, listed):
    """A density that tells how often GPW wrapped: WorldPop's, held between what the places listed there suggest."""
    area = Minutes.areas()[:, None]
    most = scipy.ndimage.maximum_filter(listed / area, 3, mode="wrap")
    return np.clip(worldpop / area, 0.7 * listed / area, 3 * most + 500)


def write_gpw(path, prior_density, output):
    """Writes GPW's unwrapped density as float16 (rows, columns) and returns its people by cells of five minutes."""
    areas = Pixels.areas()
    out = np.lib.format.open_memmap(output, mode="w+", dtype=np.float16, shape=(Pixels.rows, Pixels.columns))
    longitude = -180 + 360 * (np.arange(Pixels.columns) + 0.5) / Pixels.columns
    columns = Minutes.index(0, longitude) % Minutes.columns

    def bands():
        with rasterio.open(path) as raster:
            for first in range(0, Pixels.rows, BAND):
                density = raster.read(1, window=((first, first + BAND), (0, Pixels.columns)))
                density[density < NOISE] = 0
                rows = Minutes.index(Pixels.latitudes(first + np.arange(BAND) + 0.5), -180) // Minutes.columns
                density = unwrap(density, prior_density[rows][:, columns])
                out[first : first + BAND] = density
                yield first, density * areas[first : first + BAND, None]

    total = to_minutes(bands())
    out.flush()
    return total
