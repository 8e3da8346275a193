"""Compares the model with the censuses, and finds what share of it can be promised. Usage: python calibrate.py SOURCES WORK

WORK is the directory of a run of this package. Prints, for the EU and the US as if nobody had been counted: the share of people in
wrong cells, and the shares of people in windows of 20,000 promised residents where fewer than 20,000 and 10,000 were counted.
"""

import glob
import sys

import numpy as np
import scipy.spatial

import cells
import ground

K = 20000
REACH = 16  # km
GROUPS = {
    "DE IT RO SE HU BE GR": ("DE IT RO SE HU BE GR".split(), -180, 180),
    "FR ES NL AT CZ BG DK": ("FR ES NL AT CZ BG DK".split(), -180, 180),
    "US east of 85° W": (["US"], -85, 0),
    "US west of 90° W": (["US"], -180, -90),
}
SIDE = ground.SIDE // 4  # cells of level 13 along a block's side


def read(work):
    """Cells of level 12: columns model, truth, latitude, longitude, nation, share; and the number of each one's parent of level 11."""
    found = []
    for path in sorted(glob.glob(f"{work}/compare/*.npz")):
        number = int(path[-8:-4])
        face, i, j = BLOCKS[number]
        with np.load(path) as stored:
            a, b = np.divmod(stored["cell"], SIDE)
            key, place = np.unique((a >> 1) * SIDE + (b >> 1), return_inverse=True)
            people = [np.bincount(place, stored[name]) for name in ("model", "truth")]
            promised = np.bincount(place, stored["model"] * stored["share"])
            nation = np.zeros(len(key))
            nation[place] = stored["nation"]
        size = SIDE // 2 << ground.BLOCK
        row, column = key // SIDE, key % SIDE
        where = cells.positions(face, (i * SIDE // 2 + row + 0.5) / size, (j * SIDE // 2 + column + 0.5) / size)
        parent = (number * SIDE + (row >> 1)) * SIDE + (column >> 1)
        found.append(np.stack([*people, *where, nation, promised / np.maximum(people[0], 1e-9), parent], 1))
    return np.concatenate(found)


def misplaced(table):
    """Share of people who live in another cell of level 11 than the model says, its sum being scaled to the truth."""
    _, place = np.unique(table[:, 6], return_inverse=True)
    model, truth = np.bincount(place, table[:, 0]), np.bincount(place, table[:, 1])
    return np.abs(model * truth.sum() / model.sum() - truth).sum() / 2 / truth.sum()


def windows(table, share):
    """(promised, counted) of windows of K promised residents, taken where the estimate is densest first."""
    promised = table[:, 0] * share
    position = 6371 * np.stack(cells.directions(table[:, 2], table[:, 3]), 1)
    tree = scipy.spatial.cKDTree(position)
    density = np.array([promised[near].sum() for near in tree.query_ball_point(position, 4.0)])
    taken, found = np.zeros(len(table), bool), []
    for seed in np.argsort(-density, kind="stable"):
        count = 64
        while not taken[seed]:
            distance, near = tree.query(position[seed], k=min(count, len(table)), distance_upper_bound=REACH)
            reached = np.isfinite(distance).sum()
            free = near[:reached][~taken[near[:reached]]]
            sums = np.cumsum(promised[free])
            if sums[-1] >= K or reached < count:
                free = free[: np.searchsorted(sums, K) + 1]
                taken[free] = True
                found.append((promised[free].sum(), table[free, 1].sum()))
            count *= 4
    return np.array(found)


def main(sources, work):
    codes = ground.read_codes(f"{sources}/countries.csv")
    table = read(work)
    table = table[table[:, 0] > 0]
    american = np.isin(table[:, 4], [codes.index("US"), codes.index("PR")])
    print(f"in wrong cells: EU {misplaced(table[~american]):.4f}, US {misplaced(table[american]):.4f}")
    for name, (members, west, east) in GROUPS.items():
        group = table[np.isin(table[:, 4], [codes.index(code) for code in members]) & (table[:, 3] > west) & (table[:, 3] < east)]
        for label, share in (("as promised", group[:, 5]), ("0.75", 0.75), ("0.50", 0.5)):
            promised, counted = windows(group, share).T
            counted = counted[promised >= K]
            short = [counted[counted < k].sum() / counted.sum() for k in (K, K // 2)]
            print(f"{name}, {label}: {len(counted)} windows, {short[0]:.4f} under {K}, {short[1]:.4f} under {K // 2}", flush=True)


BLOCKS = list(ground.blocks())

if __name__ == "__main__":
    main(*sys.argv[1:])
