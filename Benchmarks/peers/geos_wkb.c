// geos_wkb GEOJSONL WKB: writes the features of a file, one a line, as well-known binary, each after its length.
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count != 3) return 2;
    GEOSContextHandle_t geos = GEOS_init_r();
    GEOSGeoJSONReader *reader = GEOSGeoJSONReader_create_r(geos);
    GEOSWKBWriter *writer = GEOSWKBWriter_create_r(geos);
    FILE *input = fopen(arguments[1], "r"), *output = fopen(arguments[2], "wb");
    if (!input || !output) return 2;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, input) > 1) {
        GEOSGeometry *feature = GEOSGeoJSONReader_readGeometry_r(geos, reader, line);
        if (!feature) return 1;
        size_t size = 0;
        unsigned char *bytes = GEOSWKBWriter_write_r(geos, writer, feature, &size);
        uint64_t length = size;
        if (!bytes || fwrite(&length, sizeof length, 1, output) != 1 || fwrite(bytes, 1, size, output) != size) return 1;
        GEOSFree_r(geos, bytes);
        GEOSGeom_destroy_r(geos, feature);
    }
    return fclose(output) ? 1 : 0;
}
