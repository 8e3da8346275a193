"""S2 cells in numpy: positions to cells and back, by the formulas of data/FORMAT.md, and the Hilbert order of a block."""

import numpy as np

POSITION = np.array([[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]])
TURN = np.array([1, 0, 0, 3])


def directions(latitude, longitude):
    """Unit vectors x, y, z; the geodetic latitude is taken as if on a sphere, as S2 does. Degrees."""
    latitude, longitude = np.radians(latitude), np.radians(longitude)
    return np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)


def faces_of(x, y, z):
    magnitude = np.stack([np.abs(x), np.abs(y), np.abs(z)])
    axis = 2 - np.argmax(magnitude[::-1], axis=0)  # in a tie the later axis wins
    component = np.choose(axis, [x, y, z])
    return axis + 3 * (component < 0)


def face_uv(face, x, y, z):
    """u and v on one face, an int, or on the face of each direction, an array. Valid beyond the face's edges, in its hemisphere."""
    u = [lambda: y / x, lambda: -x / y, lambda: -x / z, lambda: z / x, lambda: z / y, lambda: -y / z]
    v = [lambda: z / x, lambda: z / y, lambda: -y / z, lambda: y / x, lambda: -x / y, lambda: -x / z]
    if np.ndim(face) == 0:
        return u[face](), v[face]()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.choose(face, [f() for f in u]), np.choose(face, [f() for f in v])


def st_of(u):
    """s from u, or t from v: the quadratic projection."""
    return np.where(u >= 0, 0.5 * np.sqrt(1 + 3 * np.abs(u)), 1 - 0.5 * np.sqrt(1 + 3 * np.abs(u)))


def uv_of(s):
    return np.where(s >= 0.5, (4 * s * s - 1) / 3, (1 - 4 * (1 - s) * (1 - s)) / 3)


def cells_at(latitude, longitude, level):
    """Face, column i and row j of the cells of one level that hold the positions in degrees."""
    x, y, z = directions(np.asarray(latitude, float), np.asarray(longitude, float))
    face = faces_of(x, y, z)
    u, v = face_uv(face, x, y, z)
    size = 1 << level
    i = np.clip(np.floor(st_of(u) * size), 0, size - 1).astype(np.int64)
    j = np.clip(np.floor(st_of(v) * size), 0, size - 1).astype(np.int64)
    return face, i, j


def positions(face, s, t):
    """Latitude and longitude in degrees of s and t on one face."""
    u, v = uv_of(s), uv_of(t)
    one = np.ones_like(u)
    x, y, z = [(one, u, v), (-u, one, v), (-u, -v, one), (-one, -v, -u), (v, -one, -u), (v, u, -one)][face]
    return np.degrees(np.arctan2(z, np.sqrt(x * x + y * y))), np.degrees(np.arctan2(y, x))


def hilbert(face, i, j, level):
    """Position along the Hilbert curve of a face, and the orientation below it."""
    position = np.zeros(np.shape(i), np.int64)
    turn = np.full(np.shape(i), face & 1) if np.ndim(face) == 0 else face & 1
    for bit in range(level - 1, -1, -1):
        quarter = 2 * ((i >> bit) & 1) + ((j >> bit) & 1)
        step = POSITION[turn, quarter]
        position = position << 2 | step
        turn = turn ^ TURN[step]
    return position, turn


def ids(face, i, j, level):
    position, _ = hilbert(face, i, j, level)
    shift = 61 - 2 * level
    return (face.astype(np.uint64) << np.uint64(61)) | (position.astype(np.uint64) << np.uint64(shift)) | np.uint64(1 << (shift - 1))


def block_order(turn, levels):
    """For each place along the curve of a block of 2^levels × 2^levels cells: its index i × 2^levels + j."""
    size = 1 << levels
    i, j = np.divmod(np.arange(size * size), size)
    position = np.zeros(size * size, np.int64)
    turns = np.full(size * size, turn)
    for bit in range(levels - 1, -1, -1):
        quarter = 2 * ((i >> bit) & 1) + ((j >> bit) & 1)
        step = POSITION[turns, quarter]
        position = position << 2 | step
        turns = turns ^ TURN[step]
    order = np.empty(size * size, np.int64)
    order[position] = np.arange(size * size)
    return order


def area(face, s, t, size):
    """Area in km² on WGS 84 of cells with the middle s, t and the side `size` in s and t. Error below 0.1 % at level 10 and finer."""
    u, v = uv_of(s), uv_of(t)
    du = np.where(s >= 0.5, 8 * s, 8 * (1 - s)) / 3
    dv = np.where(t >= 0.5, 8 * t, 8 * (1 - t)) / 3
    sphere = du * dv * size * size / (1 + u * u + v * v) ** 1.5  # steradians of geodetic latitude and longitude
    latitude, _ = positions(face, s, t)
    return sphere * ellipsoid_factor(latitude)


def ellipsoid_factor(latitude):
    """km² on WGS 84 for each steradian of geodetic latitude and longitude: product of the two radii of curvature."""
    a, e2 = 6378.137, 0.0066943799901413165
    return a * a * (1 - e2) / (1 - e2 * np.sin(np.radians(latitude)) ** 2) ** 2
