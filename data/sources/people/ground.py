"""Whose each cell of level 15 is, and whether it is land: borders and coast rasterised in the cells' own coordinates."""

import json
import os
import sys

import numpy as np
import rasterio.features
import shapely

import cells

BLOCK = 4  # level of the blocks that are handled at once
FINEST = 15
SIDE = 1 << (FINEST - BLOCK)  # cells of the finest level along a block's side
TILE = 15  # degrees: large polygons are cut into tiles first
LONGEST_EDGE = 0.05  # degrees: an edge's sag in a cell's coordinates stays below a few meters


def blocks():
    """All blocks as (face, i, j), in the order of cell ids."""
    for face in range(6):
        i, j = np.divmod(np.arange(1 << (2 * BLOCK)), 1 << BLOCK)
        position, _ = cells.hilbert(face, i, j, BLOCK)
        for index in np.argsort(position):
            yield face, int(i[index]), int(j[index])


def bounds(block):
    """(west, south, east, north) in degrees with a margin; no block crosses the antimeridian, for that is an edge of cells."""
    face, i, j = block
    inner = np.linspace(1e-9, 1 - 1e-9, 129)
    s = np.concatenate([inner, inner, inner * 0 + 1e-9, inner * 0 + 1 - 1e-9])
    t = np.concatenate([inner * 0 + 1e-9, inner * 0 + 1 - 1e-9, inner, inner])
    latitude, longitude = cells.positions(face, (i + s) / (1 << BLOCK), (j + t) / (1 << BLOCK))
    west, east = longitude.min() - 0.02, longitude.max() + 0.02
    return max(west, -180), max(latitude.min() - 0.02, -90), min(east, 180), min(latitude.max() + 0.02, 90)


class Tiles:
    """Polygons cut into tiles, with a value and a rank for each, found by their bounds."""

    def __init__(self, shapes):
        pieces, self.keys = [], []
        for key, polygon in shapes:
            for piece in _tiles(polygon):
                pieces.append(piece)
                self.keys.append(key)
        self.pieces = np.array(pieces)
        self.tree = shapely.STRtree(self.pieces)

    def raster(self, block, dtype):
        """The block's cells of level 15, [i, j], with the last key painted at each middle; 0 where there is none."""
        box = bounds(block)
        found = np.sort(self.tree.query(shapely.box(*box)))
        clipped = shapely.clip_by_rect(self.pieces[found], *box)
        shapes = []
        for index, shape in zip(found, clipped):
            if not shape.is_empty:
                key = self.keys[index]
                shapes.append((key, shapely.transform(shapely.segmentize(shape, LONGEST_EDGE), _onto(block))))
        shapes.sort(key=lambda item: item[0][:2])
        if not shapes:
            return np.zeros((SIDE, SIDE), dtype)
        return rasterio.features.rasterize([(shape, key[-1]) for key, shape in shapes], out_shape=(SIDE, SIDE), fill=0, dtype=dtype)


def _onto(block):
    face, i, j = block

    def project(points):
        x, y, z = cells.directions(points[:, 1], points[:, 0])
        u, v = cells.face_uv(face, x, y, z)
        size = 1 << FINEST
        return np.stack([cells.st_of(v) * size - j * SIDE, cells.st_of(u) * size - i * SIDE], 1)

    return project


def _tiles(polygon):
    if shapely.get_num_coordinates(polygon) < 2000:
        return [polygon]
    west, south, east, north = polygon.bounds
    if max(east - west, north - south) <= TILE:
        return [polygon]
    if east - west >= north - south:
        middle = (west + east) / 2
        halves = [(west, south, middle, north), (middle, south, east, north)]
    else:
        middle = (south + north) / 2
        halves = [(west, south, east, middle), (west, middle, east, north)]
    pieces = []
    for half in halves:
        for part in shapely.get_parts(shapely.clip_by_rect(polygon, *half)):
            if part.geom_type == "Polygon":
                pieces += _tiles(part)
    return pieces


def read_borders(path, codes):
    shapes = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            feature = json.loads(line)
            about = feature["properties"]
            code = codes.index(about["code"])
            for outline, *holes in feature["geometry"]["coordinates"]:
                shapes.append(((about["rank"], -code, code), shapely.Polygon(outline, holes)))
    return Tiles(shapes)


def read_land(path):
    shapes = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            outline, *holes = json.loads(line)["geometry"]["coordinates"]
            shapes.append(((1, 1, 1), shapely.Polygon(outline, holes)))
    return Tiles(shapes)


def make(sources, directory, codes, share=(0, 1)):
    """Writes one file for each block with land: country (uint8 index of codes) and land (bool), of the cells of level 15, [i, j]."""
    land = read_land(f"{sources}/land.geojsonl")
    borders = read_borders(f"{sources}/borders.geojsonl", codes)
    for number, block in enumerate(blocks()):
        if number % share[1] != share[0]:
            continue
        ashore = land.raster(block, np.uint8)
        country = borders.raster(block, np.uint8)
        np.savez_compressed(f"{directory}/ground-{number:04}.npz", country=country, land=np.packbits(ashore))


def load(directory, number):
    """(country, land) of a block, [i, j]."""
    with np.load(f"{directory}/ground-{number:04}.npz") as stored:
        return stored["country"], np.unpackbits(stored["land"]).reshape(SIDE, SIDE).astype(bool)


def read_codes(path):
    """Country codes by index: XZ is 0, then the alphabet."""
    with open(path, encoding="utf-8") as lines:
        found = sorted(line.split(",")[0] for line in list(lines)[1:])
    return ["XZ"] + [code for code in found if code != "XZ"]


if __name__ == "__main__":
    sources, directory, part, parts = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    make(sources, directory, read_codes(f"{sources}/countries.csv"), (int(part), int(parts)))
