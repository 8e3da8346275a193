"""Settlements that the other sources lack, from data/settlements.csv: added to the streams of their blocks, or in place of what the sources
have of them."""

import csv

import numpy as np

import cells
import ground
from encode import BLOCK, DIVIDED, FINEST, LEVELS, SOURCE_LEVEL, code_of, people_of

CLASS = 1  # of a settlement's residents: they settle no land
ASHORE = 2  # km: a settlement off the coastline goes to the land that is so near
NEAR = 2  # km: where the sources have people of its country so near to a settlement, they know it
REACH = 16  # km: then what they have of its country so near is of it


def read(path):
    """Lines by number of their block: (name, latitude, longitude, residents)."""
    found = {}
    with open(path, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            latitude, longitude = float(row["latitude"]), float(row["longitude"])
            face, i, j = cells.cells_at(latitude, longitude, BLOCK)
            number = int(face * (1 << 2 * BLOCK) + cells.hilbert(face, i, j, BLOCK)[0])
            found.setdefault(number, []).append((row["name"], latitude, longitude, int(row["residents"])))
    return found


def add_all(settlements, folder, blocks, found, sources):
    """Adds the lines of `read` to `found[face, i, j]`, the streams of each block with residents, which have one for each source.
    `folder` has the ground."""
    for number, lines in settlements.items():
        block = blocks[number]
        streams = [bytes(stream) for stream in found.get(block, [b"\0"] + [b""] * (1 + sources))]
        here = Here(block, *ground.load(folder, number))
        for line in lines:
            streams = here.add(line, streams)
        found[block] = streams


class Here:
    """One block's ground, to find the places of settlements."""

    def __init__(self, block, country, land):
        self.block, self.country, self.land = block, country.ravel(), land.ravel()
        face, i, j = block
        self.order = cells.block_order(int(cells.hilbert(face, i, j, BLOCK)[1]), LEVELS)

    def away(self, index, latitude, longitude):
        """Distances in km of the middles of cells of level 15, by [i, j] in one number, from a position."""
        face, i, j = self.block
        a, b = np.divmod(index, ground.SIDE)
        size = ground.SIDE << BLOCK
        there = cells.directions(*cells.positions(face, (i * ground.SIDE + a + 0.5) / size, (j * ground.SIDE + b + 0.5) / size))
        chord = np.sqrt(sum((one - other) ** 2 for one, other in zip(there, cells.directions(latitude, longitude))))
        return 6371 * chord

    def index(self, latitude, longitude):
        """The cell of level 15 of a position: the nearest on land within 2 km, or that which holds it."""
        _, i, j = cells.cells_at(latitude, longitude, FINEST)
        i, j = int(i) & ground.SIDE - 1, int(j) & ground.SIDE - 1
        around = [np.arange(max(one - 16, 0), min(one + 17, ground.SIDE)) for one in (i, j)]
        near = (around[0][:, None] * ground.SIDE + around[1]).ravel()
        near = near[self.land[near]]
        away = self.away(near, latitude, longitude)
        if self.land[i * ground.SIDE + j] or not len(near) or away.min() > ASHORE:
            return i * ground.SIDE + j
        return int(near[away.argmin()])

    def add(self, line, streams):
        """The streams with a line's residents: in place of those that the sources have, where they know it, or added to them."""
        name, latitude, longitude, residents = line
        index = self.index(latitude, longitude)
        place = int(np.flatnonzero(self.order == index)[0])
        tree, classes, *ratios = streams
        codes = np.frombuffer(tree, np.uint8)
        levels, places = walk(tree)
        whole = np.flatnonzero(codes != DIVIDED)
        at = int(whole[np.searchsorted(places[whole], place, side="right") - 1])
        inhabited = (codes > 0) & (codes != DIVIDED)
        own = np.zeros(len(codes), bool)
        own[inhabited] = np.frombuffer(classes, np.uint8) != CLASS
        first = self.order[places]
        away = np.where(own, self.away(first, latitude, longitude), np.inf)
        own &= (self.country[first] == self.country[index]) & (away < REACH)
        if own[at] or away[own].min(initial=np.inf) < NEAR:
            people = people_of(codes[own])
            changed = codes.copy()
            changed[own] = code_of(people * (residents / people.sum()))
            return [changed.tobytes(), classes, *ratios]
        assert not inhabited[at], f"{name}: another line, or another country's people, has the same cell"
        tree = tree[:at] + nested(place, int(levels[at]), int(code_of(residents))) + tree[at + 1 :]
        number = int(inhabited[:at].sum())
        classes = classes[:number] + bytes([CLASS]) + classes[number:]
        if levels[at] <= SOURCE_LEVEL:
            source = int((np.where(levels < SOURCE_LEVEL, inhabited, codes > 0) & (levels <= SOURCE_LEVEL))[:at].sum())
            ratios = [ratio[:source] + b"\0" + ratio[source:] for ratio in ratios]
        return [tree, classes, *ratios]


def walk(tree, roots=((BLOCK, 0),)):
    """The level of each byte's cell, and the place along the curve of its first cell of level 15. `roots`: these of the trees'
    roots, the last one first."""
    levels, places = np.empty(len(tree), np.int64), np.empty(len(tree), np.int64)
    waiting = list(roots)
    for at, code in enumerate(tree):
        level, place = waiting.pop()
        levels[at], places[at] = level, place
        if code == DIVIDED:
            quarter = 1 << 2 * (FINEST - level - 1)
            waiting += [(level + 1, place + number * quarter) for number in (3, 2, 1, 0)]
    return levels, places


def nested(place, level, code):
    """The bytes of an empty cell of a level that gets residents at one place of level 15."""
    if level == FINEST:
        return bytes([code])
    number = place >> 2 * (FINEST - level - 1) & 3
    return bytes([DIVIDED]) + bytes(number) + nested(place, level + 1, code) + bytes(3 - number)
