#include "CKernels.h"

#include <string.h>

// These are the formulas of `Trigonometry.swift` and `CubeProjection.swift`, where they are explained, in the same
// order: every variant gives the same bits as the Swift code. So nothing may be contracted to a fused operation.
#pragma clang fp contract(off)
// Vectors are passed between functions that are all inlined; no call has them as arguments.
#pragma clang diagnostic ignored "-Wpsabi"

typedef double double8 __attribute__((ext_vector_type(8)));
typedef int64_t signed8 __attribute__((ext_vector_type(8)));
typedef uint64_t bits8 __attribute__((ext_vector_type(8)));
typedef uint32_t word8 __attribute__((ext_vector_type(8)));

#define INLINE static inline __attribute__((always_inline))

INLINE bits8 bits(double8 value) { return (bits8)value; }
INLINE double8 number(bits8 value) { return (double8)value; }
/// All ones where the highest bit is set, else all zeros.
INLINE bits8 sign_mask(bits8 value) { return (bits8)((signed8)value >> 63); }

#define SIGN_BIT (UINT64_C(1) << 63)
#define INTEGER_ROUNDER 0x1.8p52

/// `Trigonometry.sineAndCosine(degrees:)`.
INLINE void sine_cosine(double8 degrees, double8 *sine_out, double8 *cosine_out) {
    const double8 radians = degrees * 0x1.1df46a2529d39p-6;
    const double8 rounded = radians * 0x1.45f306dc9c883p-1 + INTEGER_ROUNDER;
    const double8 turns = rounded - INTEGER_ROUNDER;
    const bits8 quadrant = bits(rounded);
    const double8 coarse = radians - turns * 0x1.921fb54442d18p+0;
    const double8 correction = turns * 0x1.1a62633145c07p-54;
    const double8 x = coarse - correction;
    const double8 y = (coarse - x) - correction;

    const double8 z = x * x;
    const double8 head = number(bits(x) & UINT64_C(0xffffff0000000000));
    const double8 tail = x - head;
    const double8 head_squared = head * head;
    const double8 head_cubed = head_squared * head;

    double8 p = z * -0x1.aad12689effd9p-41 + 0x1.6120f4aded2a2p-33;
    p = p * z + -0x1.ae6453453a399p-26;
    p = p * z + 0x1.71de3a53d1f81p-19;
    p = p * z + -0x1.a01a01a019396p-13;
    p = p * z + 0x1.111111111110fp-7;
    const double8 cubic = head_cubed * 0x1.555p-3;
    const double8 cubic_tail =
        head_cubed * 0x1.5555555555555p-17 + (tail * (z + (x * head + head_squared))) * (1 / 6.0);
    const double8 sine_leading = x - cubic;
    const double8 sine_error = (x - sine_leading) - cubic;

    double8 q = z * -0x1.8faece4721c45p-37 + 0x1.1ee9ec4620c08p-29;
    q = q * z + -0x1.27e4f80a746acp-22;
    q = q * z + 0x1.a01a019cb26d0p-16;
    q = q * z + -0x1.6c16c16c15184p-10;
    q = q * z + 0x1.555555555554cp-5;
    const double8 half = 0.5 * head_squared;
    const double8 half_tail = 0.5 * (tail * (x + head));
    const double8 cosine_leading = 1 - half;
    const double8 cosine_error = (1 - cosine_leading) - half;

    const double8 sine = sine_leading + (sine_error + (((x * z) * (z * p) - cubic_tail) + y * cosine_leading));
    const double8 cosine = cosine_leading + (cosine_error + ((z * z * q - y * sine_leading) - half_tail));

    const bits8 exchanged = (bits(sine) ^ bits(cosine)) & (0 - (quadrant & 1));
    *sine_out = number(bits(sine) ^ exchanged ^ ((quadrant & 2) << 62));
    *cosine_out = number(bits(cosine) ^ exchanged ^ (((quadrant + 1) & 2) << 62));
}

/// `CubeProjection.uvToST` and `stToIJ`.
INLINE word8 leaf_coordinate(double8 u) {
    const double8 root = 0.5 * __builtin_elementwise_sqrt(1 + 3 * number(bits(u) & ~SIGN_BIT));
    const bits8 exchanged = (bits(root) ^ bits(1 - root)) & sign_mask(bits(u));
    const double8 s = number(bits(root) ^ exchanged);
    // Clamped before rounding rather than after, with the same result: only values above the limit change.
    const double8 limit = 0x1p30 - 1, scaled = 0x1p30 * s - 0.5;
    const bits8 above = (bits8)(scaled > limit);
    const double8 limited = number((bits(limit) & above) | (bits(scaled) & ~above));
    return __builtin_convertvector(bits(limited + INTEGER_ROUNDER), word8);
}

