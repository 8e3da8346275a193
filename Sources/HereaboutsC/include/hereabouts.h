/* Hereabouts: the region around a position, for programs in C and what calls it. C99 and C++11; needs libc and libm alone.
 *
 * No function traps, ends the process, prints, starts a thread or installs a signal handler. What can fail returns a status, 0 for
 * success. A handle may be used by any number of threads at once, and after a fork. Angles are in degrees, lengths in meters, times
 * in nanoseconds since 1970, UTC. Texts are UTF-8.
 */
#ifndef HEREABOUTS_H
#define HEREABOUTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HEREABOUTS_OK = 0,
    HEREABOUTS_UNREADABLE = 1,          /* the file cannot be opened or read; errno says why */
    HEREABOUTS_NOT_AN_ATLAS = 2,        /* it does not begin as an atlas does */
    HEREABOUTS_OTHER_VERSION = 3,       /* it is of a version that this library does not read */
    HEREABOUTS_DAMAGED = 4,             /* it is truncated, or contradicts its checksums or itself */
    HEREABOUTS_CHANGED = 5,             /* it was written to while it was mapped */
    HEREABOUTS_INVALID = 6,             /* an argument is null or out of its range */
    HEREABOUTS_UNKNOWN_REGION = 7,      /* not a region of this atlas */
    HEREABOUTS_OTHER_STATE = 8,         /* bytes that are no state of a device, or of another atlas */
    HEREABOUTS_NO_MEMORY = 9
};

/* How an atlas is opened. By default it is read into memory of its own and validated as a whole, some 40 ms and 24 MB, so that
 * whatever becomes of the file changes nothing. */
enum {
    HEREABOUTS_MAP = 1, /* maps the file: at once, shared with others. If it is truncated in use, SIGBUS ends the process */
    HEREABOUTS_LAZY = 2 /* validates each part when it is first used; any call may say HEREABOUTS_DAMAGED then */
};

typedef struct hereabouts_atlas hereabouts_atlas;

/* A region of one atlas: a handle. To keep or publish a region, use its id. */
typedef uint32_t hereabouts_region;
#define HEREABOUTS_NO_REGION ((hereabouts_region)UINT32_MAX)

/* A sentence for people; of any status. */
const char *hereabouts_error_text(int32_t status);
/* The library's version: "0.2.0". */
const char *hereabouts_version(void);

int32_t hereabouts_open(const char *path, uint32_t options, hereabouts_atlas **atlas);
/* Copies the bytes. */
int32_t hereabouts_open_bytes(const void *bytes, size_t count, uint32_t options, hereabouts_atlas **atlas);
/* Null does nothing. */
void hereabouts_close(hereabouts_atlas *atlas);

/* Tells atlases apart; keep it beside states and published data. 0 for null, as the next. */
uint64_t hereabouts_fingerprint(const hereabouts_atlas *atlas);
/* The regions are 0 up to this. */
uint32_t hereabouts_region_count(const hereabouts_atlas *atlas);
/* The words to show beside what is published, a line for each source. Writes up to `capacity` bytes with a zero at the end, and says
 * how many there are without it. */
size_t hereabouts_attribution(const hereabouts_atlas *atlas, char *text, size_t capacity);

/* The regions of `count` positions. Strides are in bytes: 8 for arrays of double. Latitude is in [-90, 90], longitude in
 * [-540, 540]; for any other, and for what is not a number, the region is HEREABOUTS_NO_REGION. `invalid`, unless null, gets how
 * many these are. */
int32_t hereabouts_snap(
    const hereabouts_atlas *atlas, size_t count, const double *latitudes, ptrdiff_t latitude_stride,
    const double *longitudes, ptrdiff_t longitude_stride, hereabouts_region *regions, size_t *invalid);

/* Columns of regions, in Arrow's layout; those that are null are not written. A row of HEREABOUTS_NO_REGION has id 0, numbers that are
 * none, empty texts, and a clear bit in `validity`. */
