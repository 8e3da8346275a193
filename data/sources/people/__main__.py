"""Makes the population surface. Usage: python people POPULATION SOURCES WORK OUTPUT"""

import multiprocessing
import os
import pickle
import sys
import time

import numpy as np
import scipy.ndimage
import scipy.spatial

import cells
import census
import encode
import ground
import model
import rasters
from rasters import Minutes
from settlements import Settlements

SHARES = [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25]
SOURCES = ["worldpop", "gpw", "geonames"]
SIDE15, SIDE14 = ground.SIDE, ground.SIDE // 2
BLOCKS = list(ground.blocks())
W = {}  # what the workers share, by fork


def land_of(number):
    country, land = ground.load(f"{W['work']}/ground", number)
    extra = W.get("extra", {}).get(number)
    if extra is not None:
        land.ravel()[extra] = True
    return country, land


def extra_land(places):
    """Cells of level 15 that count as land though the coastline lacks them: places without land within 2 km."""
    found = {}
    side = 15 - ground.BLOCK
    number = places.face * 256 + cells.hilbert(places.face, places.i >> side, places.j >> side, ground.BLOCK)[0]
    for block in np.unique(number):
        _, land = ground.load(f"{W['work']}/ground", block)
        here = np.flatnonzero(number == block)
        i, j = places.i[here] & (SIDE15 - 1), places.j[here] & (SIDE15 - 1)
        for a, b in zip(i, j):
            if not land[max(a - 7, 0) : a + 8, max(b - 7, 0) : b + 8].any():
                rows, columns = np.meshgrid(np.arange(max(a - 1, 0), min(a + 2, SIDE15)), np.arange(max(b - 1, 0), min(b + 2, SIDE15)))
                found.setdefault(int(block), []).append((rows * SIDE15 + columns).ravel())
    return found


def first_pass(number):
    country, land = land_of(number)
    if not land.any():
        return None
    fields = model.block_fields(BLOCKS[number], country, land, W["gpw"], W["places"], W["worldpop_density"], W["sprawl"])
    some = (W["worldpop_density"][fields["minute"]] > 0.02) | (fields["density"] > 0.1) | (fields["disc"] > 0)
    some &= ~W["desert"][fields["minute"]]
    fields = {name: values[some] for name, values in fields.items()}
    if not some.any():
        return None
    for name in ("density", "disc", "flat"):
        fields[name] = fields[name].astype(np.float16)
    np.savez(f"{W['work']}/fields/{number:04}.npz", **fields)
    near = W["near"][fields["minute"]]
    disc = fields["disc"].astype(float)
    return model.pairs(fields), np.stack([
        np.bincount(fields["nation"], disc * fields["area"], 256), np.bincount(fields["nation"], near * fields["area"], 256),
    ])  # fmt: skip


def smooth_minutes(values, radius):
    """Means over windows of about `radius` km around each cell of five minutes, weighted by area."""
    out = np.zeros_like(values)
    for row in range(Minutes.rows):
        latitude = Minutes.north - Minutes.step * (row + 0.5)
        wide = int(round(radius / 9.26 / max(np.cos(np.radians(latitude)), 0.05)))
        out[row] = scipy.ndimage.uniform_filter1d(values[row], 2 * wide + 1, mode="wrap")
    return scipy.ndimage.uniform_filter1d(out, 2 * int(round(radius / 9.26)) + 1, axis=0, mode="nearest")


def left_out(block, minute):
    """Cells of level 13 that no census counted: farther from every block group than its own spacing, in three states' boxes."""
    box = ground.bounds(block)
    half = SIDE14 // 2
    if not any(box[1] < n and box[3] > s and box[0] < e and box[2] > w for s, n, w, e in census.LEFT_OUT):
        return None
    face, i, j = block
    s, t = np.meshgrid((i * half + np.arange(half) + 0.5) / (half << 4), (j * half + np.arange(half) + 0.5) / (half << 4), indexing="ij")
    latitude, longitude = (a.ravel() for a in cells.positions(face, s, t))
    inside = np.zeros(len(latitude), bool)
    for south, north, west, east in census.LEFT_OUT:
        inside |= (latitude > south) & (latitude < north) & (longitude > west) & (longitude < east)
    position = 6371 * np.stack(cells.directions(latitude[inside], longitude[inside]), 1)
    distance, nearest = W["groups"].query(position)
    away = distance > np.maximum(W["spacing"][nearest], 0.6)
    inside[inside] = away
    return inside.reshape(half, half)


