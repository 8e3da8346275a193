// geos_contains BORDERS POINTS PASSES: nanoseconds per point to find the polygon that holds it: GEOS's STRtree, then
// prepared `contains`. BORDERS is what geos_wkb writes.
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
#include <stdarg.h>
#include <stdint.h>

#include "points.h"

typedef struct {
    GEOSContextHandle_t geos;
    GEOSSTRtree *tree;
    const GEOSGeometry *point;
    const GEOSPreparedGeometry *found;
} Search;

static void print_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void visit(void *item, void *context) {
    Search *search = (Search *)context;
    if (search->found) return;
    const GEOSPreparedGeometry *polygon = (const GEOSPreparedGeometry *)item;
    if (GEOSPreparedContains_r(search->geos, polygon, search->point) == 1) search->found = polygon;
}

// The sum is the number of points in some polygon: on the high seas there is none.
static double pass(Points all, void *context) {
    Search *search = (Search *)context;
    double sum = 0;
    for (size_t i = 0; i < all.count; i++) {
        GEOSGeometry *point =
            GEOSGeom_createPointFromXY_r(search->geos, all.points[i].longitude, all.points[i].latitude);
        search->point = point;
        search->found = NULL;
        GEOSSTRtree_query_r(search->geos, search->tree, point, visit, search);
        sum += search->found != NULL;
        GEOSGeom_destroy_r(search->geos, point);
    }
    return sum;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    GEOSContextHandle_t geos = GEOS_init_r();
    GEOSContext_setErrorHandler_r(geos, print_message);
    Search search = {geos, GEOSSTRtree_create_r(geos, 10), NULL, NULL};
    GEOSWKBReader *reader = GEOSWKBReader_create_r(geos);
    FILE *file = fopen(arguments[1], "rb");
    uint64_t length;
    while (file && fread(&length, sizeof length, 1, file) == 1) {
        unsigned char *bytes = malloc(length);
        if (!bytes || fread(bytes, 1, length, file) != length) return 1;
        GEOSGeometry *polygon = GEOSWKBReader_read_r(geos, reader, bytes, length);
        free(bytes);
        if (!polygon) return 1;
        GEOSSTRtree_insert_r(geos, search.tree, polygon, (void *)GEOSPrepare_r(geos, polygon));
    }
    return measure(pass, read_points(arguments[2]), &search, atoi(arguments[3]));
}
