"""Reads a surface: the cells with residents, by the format of data/SURFACE.md. For tools; a reader of others' files validates more."""

import struct
import zlib

import numpy as np

import cells
from encode import DIVIDED, FINEST, MAGIC, people_of
from remote import walk


class Surface:
    """`category`, `level` and `residents` of each undivided cell with residents, and `positions()` of their middles."""

    def __init__(self, path):
        content = path.read_bytes()
        version, finest, _, sources = struct.unpack_from("<4I", content, 8)
        if not content.startswith(MAGIC) or (version, finest) != (1, FINEST):
            raise ValueError(f"{path} is no surface of version 1")
        codes, self.category = self._streams(content, 88 + 16 * sources + 8)
        levels, places = walk(codes.tobytes(), [(0, face << 2 * FINEST) for face in range(5, -1, -1)])
        inhabited = (codes > 0) & (codes != DIVIDED)
        self.level, self.place = levels[inhabited], places[inhabited]
        self.residents = people_of(codes[inhabited])

    @staticmethod
    def _streams(content, at):
        """The first two."""
        streams = []
        for _ in range(2):
            length, packed = struct.unpack_from("<QQ", content, at)
            at += 16
            streams.append(np.frombuffer(zlib.decompress(content[at : at + packed]), np.uint8))
            assert len(streams[-1]) == length
            at += packed
        return streams

    def positions(self):
        """Latitudes and longitudes in degrees."""
        face = self.place >> 2 * FINEST
        i, j, turn = np.zeros_like(face), np.zeros_like(face), face & 1
        quarters = np.argsort(cells.POSITION, axis=1)
        for bit in range(FINEST - 1, -1, -1):
            step = self.place >> 2 * bit & 3
            quarter = quarters[turn, step]
            i, j, turn = i << 1 | quarter >> 1, j << 1 | quarter & 1, turn ^ cells.TURN[step]
        side = 1 << FINEST - self.level
        s, t = ((index // side + 0.5) * side / (1 << FINEST) for index in (i, j))
        latitude, longitude = np.empty((2, len(face)))
        for number in range(6):
            here = face == number
            latitude[here], longitude[here] = cells.positions(number, s[here], t[here])
        return latitude, longitude
