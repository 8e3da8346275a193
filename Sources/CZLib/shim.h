// The part of zlib that Swift uses: streams of RFC 1950 and of gzip, piece by piece.
#ifndef HEREABOUTS_CZLIB_SHIM_H
#define HEREABOUTS_CZLIB_SHIM_H

#include <zlib.h>

/// `inflateInit`, a macro that Swift does not import.
static inline int hereabouts_inflate_init(z_streamp stream) { return inflateInit(stream); }

/// `inflateInit2` for gzip alone.
static inline int hereabouts_gunzip_init(z_streamp stream) { return inflateInit2(stream, 15 + 16); }

/// `inflateInit2` for either.
static inline int hereabouts_inflate_any_init(z_streamp stream) { return inflateInit2(stream, 15 + 32); }

/// `deflateInit2` for gzip, with zlib's own choice of speed.
static inline int hereabouts_gzip_init(z_streamp stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
