#include "CKernels.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Vectors are passed between functions that are all inlined; no call has them as arguments.
#pragma clang diagnostic ignored "-Wpsabi"

typedef uint8_t bytes64 __attribute__((ext_vector_type(64)));
typedef _Bool marks64 __attribute__((ext_vector_type(64)));

#define INLINE static inline __attribute__((always_inline))

// MARK: Fields

/// A bit for each byte that is not zero, all ones.
INLINE uint64_t bits(bytes64 equal) {
    const marks64 marks = __builtin_convertvector(equal, marks64);
    uint64_t result;
    memcpy(&result, &marks, sizeof result);
    return result;
}

INLINE structural_counts build_index(
    const uint8_t *text, size_t count, uint8_t delimiter, uint32_t *separators) {
    bytes64 quotes = 0, returns = 0;
    uint32_t *next = separators;
    size_t line_feeds = 0;
    for (size_t at = 0; at < count; at += 64) {
        bytes64 bytes;
        memcpy(&bytes, text + at, sizeof bytes);
        const uint64_t inside = count - at < 64 ? ~(UINT64_MAX << (count - at)) : UINT64_MAX;
        const uint64_t feeds = bits((bytes64)(bytes == '\n')) & inside;
        uint64_t marks = (bits((bytes64)(bytes == delimiter)) & inside) | feeds;
        line_feeds += (size_t)__builtin_popcountll(feeds);
        quotes |= (bytes64)(bytes == '"');
        returns |= (bytes64)(bytes == '\r');
        // Branch-free in steps of eight: entries past the last mark are overwritten by the next word's.
        uint32_t *const after = next + __builtin_popcountll(marks);
        do {
            for (int k = 0; k < 8; k++) {
                next[k] = (uint32_t)at + (uint32_t)(marks ? __builtin_ctzll(marks) : 0);
                marks &= marks - 1;
            }
            next += 8;
        } while (marks != 0);
        next = after;
    }
    return (structural_counts){(size_t)(next - separators), line_feeds, bits(quotes) != 0, bits(returns) != 0};
}

// MARK: Numbers

/// The field between two separators.
INLINE field_span field(const uint32_t *separators) { return (field_span){separators[0] + 1, separators[1]}; }

static size_t parse_pairs_baseline(
    const uint8_t *text, const uint32_t *separators, size_t stride, size_t first, size_t second, size_t count,
    double *numbers) {
    size_t other = 0;
    for (size_t row = 0; row < count; row++, separators += stride, numbers += 2) {
        const field_span one = field(separators + first), two = field(separators + second);
        numbers[0] = hereabouts_parse_fixed_point(text + one.start, one.end - one.start);
        numbers[1] = hereabouts_parse_fixed_point(text + two.start, two.end - two.start);
        if (isnan(numbers[0]) || isnan(numbers[1])) {
            numbers[0] = numbers[1] = NAN;
            other++;
        }
    }
    return other;
}

#if defined(__x86_64__)
/// Byte k of the shuffle control for a number with `whole` digits before its point and `fraction` after it: the former
/// are right-aligned in the low half, the latter in the high half; 0x80 gives zero.
#define FROM(whole, fraction, k)                                                                              \
    ((k) < 8 ? ((k) < 8 - (whole) ? 0x80 : (k) - 8 + (whole))                                                 \
             : ((k) < 16 - (fraction) ? 0x80 : (k) - 16 + (fraction) + (whole) + 1))
#define SHUFFLE(whole, fraction)                                                                              \
    {FROM(whole, fraction, 0), FROM(whole, fraction, 1), FROM(whole, fraction, 2), FROM(whole, fraction, 3),  \
     FROM(whole, fraction, 4), FROM(whole, fraction, 5), FROM(whole, fraction, 6), FROM(whole, fraction, 7),  \
     FROM(whole, fraction, 8), FROM(whole, fraction, 9), FROM(whole, fraction, 10), FROM(whole, fraction, 11), \
     FROM(whole, fraction, 12), FROM(whole, fraction, 13), FROM(whole, fraction, 14), FROM(whole, fraction, 15)}
#define SHUFFLES(whole)                                                                                       \
    {SHUFFLE(whole, 1), SHUFFLE(whole, 2), SHUFFLE(whole, 3), SHUFFLE(whole, 4),                              \
     SHUFFLE(whole, 5), SHUFFLE(whole, 6), SHUFFLE(whole, 7), SHUFFLE(whole, 8)}
static const _Alignas(16) uint8_t shuffles[7][8][16] = {
    SHUFFLES(1), SHUFFLES(2), SHUFFLES(3), SHUFFLES(4), SHUFFLES(5), SHUFFLES(6), SHUFFLES(7),
};

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/// Nonzero unless a number matches `[0-9]{1,7}\.[0-9]{1,8}`.
///
/// - marks: a bit for each byte of the number that is no digit.
INLINE uint32_t mismatch(uint32_t marks, uint32_t whole, uint32_t fraction, uint8_t mark) {
    return (marks & (marks - 1)) | (marks & 1) | (whole & ~UINT32_C(7)) | ((fraction - 1) & ~UINT32_C(7))
        | (uint32_t)(mark ^ '.');
}

