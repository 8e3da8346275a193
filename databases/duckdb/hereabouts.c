/* The C library for DuckDB: hereabouts_region(latitude, longitude), the id as a text, and hereabouts_snap(latitude, longitude), the
 * record as a structure; hereabouts_fingerprint() and hereabouts_attribution() of the atlas. By DuckDB's C interface of version 1.2.0, which later versions load.
 */
#define DUCKDB_EXTENSION_NAME hereabouts
#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#include "../atlas.h"
#include <duckdb_extension.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

enum { ROWS = 512, COLUMNS = 6 };

/* A block of rows. Successive rows of one region are a run, described once: fixes of a drive lie in one region for long. */
typedef struct {
    size_t rows, runs;
    hereabouts_region regions[ROWS]; /* of runs */
    size_t ends[ROWS];
    uint64_t ids[ROWS];
    double latitudes[ROWS], longitudes[ROWS], accuracies[ROWS];
    int32_t country_offsets[ROWS + 1], place_offsets[ROWS + 1];
    uint8_t countries[8 * ROWS], places[280 * ROWS];
} Block;

static int is_null(const uint64_t *validity, idx_t row) { return validity != NULL && (validity[row / 64] >> (row % 64) & 1) == 0; }

/* Snaps up to ROWS rows from `first` on. A structure's columns are described, else the ids alone. */
static int32_t fill(const hereabouts_atlas *atlas, duckdb_data_chunk input, idx_t first, int is_record, Block *block) {
    hereabouts_region regions[ROWS];
    const uint64_t *validities[2];
    const double *positions[2];
    const hereabouts_columns ids = {.ids = block->ids};
    const hereabouts_columns record = {NULL,
                                       block->ids,
                                       block->latitudes,
                                       block->longitudes,
                                       block->accuracies,
                                       block->country_offsets,
                                       block->countries,
                                       sizeof block->countries,
                                       block->place_offsets,
                                       block->places,
                                       sizeof block->places};
    size_t row, written;
    int32_t status;
    for (int k = 0; k < 2; k++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(input, (idx_t)k);
        positions[k] = (const double *)duckdb_vector_get_data(vector) + first;
        validities[k] = duckdb_vector_get_validity(vector);
    }
    block->rows = duckdb_data_chunk_get_size(input) - first;
    if (block->rows > ROWS) block->rows = ROWS;
    status = hereabouts_snap(atlas, block->rows, positions[0], 8, positions[1], 8, regions, NULL);
    if (status != HEREABOUTS_OK) return status;
    if (validities[0] != NULL || validities[1] != NULL)
        for (row = 0; row < block->rows; row++)
            if (is_null(validities[0], first + row) || is_null(validities[1], first + row)) regions[row] = HEREABOUTS_NO_REGION;
    block->runs = 0;
    for (row = 0; row < block->rows; row++) {
        if (row == 0 || regions[row] != regions[row - 1]) block->regions[block->runs++] = regions[row];
        block->ends[block->runs - 1] = row + 1;
    }
    block->country_offsets[0] = block->place_offsets[0] = 0;
    status = hereabouts_describe(atlas, block->runs, block->regions, is_record ? &record : &ids, 0, &written);
    return status == HEREABOUTS_OK && written < block->runs ? HEREABOUTS_DAMAGED : status;
}

