"""The estimate where nobody was counted: totals by cells of five minutes from both rasters, spread by GPW and GeoNames."""

import os

import numpy as np
import scipy.ndimage

import cells
import ground
from rasters import Minutes, Pixels

SIDE = ground.SIDE // 2  # cells of level 14 along a block's side
FLAT_WINDOW = 11  # cells of level 14, about 6 km
WORLDPOP_WEIGHT = 0.7  # exponent of WorldPop in the totals
RURAL = 0.35  # weight of GPW's even spread beside places where it is flat
HINT = 0.03  # weight of places where GPW is not flat


def combined_totals(worldpop, gpw):
    """People by cells of five minutes."""
    area = Minutes.areas()[:, None]
    ratio = np.log((gpw + 0.01 * area) / (worldpop + 0.01 * area))
    total = worldpop * np.exp(np.clip(ratio, -2, 2) * (1 - WORLDPOP_WEIGHT))
    dust = (worldpop < 1.5 * area) & (gpw < 0.2 * worldpop)
    total = np.where(dust, gpw**0.8 * worldpop**0.2, total)
    return np.where(worldpop <= 0, 0.5 * gpw, total)


def flatness(density):
    """1 where GPW does not vary within some 6 km, 0 where it shows small census units."""
    mean = scipy.ndimage.uniform_filter(density, FLAT_WINDOW, mode="nearest")
    square = scipy.ndimage.uniform_filter(density * density, FLAT_WINDOW, mode="nearest")
    with np.errstate(divide="ignore", invalid="ignore"):
        variation = np.sqrt(np.maximum(square - mean * mean, 0)) / mean
    return np.clip((0.4 - np.nan_to_num(variation, nan=9)) / 0.25, 0, 1).astype(np.float32)


def block_fields(block, country, land, gpw, places, worldpop_density):
    """The fields of a block's cells of level 14 that hold land, as a dict of flat arrays."""
    face, i, j = block
    s, t = np.meshgrid((i * SIDE + np.arange(SIDE) + 0.5) / (SIDE << 4), (j * SIDE + np.arange(SIDE) + 0.5) / (SIDE << 4), indexing="ij")
    latitude, longitude = cells.positions(face, s, t)
    ashore = land.reshape(SIDE, 2, SIDE, 2).sum((1, 3)).astype(np.uint8)
    row, column = Pixels.index(latitude, longitude)
    top, bottom = max(row.min(), 0), row.max() + 1
    left, right = column.min(), column.max() + 1
    window = np.asarray(gpw[top:bottom, left:right], np.float32) if bottom > top else np.zeros((1, right - left), np.float32)
    density = np.where(row >= 0, window[np.clip(row - top, 0, len(window) - 1), column - left], 0).astype(np.float32)
    places.prepare(block, SIDE)
    disc = places.field(ground.bounds(block), latitude, longitude)
    flat = flatness(density)
    index = np.flatnonzero(ashore)
    minute = Minutes.index(latitude.ravel()[index], longitude.ravel()[index]).astype(np.int32)
    size = 1.0 / (SIDE << 4)
    area = cells.area(face, s.ravel()[index], t.ravel()[index], size).astype(np.float32) * ashore.ravel()[index] / 4
    density, disc, flat = density.ravel()[index], disc.ravel()[index], flat.ravel()[index]
    weight = (1 - flat) * (density + HINT * disc) + flat * (RURAL * density + disc) + 1e-5 * worldpop_density[minute]
    nation = np.where(land, country, 0).reshape(SIDE, 2, SIDE, 2).max((1, 3)).ravel()[index]
    return {
        "index": index.astype(np.int32), "minute": minute, "area": area, "density": density, "disc": disc, "flat": flat,
        "weight": weight.astype(np.float32), "nation": nation, "ashore": ashore.ravel()[index],
    }  # fmt: skip


def pairs(fields):
    """By cell of five minutes and country: (minute * 256 + country, sum of weight times area, area in km²)."""
    key = fields["minute"].astype(np.int64) * 256 + fields["nation"]
    keys, place = np.unique(key, return_inverse=True)
    return keys, np.bincount(place, fields["weight"].astype(np.float64) * fields["area"]), np.bincount(place, fields["area"])


LIMIT = 1.6  # a country's rasters are scaled to its known total if they are within this factor after the correction below


def country_totals(total, known, keys, weights, listed, areas):
    """People by pair of cell of five minutes and country.

    The rasters' totals are shared among a cell's countries by weight. Where they miss a country's known total by more than 5 %,
    the cells that GeoNames' places speak against give way first: a cell holds at most c times what the places around
    suggest where there are too many people, and at least c times what its own places suggest where there are too few (c from
    0.8 and up to 0.8). What remains is scaled. Countries that end up outside the limit keep the rasters' sum.
    """
    minute, nation = keys // 256, keys % 256
    weight = np.bincount(minute, weights, total.size)
    people = total.ravel()[minute] * weights / np.maximum(weight[minute], 1e-30)
    around = scipy.ndimage.uniform_filter(listed, 3, mode="wrap").ravel()
    listed = listed.ravel()
    share = weights / np.maximum(weight[minute], 1e-30)
    kept = []
    for country in range(256):
        here = np.flatnonzero(nation == country)
        if known[country] <= 0 or not len(here):
            continue
        now, goal = people[here], known[country]
        rural = max(goal - (listed[minute[here]] * share[here]).sum(), 0.25 * goal) / areas[here].sum()
        near = np.maximum(around, listed)[minute[here]] * share[here] + 2 * rural * areas[here]
        own = listed[minute[here]] * share[here]
        if now.sum() > 1.05 * goal:
            now = _solve(lambda c: np.minimum(now, c * near), 0.8, 20, goal)
        elif now.sum() < 0.95 * goal:
            now = _solve(lambda c: np.maximum(now, c * own), 0, 0.8, goal)
        if now.sum() > 0 and 1 / LIMIT < goal / now.sum() < LIMIT:
            now = now * (goal / now.sum())
        else:
            kept.append(country)
        people[here] = now
    return people, kept


def _solve(values, low, high, goal):
    """Values at the c between low and high whose sum comes nearest to the goal; the sum grows with c."""
    for _ in range(40):
        middle = (low + high) / 2
        if values(middle).sum() > goal:
            high = middle
        else:
            low = middle
    return values((low + high) / 2)
