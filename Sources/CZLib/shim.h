// The part of zlib that Swift uses: inflating a stream of RFC 1950 piece by piece.
#ifndef HEREABOUTS_CZLIB_SHIM_H
#define HEREABOUTS_CZLIB_SHIM_H

#include <zlib.h>

/// `inflateInit`, a macro that Swift does not import.
static inline int hereabouts_inflate_init(z_streamp stream) { return inflateInit(stream); }

#endif
