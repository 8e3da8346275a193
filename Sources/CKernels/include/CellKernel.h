#ifndef CELL_KERNEL_H
#define CELL_KERNEL_H

#include "KernelSet.h"

#include <stddef.h>
#include <stdint.h>

// The part of a batched lookup that is worth compiling for several instruction sets, which Swift cannot do: latitude
// and longitude to cell coordinates, eight points at a time. See Sources/Hereabouts/Cells/CellKernel.swift.

/// The most points of one call, and the length of every array of a block.
enum { CELL_KERNEL_POINTS = 64 };

/// Computes the cell coordinates of up to 64 points (data/FORMAT.md, "From a position to a region").
///
/// - coordinates: `count` pairs of latitude and longitude, degrees.
/// - cells: index of the level-7 cell in the top table, for each point.
/// - keys: key within that cell.
/// - columns, rows: i and j of the leaf cell.
///
/// All four arrays have 64 entries and are written up to `count` rounded up to a multiple of eight.
///
/// Returns a mask with a bit set for each point outside latitude [-90, 90] × longitude [-180, 180). What is written
/// for those is a valid cell, but not theirs.
typedef uint64_t (*cell_kernel)(
    const double *_Nonnull coordinates, size_t count, uint32_t *_Nonnull cells, uint32_t *_Nonnull keys,
    uint32_t *_Nonnull columns, uint32_t *_Nonnull rows);

/// The kernel for an instruction set; null where this processor lacks it.
cell_kernel _Nullable hereabouts_cell_kernel(kernel_set set);

#endif
