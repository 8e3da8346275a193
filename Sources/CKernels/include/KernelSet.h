#ifndef KERNEL_SET_H
#define KERNEL_SET_H

#include <stdbool.h>
#include <stdlib.h>

/// An instruction set that the kernels are compiled for. Each includes the one before, and all give the same bits.
typedef enum kernel_set {
    /// What every processor of the target has.
    KERNEL_SET_BASELINE = 0,
    /// AVX2, BMI1, BMI2 and POPCNT.
    KERNEL_SET_AVX2 = 1,
    /// Those, and AVX-512 F, BW, DQ and VL.
    KERNEL_SET_AVX512 = 2,
} kernel_set;

/// Whether this processor has the instruction set: the only CPU-feature probe.
bool hereabouts_has_kernel_set(kernel_set set);

/// The value of an environment variable; null where there is none.
static inline const char *_Nullable hereabouts_environment(const char *_Nonnull name) { return getenv(name); }

#endif
