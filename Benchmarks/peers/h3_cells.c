// H3's cell at a resolution, and its center. Built as a shared library: h3_cells.py hands over the functions of the h3
// package, which exports them, so that the loop and its timing are in C.
#include <math.h>
#include <stdint.h>

#include "points.h"

typedef struct {
    double lat, lng;  // radians
} LatLng;

typedef struct {
    uint32_t (*cell)(const LatLng *, int, uint64_t *);
    uint32_t (*center)(uint64_t, LatLng *);
    int resolution;
} H3;

static double pass(Points all, void *context) {
    const H3 *h3 = (const H3 *)context;
    double sum = 0;
    for (size_t i = 0; i < all.count; i++) {
        LatLng place = {all.points[i].latitude * (M_PI / 180), all.points[i].longitude * (M_PI / 180)};
        uint64_t cell;
        if (h3->cell(&place, h3->resolution, &cell) || h3->center(cell, &place)) return 0;
        sum += place.lat + place.lng;
    }
    return sum;
}

int measure_h3(const char *path, int passes, void *cell, void *center, int resolution) {
    H3 h3 = {(uint32_t (*)(const LatLng *, int, uint64_t *))cell, (uint32_t (*)(uint64_t, LatLng *))center, resolution};
    int status = measure(pass, read_points(path), &h3, passes);
    fflush(stdout);
    return status;
}