def last_pass(number):
    counted = [W["eu"].block(number), W["us"].block(number)]
    path = f"{W['work']}/fields/{number:04}.npz"
    if not os.path.exists(path):
        return None
    with np.load(path) as stored:
        f = {name: stored[name] for name in stored.files}
    block = BLOCKS[number]
    face, i, j = block
    country, land = land_of(number)
    turn = int(cells.hilbert(face, i, j, ground.BLOCK)[1])
    if turn not in W["orders"]:
        W["orders"][turn] = [cells.block_order(turn, levels) for levels in (11, 10, 7)]
    order15, order14, order11 = W["orders"][turn]

    def dense(values, fill=0, dtype=np.float32):
        out = np.full(SIDE14 * SIDE14, fill, dtype)
        out[f["index"]] = values
        return out

    spread = f["weight"] * f["area"]
    pair = np.searchsorted(W["keys"], f["minute"].astype(np.int64) * 256 + f["nation"])
    people14 = spread * W["pair_factor"][pair]
    per_cell = dense(people14 / f["ashore"]).reshape(SIDE14, SIDE14)
    estimate = np.repeat(np.repeat(per_cell, 2, 0), 2, 1) * land

    counts = np.zeros(SIDE15 * SIDE15, np.float32)
    covered = np.zeros((SIDE15, SIDE15), bool)
    minute14 = dense(f["minute"], 0, np.int32)
    for (cell, people, _), codes, shares in zip(counted, (W["eu_codes"], W["us_codes"]), (3, 4)):
        if not np.isin(country[::16, ::16], codes).any() and not len(cell):
            continue
        counts += np.bincount(cell, people, SIDE15 * SIDE15).astype(np.float32)
        speaks = W["counted_near"][minute14].reshape(SIDE14, SIDE14)
        covered |= np.isin(country, codes) & np.repeat(np.repeat(speaks, 2, 0), 2, 1)
    if covered.any():
        outside = left_out(block, minute14)
        if outside is not None:
            covered &= ~np.repeat(np.repeat(outside, 4, 0), 4, 1)
    counts = counts.reshape(SIDE15, SIDE15)
    covered |= counts > 0
    counts = counts * ~np.repeat(np.repeat(dense(W["desert"][f["minute"]], False, bool).reshape(SIDE14, SIDE14), 2, 0), 2, 1)
    final = np.where(covered, counts, estimate)

    share14 = dense(W["share"][f["minute"]], 12, np.uint8)
    us = np.isin(country[::2, ::2], W["us_codes"]).ravel()
    final_share = np.where(covered[::2, ::2].ravel(), np.where(us, 4, 3), share14)

    nations = W["nations"]
    geonames = f["disc"] * W["disc_scale"][f["nation"]] + W["near"][f["minute"]] * W["thin"][f["nation"]]
    others = []
    for values in (spread * W["worldpop_factor"][f["minute"]], f["density"] * f["area"], geonames * f["area"]):
        others.append(dense(values).reshape(128, 8, 128, 8).sum((1, 3)).ravel()[order11])

    kind = np.where(land, country.astype(np.int16) + 1, 0)
    kind15 = kind.ravel()[order15]
    result, sums = [], []
    for people, share in ((final, final_share), (estimate, share14)):
        tidy = settle(people.ravel()[order15].astype(np.float64), kind15)
        sums.append(np.concatenate([np.bincount(np.maximum(kind15, 1) - 1, tidy, 256), state_sums(tidy, block, order15)]))
        if tidy.sum() == 0:
            result.append(None)
            continue
        coded = encode.Block(tidy, kind15, share[order14], others, W["step"], W["ratio_step"])
        result.append(None if coded.empty else coded.streams)
    if covered.any():
        compare(number, covered, estimate, counts, f, dense)
    return result, np.array(sums)