/// Eight points. Returns all ones for those whose coordinates are out of range.
INLINE bits8 eight(
    const double *coordinates, uint32_t *cells, uint32_t *keys, uint32_t *columns, uint32_t *rows) {
    double8 first, second;
    memcpy(&first, coordinates, sizeof first);
    memcpy(&second, coordinates + 8, sizeof second);
    const double8 latitude = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
    const double8 longitude = __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15);
    const bits8 in_range =
        (bits8)((latitude >= -90) & (latitude <= 90) & (longitude >= -180) & (longitude < 180));

    // `CubeProjection.direction` of the latitude and longitude. Values out of range become zero, for which everything
    // below is defined.
    double8 sine_latitude, cosine_latitude, sine_longitude, cosine_longitude;
    sine_cosine(number(bits(latitude) & in_range), &sine_latitude, &cosine_latitude);
    sine_cosine(number(bits(longitude) & in_range), &sine_longitude, &cosine_longitude);
    const bits8 x = bits(cosine_longitude * cosine_latitude);
    const bits8 y = bits(sine_longitude * cosine_latitude);
    const bits8 z = bits(sine_latitude);

    // `CubeProjection.faceUV`.
    const bits8 size_x = x & ~SIGN_BIT, size_y = y & ~SIGN_BIT, size_z = z & ~SIGN_BIT;
    const bits8 x_over_y = sign_mask(size_y - size_x);
    const bits8 on_x = x_over_y & sign_mask(size_z - size_x);
    const bits8 on_y = ~x_over_y & sign_mask(size_z - size_y);
    const bits8 on_z = ~(on_x | on_y);
    const bits8 d = (x & on_x) | (y & on_y) | (z & on_z);
    const bits8 a = (y & on_x) | ((x ^ SIGN_BIT) & ~on_x);
    const bits8 b = ((y ^ SIGN_BIT) & on_z) | (z & ~on_z);
    const bits8 negative = sign_mask(d);
    const bits8 u = bits(number(a) / number(d)), v = bits(number(b) / number(d));
    const bits8 exchanged = (u ^ v) & negative;
    const word8 face = __builtin_convertvector(((on_y & 1) | (on_z & 2)) + (negative & 3), word8);

    const word8 i = leaf_coordinate(number(u ^ exchanged)), j = leaf_coordinate(number(v ^ exchanged));
    const word8 cell = face << 14 | i >> 23 << 7 | j >> 23;
    // `AtlasLayout.key`: bits 22 to 15 of i in the upper half of a word and of j in the lower, spread both at once.
    word8 key = (i << 1 & 0xff0000) | (j >> 15 & 0xff);
    key = (key | key << 4) & 0x0f0f0f0f;
    key = (key | key << 2) & 0x33333333;
    key = (key | key << 1) & 0x55555555;
    key = (key >> 15 | key) & 0xffff;
    memcpy(cells, &cell, sizeof cell);
    memcpy(keys, &key, sizeof key);
    memcpy(columns, &i, sizeof i);
    memcpy(rows, &j, sizeof j);
    return ~in_range;
}

INLINE uint64_t block(
    const double *coordinates, size_t count, uint32_t *cells, uint32_t *keys, uint32_t *columns, uint32_t *rows) {
    uint64_t out_of_range = 0;
    for (size_t at = 0; at < count; at += 8) {
        double padded[16];
        const double *source = coordinates + 2 * at;
        if (count - at < 8) {
            memset(padded, 0, sizeof padded);
            memcpy(padded, source, (count - at) * 2 * sizeof(double));
            source = padded;
        }
        const bits8 outside = eight(source, cells + at, keys + at, columns + at, rows + at);
        if (__builtin_reduce_or(outside)) {
            for (int lane = 0; lane < 8; lane++) out_of_range |= (outside[lane] & 1) << (at + lane);
        }
    }
    return out_of_range;
}

#define VARIANT(name, attributes)                                                                             \
    attributes static uint64_t name(                                                                          \
        const double *coordinates, size_t count, uint32_t *cells, uint32_t *keys, uint32_t *columns,          \
        uint32_t *rows) {                                                                                     \
        return block(coordinates, count, cells, keys, columns, rows);                                         \
    }

VARIANT(baseline, )
#if defined(__x86_64__)
VARIANT(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl"))))
#endif

cell_kernel hereabouts_cell_kernel(kernel_set set) {
    if (!hereabouts_has_kernel_set(set)) return NULL;
    switch (set) {
#if defined(__x86_64__)
    case KERNEL_SET_AVX2: return avx2;
    case KERNEL_SET_AVX512: return avx512;
#endif
    default: return baseline;
    }
}
