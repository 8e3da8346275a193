#ifndef HEREABOUTS_CLOCK_H
#define HEREABOUTS_CLOCK_H

#include <stdint.h>
#include <time.h>

/// The seconds since 1970 that the system's real-time clock shows, and the nanoseconds beyond them.
static inline int64_t hereabouts_clock(int64_t *_Nonnull nanoseconds) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_REALTIME, &time);
    *nanoseconds = time.tv_nsec;
    return time.tv_sec;
}

#endif
