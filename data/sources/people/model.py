"""The estimate where nobody was counted: totals by cells of five minutes from both rasters, spread by GPW and GeoNames."""

import numpy as np
import scipy.ndimage

import cells
import ground
from rasters import Minutes, Pixels

SIDE = ground.SIDE // 2  # cells of level 14 along a block's side
FLAT_WINDOW = 11  # cells of level 14, about 6 km
SPRAWL = ["AU", "CA", "NZ", "PR", "US"]  # lands of small census units and wide suburbs, where GPW alone was best
FLOOR = 30  # people: keeps the ratios of nearly empty cells near 1


def combined_totals(worldpop, gpw, listed, sprawl):
    """People by cells of five minutes: a weighted geometric mean of the sources; the weights are those that came nearest to the
    censuses. `sprawl` is true for cells of the lands of that name."""
    area = Minutes.areas()[:, None]
    of_gpw, of_places = np.where(sprawl, 0.2, 0.1), np.where(sprawl, 0, 0.2)
    base = np.log(worldpop + FLOOR)
    mean = base + of_gpw * (np.log(gpw + FLOOR) - base) + of_places * (np.log(listed + 0.15 * worldpop + FLOOR) - base)
    total = np.where(worldpop + gpw > 0, np.maximum(np.exp(mean) - FLOOR, 0), 0)
    dust = (worldpop < 1.5 * area) & (gpw < 0.2 * worldpop)
    total = np.where(dust, np.maximum(gpw**0.8 * worldpop**0.2, 0.8 * listed), total)
    return np.where(worldpop <= 0, np.maximum(0.5 * gpw, 0.8 * listed), total)


def smoothed(total, weight):
    """Totals whose ratio to the weights is halfway, in logarithms, to the mean ratio of the 3 × 3 cells around."""
    some = weight > 0
    ratio = np.where(some, total / np.where(some, weight, 1), 0)
    around = scipy.ndimage.uniform_filter(total * some, 3, mode="wrap") / np.maximum(scipy.ndimage.uniform_filter(weight, 3, mode="wrap"), 1e-30)
    return np.where(some, weight * np.sqrt(np.maximum(ratio * around, 0)), total)


def flatness(density):
    """1 where GPW does not vary within some 6 km, 0 where it shows small census units."""
    mean = scipy.ndimage.uniform_filter(density, FLAT_WINDOW, mode="nearest")
    square = scipy.ndimage.uniform_filter(density * density, FLAT_WINDOW, mode="nearest")
    with np.errstate(divide="ignore", invalid="ignore"):
        variation = np.sqrt(np.maximum(square - mean * mean, 0)) / mean
    return np.clip((0.4 - np.nan_to_num(variation, nan=9)) / 0.25, 0, 1).astype(np.float32)


def block_fields(block, country, land, gpw, places):
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
    nation = np.where(land, country, 0).reshape(SIDE, 2, SIDE, 2).max((1, 3)).ravel()[index]
    return {
        "index": index.astype(np.int32), "minute": minute, "area": area, "density": density,
        "disc": disc, "flat": flat.astype(np.float16), "nation": nation, "ashore": ashore.ravel()[index],
    }  # fmt: skip


SOURCES = ["worldpop", "gpw", "geonames"]
WITHOUT = [None, *SOURCES]  # the estimate, and those with one source left out


def spread(fields, sprawl, worldpop_density, without):
    """What the people of a cell of five minutes are shared out by: a weight times the area, for each cell of level 14."""
    density, disc, flat = (fields[name].astype(np.float64) for name in ("density", "disc", "flat"))
    if without == "gpw":
        density = 0
    if without == "geonames":
        disc = 0
    weight = np.where(np.isin(fields["nation"], sprawl), density + 0.1 * disc, (0.6 - 0.3 * flat) * density + disc)
    return (weight + 1e-5 * worldpop_density[fields["minute"]]) * fields["area"]


def pairs(fields, spreads):
    """By cell of five minutes and country: (minute * 256 + country, sums of each of the spreads, area in km²)."""
    key = fields["minute"].astype(np.int64) * 256 + fields["nation"]
    keys, place = np.unique(key, return_inverse=True)
    return keys, np.stack([np.bincount(place, values) for values in spreads]), np.bincount(place, fields["area"])


LIMIT = 1.6  # (4 for those of less than 2,000 km²) a country's rasters are scaled to its known total if they are within this factor after the correction below


