// The part of libarchive that Swift uses: reading zip archives as streams, and writing them.
#ifndef HEREABOUTS_CARCHIVE_SHIM_H
#define HEREABOUTS_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

/// The type of a regular file; Swift does not import the macro.
static inline unsigned int hereabouts_archive_regular(void) { return AE_IFREG; }

#endif
