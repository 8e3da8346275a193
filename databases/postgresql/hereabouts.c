/* The C library for PostgreSQL: regions of positions, their ids as a type of 8 bytes, and their records.
 *
 * The atlas is opened in the postmaster (shared_preload_libraries) and inherited by every backend, so it stays what it was when the
 * server started. A database remembers the fingerprint of its atlas in the table hereabouts_adopted; each backend compares once.
 */
#include <postgres.h>

#include <access/genam.h>
#include <access/htup_details.h>
#include <access/table.h>
#include <access/xact.h>
#include <catalog/pg_type.h>
#include <fmgr.h>
#include <funcapi.h>
#include <hereabouts.h>
#include <libpq/pqformat.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/lsyscache.h>
#include <utils/rel.h>

PG_MODULE_MAGIC;

void _PG_init(void);

static hereabouts_atlas *atlas;
static int32_t atlas_status;
static char *atlas_path;
static bool is_adopted;

/* Where `make install` puts an atlas, else where Debian's package has it. */
static const char *default_path(void) {
    static const char *const own = "/usr/local/share/hereabouts/world.atlas";
    return access(own, R_OK) == 0 ? own : "/usr/share/hereabouts/world.atlas";
}

void _PG_init(void) {
    if (!process_shared_preload_libraries_in_progress) return;
    DefineCustomStringVariable("hereabouts.atlas", "The file of regions.", NULL, &atlas_path,
                               default_path(), PGC_POSTMASTER, 0, NULL, NULL, NULL);
    MarkGUCPrefixReserved("hereabouts");
    atlas_status = hereabouts_open(atlas_path, 0, &atlas);
    if (atlas_status != HEREABOUTS_OK)
        ereport(WARNING, errmsg("hereabouts.atlas \"%s\": %s", atlas_path, hereabouts_error_text(atlas_status)));
}

static void fail(int32_t status) {
    ereport(ERROR, errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION), errmsg("hereabouts: %s", hereabouts_error_text(status)));
}

static void need_atlas(void) {
    if (atlas != NULL) return;
    if (atlas_path == NULL)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("hereabouts was not loaded when the server started"),
                errhint("Add hereabouts to shared_preload_libraries, set hereabouts.atlas, and restart the server."));
    ereport(ERROR, errcode(ERRCODE_CONFIG_FILE_ERROR),
            errmsg("hereabouts.atlas \"%s\": %s", atlas_path, hereabouts_error_text(atlas_status)),
            errhint("Set hereabouts.atlas to an atlas, and restart the server."));
}

static void fingerprint(char text[17]) {
    snprintf(text, 17, "%016llx", (unsigned long long)hereabouts_fingerprint(atlas));
}

/* Compares the server's atlas with the database's, whose table is in the schema of the function that asks. It reads the table
 * itself: whoever may call the function need not be allowed to read the table. */
static void need_adopted_atlas(FunctionCallInfo fcinfo) {
    char own[17];
    bool is_null, is_other = false, is_found = false, is_new = false;
    need_atlas();
    fingerprint(own);
    Oid table = get_relname_relid("hereabouts_adopted", get_func_namespace(fcinfo->flinfo->fn_oid));
    if (OidIsValid(table)) {
        Relation relation = table_open(table, AccessShareLock);
        SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
        HeapTuple row;
        while (HeapTupleIsValid(row = systable_getnext(scan))) {
            Datum value = heap_getattr(row, 1, RelationGetDescr(relation), &is_null);
            is_found = true;
            if (is_null || strcmp(TextDatumGetCString(value), own) != 0) is_other = true;
            /* What this transaction wrote may be rolled back. */
            if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data))) is_new = true;
        }
        systable_endscan(scan);
        table_close(relation, AccessShareLock);
    }
    if (!is_found || is_other)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("the server's atlas is not the one that this database's regions are of"),
                errhint("Set hereabouts.atlas to that one and restart the server. Or accept the server's by "
                        "hereabouts_adopt_atlas(), then REINDEX what is indexed by region, and compute stored regions anew."));
    is_adopted = !is_new;
}

static hereabouts_region snap(FunctionCallInfo fcinfo) {
    double latitude = PG_GETARG_FLOAT8(0), longitude = PG_GETARG_FLOAT8(1);
    hereabouts_region region = HEREABOUTS_NO_REGION;
    if (unlikely(!is_adopted)) need_adopted_atlas(fcinfo);
    int32_t status = hereabouts_snap(atlas, 1, &latitude, 8, &longitude, 8, &region, NULL);
    if (unlikely(status != HEREABOUTS_OK)) fail(status);
    return region;
}

/* The last answer of a call in a query: fixes of a drive lie in one region for long. */
typedef struct {
    hereabouts_region region;
    uint64_t id;
    HeapTuple record;
    TupleDesc columns;
} Last;

static Last *last_of(FunctionCallInfo fcinfo) {
    if (likely(fcinfo->flinfo->fn_extra != NULL)) return fcinfo->flinfo->fn_extra;
    Last *last = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *last);
    last->region = HEREABOUTS_NO_REGION;
    return fcinfo->flinfo->fn_extra = last;
}