def country_totals(total, worldpop, known, keys, weights, listed, areas):
    """People by pair of cell of five minutes and country.

    The totals are shared among a cell's countries by weight and scaled to WorldPop's sum for each country. Where this misses the
    country's known total by more than 5 %, the cells that GeoNames' places speak against give way first: a cell holds at most c times what the places around
    suggest where there are too many people, and at least c times what its own places suggest where there are too few (c from
    0.8 and up to 0.8). What remains is scaled. Countries that end up outside the limit keep the rasters' sum.
    """
    minute, nation = keys // 256, keys % 256
    weight = np.bincount(minute, weights, total.size)
    people = total.ravel()[minute] * weights / np.maximum(weight[minute], 1e-30)
    rasters = np.bincount(nation, worldpop.ravel()[minute] * weights / np.maximum(weight[minute], 1e-30), 256)
    around = scipy.ndimage.uniform_filter(listed, 3, mode="wrap").ravel()
    listed = listed.ravel()
    share = weights / np.maximum(weight[minute], 1e-30)
    kept = []
    for country in range(256):
        here = np.flatnonzero(nation == country)
        if known[country] <= 0 or not len(here):
            continue
        now, goal = people[here], known[country]
        if now.sum() > 0 and rasters[country] > 0:
            now = now * (rasters[country] / now.sum())
        rural = max(goal - (listed[minute[here]] * share[here]).sum(), 0.25 * goal) / areas[here].sum()
        near = np.maximum(around, listed)[minute[here]] * share[here] + 2 * rural * areas[here]
        own = listed[minute[here]] * share[here]
        if now.sum() > 1.05 * goal:
            now = _solve(lambda c: np.minimum(now, c * near), 0.8, 20, goal)
        elif now.sum() < 0.95 * goal:
            now = _solve(lambda c: np.maximum(now, c * own), 0, 0.8, goal)
        limit = LIMIT if areas[here].sum() > 2000 else 4
        if now.sum() > 0 and 1 / limit < goal / now.sum() < limit:
            now = now * (goal / now.sum())
        else:
            kept.append(country)
        people[here] = now
    return people, kept, rasters


def _solve(values, low, high, goal):
    """Values at the c between low and high whose sum comes nearest to the goal; the sum grows with c."""
    for _ in range(40):
        middle = (low + high) / 2
        if values(middle).sum() > goal:
            high = middle
        else:
            low = middle
    return values((low + high) / 2)


# Certainty of the model's residents by density (people per km² within some 14 km): the share that could be promised in windows of
# 20,000 promised residents chosen where the estimate is densest, so that some 2 % of the people in them have fewer by the censuses.
# It makes the class, whose share `blocks.SHARES` has. Columns: density below; certainty; that in the lands of small census
# units (SPRAWL).
PROMISED = [(130, 0.70, 0.75), (400, 0.60, 0.70), (1000, 0.50, 0.65), (2000, 0.45, 0.60), (np.inf, 0.40, 0.50)]
APART = [0.25, 0.20]  # logarithm of WorldPop to GPW beyond which a share is cut by a quarter; in the lands of SPRAWL
LEAST = 0.25
ALONE = 0.1  # share of the estimate below which the middle one of the three sources hardly knows of anyone
DOUBTFUL = 1.25  # countries whose rasters miss the known total by this factor


def promised_shares(people, worldpop, gpw, listed, sprawl, doubtful):
    """The certainty of the model's residents by cells of five minutes, and where it rests on one source alone. `doubtful`: cells of
    countries whose sum was corrected by more than a quarter."""
    area = Minutes.areas()[:, None]
    people, worldpop, gpw, listed = (scipy.ndimage.uniform_filter(a, 3, mode="wrap") for a in (people, worldpop, gpw, listed))
    density = people / area
    share = np.full(people.shape, LEAST)
    for below, other, suburban in reversed(PROMISED):
        share = np.where(density < below, np.where(sprawl, suburban, other), share)
    apart = np.abs(np.log((gpw + 300) / (worldpop + 300)))
    unlisted = (np.log((listed + 300) / (worldpop + 300)) < -0.25) & (density > 300) & ~sprawl
    share = share * np.where((apart > np.where(sprawl, APART[1], APART[0])) | unlisted | doubtful, 0.75, 1)
    middle = np.sort(np.stack([worldpop, gpw, listed]), axis=0)[1]
    share = np.minimum(share, 2 * middle / np.maximum(people, 1e-9))
    return np.clip(share, LEAST, 1), middle < ALONE * people
