"""Makes the population surface: data/SOURCES.md, "Population surface". What data/settlements.csv lists is in it.

Usage: python people POPULATION SOURCES WORK OUTPUT [NAME=OUTPUT ...]

POPULATION holds the rasters and censuses, SOURCES the files that data/fetch-sources.sh writes; WORK is for intermediate files, which a
second run uses again; OUTPUT is the surface. NAME=OUTPUT is the same without one source: worldpop, gpw, geonames or census.
"""

import multiprocessing
import os
import pickle
import sys
import time

import numpy as np
import scipy.ndimage
import scipy.spatial

import blocks
import cells
import census
import encode
import ground
import model
import rasters
import remote
from blocks import BLOCKS, SIDE15, W
from rasters import Minutes
from settlements import Settlements

PROCESSES = 2
SHAPE = (Minutes.rows, Minutes.columns)
SETTLEMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../settlements.csv")
STATES = {"Ohio": 11.80e6, "Georgia": 10.71e6, "Oregon": 4.24e6}  # residents in 2020, in the order of census.LEFT_OUT
BEGAN = time.time()


def say(text):
    print(f"{time.time() - BEGAN:6.0f} s  {text}", flush=True)


def smooth_minutes(values, radius):
    """Means over windows of about `radius` km around each cell of five minutes, weighted by area."""
    out = np.zeros_like(values)
    for row in range(Minutes.rows):
        latitude = Minutes.north - Minutes.step * (row + 0.5)
        wide = int(round(radius / 9.26 / max(np.cos(np.radians(latitude)), 0.05)))
        out[row] = scipy.ndimage.uniform_filter1d(values[row], 2 * wide + 1, mode="wrap")
    return scipy.ndimage.uniform_filter1d(out, 2 * int(round(radius / 9.26)) + 1, axis=0, mode="nearest")


def in_processes(function, items):
    with multiprocessing.Pool(PROCESSES) as pool:
        return pool.map(function, items, chunksize=4)


def make_ground(sources, work, codes):
    """Countries and land by block, unless they exist."""
    if not os.path.exists(f"{work}/ground/ground-{len(BLOCKS) - 1:04}.npz"):
        with multiprocessing.Pool(PROCESSES) as pool:
            pool.starmap(ground.make, [(sources, f"{work}/ground", codes, (part, PROCESSES)) for part in range(PROCESSES)])


def read_rasters(population, work, places):
    """WorldPop's, GPW's and the places' people by cells of five minutes; GPW's pixels go to a file."""
    worldpop = rasters.read_worldpop(f"{population}/worldpop-2020-5min.tif")
    listed = places.by_minutes()
    if not os.path.exists(f"{work}/gpw5.npy"):
        gpw = rasters.write_gpw(f"{population}/gpw-2020-density.tif", rasters.prior(worldpop, listed), f"{work}/gpw16.npy")
        np.save(f"{work}/gpw5.npy", gpw)
    gpw = np.load(f"{work}/gpw5.npy")
    W["gpw"] = np.load(f"{work}/gpw16.npy", mmap_mode="r")
    W["worldpop_density"] = (worldpop / Minutes.areas()[:, None]).ravel().astype(np.float32)
    say(f"rasters: WorldPop {worldpop.sum():.0f}, GPW {gpw.sum():.0f}, places {listed.sum():.0f}")
    return worldpop, gpw, listed


def read_censuses(population):
    """Puts both censuses ashore; what has no land gets land of its own. Returns the points of the US."""
    W["eu"] = census.Counted(*census.eu_points(f"{population}/eu-census-2021-1km.csv.xz"), 15, ground.BLOCK)
    *points, position, W["spacing"] = census.us_points(f"{population}/us-block-groups-2020.csv.xz")
    W["us"], W["groups"] = census.Counted(*points, 15, ground.BLOCK), scipy.spatial.cKDTree(position)
    for name in ("eu", "us"):
        one = W[name]
        homeless = one.go_ashore(lambda number: blocks.land_of(number)[1])
        say(f"{name}: {one.people.sum():.0f} counted, {homeless:.0f} without land")
        for number in one.numbers():
            cell, people, _ = one.block(number)
            wet = cell[(people > 0) & ~blocks.land_of(number)[1].ravel()[cell]]
            if len(wet):
                W["extra"][int(number)] = np.union1d(W["extra"].get(int(number), wet), wet)
    say(f"extra land: {sum(map(len, W['extra'].values()))} cells")
    return points[:3]