def state_sums(people, block, order):
    """People within the boxes of the states that no census counted, less what is counted there: see main."""
    box = ground.bounds(block)
    sums = np.zeros(len(census.LEFT_OUT))
    if any(box[1] < n and box[3] > s and box[0] < e and box[2] > w for s, n, w, e in census.LEFT_OUT):
        face, i, j = block
        some = np.flatnonzero(people)
        a, b = np.divmod(order[some], SIDE15)
        latitude, longitude = cells.positions(face, (i * SIDE15 + a + 0.5) / (SIDE15 << 4), (j * SIDE15 + b + 0.5) / (SIDE15 << 4))
        for index, (south, north, west, east) in enumerate(census.LEFT_OUT):
            inside = (latitude > south) & (latitude < north) & (longitude > west) & (longitude < east)
            sums[index] = people[some][inside].sum()
    return sums


def settle(people, kind):
    """Removes dust, and gathers the few people of cells that a border or a coast crosses, so that these need not be divided."""
    twelve = people.reshape(-1, 64)
    people = (twelve * (twelve.sum(1) >= 0.5)[:, None]).ravel()
    thirteen = people.reshape(-1, 16)
    kinds = kind.reshape(-1, 16)
    total = thirteen.sum(1)
    few = np.flatnonzero((kinds.min(1) != kinds.max(1)) & (total < 15) & (total > 0))
    best = thirteen[few].argmax(1)
    thirteen[few] = 0
    thirteen[few, best] = total[few]
    return people


