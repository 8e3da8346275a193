"""Zones: what withholding leaves of a home.

The observer knows the design: of the region p of a zone's middle, all regions within D are withheld. It sees for weeks which regions
come how often and which never do, and knows how far people go. Its guess is the mean of all homes, by how well each explains that.
"""

import collections
import os
import tempfile

import numpy as np
import scipy.ndimage

import common

HOMES = 80
DAYS, TRIPS = 30, 3  # and so many trips a day
ERRAND = 9_000  # meters: the mean distance of a trip, in a straight line
SPEED = 9.0  # meters a second
RADIUS, REACH = 200, 1_000  # meters: of the zones, and the distance D that is withheld for it
AROUND, CELL = 30_000, 300  # meters: what is looked at, and how finely
BEGIN = 1_772_409_600
CANDIDATES = 400  # homes that are tried
TEMPER, UNUSUAL = 0.5, 0.02  # reports depend on each other; and some regions come in ways that the law of distances does not know


def trips(random, plane):
    """A month of fixes, one a minute when on the way: there, an hour, and back."""
    seconds, x, y, home_again = [], [], [], 0
    for day in range(DAYS):
        for begin in BEGIN + day * 86_400 + np.sort(random.uniform(6 * 3600, 20 * 3600, TRIPS)):
            begin = max(begin, home_again)
            away, bearing = random.exponential(ERRAND), random.uniform(0, 2 * np.pi)
            way = np.arange(0, away / SPEED + 60, 60)
            along = np.minimum(way * SPEED, away)
            there = np.concatenate([along, np.full(60, away), along[::-1]])
            # A bend, so that ways are no rays.
            bend = bearing + random.normal(0, 0.3) * (1 - there / max(away, 1))
            seconds.append(begin + 60 * np.arange(len(there)))
            x.append(there * np.cos(bend))
            y.append(there * np.sin(bend))
            home_again = seconds[-1][-1] + 600
    return np.concatenate(seconds), *plane.degrees(np.concatenate(x), np.concatenate(y))


def answered(atlas, seconds, latitude, longitude, home):
    """How often each region is reported in an output without the zone's."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as zones:
        zones.write(f"{home[0]:.6f},{home[1]:.6f},{RADIUS}\n")
    try:
        answers = atlas.convert(common.fixes(np.zeros(len(seconds), int), seconds, latitude, longitude), "--zones", zones.name)
    finally:
        os.unlink(zones.name)
    return collections.Counter(region for _, region in answers.get("0", []))


def guess(atlas, people, reports, plane):
    """The mean place of a home by what was reported, and the most likely region of it; meters east and north of the plane's middle.

    A home anywhere in p would withhold all regions within REACH of p, and reports come from the others as often as trips end there.
    """
    steps = np.arange(-AROUND, AROUND + 1, CELL)
    x, y = np.meshgrid(steps, steps)
    names, region = np.unique(atlas.regions(*plane.degrees(x, y)), return_inverse=True)
    region = region.reshape(x.shape)
    number = np.array([reports.get(name, 0) for name in names])
    u, v = plane.meters(people.latitude, people.longitude)
    near = np.flatnonzero(np.maximum(np.abs(u), np.abs(v)) < AROUND)
    if not len(near):
        return None
    if len(near) > CANDIDATES:
        near = near[np.argsort(-people.residents[near], kind="stable")[:: -(-len(near) // CANDIDATES)]]
    u, v, weight = u[near], v[near], np.log(people.residents[near])
    own = region[np.rint((v + AROUND) / CELL).astype(int), np.rint((u + AROUND) / CELL).astype(int)]
    score = np.full(len(near), -np.inf)
    for p in np.unique(own):
        withheld = np.zeros(len(names), bool)
        withheld[np.unique(region[scipy.ndimage.distance_transform_edt(region != p) * CELL <= REACH])] = True
        for home in np.flatnonzero(own == p):
            away = np.hypot(x - u[home], y - v[home])
            often = np.bincount(region.ravel(), (np.exp(-away / ERRAND) / np.maximum(away, CELL)).ravel(), len(names))
            often[withheld] = 0
            often = (1 - UNUSUAL) * often / max(often.sum(), 1e-30) + UNUSUAL / len(names)
            score[home] = weight[home] + TEMPER * (number * np.log(often)).sum()
    likely = np.exp(score - score.max())
    likely /= likely.sum()
    return names[np.bincount(own, likely).argmax()], ((likely * u).sum(), (likely * v).sum())


def run(atlas, area):
    random, people = np.random.default_rng(common.SEED), common.People(area)
    errors, right, plain = [], [], []
    for home in zip(*people.homes(random, HOMES)):
        reports = answered(atlas, *trips(random, common.Plane(*home)), home)
        if not reports:
            continue
        # The observer looks around where answers are, not around home.
        chosen, times = np.array(list(reports)), np.array(list(reports.values()))
        middle = common.Plane(common.quantile(atlas.latitude[chosen], times), common.quantile(atlas.longitude[chosen], times))
        found = guess(atlas, people, reports, middle)
        if found is None:
            continue
        a, b = middle.meters(*home)
        true = atlas.regions(np.array([home[0]]), np.array([home[1]]))[0]
        errors.append(np.hypot(found[1][0] - a, found[1][1] - b))
        right.append(found[0] == true)
        plain.append(common.distance(*home, atlas.latitude[true], atlas.longitude[true]))
    return {
        "homes": len(errors),
        "region of the home found, %": round(100 * float(np.mean(right))),
        "median error, m": round(float(np.median(errors))),
        "within 300 m": int(np.sum(np.array(errors) < 300)),
        "from the center that one answer there has: median, m": round(float(np.median(plain))),
    }
