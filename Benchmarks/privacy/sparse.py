"""Sparse places: people in regions that promise few."""

import common


def run(atlas):
    lived_in = atlas.residents > 0
    result = {"people": round(atlas.residents.sum()), "regions without residents": int((~lived_in).sum())}
    for least in (common.K, 1_000, 100):
        here = lived_in & (atlas.promised < least)
        few = f"that promise fewer than {least:,}"
        result[f"regions {few}"] = int(here.sum())
        result[f"people in regions {few}, estimated"] = round(atlas.residents[here].sum())
        result[f"people in regions {few}, promised"] = round(atlas.promised[here].sum())
    return result