def counted_by_minutes():
    counted = np.zeros(SHAPE[0] * SHAPE[1])
    for one in (W["eu"], W["us"]):
        for number in one.numbers():
            cell, people, _ = one.block(number)
            face, i, j = BLOCKS[number]
            a, b = np.divmod(cell, SIDE15)
            size = SIDE15 << ground.BLOCK
            latitude, longitude = cells.positions(face, (i * SIDE15 + a + 0.5) / size, (j * SIDE15 + b + 0.5) / size)
            counted += np.bincount(Minutes.index(latitude, longitude), people, len(counted))
    return counted.reshape(SHAPE)


def find_deserts(total, places):
    """Where the census speaks, where a place is near, and where fewer than one person per km² lives, by cells of five minutes."""
    counted = counted_by_minutes()
    present = np.bincount(Minutes.index(places.latitude, places.longitude), minlength=total.size).reshape(SHAPE) > 0
    W["near"] = (smooth_minutes(present.astype(np.float64), 30) > 1e-9).ravel()
    W["counted_near"] = (scipy.ndimage.maximum_filter(counted, 3, mode="wrap") > 0).ravel()
    around = smooth_minutes(np.maximum(total, counted), 16) / Minutes.areas()[:, None]
    W["desert"] = ((around < 1) & (smooth_minutes(present.astype(np.float64), 16) <= 1e-9)).ravel()


def first_passes(work):
    """Sums by cell of five minutes and country: (keys, weights, areas), and the two rows of sums by country for the places."""
    if not os.path.exists(f"{work}/first.pickle"):
        found = [one for one in in_processes(blocks.first_pass, range(len(BLOCKS))) if one is not None]
        with open(f"{work}/first.pickle", "wb") as stored:
            pickle.dump(found, stored)
    with open(f"{work}/first.pickle", "rb") as stored:
        first = pickle.load(stored)
    say("first pass")
    keys, place = np.unique(np.concatenate([one[0][0] for one in first]), return_inverse=True)
    values = np.concatenate([one[0][1] for one in first], axis=1)
    values = np.stack([np.bincount(place, some) for some in values])
    areas = np.bincount(place, np.concatenate([one[0][2] for one in first]))
    return keys, values, areas, sum(one[1] for one in first)


def decide(worldpop, gpw, listed, known, codes, work):
    """What the last pass needs: the factors from weights to people, and the promised shares."""
    keys, all_values, areas, (discs, near) = first_passes(work)
    values = all_values[0]
    minute, nation = keys // 256, keys % 256

    def mostly(some):
        land = np.bincount(minute, areas, worldpop.size)
        return (np.bincount(minute, areas * some, worldpop.size) > land / 2).reshape(SHAPE)

    weights = np.bincount(minute, values, worldpop.size)
    sprawl = mostly(np.isin(nation, W["sprawl"]))

    def estimate(without):
        """People by pair, the countries kept, and the rasters' sums: a source left out says what another does."""
        some = gpw if without == "worldpop" else worldpop
        other = worldpop if without == "gpw" else gpw
        places = 0.85 * some if without == "geonames" else listed
        values = all_values[model.WITHOUT.index(without)]
        weights = np.bincount(minute, values, worldpop.size).reshape(SHAPE)
        total = model.smoothed(model.combined_totals(some, other, places, sprawl), weights)
        return model.country_totals(total, some, known, keys, values, places, areas)

    people, kept, before = estimate(None)
    after = np.bincount(nation, people, 256)
    say(f"deserts: {worldpop.ravel()[W['desert']].sum():.0f} people of WorldPop. Countries off by more than 15 %, known, WorldPop, surface:")
    for index in np.argsort(-known, kind="stable"):
        if known[index] > 0 and (index in kept or abs(before[index] / known[index] - 1) > 0.15):
            print(f"    {codes[index]} {known[index]:.0f} {before[index]:.0f} {after[index]:.0f}{' kept' if index in kept else ''}")
    with np.errstate(divide="ignore", invalid="ignore"):
        W["worldpop_factor"] = np.where(weights > 0, worldpop.ravel() / weights, 0).astype(np.float32)
        W["disc_scale"] = np.nan_to_num(np.minimum(1, 0.9 * known / discs), nan=0, posinf=0)
        W["thin"] = np.nan_to_num((known - discs * W["disc_scale"]) / near, nan=0, posinf=0)
        wrong = np.abs(np.log(before / known)) > np.log(model.DOUBTFUL)
    W["keys"] = keys
    W["pair_factors"] = [
        ((estimate(without)[0] if without else people) / np.maximum(values, 1e-30)).astype(np.float32)
        for without, values in zip(model.WITHOUT, all_values)
    ]
    modelled = np.bincount(minute, people, worldpop.size).reshape(SHAPE)
    share, alone = model.promised_shares(modelled, worldpop, gpw, listed, sprawl, mostly(wrong[nation]))
    W["class"] = np.where(alone, blocks.ALONE, np.clip(np.rint((1 - share) / 0.05), 5, 15)).astype(np.uint8).ravel()