PG_FUNCTION_INFO_V1(region_at);
Datum region_at(PG_FUNCTION_ARGS) {
    hereabouts_region region = snap(fcinfo);
    if (region == HEREABOUTS_NO_REGION) PG_RETURN_NULL();
    Last *last = last_of(fcinfo);
    if (last->region != region) {
        size_t written;
        int32_t status = hereabouts_describe(atlas, 1, &region, &(hereabouts_columns){.ids = &last->id}, 0, &written);
        if (status != HEREABOUTS_OK) fail(status);
        last->region = region;
    }
    PG_RETURN_INT64((int64)last->id);
}

/* A text of the library's in the database's encoding. */
static Datum text_of(const uint8_t *bytes, int32_t count) {
    char *own = pg_any_to_server((const char *)bytes, count, PG_UTF8);
    return PointerGetDatum(cstring_to_text_with_len(own, own == (const char *)bytes ? count : (int)strlen(own)));
}

/* The columns that a function's result is of, in the caller's memory. */
static TupleDesc columns_of(FunctionCallInfo fcinfo, int count) {
    TupleDesc columns;
    if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE || columns->natts != count)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("a type of hereabouts is not as it was created"));
    return columns;
}

static HeapTuple make_record(TupleDesc columns, hereabouts_region region) {
    uint8_t country[8], place[1024];
    uint64_t id;
    double latitude, longitude, accuracy;
    int32_t countries[2] = {0, 0}, places[2] = {0, 0};
    size_t written;
    const hereabouts_columns record = {NULL,    &id,            &latitude, &longitude, &accuracy,   countries,
                                       country, sizeof country, places,    place,      sizeof place};
    int32_t status = hereabouts_describe(atlas, 1, &region, &record, 0, &written);
    if (status == HEREABOUTS_OK && written == 0) status = HEREABOUTS_DAMAGED;
    if (status != HEREABOUTS_OK) fail(status);
    Datum values[6] = {Int64GetDatum((int64)id),   Float8GetDatum(latitude),       Float8GetDatum(longitude),
                       Float8GetDatum(accuracy), text_of(country, countries[1]), text_of(place, places[1])};
    return heap_form_tuple(columns, values, (bool[6]){[5] = places[1] == 0});
}

PG_FUNCTION_INFO_V1(record_at);
Datum record_at(PG_FUNCTION_ARGS) {
    hereabouts_region region = snap(fcinfo);
    if (region == HEREABOUTS_NO_REGION) PG_RETURN_NULL();
    Last *last = last_of(fcinfo);
    if (last->region != region) {
        TupleDesc columns = last->columns != NULL ? last->columns : columns_of(fcinfo, 6);
        HeapTuple record = make_record(columns, region);
        MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
        if (last->columns == NULL) last->columns = BlessTupleDesc(CreateTupleDescCopy(columns));
        record = heap_copytuple(record);
        if (last->record != NULL) heap_freetuple(last->record);
        last->record = record;
        last->region = region;
        MemoryContextSwitchTo(before);
    }
    return heap_copy_tuple_as_datum(last->record, last->columns);
}

/* The record of a stored id; null for one that the atlas does not have. */
PG_FUNCTION_INFO_V1(record_of);
Datum record_of(PG_FUNCTION_ARGS) {
    hereabouts_region region;
    if (unlikely(!is_adopted)) need_adopted_atlas(fcinfo);
    int32_t status = hereabouts_region_with_id(atlas, (uint64_t)PG_GETARG_INT64(0), &region);
    if (status == HEREABOUTS_UNKNOWN_REGION) PG_RETURN_NULL();
    if (status != HEREABOUTS_OK) fail(status);
    return HeapTupleGetDatum(make_record(BlessTupleDesc(columns_of(fcinfo, 6)), region));
}

PG_FUNCTION_INFO_V1(region_in);
Datum region_in(PG_FUNCTION_ARGS) {
    uint64_t id = hereabouts_id_of_text(PG_GETARG_CSTRING(0));
    if (id == 0) ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("this is no id of a region"));
    PG_RETURN_INT64((int64)id);
}

PG_FUNCTION_INFO_V1(region_out);
Datum region_out(PG_FUNCTION_ARGS) {
    char *text = palloc(18);
    hereabouts_id_text((uint64_t)PG_GETARG_INT64(0), text);
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(region_receive);
Datum region_receive(PG_FUNCTION_ARGS) {
    uint64_t id = (uint64_t)pq_getmsgint64((StringInfo)PG_GETARG_POINTER(0));
    char text[18];
    hereabouts_id_text(id, text);
    if (id == 0 || hereabouts_id_of_text(text) != id)
        ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION), errmsg("this is no id of a region"));
    PG_RETURN_INT64((int64)id);
}

/* The server's atlas, whichever the database's is: fingerprint, regions, attribution. */
PG_FUNCTION_INFO_V1(atlas_about);
Datum atlas_about(PG_FUNCTION_ARGS) {
    char own[17];
    need_atlas();
    TupleDesc columns = columns_of(fcinfo, 3);
    fingerprint(own);
    size_t length = hereabouts_attribution(atlas, NULL, 0);
    char *attribution = palloc(length + 1);
    hereabouts_attribution(atlas, attribution, length + 1);
    Datum values[3] = {CStringGetTextDatum(own), Int32GetDatum((int32)hereabouts_region_count(atlas)),
                       text_of((const uint8_t *)attribution, (int32_t)length)};
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, (bool[3]){false}));
}
