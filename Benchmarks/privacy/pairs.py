"""Home and work: how many workers share a pair of regions, and with one more habitual place.

Workers of a region choose workplaces and other places by how many live there and how far it is. So the expected number of those who
share a pair follows from the atlas and the surface; no answers are needed.
"""

import numpy as np
import scipy.spatial

import common

WORKERS = 0.45  # of residents
COMMUTE, ERRAND = 9_000, 4_000  # meters: the decay of distances to work and to another place
FARTHEST = 80_000
SAMPLE = 2_000


def choices(atlas, tree, residents, home, latitude, longitude, decay):
    """Regions near a home, and how likely each is chosen by those who live in the home's region."""
    near = np.array(tree.query_ball_point(common.EARTH * common.direction(latitude, longitude), FARTHEST), int)
    near = near[residents[near] > 0]
    away = common.distance(atlas.latitude[home], atlas.longitude[home], atlas.latitude[near], atlas.longitude[near])
    # The mean distance between two points in circles of both radii.
    away = np.sqrt(away**2 + (atlas.accuracy[near] ** 2 + atlas.accuracy[home] ** 2) / 4)
    weight = residents[near] * np.exp(-away / decay)
    return near, weight / weight.sum()


def run(atlas, area):
    random, people = np.random.default_rng(common.SEED), common.People(area)
    residents = np.bincount(atlas.regions(people.latitude, people.longitude), people.residents, len(atlas.accuracy))
    tree = scipy.spatial.cKDTree(common.EARTH * common.direction(atlas.latitude, atlas.longitude))
    latitude, longitude = people.homes(random, SAMPLE)
    pairs, triples = [], []
    for a, b, home in zip(latitude, longitude, atlas.regions(latitude, longitude)):
        near, chosen = choices(atlas, tree, residents, home, a, b, COMMUTE)
        work = random.choice(len(near), p=chosen)
        sharing = WORKERS * residents[home] * chosen[work]
        near_third, chosen_third = choices(atlas, tree, residents, home, a, b, ERRAND)
        elsewhere = (near_third != home) & (near_third != near[work])
        if not elsewhere.any():
            continue
        third = random.choice(len(near_third), p=chosen_third * elsewhere / chosen_third[elsewhere].sum())
        pairs.append(sharing)
        triples.append(sharing * chosen_third[third])
    pairs, triples = np.maximum(pairs, 1), np.maximum(triples, 1)
    return {
        "workers": len(pairs),
        "share the pair, median": round(float(np.median(pairs))),
        "share it with fewer than 100, %": round(100 * float(np.mean(pairs < 100)), 1),
        "share it and one more place, median": round(float(np.median(triples))),
    }
