/* What hereabouts.h says, of a library that is linked or loaded. C99 and C++11: check ATLAS SCRATCH */
#include <hereabouts.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) \
    ((condition) ? (void)0 : (void)(fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), exit(1)))

enum { ROWS = 5000 };
static double latitudes[ROWS], longitudes[ROWS];
static hereabouts_region expected[ROWS];
static hereabouts_atlas *shared;

static double uniform(double low, double high) { return low + (high - low) * (rand() / (RAND_MAX + 1.0)); }

static int count_entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

/* The signals that a handler of ours would change. */
static void read_handlers(void (*handlers[32])(int)) {
    int number;
    for (number = 1; number < 32; number++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        handlers[number] = sigaction(number, NULL, &action) == 0 ? action.sa_handler : SIG_DFL;
    }
}

static void *snap_all(void *unused) {
    static const int rounds = 20;
    int round, row;
    (void)unused;
    for (round = 0; round < rounds; round++) {
        hereabouts_region regions[ROWS];
        CHECK(hereabouts_snap(shared, ROWS, latitudes, 8, longitudes, 8, regions, NULL) == HEREABOUTS_OK);
        for (row = 0; row < ROWS; row++) CHECK(regions[row] == expected[row]);
    }
    return NULL;
}

static void check_positions(void) {
    double pairs[2 * ROWS], odd[7] = {NAN, INFINITY, 90.5, -90, 90, 0, 0}, odd_longitudes[7] = {0, 0, 0, 540, -540, NAN, 541};
    hereabouts_region regions[ROWS], none[7], one;
    float unaligned[3];
    size_t invalid = 99;
    int row;
    CHECK(hereabouts_snap(shared, ROWS, latitudes, 8, longitudes, 8, expected, &invalid) == HEREABOUTS_OK && invalid == 0);
    for (row = 0; row < ROWS; row++) {
        pairs[2 * row] = longitudes[row], pairs[2 * row + 1] = latitudes[row];
        CHECK(expected[row] < hereabouts_region_count(shared));
    }
    /* Pairs, and backwards. */
    CHECK(hereabouts_snap(shared, ROWS, pairs + 1, 16, pairs, 16, regions, NULL) == HEREABOUTS_OK);
    CHECK(memcmp(regions, expected, sizeof regions) == 0);
    CHECK(hereabouts_snap(shared, ROWS, latitudes + ROWS - 1, -8, longitudes + ROWS - 1, -8, regions, NULL) == HEREABOUTS_OK);
    for (row = 0; row < ROWS; row++) CHECK(regions[row] == expected[ROWS - 1 - row]);
    /* One value for all rows, and bytes that are not aligned. */
    CHECK(hereabouts_snap(shared, 3, latitudes, 0, longitudes, 0, regions, NULL) == HEREABOUTS_OK && regions[2] == expected[0]);
    memcpy((char *)unaligned + 1, latitudes, 8);
    CHECK(hereabouts_snap(shared, 1, (const double *)(const void *)((char *)unaligned + 1), 8, longitudes, 8, &one, NULL) == 0);
    CHECK(one == expected[0]);
    CHECK(hereabouts_snap(shared, 7, odd, 8, odd_longitudes, 8, none, &invalid) == HEREABOUTS_OK && invalid == 5);
    for (row = 0; row < 7; row++) CHECK((none[row] == HEREABOUTS_NO_REGION) == (row != 3 && row != 4));
    CHECK(hereabouts_snap(shared, 0, NULL, 8, NULL, 8, NULL, &invalid) == HEREABOUTS_OK && invalid == 0);
}

