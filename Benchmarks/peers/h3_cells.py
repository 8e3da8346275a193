"""h3_cells.py LIBRARY POINTS PASSES: nanoseconds per point of H3's cell (resolution 7, 5 km²) and center, in C."""

import ctypes
import sys

from h3._cy import latlng  # its shared object holds the whole C library and exports it

library, points, passes = sys.argv[1:]
h3 = ctypes.CDLL(latlng.__file__)
address = lambda function: ctypes.cast(function, ctypes.c_void_p)
loop = ctypes.CDLL(library)
sys.exit(
    loop.measure_h3(points.encode(), int(passes), address(h3.latLngToCell), address(h3.cellToLatLng), 7)
)