/// Parses two numbers at once; false if one is not fixed-point.
AVX2 INLINE _Bool pair(const uint8_t *text, field_span one, field_span two, double *numbers) {
    const uint8_t *first = text + one.start, *second = text + two.start;
    const uint32_t negative0 = *first == '-', negative1 = *second == '-';
    first += negative0;
    second += negative1;
    const uint32_t count0 = one.end - one.start - negative0, count1 = two.end - two.start - negative1;
    const __m256i digits = _mm256_sub_epi8(
        _mm256_loadu2_m128i((const __m128i *)second, (const __m128i *)first), _mm256_set1_epi8('0'));
    const __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    const uint32_t others = ~(uint32_t)_mm256_movemask_epi8(is_digit);
    // The marks of a number that is too long may be wrong; it is rejected by its length.
    const uint32_t marks0 = _bzhi_u32(others, count0), marks1 = _bzhi_u32(others >> 16, count1);
    const uint32_t whole0 = _tzcnt_u32(marks0), whole1 = _tzcnt_u32(marks1);
    const uint32_t fraction0 = count0 - whole0 - 1, fraction1 = count1 - whole1 - 1;
    if (mismatch(marks0, whole0, fraction0, first[whole0]) | mismatch(marks1, whole1, fraction1, second[whole1])) return 0;
    const __m256i from = _mm256_loadu2_m128i(
        (const __m128i *)shuffles[whole1 - 1][fraction1 - 1], (const __m128i *)shuffles[whole0 - 1][fraction0 - 1]);
    const __m256i twos = _mm256_maddubs_epi16(_mm256_shuffle_epi8(digits, from), _mm256_set1_epi16(0x010a));
    const __m256i fours = _mm256_madd_epi16(twos, _mm256_set1_epi32(0x00010064));
    const __m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x00012710));
    const __m128i halves = _mm256_castsi256_si128(
        _mm256_permutevar8x32_epi32(eights, _mm256_setr_epi32(0, 4, 1, 5, 0, 0, 0, 0)));
    const __m256d values = _mm256_cvtepi32_pd(halves);
    const __m128d powers = _mm_setr_pd(hereabouts_exact_powers[fraction0], hereabouts_exact_powers[fraction1]);
    // Exact up to the division, as in `parse_fixed_point`.
    const __m128d magnitudes =
        _mm_add_pd(_mm_mul_pd(_mm256_castpd256_pd128(values), powers), _mm256_extractf128_pd(values, 1));
    const __m128i signs = _mm_slli_epi64(_mm_set_epi64x(negative1, negative0), 63);
    _mm_storeu_pd(numbers, _mm_or_pd(_mm_div_pd(magnitudes, powers), _mm_castsi128_pd(signs)));
    return 1;
}

AVX2 static size_t parse_pairs_avx2(
    const uint8_t *text, const uint32_t *separators, size_t stride, size_t first, size_t second, size_t count,
    double *numbers) {
    size_t other = 0;
    for (size_t row = 0; row < count; row++, separators += stride, numbers += 2) {
        if (!pair(text, field(separators + first), field(separators + second), numbers)) {
            numbers[0] = numbers[1] = NAN;
            other++;
        }
    }
    return other;
}

AVX2 static structural_counts index_avx2(
    const uint8_t *text, size_t count, uint8_t delimiter, uint32_t *separators) {
    return build_index(text, count, delimiter, separators);
}
#endif

static structural_counts index_baseline(
    const uint8_t *text, size_t count, uint8_t delimiter, uint32_t *separators) {
    return build_index(text, count, delimiter, separators);
}

const field_kernels *hereabouts_field_kernels(kernel_set set) {
    static const field_kernels baseline = {index_baseline, parse_pairs_baseline};
    if (!hereabouts_has_kernel_set(set)) return NULL;
#if defined(__x86_64__)
    static const field_kernels avx2 = {index_avx2, parse_pairs_avx2};
    if (set >= KERNEL_SET_AVX2) return &avx2;
#endif
    return &baseline;
}

#define UP_TO_TWO(zeros) UINT64_C(1##zeros), UINT64_C(10##zeros), UINT64_C(100##zeros)
#define POWERS                                                                                                \
    {UP_TO_TWO(), UP_TO_TWO(000), UP_TO_TWO(000000), UP_TO_TWO(000000000), UP_TO_TWO(000000000000),           \
     UP_TO_TWO(000000000000000), UINT64_C(1000000000000000000)}
const uint64_t hereabouts_powers[19] = POWERS;
const double hereabouts_exact_powers[19] = POWERS;
