"""Writes the surface: quadtrees of residents, classes and the ratios of sources. The format is in data/SURFACE.md."""

import struct
import zlib

import numpy as np

import cells

MAGIC = b"HBPEOPLE"
FINEST, SOURCE_LEVEL, BLOCK = 15, 11, 4
LEVELS = FINEST - BLOCK
DIVIDED = 255
PER_OCTAVE, ONE = 12, 49
ENOUGH = 300  # residents: a cell with more is divided
MOST = 100_000  # residents: more are always divided, for the byte ends at 139,000
UNEVEN = 0.2  # a cell whose children differ from their mean by less is not divided


def code_of(people, step=1):
    """Byte of a number of residents, rounded to `step` twelfths of an octave; at least 1 where there is anybody."""
    with np.errstate(divide="ignore"):
        raw = np.rint(np.log2(people) * (PER_OCTAVE / step)) * step + ONE
    return np.where(people > 0, np.clip(raw, 1, 254), 0).astype(np.uint8)


def people_of(code):
    return np.where(code == 0, 0, 2.0 ** ((code.astype(float) - ONE) / PER_OCTAVE))


class Block:
    """One block's bytes of each stream."""

    def __init__(self, people, ground, share, others, step=1, ratio_step=2):
        """All by place along the curve of level 15: residents, ground (a number for each kind of ground, 0 sea), and by place of
        level 14 the promised share; `others`: residents by each source, of level 11."""
        sums, low, high = [people], [ground], [ground]
        for _ in range(LEVELS):
            sums.append(sums[-1].reshape(-1, 4).sum(1))
            low.append(low[-1].reshape(-1, 4).min(1))
            high.append(high[-1].reshape(-1, 4).max(1))
        sums, low, high = sums[::-1], low[::-1], high[::-1]  # by level above the block
        divided = [None] * (LEVELS + 1)
        divided[LEVELS] = np.zeros(len(people), bool)
        for level in range(LEVELS - 1, -1, -1):
            some = sums[level] > 0
            need = divided[level + 1].reshape(-1, 4).any(1) | (low[level] != high[level])
            absolute = level + BLOCK
            if absolute < SOURCE_LEVEL:
                need |= True
            else:
                need |= sums[level] > MOST
            if SOURCE_LEVEL <= absolute < 14:
                children = sums[level + 1].reshape(-1, 4)
                mean = sums[level][:, None] / 4
                uneven = (np.abs(children - mean) > UNEVEN * mean).any(1)
                need |= uneven & (sums[level] > (ENOUGH if absolute < 13 else 10 * ENOUGH))
            divided[level] = need & some
        self.streams = self._walk(sums, divided, share, others, step, ratio_step)
        self.empty = sums[0][0] == 0

    def _walk(self, sums, divided, share, others, step, ratio_step):
        """Preorder: a cell's place is that of its first descendant on level 15, then its level. Classes and ratios are placed alike."""
        open_cells = np.array([0])
        keys, codes, class_keys, classes, source_keys, ratios = [], [], [], [], [], [[] for _ in others]
        self.kept = 0.0
        for level in range(LEVELS + 1):
            absolute = level + BLOCK
            people, split = sums[level][open_cells], divided[level][open_cells]
            code = np.where(split, DIVIDED, code_of(people, step))
            key = (open_cells.astype(np.int64) << (2 * (LEVELS - level))) * 16 + level
            keys.append(key)
            codes.append(code)
            leaf = ~split & (code > 0)
            class_keys.append(key[leaf])
            classes.append(self._classes(open_cells[leaf], level, share))
            if absolute <= SOURCE_LEVEL:
                source = leaf if absolute < SOURCE_LEVEL else people > 0
                source_keys.append(key[source])
                for index, other in enumerate(others):
                    shrink = SOURCE_LEVEL - absolute
                    theirs = other.reshape(-1, 4**shrink).sum(1)[open_cells[source]]
                    ratios[index].append(ratio_code(theirs, people[source], ratio_step))
            parents = open_cells[split]
            open_cells = (parents[:, None] * 4 + np.arange(4)).ravel()
        order = np.argsort(np.concatenate(keys), kind="stable")
        class_order = np.argsort(np.concatenate(class_keys), kind="stable")
        source_order = np.argsort(np.concatenate(source_keys), kind="stable")
        streams = [np.concatenate(codes)[order], np.concatenate(classes)[class_order]]
        streams += [np.concatenate(ratio)[source_order] for ratio in ratios]
        return [stream.astype(np.uint8).tobytes() for stream in streams]

    @staticmethod
    def _classes(places, level, share):
        if level == LEVELS:
            return share[places >> 2]
        first = places << (2 * (LEVELS - 1 - level))
        return share[first + (1 << (2 * (LEVELS - 1 - level))) // 2]


def ratio_code(theirs, ours, step):
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = 128 + np.rint(8 / step * np.log2(theirs / ours)) * step
    return np.where(theirs / np.maximum(ours, 1e-9) < 2**-15, 0, np.clip(np.nan_to_num(raw, neginf=0), 1, 255)).astype(np.uint8)


def write(path, shares, sources, blocks):
    """`blocks[face, i, j]`: the streams of each block of level 4 with residents."""
    streams = [bytearray() for _ in range(2 + len(sources))]

    def walk(face, level, i, j, turn):
        size = BLOCK - level
        if level == BLOCK:
            found = blocks.get((face, i, j))
            if found is None:
                streams[0].append(0)
            else:
                for stream, piece in zip(streams, found):
                    stream += piece
            return
        if not any((face, a, b) in blocks for a in range(i << size, (i + 1) << size) for b in range(j << size, (j + 1) << size)):
            streams[0].append(0)
            return
        streams[0].append(DIVIDED)
        for position in range(4):
            quarter = int(np.flatnonzero(cells.POSITION[turn] == position)[0])
            walk(face, level + 1, i * 2 + (quarter >> 1), j * 2 + (quarter & 1), int(turn ^ cells.TURN[position]))

    for face in range(6):
        walk(face, 0, 0, 0, face & 1)
    body = b""
    for stream in streams:
        packed = zlib.compress(bytes(stream), 9)
        body += struct.pack("<QQ", len(stream), len(packed)) + packed
    head = MAGIC + struct.pack("<4I", 1, FINEST, SOURCE_LEVEL, len(sources)) + struct.pack("<16f", *shares)
    head += b"".join(name.encode().ljust(16, b"\0") for name in sources)
    data = head + struct.pack("<Q", xxh64(body)) + body
    with open(path, "wb") as file:
        file.write(data)
    return [len(stream) for stream in streams], len(data)


_P = [11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261]
_M = (1 << 64) - 1


def _turn(value, bits):
    return (value << bits | value >> (64 - bits)) & _M


def _round(lane, word):
    return _turn((lane + word * _P[1]) & _M, 31) * _P[0] & _M


def xxh64(data):
    """XXH64 with seed 0."""
    length, done = len(data), 0
    if length >= 32:
        lanes = [(_P[0] + _P[1]) & _M, _P[1], 0, -_P[0] & _M]
        done = length - length % 32
        a, b, c, d = lanes
        for w, x, y, z in struct.iter_unpack("<4Q", data[:done]):
            a, b, c, d = _round(a, w), _round(b, x), _round(c, y), _round(d, z)
        lanes = [a, b, c, d]
        value = (_turn(a, 1) + _turn(b, 7) + _turn(c, 12) + _turn(d, 18)) & _M
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * _P[0] + _P[3]) & _M
    else:
        value = _P[4]
    value = (value + length) & _M
    while length - done >= 8:
        (word,) = struct.unpack_from("<Q", data, done)
        value = (_turn(value ^ _round(0, word), 27) * _P[0] + _P[3]) & _M
        done += 8
    if length - done >= 4:
        (word,) = struct.unpack_from("<I", data, done)
        value = (_turn(value ^ word * _P[0] & _M, 23) * _P[1] + _P[2]) & _M
        done += 4
    for byte in data[done:]:
        value = _turn(value ^ byte * _P[4] & _M, 11) * _P[0] & _M
    value = (value ^ value >> 33) * _P[1] & _M
    value = (value ^ value >> 29) * _P[2] & _M
    return value ^ value >> 32
