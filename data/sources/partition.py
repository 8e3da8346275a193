"""Makes one partition of the world of borders.geojsonl, by the rule of SOURCES.md: overlaps go by rank, then by code."""

import json

import numpy as np
import shapely

GRID = 1e-6  # degrees: the precision of the file


def read_features(path):
    """[(code, name, rank, polygon)], one entry for each polygon."""
    features = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            feature = json.loads(line)
            about = feature["properties"]
            for outline, *holes in feature["geometry"]["coordinates"]:
                features.append((about["code"], about["name"], about["rank"], shapely.Polygon(outline, holes)))
    return features


def faces(features):
    """[(code or None, face)]: the plane cut by all outlines; None is a gap."""
    lines = shapely.union_all([_borders(features)], grid_size=GRID)
    cells = shapely.get_parts(shapely.polygonize([shapely.line_merge(lines)]))
    inside = shapely.point_on_surface(cells)
    x, y = shapely.get_x(inside), shapely.get_y(inside)
    tree = shapely.STRtree(inside)
    winner = [None] * len(cells)
    for code, _, rank, polygon in features:
        found = tree.query(polygon)
        shapely.prepare(polygon)
        for i in found[shapely.contains_xy(polygon, x[found], y[found])]:
            if winner[i] is None or (-rank, code) < winner[i]:
                winner[i] = (-rank, code)
    return [(won[1] if won else None, cell) for won, cell in zip(winner, cells)]


def _borders(features):
    """All edges once, less those between two polygons of the same feature code and rank."""
    edges, owners = [], []
    keys = {key: i for i, key in enumerate(sorted({(code, rank) for code, _, rank, _ in features}))}
    for code, _, rank, polygon in features:
        for ring in [polygon.exterior, *polygon.interiors]:
            points = np.round(shapely.get_coordinates(ring) / GRID).astype(np.int64)
            packed = (points[:, 0] + 180_000_000) * 200_000_000 + points[:, 1] + 90_000_000
            edges.append(np.sort(np.stack([packed[:-1], packed[1:]], 1), axis=1))
            owners.append(np.full(len(packed) - 1, keys[code, rank]))
    rows = np.concatenate([np.concatenate(edges), np.concatenate(owners)[:, None]], 1)
    rows, times = np.unique(rows, axis=0, return_counts=True)
    edges = np.unique(rows[times % 2 == 1][:, :2], axis=0)
    points = np.stack([edges // 200_000_000 - 180_000_000, edges % 200_000_000 - 90_000_000], 2) * GRID
    points = np.round(points, 6).reshape(-1, 2)
    lines = shapely.linestrings(points, indices=np.repeat(np.arange(len(edges)), 2))
    return shapely.line_merge(shapely.multilinestrings(lines))