static void check_columns(void) {
    static uint64_t ids[ROWS], again[ROWS];
    static int32_t country_offsets[ROWS + 1], place_offsets[ROWS + 1];
    static uint8_t countries[8 * ROWS], places[300 * ROWS], validity[(ROWS + 7) / 8];
    static double centers[2][ROWS], accuracies[ROWS];
    hereabouts_columns columns;
    hereabouts_region regions[ROWS], found;
    size_t written = 0, done;
    int row;
    memset(&columns, 0, sizeof columns);
    memcpy(regions, expected, sizeof regions);
    for (row = 0; row < ROWS; row += 7) regions[row] = HEREABOUTS_NO_REGION;
    columns.validity = validity, columns.ids = ids, columns.latitudes = centers[0], columns.longitudes = centers[1];
    columns.accuracies = accuracies, columns.country_offsets = country_offsets, columns.countries = countries;
    columns.country_capacity = sizeof countries, columns.place_offsets = place_offsets, columns.places = places;
    columns.place_capacity = sizeof places;
    CHECK(hereabouts_describe(shared, ROWS, regions, &columns, 0, &written) == HEREABOUTS_OK && written == ROWS);
    for (row = 0; row < ROWS; row++) {
        int is_valid = validity[row / 8] >> (row % 8) & 1;
        char text[18];
        CHECK(is_valid == (row % 7 != 0));
        CHECK(country_offsets[row + 1] - country_offsets[row] == (is_valid ? 2 : 0));
        if (!is_valid) {
            CHECK(ids[row] == 0 && isnan(accuracies[row]) && place_offsets[row + 1] == place_offsets[row]);
            continue;
        }
        CHECK(hereabouts_region_with_id(shared, ids[row], &found) == HEREABOUTS_OK && found == regions[row]);
        hereabouts_id_text(ids[row], text);
        CHECK(text[0] == 'r' && hereabouts_id_of_text(text) == ids[row] && hereabouts_id_of_text(text + 1) == ids[row]);
        CHECK(fabs(centers[0][row]) <= 90 && fabs(centers[1][row]) <= 180 && accuracies[row] >= 2000 && accuracies[row] < 61000);
    }
    /* Ids alone, and by pieces that are full sooner or later. */
    memset(&columns, 0, sizeof columns);
    columns.ids = again;
    CHECK(hereabouts_describe(shared, ROWS, regions, &columns, 0, &written) == HEREABOUTS_OK && written == ROWS);
    CHECK(memcmp(ids, again, sizeof ids) == 0);
    {
        static int32_t offsets[ROWS + 1];
        static uint8_t piece[3000], whole[300 * ROWS];
        size_t filled = 0;
        for (done = 0; done < ROWS; done += written) {
            memset(&columns, 0, sizeof columns);
            columns.place_offsets = offsets, columns.places = piece, columns.place_capacity = sizeof piece;
            offsets[0] = 0;
            CHECK(hereabouts_describe(shared, ROWS - done, regions + done, &columns, 0, &written) == HEREABOUTS_OK && written > 0);
            memcpy(whole + filled, piece, (size_t)offsets[written]);
            filled += (size_t)offsets[written];
        }
        CHECK(filled == (size_t)place_offsets[ROWS] && memcmp(whole, places, filled) == 0);
    }
    /* Runs of one region, and of none, are what their rows are one by one. */
    {
        static hereabouts_region runs[ROWS];
        static int32_t country_ends[ROWS + 1], place_ends[ROWS + 1];
        static uint8_t run_countries[900], run_places[3000], bits[(ROWS + 7) / 8];
        static double circles[3][ROWS];
        for (row = 0; row < ROWS; row++) runs[row] = regions[row - row % 11];
        for (done = 0; done < ROWS; done += written) {
            size_t place;
            memset(&columns, 0, sizeof columns), memset(bits, 0, sizeof bits);
            columns.validity = bits, columns.ids = again, columns.latitudes = circles[0], columns.longitudes = circles[1];
            columns.accuracies = circles[2], columns.country_offsets = country_ends, columns.countries = run_countries;
            columns.country_capacity = sizeof run_countries, columns.place_offsets = place_ends, columns.places = run_places;
            columns.place_capacity = sizeof run_places;
            CHECK(hereabouts_describe(shared, ROWS - done, runs + done, &columns, 0, &written) == HEREABOUTS_OK && written > 0);
            for (place = 0; place < written; place++) {
                const int source = (int)(done + place) - (int)(done + place) % 11;
                const int32_t country = country_ends[place + 1] - country_ends[place], length = place_ends[place + 1] - place_ends[place];
                CHECK(again[place] == ids[source] && (bits[place / 8] >> (place % 8) & 1) == (validity[source / 8] >> (source % 8) & 1));
                CHECK(memcmp(&circles[0][place], &centers[0][source], 8) == 0 || isnan(centers[0][source]));
                CHECK(memcmp(&circles[1][place], &centers[1][source], 8) == 0 || isnan(centers[1][source]));
                CHECK(memcmp(&circles[2][place], &accuracies[source], 8) == 0 || isnan(accuracies[source]));
                CHECK(country == country_offsets[source + 1] - country_offsets[source]);
                CHECK(memcmp(run_countries + country_ends[place], countries + country_offsets[source], (size_t)country) == 0);
                CHECK(length == place_offsets[source + 1] - place_offsets[source]);
                CHECK(memcmp(run_places + place_ends[place], places + place_offsets[source], (size_t)length) == 0);
            }
        }
    }
    regions[3] = hereabouts_region_count(shared);
    CHECK(hereabouts_describe(shared, ROWS, regions, &columns, 0, &written) == HEREABOUTS_UNKNOWN_REGION);
    CHECK(hereabouts_region_with_id(shared, 1, &found) == HEREABOUTS_UNKNOWN_REGION && found == HEREABOUTS_NO_REGION);
    CHECK(hereabouts_id_of_text("") == 0 && hereabouts_id_of_text("x") == 0 && hereabouts_id_of_text(NULL) == 0);
}

