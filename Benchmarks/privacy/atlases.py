"""Two atlases: among how many people is a home that was answered under both?"""

import numpy as np

import common


def run(atlas, area, old):
    people = common.People(area)
    new_region = atlas.regions(people.latitude, people.longitude)
    old_region = old.regions(people.latitude, people.longitude)

    def among(*keys):
        _, place = np.unique(np.stack(keys), axis=1, return_inverse=True)
        return np.bincount(place.ravel(), people.residents)[place.ravel()]

    one, both = among(new_region), among(new_region, old_region)
    moved = both < 0.999 * one
    return {
        "people, million": round(people.residents.sum() / 1e6, 1),
        "among, one atlas, median": round(common.quantile(one, people.residents)),
        "among, both atlases, median": round(common.quantile(both, people.residents)),
        "below 20,000 under one, %": round(100 * float(people.residents[one < common.K].sum() / people.residents.sum()), 1),
        "below 20,000 under both, %": round(100 * float(people.residents[both < common.K].sum() / people.residents.sum()), 1),
        "people whose region changed, %": round(100 * float(people.residents[moved].sum() / people.residents.sum()), 1),
    }
