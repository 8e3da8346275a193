/* Lines of latitude and longitude in, the regions around them out, as `hereabouts snap` writes them:
 *
 *     cc -o lines lines.c -lhereabouts && ./lines world.atlas <positions.csv >regions.csv
 */
#include <hereabouts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096 };

static void end(const char *what, int32_t status) {
    fprintf(stderr, "%s: %s\n", what, hereabouts_error_text(status));
    exit(2);
}

/* A field of a table, in quotes where it needs some. */
static void put(const uint8_t *text, int32_t count) {
    int quotes = memchr(text, ',', (size_t)count) != NULL;
    printf(quotes ? "\"%.*s\"" : "%.*s", (int)count, (const char *)text);
}

int main(int count, char **arguments) {
    static double latitudes[ROWS], longitudes[ROWS], centers[2][ROWS], accuracies[ROWS];
    static hereabouts_region regions[ROWS];
    static uint64_t ids[ROWS];
    static int32_t country_offsets[ROWS + 1], place_offsets[ROWS + 1];
    static uint8_t countries[8 * ROWS], places[280 * ROWS];
    hereabouts_columns columns = {NULL,           ids,       centers[0],        centers[1],    accuracies,    country_offsets,
                                  countries, sizeof countries, place_offsets, places, sizeof places};
    hereabouts_atlas *atlas;
    char line[256], text[18];
    int32_t status;
    if (count != 2) return fprintf(stderr, "usage: lines ATLAS\n"), 2;
    status = hereabouts_open(arguments[1], 0, &atlas);
    if (status != HEREABOUTS_OK) end(arguments[1], status);
    puts("latitude,longitude,horizontal_accuracy,region,country,place");
    for (;;) {
        size_t rows = 0, row, written;
        while (rows < ROWS && fgets(line, sizeof line, stdin) != NULL) {
            if (sscanf(line, "%lf,%lf", &latitudes[rows], &longitudes[rows]) != 2) latitudes[rows] = 1000;
            rows++;
        }
        if (rows == 0) break;
        status = hereabouts_snap(atlas, rows, latitudes, sizeof *latitudes, longitudes, sizeof *longitudes, regions, NULL);
        if (status == HEREABOUTS_OK) status = hereabouts_describe(atlas, rows, regions, &columns, 0, &written);
        if (status != HEREABOUTS_OK) end(arguments[1], status);
        for (row = 0; row < rows; row++) {
            if (regions[row] == HEREABOUTS_NO_REGION) {
                puts(",,,,,");
                continue;
            }
            hereabouts_id_text(ids[row], text);
            printf("%.5f,%.5f,%.0f,%s,", centers[0][row], centers[1][row], accuracies[row], text);
            put(countries + country_offsets[row], country_offsets[row + 1] - country_offsets[row]);
            putchar(',');
            put(places + place_offsets[row], place_offsets[row + 1] - place_offsets[row]);
            putchar('\n');
        }
    }
    hereabouts_close(atlas);
    return 0;
}