/* A region's parts: its center lies in one of them, and what each has inside is of the region. */
static void check_parts(void) {
    static hereabouts_part parts[100000];
    double latitudes[64], longitudes[64], s[5], t[5], middle[2];
    size_t count, again, written, part;
    hereabouts_region found;
    int row, corner;
    for (row = 0; row < 40; row++) {
        CHECK(hereabouts_region_parts(shared, expected[row], parts, 100000, &count) == HEREABOUTS_OK && count > 0 && count < 100000);
        CHECK(hereabouts_region_parts(shared, expected[row], NULL, 0, &again) == HEREABOUTS_OK && again == count);
        for (part = 0; part < count; part += 1 + count / 50) {
            double s_middle = 0, t_middle = 0;
            for (corner = 0; corner < 4; corner++) s_middle += parts[part].s[corner] / 4, t_middle += parts[part].t[corner] / 4;
            for (corner = 0; corner < 5; corner++) {
                s[corner] = s_middle + (parts[part].s[corner % 4] - s_middle) * 1e-6;
                t[corner] = t_middle + (parts[part].t[corner % 4] - t_middle) * 1e-6;
            }
            if (!parts[part].is_whole && fabs(parts[part].s[1] - parts[part].s[0]) * fabs(parts[part].t[3] - parts[part].t[0]) < 1e-12)
                continue;
            CHECK(hereabouts_ring((uint32_t)(parts[part].cell >> 61), 5, s, t, latitudes, longitudes, 64, &written) == HEREABOUTS_OK);
            CHECK(written >= 5 && latitudes[0] == latitudes[written - 1] && longitudes[0] == longitudes[written - 1]);
            middle[0] = (latitudes[0] + latitudes[2]) / 2, middle[1] = (longitudes[0] + longitudes[2]) / 2;
            CHECK(hereabouts_snap(shared, 1, middle, 8, middle + 1, 8, &found, NULL) == HEREABOUTS_OK && found == expected[row]);
        }
    }
    CHECK(hereabouts_region_parts(shared, hereabouts_region_count(shared), parts, 9, &count) == HEREABOUTS_UNKNOWN_REGION);
    s[0] = 0.4, s[1] = 0.6, s[2] = 0.6, s[3] = 0.4, t[0] = t[1] = t[2] = t[3] = 0.1;
    CHECK(hereabouts_ring(0, 4, s, t, latitudes, longitudes, 64, &written) == HEREABOUTS_INVALID); /* over the middle */
    s[1] = s[2] = NAN;
    CHECK(hereabouts_ring(0, 4, s, t, latitudes, longitudes, 64, &written) == HEREABOUTS_INVALID);
    CHECK(hereabouts_ring(6, 4, s, t, latitudes, longitudes, 64, &written) == HEREABOUTS_INVALID);
}

