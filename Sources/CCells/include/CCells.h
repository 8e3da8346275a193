#ifndef CCELLS_H
#define CCELLS_H

#include <stddef.h>
#include <stdint.h>

// The part of a batch of look-ups that is worth compiling for several instruction sets, which Swift cannot do: from
// latitude and longitude to the coordinates of a cell, eight points at a time. See `CellKernel.swift`.

/// How many points one call takes at most, and how long every array of a block is.
enum { CCELLS_BLOCK = 64 };

/// Cell coordinates of up to 64 points (data/FORMAT.md, "From a position to a region").
///
/// - coordinates: `count` pairs of latitude and longitude, degrees.
/// - cells: position in the top table of the level-7 cell, of every point.
/// - keys: key within that cell.
/// - columns, rows: i and j of the leaf cell.
///
/// All four arrays are 64 long and are written up to `count` rounded up to a multiple of eight.
///
/// Returns a bit for every point that is not a latitude in [-90, 90] with a longitude in [-180, 180): what is written
/// for those is some cell, but not theirs.
typedef uint64_t (*ccells_function)(
    const double *_Nonnull coordinates, size_t count, uint32_t *_Nonnull cells, uint32_t *_Nonnull keys,
    uint32_t *_Nonnull columns, uint32_t *_Nonnull rows);

/// An instruction set that a variant is compiled for, each a superset of the one before.
typedef enum ccells_set { CCELLS_BASELINE = 0, CCELLS_AVX2 = 1, CCELLS_AVX512 = 2 } ccells_set;

/// The variant for an instruction set; null where this processor lacks it.
ccells_function _Nullable ccells_variant(ccells_set set);

/// A word that several threads read and write, each of them always the same value.
static inline uint32_t ccells_load(const uint32_t *_Nonnull word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void ccells_store(uint32_t *_Nonnull word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/// Has the pages of some memory ready to be written, in one call, where the system has one for it. Changes nothing in
/// them.
void ccells_touch(void *_Nonnull start, size_t count);

/// Asks for the cache line at an address, which need not be readable.
static inline void ccells_prefetch(const void *_Nonnull address) { __builtin_prefetch(address); }

#endif