static void put_null(duckdb_vector vector, idx_t row, idx_t end) {
    duckdb_vector_ensure_validity_writable(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    for (; row < end; row++) validity[row / 64] &= ~((uint64_t)1 << (row % 64));
}

/* Up to 12 bytes lie in the row itself; longer texts in the vector's memory, which rows may share. */
static void put_text(duckdb_vector vector, idx_t row, idx_t end, const void *text, size_t length) {
    duckdb_string_t *rows = duckdb_vector_get_data(vector);
    if (length <= sizeof rows->value.inlined.inlined) {
        duckdb_string_t own = {0};
        own.value.inlined.length = (uint32_t)length;
        memcpy(own.value.inlined.inlined, text, length);
        rows[row] = own;
    } else {
        duckdb_vector_assign_string_element_len(vector, row, text, length);
    }
    for (idx_t next = row + 1; next < end; next++) rows[next] = rows[row];
}

static void put_number(duckdb_vector vector, idx_t row, idx_t end, double number) {
    for (double *rows = duckdb_vector_get_data(vector); row < end; row++) rows[row] = number;
}

static void put_id(duckdb_vector vector, idx_t row, idx_t end, uint64_t id) {
    char text[18];
    hereabouts_id_text(id, text);
    put_text(vector, row, end, text, strlen(text));
}

static void put_record(const duckdb_vector *columns, idx_t row, idx_t end, const Block *block, size_t run) {
    int32_t country = block->country_offsets[run], place = block->place_offsets[run];
    size_t place_length = (size_t)(block->place_offsets[run + 1] - place);
    put_id(columns[0], row, end, block->ids[run]);
    put_number(columns[1], row, end, block->latitudes[run]);
    put_number(columns[2], row, end, block->longitudes[run]);
    put_number(columns[3], row, end, block->accuracies[run]);
    put_text(columns[4], row, end, block->countries + country, (size_t)(block->country_offsets[run + 1] - country));
    if (place_length == 0)
        put_null(columns[5], row, end);
    else
        put_text(columns[5], row, end, block->places + place, place_length);
}

/* Both functions: the record of each row, or its id alone. */
static void put_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output, int is_record) {
    const hereabouts_atlas *atlas = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector columns[COLUMNS];
    const idx_t count = is_record ? COLUMNS : 0;
    Block block;
    for (idx_t k = 0; k < count; k++) columns[k] = duckdb_struct_vector_get_child(output, k);
    for (idx_t first = 0; first < duckdb_data_chunk_get_size(input); first += block.rows) {
        int32_t status = fill(atlas, input, first, is_record, &block);
        if (status != HEREABOUTS_OK) {
            duckdb_scalar_function_set_error(info, hereabouts_error_text(status));
            return;
        }
        idx_t row = first;
        for (size_t run = 0; run < block.runs; run++) {
            idx_t end = first + block.ends[run];
            if (block.regions[run] == HEREABOUTS_NO_REGION) {
                put_null(output, row, end);
                for (idx_t k = 0; k < count; k++) put_null(columns[k], row, end);
            } else if (is_record) {
                put_record(columns, row, end, &block, run);
            } else {
                put_id(output, row, end, block.ids[run]);
            }
            row = end;
        }
    }
}

static void region_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    put_rows(info, input, output, 0);
}

static void snap_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    put_rows(info, input, output, 1);
}

static void put_text_of_atlas(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output, int is_fingerprint) {
    char *text = text_of_atlas(duckdb_scalar_function_get_extra_info(info), is_fingerprint);
    if (text == NULL)
        duckdb_scalar_function_set_error(info, hereabouts_error_text(HEREABOUTS_NO_MEMORY));
    else
        put_text(output, 0, duckdb_data_chunk_get_size(input), text, strlen(text));
    free(text);
}

static void fingerprint_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    put_text_of_atlas(info, input, output, 1);
}

static void attribution_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    put_text_of_atlas(info, input, output, 0);
}

static bool add(duckdb_connection connection, const char *name, int count, duckdb_scalar_function_t function,
                duckdb_logical_type result, const hereabouts_atlas *atlas) {
    duckdb_scalar_function own = duckdb_create_scalar_function();
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
    duckdb_scalar_function_set_name(own, name);
    for (int k = 0; k < count; k++) duckdb_scalar_function_add_parameter(own, number);
    duckdb_scalar_function_set_return_type(own, result);
    duckdb_scalar_function_set_function(own, function);
    duckdb_scalar_function_set_extra_info(own, (void *)atlas, NULL);
    bool is_added = duckdb_register_scalar_function(connection, own) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_scalar_function(&own);
    return is_added;
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info, struct duckdb_extension_access *access) {
    char message[1024];
    const hereabouts_atlas *atlas = open_atlas(message, sizeof message);
    if (atlas == NULL) {
        access->set_error(info, message);
        return false;
    }
    const char *names[COLUMNS] = {"id", "latitude", "longitude", "horizontal_accuracy", "country", "place"};
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
    duckdb_logical_type record =
        duckdb_create_struct_type((duckdb_logical_type[COLUMNS]){text, number, number, number, text, text}, names, COLUMNS);
    bool is_added = add(connection, "hereabouts_region", 2, region_function, text, atlas) &&
                    add(connection, "hereabouts_snap", 2, snap_function, record, atlas) &&
                    add(connection, "hereabouts_fingerprint", 0, fingerprint_function, text, atlas) &&
                    add(connection, "hereabouts_attribution", 0, attribution_function, text, atlas);
    duckdb_destroy_logical_type(&record);
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&text);
    if (!is_added) access->set_error(info, "hereabouts: the functions cannot be added");
    return is_added;
}