/* In pieces with its state between them, a device has the answers that it has in one. */
static void check_pacing(void) {
    enum { FIXES = 400 };
    static const int64_t interval = 900000000000, minute = 60000000000;
    int64_t times[FIXES];
    double where[2][FIXES], accuracy[FIXES];
    hereabouts_answer whole[FIXES + 1], piece[FIXES + 1], all[FIXES + 1];
    uint8_t state[512], other[512];
    size_t count, late, total = 0, start, row, size = hereabouts_pace_state_size();
    CHECK(size <= sizeof state);
    for (row = 0; row < FIXES; row++) {
        times[row] = 1790000100000000000 + (int64_t)row * minute;
        where[0][row] = 52.5 + uniform(-0.0001, 0.0001), where[1][row] = 13.0 + (double)row * 0.01, accuracy[row] = 8;
    }
    memset(state, 0, sizeof state);
    CHECK(hereabouts_pace(shared, interval, FIXES, times, where[0], where[1], accuracy, INT64_MAX, state, whole, &count, &late) == 0);
    CHECK(count > 20 && late == 0 && state[0] != 0);
    memset(other, 0, sizeof other);
    for (start = 0; start < FIXES; start += 15) {
        /* Up to a tick: 14:15 and the minutes after it, to 14:30. */
        size_t begin = start == 0 ? 0 : start + 1, end = start + 16 < FIXES ? start + 16 : (size_t)FIXES, found;
        int64_t tick = times[0] + ((int64_t)start / 15 + 1) * interval;
        CHECK(hereabouts_pace(shared, interval, end - begin, times + begin, where[0] + begin, where[1] + begin, accuracy + begin,
                              tick, other, piece, &found, NULL) == 0);
        memcpy(all + total, piece, found * sizeof *piece);
        total += found;
    }
    CHECK(total == count && memcmp(all, whole, count * sizeof *whole) == 0 && memcmp(state, other, size) == 0);
    /* What was answered is not answered again. */
    CHECK(hereabouts_pace(shared, interval, FIXES, times, where[0], where[1], NULL, INT64_MAX, state, piece, &count, &late) == 0);
    CHECK(count == 0 && late == FIXES);
    where[0][0] = NAN;
    memset(state, 0, sizeof state);
    CHECK(hereabouts_pace(shared, interval, 1, times, where[0], where[1], NULL, INT64_MAX, state, piece, &count, &late) == 0);
    CHECK(count == 0 && late == 1 && state[0] == 0);
    other[100] ^= 1;
    CHECK(hereabouts_pace(shared, interval, 0, NULL, NULL, NULL, NULL, 0, other, piece, &count, &late) == HEREABOUTS_OTHER_STATE);
    other[100] ^= 1, other[size - 1] ^= 1;
    CHECK(hereabouts_pace(shared, interval, 0, NULL, NULL, NULL, NULL, 0, other, piece, &count, &late) == HEREABOUTS_OTHER_STATE);
    CHECK(hereabouts_pace(shared, 0, 0, NULL, NULL, NULL, NULL, 0, state, piece, &count, &late) == HEREABOUTS_INVALID);
}

static void check_arguments(const char *path) {
    hereabouts_atlas *atlas = shared;
    hereabouts_region region;
    double number = 0;
    int32_t status;
    CHECK(hereabouts_open(NULL, 0, &atlas) == HEREABOUTS_INVALID && hereabouts_open(path, 0, NULL) == HEREABOUTS_INVALID);
    CHECK(hereabouts_open(path, 4, &atlas) == HEREABOUTS_INVALID);
    errno = 0;
    CHECK(hereabouts_open("/nowhere", 0, &atlas) == HEREABOUTS_UNREADABLE && atlas == NULL && errno == ENOENT);
    CHECK(hereabouts_open("/dev/null", 0, &atlas) == HEREABOUTS_NOT_AN_ATLAS && atlas == NULL);
    CHECK(hereabouts_open("/", HEREABOUTS_MAP, &atlas) == HEREABOUTS_NOT_AN_ATLAS);
    CHECK(hereabouts_open_bytes("x", 1, 0, &atlas) == HEREABOUTS_NOT_AN_ATLAS);
    CHECK(hereabouts_snap(NULL, 1, &number, 8, &number, 8, &region, NULL) == HEREABOUTS_INVALID);
    CHECK(hereabouts_snap(shared, 1, NULL, 8, &number, 8, &region, NULL) == HEREABOUTS_INVALID);
    CHECK(hereabouts_fingerprint(NULL) == 0 && hereabouts_region_count(NULL) == 0 && hereabouts_attribution(NULL, NULL, 0) == 0);
    hereabouts_close(NULL);
    for (status = -1; status < 12; status++) CHECK(strlen(hereabouts_error_text(status)) > 5);
}

