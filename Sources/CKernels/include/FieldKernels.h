#ifndef FIELD_KERNELS_H
#define FIELD_KERNELS_H

#include "KernelSet.h"

#include <stddef.h>
#include <stdint.h>

// Text to fields and fields to numbers, many bytes at a time. See StructuralIndex.swift and DecimalNumber.swift in
// Sources/Traces. Little-endian machines only.

/// A field's byte range in its text.
typedef struct field_span {
    uint32_t start, end;
} field_span;

/// What `index` counted in a text.
typedef struct structural_counts {
    /// Delimiters and line feeds.
    size_t separators;
    /// The line feeds among them.
    size_t line_feeds;
    _Bool has_quotes, has_carriage_returns;
} structural_counts;

/// The kernels of one instruction set.
typedef struct field_kernels {
    /// Builds the structural index of a text: the offsets of its delimiters and line feeds, in order.
    ///
    /// Reads `count` bytes rounded up to a multiple of 64, and may write eight entries more than it counts;
    /// `count + 16` are always enough.
    structural_counts (*_Nonnull index)(
        const uint8_t *_Nonnull text, size_t count, uint8_t delimiter, uint32_t *_Nonnull separators);

    /// Parses pairs of fixed-point numbers (`hereabouts_parse_fixed_point`). Reads up to 34 bytes from the start of
    /// each.
    ///
    /// - separators: `count` rows of `stride` entries. A row's first number begins one after its entry `first` and
    ///   ends before the entry after that; so does the second.
    /// - numbers: two for each row, correctly rounded, or two NaNs where one of the fields has another form.
    ///
    /// Returns how many pairs are NaNs.
    size_t (*_Nonnull parse_pairs)(
        const uint8_t *_Nonnull text, const uint32_t *_Nonnull separators, size_t stride, size_t first,
        size_t second, size_t count, double *_Nonnull numbers);
} field_kernels;

/// The kernels for an instruction set; null where this processor lacks it. With AVX-512 they are those of AVX2: a
/// compressing store (VBMI2) built the index in half the time, which was 6 % end to end, along drives.
const field_kernels *_Nullable hereabouts_field_kernels(kernel_set set);

/// SWAR: the digit values of the first `count` (1 … 8) bytes of a word, moved to its high end, zeros below.
static inline uint64_t swar_align_digits(uint64_t word, uint64_t count) {
    return (word ^ UINT64_C(0x3030303030303030)) << ((64 - 8 * count) & 63);
}

/// SWAR: the number that eight digit values spell, combined in pairs, fours and eights by one multiplication each.
static inline uint64_t swar_parse_digits(uint64_t digits) {
    const uint64_t pairs = digits * 10 + (digits >> 8), mask = UINT64_C(0xff000000ff);
    return ((pairs & mask) * (100 + (UINT64_C(1000000) << 32))
            + (pairs >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/// 10⁰ … 10¹⁸, as integers and as doubles, which are exact too.
extern const uint64_t hereabouts_powers[19];
extern const double hereabouts_exact_powers[19];

/// A power of ten with an exponent from 0 to 18.
static inline uint64_t power_of_ten(long exponent) { return hereabouts_powers[exponent]; }
static inline double exact_power_of_ten(long exponent) { return hereabouts_exact_powers[exponent]; }

/// A byte in each byte of a word.
static inline uint64_t in_each_byte(uint8_t byte) { return UINT64_C(0x0101010101010101) * byte; }

/// The number that is all of a text matching `-?[0-9]{1,7}\.[0-9]{1,8}`, correctly rounded; NaN for any other text,
/// which may be a number all the same.
///
/// Reads up to 17 bytes from the start of the text.
static inline double hereabouts_parse_fixed_point(const uint8_t *_Nonnull text, size_t count) {
    const uint64_t negative = *text == '-', tops = in_each_byte(0x80);
    const uint8_t *const digits = text + negative;
    uint64_t head, tail;
    __builtin_memcpy(&head, digits, sizeof head);
    // SWAR search for the point: the lowest set top bit marks it; those above may be false positives.
    const uint64_t other = head ^ in_each_byte('.');
    const uint64_t points = (other - in_each_byte(1)) & ~other & tops;
    const uint64_t whole = (uint64_t)__builtin_ctzll(points | UINT64_C(1) << 63) >> 3;
    const uint64_t fraction = count - negative - whole - 1;
    __builtin_memcpy(&tail, digits + whole + 1, sizeof tail);
    const uint64_t high = swar_align_digits(head, whole), low = swar_align_digits(tail, fraction);
    // A byte above nine is no digit: adding 0x76 sets its top bit, unless it was set before.
    const uint64_t not_digits = ((high + in_each_byte(0x76)) | (low + in_each_byte(0x76)) | high | low) & tops;
    if (points == 0 || whole == 0 || fraction - 1 > 7 || not_digits != 0) return __builtin_nan("");
    // Both are exact, so that the one division rounds correctly.
    const double magnitude =
        (double)(int64_t)(swar_parse_digits(high) * hereabouts_powers[fraction] + swar_parse_digits(low))
        / hereabouts_exact_powers[fraction];
    return negative ? -magnitude : magnitude;
}

#endif