def report(sums, known, codes, points):
    sums, states = sums[:256], sums[256:]
    latitude, longitude, people = points
    for (south, north, west, east), found, (name, residents) in zip(census.LEFT_OUT, states, STATES.items()):
        inside = (latitude > south) & (latitude < north) & (longitude > west) & (longitude < east)
        print(f"    {name}: {found - people[inside].sum():.0f} of {residents:.0f}")
    for nation in np.argsort(-known, kind="stable"):
        if known[nation] > 0:
            print(f"    {codes[nation]} {known[nation]:.0f} {sums[nation]:.0f} {sums[nation] / known[nation]:.3f}")


def main(population, sources, work, output, *variants):
    W["work"], W["orders"] = work, {}
    names = [*model.WITHOUT, "census"]
    W["wanted"] = [0] + [names.index(variant.split("=")[0]) for variant in variants]
    outputs = [output] + [variant.split("=", 1)[1] for variant in variants]
    for folder in ("ground", "fields", "compare"):
        os.makedirs(f"{work}/{folder}", exist_ok=True)
    codes = ground.read_codes(f"{sources}/countries.csv")
    known = read_totals(f"{sources}/countries.csv", codes)
    for name, listed in (("eu_codes", census.EU), ("us_codes", census.US), ("sprawl", model.SPRAWL)):
        W[name] = [codes.index(code) for code in listed]
    make_ground(sources, work, codes)
    places = W["places"] = Settlements(f"{sources}/places.csv", codes)
    worldpop, gpw, listed = read_rasters(population, work, places)
    W["extra"] = blocks.extra_land(places)
    points = read_censuses(population)
    find_deserts(np.maximum(model.combined_totals(worldpop, gpw, listed, False), listed), places)
    decide(worldpop, gpw, listed, known, codes, work)
    last = [(block, one) for block, one in zip(BLOCKS, in_processes(blocks.last_pass, range(len(BLOCKS)))) if one is not None]
    say("last pass")
    for index, output in enumerate(outputs):
        found = {block: one[0][index] for block, one in last if one[0][index] is not None}
        remote.add_all(remote.read(SETTLEMENTS), f"{work}/ground", BLOCKS, found, len(model.SOURCES))
        lengths, size = encode.write(output, blocks.SHARES, model.SOURCES, found)
        sums = sum(one[1][index] for _, one in last)
        say(f"{output}: {sums[:256].sum():.0f} people, streams of {lengths} bytes, {size} bytes")
        report(sums, known, codes, points)


def read_totals(path, codes):
    known = np.zeros(256)
    with open(path, encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            known[codes.index(line.split(",")[0])] = float(line.rsplit(",", 1)[1])
    return known


if __name__ == "__main__":
    main(*sys.argv[1:])