/* Damage anywhere is a status, when the atlas is opened or used. */
static void check_damage(const char *path, const char *scratch) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes, *copy;
    size_t size, place;
    int round;
    CHECK(file != NULL && stat(path, &status) == 0);
    size = (size_t)status.st_size;
    bytes = (uint8_t *)malloc(size), copy = (uint8_t *)malloc(size);
    CHECK(fread(bytes, 1, size, file) == size);
    fclose(file);
    for (round = 0; round < 60; round++) {
        hereabouts_atlas *atlas;
        hereabouts_region regions[ROWS];
        int32_t opened;
        memcpy(copy, bytes, size);
        place = (size_t)uniform(8, (double)size);
        copy[place] ^= (uint8_t)(1 << (round % 8));
        CHECK(hereabouts_open_bytes(copy, round % 3 ? size : place, 0, &atlas) != HEREABOUTS_OK && atlas == NULL);
        opened = hereabouts_open_bytes(copy, size, HEREABOUTS_LAZY, &atlas);
        if (opened == HEREABOUTS_OK) {
            int32_t used = hereabouts_snap(atlas, ROWS, latitudes, 8, longitudes, 8, regions, NULL);
            CHECK(used == HEREABOUTS_OK || used == HEREABOUTS_DAMAGED || used == HEREABOUTS_CHANGED);
        }
        hereabouts_close(atlas);
    }
    /* A copy in memory does not care what becomes of the file. */
    {
        hereabouts_atlas *atlas;
        hereabouts_region regions[ROWS];
        file = fopen(scratch, "wb");
        CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
        fclose(file);
        CHECK(hereabouts_open(scratch, 0, &atlas) == HEREABOUTS_OK);
        CHECK(truncate(scratch, 0) == 0);
        CHECK(hereabouts_snap(atlas, ROWS, latitudes, 8, longitudes, 8, regions, NULL) == HEREABOUTS_OK);
        CHECK(memcmp(regions, expected, sizeof regions) == 0);
        hereabouts_close(atlas);
        CHECK(hereabouts_open(scratch, 0, &atlas) == HEREABOUTS_NOT_AN_ATLAS);
    }
    free(bytes), free(copy);
}

int main(int count, char **arguments) {
    void (*before[32])(int), (*after[32])(int);
    pthread_t threads[10];
    hereabouts_atlas *mapped;
    hereabouts_region regions[ROWS];
    int row, files, tasks, status;
    char text[4096], place[64];
    size_t length;
    CHECK(count == 3);
    read_handlers(before);
    snprintf(place, sizeof place, "%s", setlocale(LC_ALL, NULL));
    files = count_entries("/proc/self/fd");
    tasks = count_entries("/proc/self/task");
    CHECK(hereabouts_open(arguments[1], 0, &shared) == HEREABOUTS_OK);
    for (row = 0; row < ROWS; row++) {
        latitudes[row] = asin(uniform(-1, 1)) * 57.29577951308232, longitudes[row] = uniform(-180, 180);
        if (row % 5 == 0) latitudes[row] = 31.75 + uniform(-0.05, 0.05), longitudes[row] = -106.48 + uniform(-0.05, 0.05);
    }
    check_positions();
    check_columns();
    check_parts();
    check_pacing();
    check_arguments(arguments[1]);
    length = hereabouts_attribution(shared, text, sizeof text);
    CHECK(length == strlen(text) && strstr(text, "OpenStreetMap") != NULL);
    CHECK(hereabouts_attribution(shared, text, 5) == length && strlen(text) == 4);
    CHECK(hereabouts_open(arguments[1], HEREABOUTS_MAP | HEREABOUTS_LAZY, &mapped) == HEREABOUTS_OK);
    CHECK(hereabouts_fingerprint(mapped) == hereabouts_fingerprint(shared) && hereabouts_fingerprint(shared) != 0);
    CHECK(hereabouts_snap(mapped, ROWS, latitudes, 8, longitudes, 8, regions, NULL) == HEREABOUTS_OK);
    CHECK(memcmp(regions, expected, sizeof regions) == 0);
    hereabouts_close(mapped);
    /* A guest that behaves. */
    read_handlers(after);
    CHECK(memcmp(before + 1, after + 1, 31 * sizeof *before) == 0);
    CHECK(count_entries("/proc/self/fd") == files && count_entries("/proc/self/task") == tasks);
    CHECK(strcmp(place, setlocale(LC_ALL, NULL)) == 0);
    if (fork() == 0) {
        snap_all(NULL);
        _exit(7);
    }
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    for (row = 0; row < 10; row++) CHECK(pthread_create(&threads[row], NULL, snap_all, NULL) == 0);
    for (row = 0; row < 10; row++) CHECK(pthread_join(threads[row], NULL) == 0);
    check_damage(arguments[1], arguments[2]);
    hereabouts_close(shared);
    return 0;
}
