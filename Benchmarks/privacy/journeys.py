"""Journeys: where a walker, a car or a train is when an answer changes, by forward-backward over a grid.

The observer has the atlas, the answers and the mode, and knows neither roads nor rails. Its states are a place of the grid and one
of twelve headings. Between two ticks a traveler goes straight on in a heading that it may change, at a speed within a range; at
each tick it is in the region that was answered. The estimate is the mean of what is left, from all answers of the journey.
"""

import numpy as np
import scipy.signal

import common

# Meters a second, spread of the speed, seconds on the way, and how much the heading wanders (radians in a quarter of an hour).
MODES = {"walk": (1.35, 0.1, 4 * 3600, 0.5), "car": (20.0, 0.2, 3 * 3600, 0.4), "train": (38.0, 0.15, 3 * 3600, 0.2)}
JOURNEYS = 40
HEADINGS = 12
GRID = 144  # cells along a side, at most
STEADINESS = 250  # meters: how far beyond its region an answer may stand
FIX_SECONDS = 15
START = 1_772_409_600  # 2026-03-02 at midnight, a multiple of an hour


def travel(random, mode, latitude, longitude):
    """Seconds and positions of a journey in meters east and north of where it begins: straight on, with bends."""
    speed, spread, seconds, wander = MODES[mode]
    times = np.arange(0, seconds, FIX_SECONDS)
    bends = np.cumsum(random.normal(0, wander * np.sqrt(FIX_SECONDS / 900), len(times)))
    heading = random.uniform(0, 2 * np.pi) + bends
    speed = speed * np.exp(random.normal(0, spread))
    step = speed * FIX_SECONDS
    return START + times + int(random.integers(0, 3600)), np.cumsum(step * np.cos(heading)), np.cumsum(step * np.sin(heading))


def kernels(mode, cell, seconds):
    """For each heading, how likely a step between two ticks ends in which cell: a piece of a ring."""
    speed, spread, _, wander = MODES[mode]
    reach = int(np.ceil(speed * np.exp(2.5 * spread) * seconds / cell)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1] * cell
    far = np.hypot(x, y)
    with np.errstate(divide="ignore"):
        gone = np.log(np.maximum(far, cell / 4) / (speed * seconds * (1 - min(0.3, wander**2 * seconds / 5400))))
    width = np.hypot(spread, cell / (speed * seconds))
    turn = np.hypot(wander * np.sqrt(seconds / 900) / np.sqrt(3), np.pi / HEADINGS)
    found = []
    for heading in range(HEADINGS):
        off = np.angle(np.exp(1j * (np.arctan2(y, x) - 2 * np.pi * heading / HEADINGS)))
        kernel = np.exp(-((gone / width) ** 2) / 2 - (off / turn) ** 2 / 2)
        found.append(kernel / kernel.sum())
    return np.stack(found)


def turning(mode, seconds):
    """How likely a heading becomes another one between two ticks."""
    wander = MODES[mode][3] * np.sqrt(seconds / 900)
    apart = np.arange(HEADINGS) * 2 * np.pi / HEADINGS
    row = sum(np.exp(-(((apart + 2 * np.pi * around) / max(wander, 0.2)) ** 2) / 2) for around in (-1, 0, 1))
    row /= row.sum()
    return np.stack([np.roll(row, heading) for heading in range(HEADINGS)])


def step(states, moves, turns):
    """States one tick later."""
    moved = scipy.signal.fftconvolve(states, moves, mode="same", axes=(1, 2))
    return np.maximum(np.tensordot(turns.T, moved, 1), 0)


def estimate(mode, answers, region, x, y, seconds):
    """The mean place at each tick. `answers`: at each tick the cells where the traveler may be."""
    cell = x[0, 1] - x[0, 0]
    moves = kernels(mode, cell, seconds)
    turns = turning(mode, seconds)
    back_moves, back_turns = moves[:, ::-1, ::-1], turns.T
    forward, backward = [], []
    states = np.ones((HEADINGS, *region.shape)) * answers[0]
    for may_be in answers:
        states = states * may_be if not forward else step(states, moves, turns) * may_be
        states /= max(states.sum(), 1e-300)
        forward.append(states)
    states = np.ones_like(states)
    for may_be in answers[::-1]:
        backward.append(states)
        # Backwards the turn comes first: a heading is that of the step that led here.
        states = np.tensordot(back_turns.T, states * may_be, 1)
        states = np.maximum(scipy.signal.fftconvolve(states, back_moves, mode="same", axes=(1, 2)), 0)
        states /= max(states.sum(), 1e-300)
    found = []
    for a, b in zip(forward, backward[::-1]):
        likely = (a * b).sum(0)
        if likely.sum() < 1e-250:
            likely = a.sum(0)
        likely /= max(likely.sum(), 1e-300)
        found.append(((likely * x).sum(), (likely * y).sum()))
    return found


def errors(atlas, mode, seconds, journeys):
    """Meters between estimate and truth at each tick whose answer differs from the last one."""
    table = []
    for device, (plane, times, x, y) in enumerate(journeys):
        latitude, longitude = plane.degrees(x, y)
        table.append((np.full(len(times), device), times, latitude, longitude))
    text = common.fixes(*(np.concatenate(column) for column in zip(*table)))
    answers = atlas.convert(text, "--interval", f"{seconds // 60}m")
    found = []
    for device, (plane, times, x, y) in enumerate(journeys):
        given = dict(answers.get(str(device), []))
        ticks = np.arange(-(-times[0] // seconds) * seconds, times[-1] + 1, seconds)
        if len(ticks) < 3 or len(given) < 3:
            continue
        at = np.searchsorted(times, ticks, side="right") - 1
        west, east, south, north = x.min(), x.max(), y.min(), y.max()
        margin = 3_000 if mode == "walk" else 15_000
        cell = (max(east - west, north - south) + 2 * margin) / GRID
        grid_x, grid_y = np.meshgrid(np.arange(west - margin, east + margin, cell), np.arange(south - margin, north + margin, cell))
        region = atlas.regions(*plane.degrees(grid_x, grid_y))
        stands, near, current = [], {}, None
        changed = []
        for tick in ticks:
            changed.append(tick in given and current is not None)
            current = given.get(tick, current)
            if current is None:
                stands.append(np.ones(region.shape))
                continue
            if current not in near:
                reach = int(np.ceil(STEADINESS / cell))
                inside = region == current
                around = scipy.signal.fftconvolve(inside.astype(float), np.ones((2 * reach + 1,) * 2), mode="same") > 0.5
                # A region that was kept though the device had left it a little.
                near[current] = inside + 0.1 * (around & ~inside)
            stands.append(near[current])
        for (u, v), index, moved in zip(estimate(mode, stands, region, grid_x, grid_y, seconds), at, changed):
            if moved:
                found.append(np.hypot(u - x[index], v - y[index]))
    return np.array(found)


def make(random, people, mode):
    """Journeys that begin at homes."""
    latitude, longitude = people.homes(random, JOURNEYS)
    return [(common.Plane(a, b), *travel(random, mode, a, b)) for a, b in zip(latitude, longitude)]


def run(atlas, area):
    people, result = common.People(area), {}
    for mode in MODES:
        random = np.random.default_rng(common.SEED)
        journeys = make(random, people, mode)
        for seconds in (900, 3600):
            found = errors(atlas, mode, seconds, journeys)
            result[f"{mode}, every {seconds // 60} minutes"] = {
                "changes": len(found),
                "median error, m": round(float(np.median(found))) if len(found) else None,
                "nine in ten within, m": round(float(np.quantile(found, 0.9))) if len(found) else None,
            }
    return result
