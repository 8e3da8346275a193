"""What is done block by block, in processes that share `W` by fork: the model's weights first, then the surface's bytes."""

import os

import numpy as np

import cells
import census
import encode
import ground
import model

# Promised share by class: 0.836 and 0.84 for the counted, less the less certain the model is of its own (from class 5 on). Found by
# building atlases, with and without the censuses, and counting in their regions (`measure.py`). Class 1 is that of data/settlements.csv;
# class 2 is not used.
SHARES = [0.15, 0.95, 0.9, 0.836, 0.84, 0.75, 0.7, 0.66, 0.62, 0.6, 0.515, 0.475, 0.43, 0.405, 0.385, 0.35]
ALONE, COUNTED_EU, COUNTED_US = 0, 3, 4  # classes: estimates that rest on one source alone; the counted
DUST = 0.5  # residents: fewer in a cell of level 12 are nobody
FEW = 15  # residents: fewer in a cell of level 13 that a border or a coast crosses live in one cell of level 15
STEP, RATIO_STEP = 3, 4  # residents are rounded to quarters of an octave, ratios to halves
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
    """Cells of level 15 that count as land though the coastline lacks them: those that places lie in, and the eight around where no
    land is within 2 km."""
    found = {}
    side = 15 - ground.BLOCK
    number = places.face * 256 + cells.hilbert(places.face, places.i >> side, places.j >> side, ground.BLOCK)[0]
    for block in np.unique(number):
        _, land = ground.load(f"{W['work']}/ground", block)
        here = np.flatnonzero(number == block)
        i, j = places.i[here] & (SIDE15 - 1), places.j[here] & (SIDE15 - 1)
        for a, b in zip(i, j):
            if not land[a, b]:
                around = 0 if land[max(a - 7, 0) : a + 8, max(b - 7, 0) : b + 8].any() else 1
                rows, columns = np.meshgrid(
                    np.arange(max(a - around, 0), min(a + around + 1, SIDE15)),
                    np.arange(max(b - around, 0), min(b + around + 1, SIDE15)),
                )
                found.setdefault(int(block), []).append((rows * SIDE15 + columns).ravel())
    return {block: np.unique(np.concatenate(some)) for block, some in found.items()}


def first_pass(number):
    country, land = land_of(number)
    if not land.any():
        return None
    fields = model.block_fields(BLOCKS[number], country, land, W["gpw"], W["places"])
    some = (W["worldpop_density"][fields["minute"]] > 0.02) | (fields["density"] > 0.1) | (fields["disc"] > 0)
    some &= ~W["desert"][fields["minute"]]
    fields = {name: values[some] for name, values in fields.items()}
    if not some.any():
        return None
    np.savez(f"{W['work']}/fields/{number:04}.npz", **fields)
    near = W["near"][fields["minute"]]
    disc = fields["disc"].astype(float)
    spreads = [model.spread(fields, W["sprawl"], W["worldpop_density"], without) for without in model.WITHOUT]
    return model.pairs(fields, spreads), np.stack([
        np.bincount(fields["nation"], disc * fields["area"], 256), np.bincount(fields["nation"], near * fields["area"], 256),
    ])  # fmt: skip


