// What the programs of the peers share: points from a file, and the time of several passes over them.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    double latitude, longitude;  // degrees
} Point;

typedef struct {
    Point *points;
    size_t count;
} Points;

// Reads little-endian pairs of 64-bit numbers; ends the program where the file cannot be read.
static inline Points read_points(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    Points all = {(Point *)malloc(bytes), bytes / sizeof(Point)};
    if (!all.points || !all.count || fread(all.points, sizeof(Point), all.count, file) != all.count) exit(2);
    fclose(file);
    return all;
}

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Calls `pass` over all points once to warm up, then `passes` times by the clock; prints nanoseconds per point, a line
// for each. A pass returns a sum of its answers, which must be the same each time and not zero.
static inline int measure(double (*pass)(Points, void *), Points all, void *context, int passes) {
    double expected = pass(all, context);
    if (expected == 0 || expected != expected) return 1;
    for (int i = 0; i < passes; i++) {
        double start = seconds_now();
        double sum = pass(all, context);
        double elapsed = seconds_now() - start;
        if (sum != expected) return 1;
        printf("%.3f\n", elapsed * 1e9 / (double)all.count);
    }
    return 0;
}
