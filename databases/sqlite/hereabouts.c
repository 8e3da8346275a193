/* The C library for SQLite: hereabouts_region(latitude, longitude), the id as a text, and hereabouts_snap(latitude, longitude), the
 * record as JSON; hereabouts_fingerprint() and hereabouts_attribution() of the atlas.
 */
#include "../atlas.h"
#include <sqlite3ext.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

/* The region of the arguments, HEREABOUTS_NO_REGION where they are no position. False with the call's error set. */
static int snap(sqlite3_context *context, sqlite3_value **arguments, hereabouts_region *region) {
    double position[2];
    *region = HEREABOUTS_NO_REGION;
    for (int k = 0; k < 2; k++) {
        int type = sqlite3_value_numeric_type(arguments[k]);
        if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return 1;
        position[k] = sqlite3_value_double(arguments[k]);
    }
    int32_t status = hereabouts_snap(sqlite3_user_data(context), 1, &position[0], 8, &position[1], 8, region, NULL);
    if (status != HEREABOUTS_OK) sqlite3_result_error(context, hereabouts_error_text(status), -1);
    return status == HEREABOUTS_OK;
}

static int describe(sqlite3_context *context, hereabouts_region region, const hereabouts_columns *columns) {
    size_t written = 0;
    int32_t status = hereabouts_describe(sqlite3_user_data(context), 1, &region, columns, 0, &written);
    if (status == HEREABOUTS_OK && written == 0) status = HEREABOUTS_DAMAGED;
    if (status != HEREABOUTS_OK) sqlite3_result_error(context, hereabouts_error_text(status), -1);
    return status == HEREABOUTS_OK;
}

static void region_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    hereabouts_region region;
    uint64_t id;
    char text[18];
    (void)count;
    if (!snap(context, arguments, &region) || region == HEREABOUTS_NO_REGION) return;
    if (!describe(context, region, &(hereabouts_columns){.ids = &id})) return;
    hereabouts_id_text(id, text);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* A string of JSON, null for an empty text. */
static void put(sqlite3_str *json, const uint8_t *text, int32_t count) {
    if (count == 0) {
        sqlite3_str_appendall(json, "null");
        return;
    }
    sqlite3_str_appendchar(json, 1, '"');
    for (int32_t k = 0; k < count; k++) {
        if (text[k] < 0x20) {
            sqlite3_str_appendf(json, "\\u%04x", text[k]);
        } else {
            if (text[k] == '"' || text[k] == '\\') sqlite3_str_appendchar(json, 1, '\\');
            sqlite3_str_appendchar(json, 1, (char)text[k]);
        }
    }
    sqlite3_str_appendchar(json, 1, '"');
}

static void snap_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    hereabouts_region region;
    uint64_t id;
    double latitude, longitude, accuracy;
    int32_t countries[2] = {0, 0}, places[2] = {0, 0};
    uint8_t country[8], place[1024];
    char text[18];
    const hereabouts_columns columns = {NULL,    &id,            &latitude, &longitude, &accuracy,   countries,
                                        country, sizeof country, places,    place,      sizeof place};
    (void)count;
    if (!snap(context, arguments, &region) || region == HEREABOUTS_NO_REGION || !describe(context, region, &columns)) return;
    hereabouts_id_text(id, text);
    sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendf(json, "{\"id\":\"%s\",\"latitude\":%.5f,\"longitude\":%.5f,\"horizontal_accuracy\":%.0f,\"country\":", text,
                        latitude, longitude, accuracy);
    put(json, country, countries[1]);
    sqlite3_str_appendall(json, ",\"place\":");
    put(json, place, places[1]);
    sqlite3_str_appendchar(json, 1, '}');
    int length = sqlite3_str_length(json);
    char *result = sqlite3_str_finish(json);
    if (result == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text(context, result, length, sqlite3_free);
}

static void put_text_of_atlas(sqlite3_context *context, int is_fingerprint) {
    char *text = text_of_atlas(sqlite3_user_data(context), is_fingerprint);
    if (text == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text(context, text, -1, free);
}

static void fingerprint_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count, (void)arguments;
    put_text_of_atlas(context, 1);
}

static void attribution_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count, (void)arguments;
    put_text_of_atlas(context, 0);
}

__attribute__((visibility("default"))) int sqlite3_hereabouts_init(sqlite3 *, char **, const sqlite3_api_routines *);

/* The atlas is the process's, so the extension stays loaded when its connection ends. */
int sqlite3_hereabouts_init(sqlite3 *database, char **error, const sqlite3_api_routines *api) {
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };
    char message[1024];
    SQLITE_EXTENSION_INIT2(api);
    const hereabouts_atlas *atlas = open_atlas(message, sizeof message);
    if (atlas == NULL) {
        *error = sqlite3_mprintf("%s", message);
        return SQLITE_ERROR;
    }
    static const struct {
        const char *name;
        int count;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"hereabouts_region", 2, region_function},
        {"hereabouts_snap", 2, snap_function},
        {"hereabouts_fingerprint", 0, fingerprint_function},
        {"hereabouts_attribution", 0, attribution_function},
    };
    int status = SQLITE_OK;
    for (size_t k = 0; status == SQLITE_OK && k < sizeof functions / sizeof *functions; k++)
        status = sqlite3_create_function(database, functions[k].name, functions[k].count, FLAGS, (void *)atlas,
                                         functions[k].function, NULL, NULL);
    return status == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : status;
}