def compare(number, covered, estimate, counts, f, dense):
    """Keeps, for the cells of level 13 that are counted as a whole, what the model and the census say."""
    def sums(values):
        return values.reshape(SIDE15 // 4, 4, SIDE15 // 4, 4).sum((1, 3)).ravel()

    whole = sums(covered.astype(np.uint8)) == 16
    a, b = sums(estimate * covered), sums(counts)
    keep = np.flatnonzero(whole & ((a > 0) | (b > 0)))
    def mean14(values):
        return dense(values).reshape(SIDE14 // 2, 2, SIDE14 // 2, 2).mean((1, 3)).ravel()[keep]
    np.savez(f"{W['work']}/compare/{number:04}.npz", cell=keep, model=a[keep], truth=b[keep], flat=mean14(f["flat"]),
             density=mean14(f["density"]), disc=mean14(f["disc"]), minute=dense(f["minute"], 0, np.int32).reshape(512, 2, 512, 2)[:, 0, :, 0].ravel()[keep],
             nation=dense(f["nation"], 0, np.uint8).reshape(512, 2, 512, 2).max((1, 3)).ravel()[keep])


def say(text):
    print(f"{time.time() - W['began']:6.0f} s  {text}", flush=True)


def main(population, sources, work, output):
    W["began"], W["work"], W["orders"] = time.time(), work, {}
    W["step"], W["ratio_step"] = int(os.environ.get("STEP", 2)), int(os.environ.get("RATIO_STEP", 4))
    for folder in ("ground", "fields", "compare"):
        os.makedirs(f"{work}/{folder}", exist_ok=True)
    codes = ground.read_codes(f"{sources}/countries.csv")
    W["eu_codes"] = [codes.index(code) for code in census.EU]
    W["us_codes"] = [codes.index(code) for code in census.US]
    if not os.path.exists(f"{work}/ground/1535.npz") and not os.path.exists(f"{work}/ground/ground-1535.npz"):
        with multiprocessing.Pool(2) as pool:
            pool.starmap(ground.make, [(sources, f"{work}/ground", codes, (part, 2)) for part in range(2)])
    places = W["places"] = Settlements(f"{sources}/places.csv", codes)
    worldpop = rasters.read_worldpop(f"{population}/worldpop-2020-5min.tif")
    listed = places.by_minutes()
    if os.path.exists(f"{work}/gpw16.npy") and os.path.exists(f"{work}/gpw5.npy"):
        gpw5 = np.load(f"{work}/gpw5.npy")
    else:
        gpw5 = rasters.write_gpw(f"{population}/gpw-2020-density.tif", rasters.prior(worldpop, listed), f"{work}/gpw16.npy")
        np.save(f"{work}/gpw5.npy", gpw5)
    W["gpw"] = np.load(f"{work}/gpw16.npy", mmap_mode="r")
    area = Minutes.areas()[:, None]
    W["worldpop_density"] = (worldpop / area).ravel().astype(np.float32)
    total = model.combined_totals(worldpop, gpw5, listed, False)
    W["sprawl"] = [codes.index(code) for code in model.SPRAWL]
    say(f"rasters: WorldPop {worldpop.sum():.0f}, GPW {gpw5.sum():.0f}, combined {total.sum():.0f}, places {listed.sum():.0f}")

    W["extra"] = extra_land(places)
    eu = census.Counted(*census.eu_points(f"{population}/eu-census-2021-1km.csv.xz"), 15, ground.BLOCK)
    *us_points, position, spacing = census.us_points(f"{population}/us-block-groups-2020.csv.xz")
    us = census.Counted(*us_points, 15, ground.BLOCK)
    us_rows = us_points[:3]
    W["eu"], W["us"], W["spacing"], W["groups"] = eu, us, spacing, scipy.spatial.cKDTree(position)
    for name, one in (("EU", eu), ("US", us)):
        say(f"{name}: {one.people.sum():.0f} counted, {one.go_ashore(lambda number: land_of(number)[1]):.0f} without land")
        for number in np.flatnonzero(np.diff(one.starts)):
            cell, people, _ = one.block(number)
            _, land = land_of(number)
            wet = cell[(people > 0) & ~land.ravel()[cell]]
            if len(wet):
                W["extra"].setdefault(int(number), []).append(wet)
    W["extra"] = {number: np.unique(np.concatenate(found)) for number, found in W["extra"].items()}
    say(f"places: {len(places.population)}; extra land: {sum(map(len, W['extra'].values()))} cells")

    minutes = Minutes.index(places.latitude, places.longitude)
    present = np.bincount(minutes, minlength=Minutes.rows * Minutes.columns).reshape(Minutes.rows, Minutes.columns)
    W["near"] = (smooth_minutes((present > 0).astype(np.float64), 30) > 1e-9).ravel()
    shape = (Minutes.rows, Minutes.columns)
    counted = np.zeros(shape[0] * shape[1])
    for one, path in ((eu, "eu"), (us, "us")):
        for number in np.flatnonzero(np.diff(one.starts)):
            cell, people, _ = one.block(number)
            face, i, j = BLOCKS[number]
            a, b = cell // SIDE15, cell % SIDE15
            latitude, longitude = cells.positions(face, (i * SIDE15 + a + 0.5) / (SIDE15 << 4), (j * SIDE15 + b + 0.5) / (SIDE15 << 4))
            counted += np.bincount(Minutes.index(latitude, longitude), people, len(counted))
    counted = counted.reshape(shape)
    W["counted_near"] = (scipy.ndimage.maximum_filter(counted, 3, mode="wrap") > 0).ravel()
    around = smooth_minutes(np.maximum(np.maximum(total, listed), counted), 16) / area
    around_places = smooth_minutes((present > 0).astype(np.float64), 16)
    W["desert"] = ((around < 1) & (around_places <= 1e-9)).ravel()

    if os.path.exists(f"{work}/first.pickle"):
        with open(f"{work}/first.pickle", "rb") as stored:
            first = pickle.load(stored)
    else:
        with multiprocessing.Pool(2) as pool:
            first = [one for one in pool.map(first_pass, range(len(BLOCKS)), chunksize=4) if one is not None]
        with open(f"{work}/first.pickle", "wb") as stored:
            pickle.dump(first, stored)
    say("first pass")
    keys = np.concatenate([one[0][0] for one in first])
    values = np.concatenate([one[0][1] for one in first])
    keys, place = np.unique(keys, return_inverse=True)
    values = np.bincount(place, values)
    areas = np.bincount(place, np.concatenate([one[0][2] for one in first]))
    minute, nation = keys // 256, keys % 256
    weights = np.bincount(minute, values, total.size)
    suburban = np.bincount(minute, areas * np.isin(nation, W["sprawl"]), total.size) > np.bincount(minute, areas, total.size) / 2
    total = model.combined_totals(worldpop, gpw5, listed, suburban.reshape(shape))
    total = model.smoothed(total, weights.reshape(shape))
    known = read_totals(f"{sources}/countries.csv", codes)
    people, kept, rasters_by = model.country_totals(total, worldpop, known, keys, values, listed, areas)
    W["keys"] = keys
    W["pair_factor"] = (people / np.maximum(values, 1e-30)).astype(np.float32)
    before = rasters_by
    after = np.bincount(nation, people, 256)
    with np.errstate(divide="ignore", invalid="ignore"):
        W["worldpop_factor"] = np.where(weights > 0, worldpop.ravel() / weights, 0).astype(np.float32)
    say(f"no land for {total.ravel()[weights == 0].sum():.0f} people of the rasters")
    for index in np.argsort(-known):
        if known[index] > 0 and (index in kept or abs(before[index] / known[index] - 1) > 0.15):
            print(f"    {codes[index]}: known {known[index]:.0f}, rasters {before[index]:.0f}, {'kept ' if index in kept else ''}{after[index]:.0f}")
    discs, near = sum(one[1] for one in first)
    with np.errstate(divide="ignore", invalid="ignore"):
        W["disc_scale"] = np.nan_to_num(np.minimum(1, 0.9 * known / discs), nan=0, posinf=0)
        W["thin"] = np.nan_to_num((known - discs * W["disc_scale"]) / near, nan=0, posinf=0)
    W["nations"] = len(codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        wrong = np.abs(np.log(before / known)) > np.log(1.25)
    doubtful = np.bincount(minute, areas * wrong[nation], total.size) > np.bincount(minute, areas, total.size) / 2
    modelled = np.bincount(minute, people, total.size).reshape(shape)
    share = model.promised_shares(modelled, worldpop, gpw5, listed, suburban.reshape(shape), doubtful.reshape(shape))
    W["share"] = np.clip(np.rint((1 - share) / 0.05), 0, 15).astype(np.uint8).ravel()
    say(f"deserts: {total[W['desert'].reshape(shape)].sum():.0f} people of the rasters")

    with multiprocessing.Pool(2) as pool:
        last = pool.map(last_pass, range(len(BLOCKS)), chunksize=4)
    say("last pass")
    for index, name in enumerate((output, "/tmp/b/model-only.surface")):
        blocks = {BLOCKS[n]: one[0][index] for n, one in enumerate(last) if one is not None and one[0][index] is not None}
        lengths, size = encode.write(name, SHARES, SOURCES, blocks)
        sums = sum(one[1][index] for one in last if one is not None)
        sums, states = sums[:256], sums[256:]
        say(f"{name}: {sums.sum():.0f} people, streams {lengths}, {size} bytes")
        if index == 0:
            latitude, longitude, people = us_rows
            for (south, north, west, east), found, name, total_known in zip(census.LEFT_OUT, states, ["OH", "GA", "OR"], [11.80e6, 10.71e6, 4.24e6]):
                inside = (latitude > south) & (latitude < north) & (longitude > west) & (longitude < east)
                print(f"  {name}: {found - people[inside].sum():.0f} of {total_known:.0f}")
            for nation in np.argsort(-known):
                if known[nation] > 0:
                    print(f"  {codes[nation]} {known[nation]:11.0f} {sums[nation]:11.0f} {sums[nation] / known[nation]:.3f}")


def read_totals(path, codes):
    known = np.zeros(256)
    with open(path, encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            known[codes.index(line.split(",")[0])] = float(line.rsplit(",", 1)[1])
    return known


if __name__ == "__main__":
    main(*sys.argv[1:])