def left_out(block):
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

    pair = np.searchsorted(W["keys"], f["minute"].astype(np.int64) * 256 + f["nation"])
    spreads = [model.spread(f, W["sprawl"], W["worldpop_density"], without) for without in model.WITHOUT]
    estimates = []
    for spread, factor in zip(spreads, W["pair_factors"]):
        per_cell = dense(spread * factor[pair] / f["ashore"]).reshape(SIDE14, SIDE14)
        estimates.append(np.repeat(np.repeat(per_cell, 2, 0), 2, 1) * land)
    estimate = estimates[0]

    counts = np.zeros(SIDE15 * SIDE15, np.float32)
    covered = np.zeros((SIDE15, SIDE15), bool)
    minute14 = dense(f["minute"], 0, np.int32)
    for (cell, people, _), codes in zip(counted, (W["eu_codes"], W["us_codes"])):
        if not np.isin(country[::16, ::16], codes).any() and not len(cell):
            continue
        counts += np.bincount(cell, people, SIDE15 * SIDE15).astype(np.float32)
        speaks = W["counted_near"][minute14].reshape(SIDE14, SIDE14)
        covered |= np.isin(country, codes) & np.repeat(np.repeat(speaks, 2, 0), 2, 1)
    if covered.any():
        outside = left_out(block)
        if outside is not None:
            covered &= ~np.repeat(np.repeat(outside, 4, 0), 4, 1)
    counts = counts.reshape(SIDE15, SIDE15)
    covered |= counts > 0
    counts = counts * ~np.repeat(np.repeat(dense(W["desert"][f["minute"]], False, bool).reshape(SIDE14, SIDE14), 2, 0), 2, 1)

    share14 = dense(W["class"][f["minute"]], len(SHARES) - 1, np.uint8)
    us = np.isin(country[::2, ::2], W["us_codes"]).ravel()
    final_share = np.where(covered[::2, ::2].ravel(), np.where(us, COUNTED_US, COUNTED_EU), share14)

    geonames = f["disc"] * W["disc_scale"][f["nation"]] + W["near"][f["minute"]] * W["thin"][f["nation"]]
    others = []
    for values in (spreads[0] * W["worldpop_factor"][f["minute"]], f["density"] * f["area"], geonames * f["area"]):
        others.append(dense(values).reshape(128, 8, 128, 8).sum((1, 3)).ravel()[order11])

    kind = np.where(land, country.astype(np.int16) + 1, 0)
    kind15 = kind.ravel()[order15]
    result, sums = [], []
    surfaces = [(np.where(covered, counts, one), final_share) for one in estimates] + [(estimate, share14)]
    for people, share in [surfaces[index] for index in W["wanted"]]:
        tidy = settle(people.ravel()[order15].astype(np.float64), kind15)
        sums.append(np.concatenate([np.bincount(np.maximum(kind15, 1) - 1, tidy, 256), state_sums(tidy, block, order15)]))
        if tidy.sum() == 0:
            result.append(None)
            continue
        coded = encode.Block(tidy, kind15, share[order14], others, STEP, RATIO_STEP)
        result.append(None if coded.empty else coded.streams)
    if covered.any():
        compare(number, covered, estimate, counts, f, dense)
    return result, np.array(sums)


def state_sums(people, block, order):
    """People within the boxes of the states that no census counted, their neighbors' people in these boxes included."""
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
    people = (twelve * (twelve.sum(1) >= DUST)[:, None]).ravel()
    thirteen = people.reshape(-1, 16)
    kinds = kind.reshape(-1, 16)
    total = thirteen.sum(1)
    few = np.flatnonzero((kinds.min(1) != kinds.max(1)) & (total < FEW) & (total > 0))
    best = thirteen[few].argmax(1)
    thirteen[few] = 0
    thirteen[few, best] = total[few]
    return people


def compare(number, covered, estimate, counts, f, dense):
    """Keeps, for the cells of level 13 that are counted as a whole, what the model and the census say, for calibrate.py."""

    def sums(values):
        return values.reshape(SIDE15 // 4, 4, SIDE15 // 4, 4).sum((1, 3)).ravel()

    def quarters(name, dtype=np.float32):
        return dense(f[name], 0, dtype).reshape(SIDE14 // 2, 2, SIDE14 // 2, 2)

    a, b = sums(estimate * covered), sums(counts)
    keep = np.flatnonzero((sums(covered.astype(np.uint8)) == 16) & ((a > 0) | (b > 0)))
    means = {name: quarters(name).mean((1, 3)).ravel()[keep] for name in ("flat", "density", "disc")}
    minute = quarters("minute", np.int32)[:, 0, :, 0].ravel()[keep]
    nation = quarters("nation", np.uint8).max((1, 3)).ravel()[keep]
    path = f"{W['work']}/compare/{number:04}.npz"
    share = np.array(SHARES)[W["class"][minute]]
    np.savez(path, cell=keep, model=a[keep], truth=b[keep], minute=minute, nation=nation, share=share, **means)
