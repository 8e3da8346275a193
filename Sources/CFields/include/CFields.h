#ifndef CFIELDS_H
#define CFIELDS_H

#include <stddef.h>
#include <stdint.h>

// Text to fields and fields to numbers, many bytes at a time: what is worth compiling for several instruction sets, or
// needs operations that Swift lacks. See `FieldEnds.swift` and `Decimal.swift`. Little-endian machines only.

/// A field's place in its text.
typedef struct cfields_span {
    uint32_t start, end;
} cfields_span;

/// What `list` finds in a text.
typedef struct cfields_census {
    /// Delimiters and line feeds, and the line feeds among them.
    size_t ends, feeds;
    _Bool has_quotes, has_returns;
} cfields_census;

/// What is compiled for an instruction set.
typedef struct cfields_functions {
    /// Lists where delimiters and line feeds are, in order.
    ///
    /// Reads `count` bytes rounded up to a multiple of 64, and may write sixteen entries more than it counts;
    /// `count + 16` are always enough.
    cfields_census (*_Nonnull list)(
        const uint8_t *_Nonnull text, size_t count, uint8_t delimiter, uint32_t *_Nonnull ends);

    /// Reads pairs of numbers of the usual form (`cfields_usual`). Reads up to 34 bytes from the start of each.
    ///
    /// - ends: `count` rows of `stride` entries. A row's first number begins one after its entry `first` and ends
    ///   before the entry after that; so does the second.
    /// - numbers: two for each row, correctly rounded, or two that are not a number where one of the fields is of
    ///   another form.
    ///
    /// Returns how many pairs are not of the usual form.
    size_t (*_Nonnull pairs)(
        const uint8_t *_Nonnull text, const uint32_t *_Nonnull ends, size_t stride, size_t first, size_t second,
        size_t count, double *_Nonnull numbers);
} cfields_functions;

/// An instruction set that the functions are compiled for. AVX-512, with VBMI2, lists ends in half the time; pairs were
/// no faster with it.
typedef enum cfields_set { CFIELDS_BASELINE = 0, CFIELDS_AVX2 = 1, CFIELDS_AVX512 = 2 } cfields_set;

/// The functions for an instruction set; null where this processor lacks it.
const cfields_functions *_Nullable cfields_variant(cfields_set set);

/// The number that is the whole of a text of the usual form: perhaps a minus sign, one to seven digits, a point, and
/// one to eight digits. Not a number for any other text, which may spell one all the same.
///
/// Reads up to 17 bytes from the start of the text.
double cfields_usual(const uint8_t *_Nonnull text, size_t count);

/// The values of the first `count` (1 … 8) bytes of a word as digits, after zeros.
static inline uint64_t cfields_aligned(uint64_t word, uint64_t count) {
    return (word ^ UINT64_C(0x3030303030303030)) << ((64 - 8 * count) & 63);
}

/// The number that eight digits' values spell: pairs, fours and eights are joined by one multiplication each.
static inline uint64_t cfields_spelled(uint64_t digits) {
    const uint64_t pairs = digits * 10 + (digits >> 8), mask = UINT64_C(0xff000000ff);
    return ((pairs & mask) * (100 + (UINT64_C(1000000) << 32))
            + (pairs >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/// 10⁰ … 10¹⁸, as integers and as doubles, which are exact too.
extern const uint64_t cfields_powers[19];
extern const double cfields_exact_powers[19];

/// A power of ten with an exponent from 0 to 18.
static inline uint64_t cfields_power_of_ten(long exponent) { return cfields_powers[exponent]; }
static inline double cfields_exact_power_of_ten(long exponent) { return cfields_exact_powers[exponent]; }

#endif