typedef struct {
    uint8_t *validity;            /* a bit for each row, the lowest first; the bytes must be zero before */
    uint64_t *ids;                /* the published id: a cell of S2 */
    double *latitudes, *longitudes, *accuracies; /* of the circle that contains the region */
    int32_t *country_offsets;     /* one more than rows; the first must be set, others follow */
    uint8_t *countries;           /* ISO 3166-1 alpha-2, XZ for the high seas; up to 8 bytes each */
    size_t country_capacity;      /* bytes of `countries` */
    int32_t *place_offsets;
    uint8_t *places;              /* "El Paso", "near Marfa"; empty for none */
    size_t place_capacity;
} hereabouts_columns;

/* Writes the rows of regions, from row `first` of the columns on, as far as their texts have room. `written` gets how many: if fewer
 * than `count`, give the rest larger columns. */
int32_t hereabouts_describe(
    const hereabouts_atlas *atlas, size_t count, const hereabouts_region *regions, const hereabouts_columns *columns,
    size_t first, size_t *written);

/* The region with an id. */
int32_t hereabouts_region_with_id(const hereabouts_atlas *atlas, uint64_t id, hereabouts_region *region);
/* The text of an id, "r86e759b06f", with a zero at the end; an empty one for no id. */
void hereabouts_id_text(uint64_t id, char text[18]);
/* The id of a text, with or without the letter; 0 for none. */
uint64_t hereabouts_id_of_text(const char *text);

/* A part of a region: a cell, or a piece of one that borders cut. Four corners on the cell's face of S2's cube, counterclockwise, in
 * its coordinates s and t, from 0 to 1; two of a piece may coincide. Sides are straight in s and t. */
typedef struct {
    uint64_t cell; /* of S2; the face is its first three bits */
    double s[4], t[4];
    int32_t is_whole; /* 1 if the part is all of the cell */
} hereabouts_part;

/* What a region consists of; parts touch, and do not overlap. Writes up to `capacity` parts; `count` gets how many there are. Takes a
 * millisecond for a region of 16 km. */
int32_t hereabouts_region_parts(
    const hereabouts_atlas *atlas, hereabouts_region region, hereabouts_part *parts, size_t capacity, size_t *count);

/* Where a ring lies on the Earth: `count` corners on a quarter of a face (the middles are s = 0.5 and t = 0.5), the first once more at
 * the end. Writes up to `capacity` positions, with as many between corners as sides need to be straight to 1e-7 degrees of longitude
 * and latitude; `written` gets how many there are. None crosses the antimeridian. */
int32_t hereabouts_ring(
    uint32_t face, size_t count, const double *s, const double *t, double *latitudes, double *longitudes, size_t capacity,
    size_t *written);

/* What a device was answered at a tick, a multiple of the interval. */
typedef struct {
    int64_t tick;
    hereabouts_region region;
    int32_t is_new; /* 1 if it is another region than the last answer's, or the first */
} hereabouts_answer;

/* Bytes of a device's state. It holds ticks and regions, no position. Store it before the answers that it covers are published. */
size_t hereabouts_pace_state_size(void);

/* Paces the fixes of one device, in order of their times: at each tick the newest fix of the interval before it is answered.
 *
 * `accuracies` may be null; what is not positive and finite is unknown. `state` is of this atlas and holds what the device's last
 * call left; a first byte of 0 begins a device. The last fix is answered if its tick is at or before `until`, and else forgotten: give
 * INT64_MAX at the end of a recording. `answers` has room for count + 1. `late` (unless null) gets how many fixes came too late. */
int32_t hereabouts_pace(
    const hereabouts_atlas *atlas, int64_t interval, size_t count, const int64_t *times, const double *latitudes,
    const double *longitudes, const double *accuracies, int64_t until, uint8_t *state, hereabouts_answer *answers,
    size_t *answer_count, size_t *late);

#ifdef __cplusplus
}
#endif
#endif
