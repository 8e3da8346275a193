/* The C library for Python: positions in by the buffer protocol, columns out as bytes and by the Arrow C data interface.
 * In the limited API of Python 3.11. What Python's users see is in __init__.py. The plugin for Polars is at the end.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <hereabouts.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* https://arrow.apache.org/docs/format/CDataInterface.html */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

static PyObject *AtlasError;

typedef struct {
    PyObject_HEAD
    hereabouts_atlas *atlas;
} AtlasObject;

static PyObject *fail(int32_t status) {
    if (status == HEREABOUTS_NO_MEMORY) return PyErr_NoMemory();
    PyErr_SetString(status == HEREABOUTS_INVALID || status == HEREABOUTS_UNKNOWN_REGION || status == HEREABOUTS_OTHER_STATE
                        ? PyExc_ValueError
                        : AtlasError,
                    hereabouts_error_text(status));
    return NULL;
}

/* Numbers of any kind as doubles, in memory of their own unless they are doubles in one piece or in strides. */
typedef struct {
    Py_buffer view;
    const double *start;
    ptrdiff_t stride;
    double *copy;
} Column;

static void release(Column *column) {
    free(column->copy);
    PyBuffer_Release(&column->view);
}

static double number(const char *bytes, char kind, Py_ssize_t size, bool swaps) {
    union {
        char bytes[8];
        double d;
        float f;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } value;
    for (Py_ssize_t k = 0; k < size; k++) value.bytes[k] = bytes[swaps ? size - 1 - k : k];
    if (kind == 'f') return size == 8 ? value.d : value.f;
    if (kind == 'i') return size == 1 ? value.i1 : size == 2 ? value.i2 : size == 4 ? value.i4 : (double)value.i8;
    return size == 1 ? value.u1 : size == 2 ? value.u2 : size == 4 ? value.u4 : (double)value.u8;
}

static bool acquire(PyObject *object, Column *column, const char *name) {
    column->copy = NULL;
    if (PyObject_GetBuffer(object, &column->view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) return false;
    Py_buffer *view = &column->view;
    const char *format = view->format ? view->format : "B";
    char order = strchr("@=<>!", *format) && *format ? *format++ : '@';
    bool swaps = order == '>' || order == '!';
    char kind = 0;
    if (strlen(format) == 1) {
        if (strchr("df", *format)) kind = 'f';
        if (strchr("bhilq", *format)) kind = 'i';
        if (strchr("BHILQ", *format)) kind = 'u';
    }
    if (view->ndim != 1 || kind == 0) {
        PyErr_Format(PyExc_TypeError, "%s: a column of numbers is needed, of one dimension", name);
        PyBuffer_Release(view);
        return false;
    }
    Py_ssize_t count = view->shape[0], stride = view->strides ? view->strides[0] : view->itemsize;
    if (kind == 'f' && view->itemsize == 8 && !swaps) {
        column->start = view->buf, column->stride = stride;
        return true;
    }
    column->copy = malloc((size_t)count * 8 + 1);
    if (column->copy == NULL) {
        PyErr_NoMemory();
        PyBuffer_Release(view);
        return false;
    }
    for (Py_ssize_t row = 0; row < count; row++)
        column->copy[row] = number((const char *)view->buf + row * stride, kind, view->itemsize, swaps);
    column->start = column->copy, column->stride = 8;
    return true;
}

/* Atlas */

static PyObject *atlas_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"path", "options", NULL};
    PyObject *path;
    unsigned int options = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|I", names, PyUnicode_FSConverter, &path, &options)) return NULL;
    hereabouts_atlas *atlas;
    int32_t status;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = hereabouts_open(name, options, &atlas);
    Py_END_ALLOW_THREADS;
    if (status == HEREABOUTS_UNREADABLE) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, name);
        Py_DECREF(path);
        return NULL;
    }
    if (status != HEREABOUTS_OK) {
        PyErr_Format(status == HEREABOUTS_INVALID ? PyExc_ValueError : AtlasError, "%s: %s", name, hereabouts_error_text(status));
        Py_DECREF(path);
        return NULL;
    }
    Py_DECREF(path);
    AtlasObject *self = (AtlasObject *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL) {
        hereabouts_close(atlas);
        return NULL;
    }
    self->atlas = atlas;
    return (PyObject *)self;
}

static void atlas_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    hereabouts_close(((AtlasObject *)self)->atlas);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *atlas_attribution(PyObject *self, void *closure) {
    (void)closure;
    const hereabouts_atlas *atlas = ((AtlasObject *)self)->atlas;
    size_t length = hereabouts_attribution(atlas, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL) return PyErr_NoMemory();
    hereabouts_attribution(atlas, text, length + 1);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    free(text);
    return result;
}

static PyObject *atlas_fingerprint(PyObject *self, void *closure) {
    (void)closure;
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hereabouts_fingerprint(((AtlasObject *)self)->atlas));
    return PyUnicode_FromString(text);
}

static PyObject *atlas_region_count(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLong(hereabouts_region_count(((AtlasObject *)self)->atlas));
}

/* A text, None for an empty one. */
static PyObject *text_or_none(const void *text, Py_ssize_t length) {
    if (length == 0) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, length, "strict");
}

/* The record of a region: id, latitude, longitude, accuracy, country, place. */
static PyObject *record(const hereabouts_atlas *atlas, hereabouts_region region) {
    uint8_t validity[8] = {0}, country[8], place[1024];
    uint64_t id;
    double latitude, longitude, accuracy;
    int32_t countries[2] = {0, 0}, places[2] = {0, 0};
    const hereabouts_columns columns = {validity,  &id,     &latitude, &longitude, &accuracy,   countries,
                                        country, sizeof country, places,    place,      sizeof place};
    size_t written = 0;
    int32_t status = hereabouts_describe(atlas, 1, &region, &columns, 0, &written);
    if (status == HEREABOUTS_OK && (written == 0 || validity[0] == 0)) status = HEREABOUTS_UNKNOWN_REGION;
    if (status != HEREABOUTS_OK) return fail(status);
    char text[18];
    hereabouts_id_text(id, text);
    PyObject *values[6] = {PyUnicode_FromString(text),      PyFloat_FromDouble(latitude),
                           PyFloat_FromDouble(longitude),   PyFloat_FromDouble(accuracy),
                           text_or_none(country, countries[1]), text_or_none(place, places[1])};
    PyObject *result = PyTuple_New(6);
    for (int k = 0; k < 6; k++) {
        if (values[k] == NULL) Py_CLEAR(result);
        if (result != NULL)
            PyTuple_SetItem(result, k, values[k]);
        else
            Py_XDECREF(values[k]);
    }
    return result;
}

/* A region of an atlas, which it keeps open. It is described when it is asked. */
typedef struct {
    PyObject_HEAD
    PyObject *atlas;
    hereabouts_region region;
} RegionObject;

static PyTypeObject *RegionType;

static const hereabouts_atlas *atlas_of(const RegionObject *self) { return ((AtlasObject *)self->atlas)->atlas; }

/* A new instance of a class of regions. */
static PyObject *make_region(PyObject *atlas, PyObject *class, hereabouts_region region) {
    if (!PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, RegionType)) {
        PyErr_SetString(PyExc_TypeError, "a class of regions is needed");
        return NULL;
    }
    RegionObject *self = (RegionObject *)((allocfunc)PyType_GetSlot((PyTypeObject *)class, Py_tp_alloc))((PyTypeObject *)class, 0);
    if (self == NULL) return NULL;
    Py_INCREF(atlas);
    self->atlas = atlas, self->region = region;
    return (PyObject *)self;
}

static void region_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((RegionObject *)self)->atlas);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *region_id(PyObject *object, void *closure) {
    (void)closure;
    const RegionObject *self = (RegionObject *)object;
    uint64_t id = 0;
    const hereabouts_columns columns = {.ids = &id};
    size_t written;
    int32_t status = hereabouts_describe(atlas_of(self), 1, &self->region, &columns, 0, &written);
    if (status != HEREABOUTS_OK) return fail(status);
    char text[18];
    hereabouts_id_text(id, text);
    return PyUnicode_FromString(text);
}

/* latitude, longitude and horizontal_accuracy, by the closure: 0, 1, 2. */
static PyObject *region_number(PyObject *object, void *closure) {
    const RegionObject *self = (RegionObject *)object;
    double numbers[3];
    const hereabouts_columns columns = {.latitudes = &numbers[0], .longitudes = &numbers[1], .accuracies = &numbers[2]};
    size_t written;
    int32_t status = hereabouts_describe(atlas_of(self), 1, &self->region, &columns, 0, &written);
    return status == HEREABOUTS_OK ? PyFloat_FromDouble(numbers[(intptr_t)closure]) : fail(status);
}

/* country and place: 4 and 5 of the record. */
static PyObject *region_text(PyObject *object, void *closure) {
    const RegionObject *self = (RegionObject *)object;
    PyObject *values = record(atlas_of(self), self->region);
    PyObject *text = values == NULL ? NULL : PyTuple_GetItem(values, (intptr_t)closure);
    Py_XINCREF(text);
    Py_XDECREF(values);
    return text;
}

static PyObject *region_index(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLong(((RegionObject *)self)->region);
}

static PyObject *region_atlas(PyObject *self, void *closure) {
    (void)closure;
    Py_INCREF(((RegionObject *)self)->atlas);
    return ((RegionObject *)self)->atlas;
}

static PyObject *region_record(PyObject *self, PyObject *unused) {
    (void)unused;
    return record(atlas_of((RegionObject *)self), ((RegionObject *)self)->region);
}

static PyObject *region_compare(PyObject *left, PyObject *right, int operation) {
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(right, RegionType)) Py_RETURN_NOTIMPLEMENTED;
    const RegionObject *one = (RegionObject *)left, *other = (RegionObject *)right;
    bool are_equal = one->region == other->region && hereabouts_fingerprint(atlas_of(one)) == hereabouts_fingerprint(atlas_of(other));
    return PyBool_FromLong(are_equal == (operation == Py_EQ));
}

static Py_hash_t region_hash(PyObject *self) { return (Py_hash_t)((RegionObject *)self)->region; }

static PyGetSetDef region_members[] = {
    {"id", region_id, NULL, NULL, NULL},
    {"latitude", region_number, NULL, NULL, (void *)0},
    {"longitude", region_number, NULL, NULL, (void *)1},
    {"horizontal_accuracy", region_number, NULL, NULL, (void *)2},
    {"country", region_text, NULL, NULL, (void *)4},
    {"place", region_text, NULL, NULL, (void *)5},
    {"atlas", region_atlas, NULL, NULL, NULL},
    {"index", region_index, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef region_methods[] = {{"record", region_record, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot region_slots[] = {
    {Py_tp_dealloc, region_dealloc},         {Py_tp_getset, region_members}, {Py_tp_methods, region_methods},
    {Py_tp_richcompare, region_compare}, {Py_tp_hash, region_hash},      {0, NULL},
};

static PyType_Spec region_spec = {"hereabouts._core.Region", sizeof(RegionObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, region_slots};

/* snap_one(class, latitude, longitude): a region of that class, None for what is no position. */
static PyObject *atlas_snap_one(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "a class, latitude and longitude are needed");
        return NULL;
    }
    double latitude = PyFloat_AsDouble(arguments[1]), longitude = PyFloat_AsDouble(arguments[2]);
    if (PyErr_Occurred()) return NULL;
    const hereabouts_atlas *atlas = ((AtlasObject *)self)->atlas;
    hereabouts_region region;
    int32_t status = hereabouts_snap(atlas, 1, &latitude, 8, &longitude, 8, &region, NULL);
    if (status != HEREABOUTS_OK) return fail(status);
    if (region == HEREABOUTS_NO_REGION) Py_RETURN_NONE;
    return make_region(self, arguments[0], region);
}

/* region_at(class, region): the region of a handle. */
static PyObject *atlas_region_at(PyObject *self, PyObject *arguments) {
    PyObject *class;
    unsigned int region;
    if (!PyArg_ParseTuple(arguments, "OI", &class, &region)) return NULL;
    if (region >= hereabouts_region_count(((AtlasObject *)self)->atlas)) return fail(HEREABOUTS_UNKNOWN_REGION);
    return make_region(self, class, region);
}

/* parts(region): (cell, is_whole, s, t) of each part, s and t of four corners. */
static PyObject *atlas_parts(PyObject *self, PyObject *object) {
    unsigned long region = PyLong_AsUnsignedLong(object);
    if (PyErr_Occurred()) return NULL;
    const hereabouts_atlas *atlas = ((AtlasObject *)self)->atlas;
    hereabouts_part *parts = NULL;
    size_t capacity = 0, count = 256;
    int32_t status = region > UINT32_MAX ? HEREABOUTS_UNKNOWN_REGION : HEREABOUTS_OK;
    while (status == HEREABOUTS_OK && count > capacity) {
        free(parts);
        capacity = count;
        parts = malloc(capacity * sizeof *parts);
        status = parts ? hereabouts_region_parts(atlas, (hereabouts_region)region, parts, capacity, &count) : HEREABOUTS_NO_MEMORY;
    }
    PyObject *list = status == HEREABOUTS_OK ? PyList_New((Py_ssize_t)count) : fail(status);
    for (size_t k = 0; list != NULL && k < count; k++) {
        const hereabouts_part *part = &parts[k];
        PyObject *item = Py_BuildValue(
            "KO(dddd)(dddd)", (unsigned long long)part->cell, part->is_whole ? Py_True : Py_False, part->s[0], part->s[1], part->s[2],
            part->s[3], part->t[0], part->t[1], part->t[2], part->t[3]);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)k, item);
    }
    free(parts);
    return list;
}

/* ring(face, s, t): latitudes and longitudes, as bytes. */
static PyObject *ring(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned int face;
    Py_buffer s, t;
    if (!PyArg_ParseTuple(arguments, "Iy*y*", &face, &s, &t)) return NULL;
    double *positions = NULL;
    size_t capacity = 0, count = 256;
    int32_t status = s.len == t.len && s.len % 8 == 0 ? HEREABOUTS_OK : HEREABOUTS_INVALID;
    while (status == HEREABOUTS_OK && count > capacity) {
        free(positions);
        capacity = count;
        positions = malloc(2 * capacity * sizeof *positions);
        status = positions ? hereabouts_ring(face, (size_t)s.len / 8, s.buf, t.buf, positions, positions + capacity, capacity, &count)
                           : HEREABOUTS_NO_MEMORY;
    }
    PyBuffer_Release(&s);
    PyBuffer_Release(&t);
    PyObject *result = status == HEREABOUTS_OK
                           ? Py_BuildValue("y#y#", positions, (Py_ssize_t)count * 8, positions + capacity, (Py_ssize_t)count * 8)
                           : fail(status);
    free(positions);
    return result;
}

/* regions(latitudes, longitudes): handles as bytes, 4 each, and how many are none. */
static PyObject *atlas_regions(PyObject *self, PyObject *arguments) {
    PyObject *latitudes, *longitudes;
    if (!PyArg_ParseTuple(arguments, "OO", &latitudes, &longitudes)) return NULL;
    Column latitude, longitude;
    if (!acquire(latitudes, &latitude, "latitude")) return NULL;
    if (!acquire(longitudes, &longitude, "longitude")) {
        release(&latitude);
        return NULL;
    }
    PyObject *result = NULL, *bytes = NULL;
    Py_ssize_t count = latitude.view.shape[0];
    if (count != longitude.view.shape[0]) {
        PyErr_SetString(PyExc_ValueError, "latitude and longitude are of one length");
    } else if ((bytes = PyBytes_FromStringAndSize(NULL, count * 4)) != NULL) {
        size_t invalid = 0;
        int32_t status;
        hereabouts_region *regions = (hereabouts_region *)PyBytes_AsString(bytes);
        Py_BEGIN_ALLOW_THREADS;
        status = hereabouts_snap(((AtlasObject *)self)->atlas, (size_t)count, latitude.start, latitude.stride, longitude.start,
                                 longitude.stride, regions, &invalid);
        Py_END_ALLOW_THREADS;
        result = status == HEREABOUTS_OK ? Py_BuildValue("On", bytes, (Py_ssize_t)invalid) : fail(status);
        Py_DECREF(bytes);
    }
    release(&latitude);
    release(&longitude);
    return result;
}

/* All columns of regions, in memory that Arrow's release frees. */
typedef struct {
    size_t count;
    hereabouts_columns columns;
    /* Some regions have no place. */
    uint8_t *place_validity;
    /* The ids as texts. */
    int32_t *id_offsets;
    char *ids;
    const void *buffers[1 + 2 * 3 + 3 * 3];
    struct ArrowArray children[6], *pointers[6];
} Table;

static void free_table(Table *table) {
    hereabouts_columns *columns = &table->columns;
    free(columns->validity), free(columns->ids), free(columns->latitudes), free(columns->longitudes), free(columns->accuracies);
    free(columns->country_offsets), free(columns->countries), free(columns->place_offsets), free(columns->places);
    free(table->place_validity), free(table->id_offsets), free(table->ids);
    free(table);
}

/* The texts of ids, one after the other, and where each ends; what they take. Arrow's offsets have 31 bits. */
static int32_t put_ids(size_t count, const uint64_t *ids, int32_t *offsets, char *texts, size_t *length) {
    size_t end = 0;
    for (size_t row = 0; row < count; row++) {
        hereabouts_id_text(ids[row], texts + end);
        end += strlen(texts + end);
        if (end > (size_t)INT32_MAX) return HEREABOUTS_NO_MEMORY;
        offsets[row + 1] = (int32_t)end;
    }
    *length = end;
    return HEREABOUTS_OK;
}

static int32_t make_table(const hereabouts_atlas *atlas, size_t count, const hereabouts_region *regions, Table **result) {
    Table *table = calloc(1, sizeof *table);
    if (table == NULL) return HEREABOUTS_NO_MEMORY;
    hereabouts_columns *columns = &table->columns;
    table->count = count;
    columns->validity = calloc(count / 8 + 8, 1), table->place_validity = calloc(count / 8 + 8, 1);
    columns->ids = malloc(count * 8 + 8);
    table->id_offsets = calloc(count + 1, 4), table->ids = malloc((count + 1) * 18);
    columns->latitudes = malloc(count * 8 + 8), columns->longitudes = malloc(count * 8 + 8);
    columns->accuracies = malloc(count * 8 + 8);
    columns->country_offsets = calloc(count + 1, 4), columns->place_offsets = calloc(count + 1, 4);
    columns->country_capacity = count * 2 + 64, columns->countries = malloc(columns->country_capacity);
    columns->place_capacity = count * 12 + 512, columns->places = malloc(columns->place_capacity);
    int32_t status = HEREABOUTS_OK;
    if (!columns->validity || !table->place_validity || !table->id_offsets || !table->ids || !columns->ids || !columns->latitudes || !columns->longitudes || !columns->accuracies ||
        !columns->country_offsets || !columns->place_offsets || !columns->countries || !columns->places)
        status = HEREABOUTS_NO_MEMORY;
    for (size_t done = 0; status == HEREABOUTS_OK && done < count;) {
        size_t written = 0;
        status = hereabouts_describe(atlas, count - done, regions + done, columns, done, &written);
        done += written;
        if (status != HEREABOUTS_OK || done == count) break;
        columns->country_capacity *= 2, columns->place_capacity *= 2;
        /* Arrow's offsets have 31 bits. */
        void *countries = realloc(columns->countries, columns->country_capacity);
        if (countries != NULL) columns->countries = countries;
        void *places = realloc(columns->places, columns->place_capacity);
        if (places != NULL) columns->places = places;
        if (!countries || !places || columns->place_capacity > (size_t)INT32_MAX) status = HEREABOUTS_NO_MEMORY;
    }
    size_t length = 0;
    if (status == HEREABOUTS_OK) status = put_ids(count, columns->ids, table->id_offsets, table->ids, &length);
    if (status != HEREABOUTS_OK) {
        free_table(table);
        return status;
    }
    for (size_t row = 0; row < count; row++)
        if (columns->place_offsets[row + 1] > columns->place_offsets[row])
            table->place_validity[row / 8] |= (uint8_t)(1 << (row % 8));
    *result = table;
    return HEREABOUTS_OK;
}

/* All columns of the regions in a buffer; null with an error set. */
static Table *describe(PyObject *self, PyObject *object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return NULL;
    Table *table = NULL;
    int32_t status;
    Py_BEGIN_ALLOW_THREADS;
    status = make_table(((AtlasObject *)self)->atlas, (size_t)view.len / 4, view.buf, &table);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    if (status != HEREABOUTS_OK) fail(status);
    return table;
}

static PyObject *wrap(const void *bytes, size_t count) { return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count); }

/* describe(regions): bytes of validity, cells, latitudes, longitudes, accuracies, and of the offsets and texts of countries and
 * places. */
static PyObject *atlas_describe(PyObject *self, PyObject *object) {
    Table *table = describe(self, object);
    if (table == NULL) return NULL;
    const hereabouts_columns *columns = &table->columns;
    size_t count = table->count;
    PyObject *result = Py_BuildValue(
        "NNNNNNNNN", wrap(columns->validity, (count + 7) / 8), wrap(columns->ids, count * 8),
        wrap(columns->latitudes, count * 8), wrap(columns->longitudes, count * 8), wrap(columns->accuracies, count * 8),
        wrap(columns->country_offsets, count * 4 + 4), wrap(columns->countries, (size_t)columns->country_offsets[count]),
        wrap(columns->place_offsets, count * 4 + 4), wrap(columns->places, (size_t)columns->place_offsets[count]));
    free_table(table);
    return result;
}

/* ids(regions): offsets and texts of the ids alone, as bytes. */
static PyObject *atlas_ids(PyObject *self, PyObject *object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return NULL;
    const size_t count = (size_t)view.len / 4;
    uint64_t *ids = malloc(count * 8 + 8);
    int32_t *offsets = calloc(count + 1, 4);
    char *text = malloc((count + 1) * 18);
    size_t written = 0, end = 0;
    const hereabouts_columns columns = {.ids = ids};
    int32_t status = ids && offsets && text ? HEREABOUTS_OK : HEREABOUTS_NO_MEMORY;
    Py_BEGIN_ALLOW_THREADS;
    if (status == HEREABOUTS_OK)
        status = hereabouts_describe(((AtlasObject *)self)->atlas, count, view.buf, &columns, 0, &written);
    if (status == HEREABOUTS_OK) status = put_ids(count, ids, offsets, text, &end);
    Py_END_ALLOW_THREADS;
    PyObject *result = status == HEREABOUTS_OK ? Py_BuildValue("NN", wrap(offsets, count * 4 + 4), wrap(text, end)) : fail(status);
    PyBuffer_Release(&view);
    free(ids), free(offsets), free(text);
    return result;
}

/* texts(offsets, texts): a list of a column's texts, of what `describe` gave. */
static PyObject *texts(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *ends, *bytes;
    Py_ssize_t size, length;
    if (!PyArg_ParseTuple(arguments, "y#y#", &ends, &size, &bytes, &length)) return NULL;
    PyObject *list = PyList_New(size / 4 - 1);
    for (Py_ssize_t row = 0; list != NULL && row < size / 4 - 1; row++) {
        int32_t range[2];
        memcpy(range, ends + 4 * row, 8);
        if (range[0] < 0 || range[1] < range[0] || range[1] > length) {
            PyErr_SetString(PyExc_ValueError, "offsets beyond the texts");
            Py_CLEAR(list);
            break;
        }
        PyObject *text = text_or_none(bytes + range[0], range[1] - range[0]);
        if (text == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, row, text);
    }
    return list;
}

static void release_child(struct ArrowArray *array) { array->release = NULL; }

static void release_array(struct ArrowArray *array) {
    free_table(array->private_data);
    array->release = NULL;
}

static const char *const column_names[6] = {"id", "latitude", "longitude", "horizontal_accuracy", "country", "place"};
static const char *const column_formats[6] = {"u", "g", "g", "g", "u", "u"};

typedef struct {
    struct ArrowSchema children[6], *pointers[6];
    char name[];
} Schema;

static void release_child_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
    free(schema->private_data);
    schema->release = NULL;
}

static void destroy_schema(PyObject *capsule) {
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release != NULL) schema->release(schema);
    free(schema);
}

static void destroy_array(PyObject *capsule) {
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release != NULL) array->release(array);
    free(array);
}

/* The columns' names and types, as a structure of a name. */
static bool make_schema(struct ArrowSchema *schema, const char *name) {
    Schema *content = calloc(1, sizeof *content + strlen(name) + 1);
    if (content == NULL) return false;
    strcpy(content->name, name);
    for (int k = 0; k < 6; k++) {
        content->children[k] = (struct ArrowSchema){column_formats[k], column_names[k], NULL, 2 /* nullable */, 0, NULL, NULL,
                                                    release_child_schema, NULL};
        content->pointers[k] = &content->children[k];
    }
    *schema = (struct ArrowSchema){"+s", content->name, NULL, 2, 6, content->pointers, NULL, release_schema, content};
    return true;
}

/* Gives the table away: the array's release frees it. */
static void make_array(struct ArrowArray *array, Table *table) {
    const hereabouts_columns *columns = &table->columns;
    const void *contents[6][2] = {
        {table->id_offsets, table->ids},  {columns->latitudes, NULL},
        {columns->longitudes, NULL},      {columns->accuracies, NULL},
        {columns->country_offsets, columns->countries}, {columns->place_offsets, columns->places},
    };
    const void **next = table->buffers;
    int64_t count = (int64_t)table->count;
    *next++ = columns->validity;
    for (int k = 0; k < 6; k++) {
        const void **buffers = next;
        *next++ = k == 5 ? table->place_validity : columns->validity;
        *next++ = contents[k][0];
        if (contents[k][1] != NULL) *next++ = contents[k][1];
        table->children[k] =
            (struct ArrowArray){count, -1, 0, next - buffers, 0, buffers, NULL, NULL, release_child, NULL};
        table->pointers[k] = &table->children[k];
    }
    *array = (struct ArrowArray){count, -1, 0, 1, 6, table->buffers, table->pointers, NULL, release_array, table};
}

/* arrow_schema(): a capsule of the columns' names and types. */
static PyObject *arrow_schema(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (schema == NULL || !make_schema(schema, "")) {
        free(schema);
        return PyErr_NoMemory();
    }
    return PyCapsule_New(schema, "arrow_schema", destroy_schema);
}

/* arrow_array(regions): a capsule of all columns. */
static PyObject *atlas_arrow_array(PyObject *self, PyObject *object) {
    Table *table = describe(self, object);
    if (table == NULL) return NULL;
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (array == NULL) {
        free_table(table);
        return PyErr_NoMemory();
    }
    make_array(array, table);
    return PyCapsule_New(array, "arrow_array", destroy_array);
}

static PyObject *atlas_region_with_id(PyObject *self, PyObject *arguments) {
    const char *text;
    if (!PyArg_ParseTuple(arguments, "s", &text)) return NULL;
    hereabouts_region region;
    uint64_t id = hereabouts_id_of_text(text);
    int32_t status = id == 0 ? HEREABOUTS_UNKNOWN_REGION
                             : hereabouts_region_with_id(((AtlasObject *)self)->atlas, id, &region);
    if (status == HEREABOUTS_UNKNOWN_REGION) return PyLong_FromLong(-1);
    return status == HEREABOUTS_OK ? PyLong_FromLong((long)region) : fail(status);
}

/* pace(interval, times, latitudes, longitudes, accuracies or None, until, state): ticks, regions and is_new as bytes, the new state,
 * and how many fixes came too late. Times are 64-bit integers; the state is bytes, empty for a new device. */
static PyObject *atlas_pace(PyObject *self, PyObject *arguments) {
    long long interval, until;
    PyObject *times, *latitudes, *longitudes, *accuracies;
    const char *state;
    Py_ssize_t state_length;
    if (!PyArg_ParseTuple(arguments, "LOOOOLy#", &interval, &times, &latitudes, &longitudes, &accuracies, &until, &state,
                          &state_length))
        return NULL;
    size_t size = hereabouts_pace_state_size();
    if (state_length != 0 && (size_t)state_length != size) return fail(HEREABOUTS_OTHER_STATE);
    Py_buffer time;
    if (PyObject_GetBuffer(times, &time, PyBUF_SIMPLE) < 0) return NULL;
    size_t count = (size_t)time.len / 8, found = 0, late = 0;
    double *columns[3] = {NULL, NULL, NULL};
    PyObject *sources[3] = {latitudes, longitudes, accuracies}, *result = NULL;
    hereabouts_answer *answers = malloc((count + 1) * sizeof *answers);
    uint8_t *kept = calloc(size, 1);
    bool isSound = answers != NULL && kept != NULL;
    if (!isSound) PyErr_NoMemory();
    for (int k = 0; isSound && k < 3; k++) {
        Column column;
        if (sources[k] == Py_None) continue;
        isSound = acquire(sources[k], &column, k == 0 ? "latitude" : k == 1 ? "longitude" : "accuracy");
        if (!isSound) break;
        if ((size_t)column.view.shape[0] != count) {
            PyErr_SetString(PyExc_ValueError, "columns are of one length");
            isSound = false;
        } else if ((columns[k] = malloc(count * 8 + 8)) == NULL) {
            PyErr_NoMemory();
            isSound = false;
        } else {
            for (size_t row = 0; row < count; row++)
                memcpy(&columns[k][row], (const char *)column.start + (ptrdiff_t)row * column.stride, 8);
        }
        release(&column);
    }
    if (isSound) {
        int32_t status;
        memcpy(kept, state, (size_t)state_length);
        Py_BEGIN_ALLOW_THREADS;
        status = hereabouts_pace(((AtlasObject *)self)->atlas, interval, count, time.buf, columns[0], columns[1], columns[2],
                                 until, kept, answers, &found, &late);
        Py_END_ALLOW_THREADS;
        if (status != HEREABOUTS_OK) {
            fail(status);
        } else {
            PyObject *ticks = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)found * 8);
            PyObject *regions = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)found * 4);
            PyObject *news = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)found);
            if (ticks && regions && news) {
                for (size_t row = 0; row < found; row++) {
                    memcpy(PyBytes_AsString(ticks) + 8 * row, &answers[row].tick, 8);
                    memcpy(PyBytes_AsString(regions) + 4 * row, &answers[row].region, 4);
                    PyBytes_AsString(news)[row] = (char)answers[row].is_new;
                }
                result = Py_BuildValue("OOOy#n", ticks, regions, news, kept, kept[0] ? (Py_ssize_t)size : 0, (Py_ssize_t)late);
            }
            Py_XDECREF(ticks), Py_XDECREF(regions), Py_XDECREF(news);
        }
    }
    for (int k = 0; k < 3; k++) free(columns[k]);
    free(answers), free(kept);
    PyBuffer_Release(&time);
    return result;
}

/* The atlases that the plugin for Polars may use; kept as long as the process lives, for its threads ask without the interpreter. */
typedef struct Shared {
    const hereabouts_atlas *atlas;
    struct Shared *next;
} Shared;

static _Atomic(Shared *) shared;

static const hereabouts_atlas *shared_atlas(uint64_t fingerprint) {
    for (const Shared *one = atomic_load(&shared); one != NULL; one = one->next)
        if (hereabouts_fingerprint(one->atlas) == fingerprint) return one->atlas;
    return NULL;
}

/* share(): lets the plugin use the atlas, and gives the number by which it asks for it. */
static PyObject *atlas_share(PyObject *self, PyObject *unused) {
    (void)unused;
    const hereabouts_atlas *atlas = ((AtlasObject *)self)->atlas;
    uint64_t fingerprint = hereabouts_fingerprint(atlas);
    if (shared_atlas(fingerprint) == NULL) {
        Shared *one = malloc(sizeof *one);
        if (one == NULL) return PyErr_NoMemory();
        Py_INCREF(self);
        *one = (Shared){atlas, atomic_load(&shared)};
        atomic_store(&shared, one);
    }
    return PyLong_FromUnsignedLongLong(fingerprint);
}

static PyMethodDef atlas_methods[] = {
    {"snap_one", (PyCFunction)(void (*)(void))atlas_snap_one, METH_FASTCALL, NULL},
    {"region_at", atlas_region_at, METH_VARARGS, NULL},
    {"parts", atlas_parts, METH_O, NULL},
    {"regions", atlas_regions, METH_VARARGS, NULL},
    {"describe", atlas_describe, METH_O, NULL},
    {"arrow_array", atlas_arrow_array, METH_O, NULL},
    {"ids", atlas_ids, METH_O, NULL},
    {"region_with_id", atlas_region_with_id, METH_VARARGS, NULL},
    {"pace", atlas_pace, METH_VARARGS, NULL},
    {"share", atlas_share, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef atlas_members[] = {
    {"attribution", atlas_attribution, NULL, NULL, NULL},
    {"fingerprint", atlas_fingerprint, NULL, NULL, NULL},
    {"region_count", atlas_region_count, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot atlas_slots[] = {
    {Py_tp_new, atlas_new},         {Py_tp_dealloc, atlas_dealloc}, {Py_tp_methods, atlas_methods},
    {Py_tp_getset, atlas_members},  {0, NULL},
};

static PyType_Spec atlas_spec = {"hereabouts._core.Atlas", sizeof(AtlasObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, atlas_slots};

static PyMethodDef methods[] = {
    {"arrow_schema", arrow_schema, METH_NOARGS, NULL},
    {"ring", ring, METH_VARARGS, NULL},
    {"texts", texts, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    AtlasError = PyErr_NewException("hereabouts.AtlasError", PyExc_ValueError, NULL);
    PyObject *type = PyType_FromSpec(&atlas_spec);
    RegionType = (PyTypeObject *)PyType_FromSpec(&region_spec);
    if (AtlasError == NULL || type == NULL || RegionType == NULL) return -1;
    if (PyModule_AddObjectRef(module, "AtlasError", AtlasError) < 0 || PyModule_AddObjectRef(module, "Atlas", type) < 0 ||
        PyModule_AddObjectRef(module, "Region", (PyObject *)RegionType) < 0)
        return -1;
    Py_DECREF(type);
    return PyModule_AddStringConstant(module, "version", hereabouts_version());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "hereabouts._core", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }

/* The plugin for Polars: version 0.1 of its interface, which is Arrow's and the structure below. The host takes a null `private_data`
 * for a failure. https://docs.rs/polars-ffi, https://docs.pola.rs/user-guide/plugins/expr_plugins */
typedef struct Series {
    struct ArrowSchema *field;
    struct ArrowArray **arrays;
    size_t length;
    void (*release)(struct Series *);
    void *private_data;
} Series;

#define PLUGIN __attribute__((visibility("default")))
PLUGIN uint32_t _polars_plugin_get_version(void);
PLUGIN const char *_polars_plugin_get_last_error_message(void);
PLUGIN void _polars_plugin_field_snap(
    const struct ArrowSchema *fields, size_t count, struct ArrowSchema *result, const uint8_t *options, size_t length);
PLUGIN void _polars_plugin_snap(
    Series *inputs, size_t count, const uint8_t *options, size_t length, Series *result, void *context);

static _Thread_local const char *plugin_error = "";

uint32_t _polars_plugin_get_version(void) { return 1; }

const char *_polars_plugin_get_last_error_message(void) { return plugin_error; }

void _polars_plugin_field_snap(
    const struct ArrowSchema *fields, size_t count, struct ArrowSchema *result, const uint8_t *options, size_t length) {
    (void)options, (void)length;
    plugin_error = hereabouts_error_text(HEREABOUTS_NO_MEMORY);
    make_schema(result, count > 0 && fields[0].name != NULL ? fields[0].name : "");
}

static size_t rows_of(const Series *series) {
    size_t rows = 0;
    for (size_t k = 0; k < series->length; k++) rows += (size_t)series->arrays[k]->length;
    return rows;
}

/* The kind and size of Arrow's numbers, as `number` takes them; 0 for what is none. */
static char kind_of(const char *format, Py_ssize_t *size) {
    static const char letters[] = "cCsSiIlLfg";
    static const char kinds[] = "iuiuiuiuff", sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    const char *found = strlen(format) == 1 ? strchr(letters, *format) : NULL;
    if (found == NULL) return 0;
    *size = sizes[found - letters];
    return kinds[found - letters];
}

/* The numbers of a column, NaN for null. A single one stands for all rows. */
static void read_column(const Series *series, size_t rows, double *result) {
    size_t row = 0;
    Py_ssize_t size = 0;
    char kind = kind_of(series->field->format, &size);
    for (size_t k = 0; k < series->length; k++) {
        const struct ArrowArray *array = series->arrays[k];
        const uint8_t *validity = array->buffers[0];
        const char *values = array->buffers[1];
        for (int64_t place = array->offset; place < array->offset + array->length; place++)
            result[row++] = validity == NULL || validity[place / 8] >> (place % 8) & 1
                                ? number(values + place * size, kind, size, false)
                                : (double)NAN;
    }
    for (; row < rows; row++) result[row] = result[0];
}

typedef struct {
    struct ArrowSchema schema;
    struct ArrowArray array, *pointer;
} Snapped;

/* The host has taken the array. */
static void release_series(Series *series) {
    Snapped *snapped = series->private_data;
    snapped->schema.release(&snapped->schema);
    free(snapped);
    series->release = NULL;
}

/* snap(latitudes, longitudes, fingerprint): the text of an error, or null. */
static const char *plugin_snap(const Series *inputs, size_t count, Series *result) {
    if (count != 3 || strcmp(inputs[2].field->format, "L") != 0) return "latitude, longitude and an atlas are needed";
    size_t rows = 1;
    for (size_t k = 0; k < 3; k++) {
        Py_ssize_t size;
        if (kind_of(inputs[k].field->format, &size) == 0) return "latitude and longitude: columns of numbers are needed";
        size_t own = rows_of(&inputs[k]);
        if (own == 1) continue;
        if (rows != 1 && rows != own) return "latitude and longitude are of one length";
        rows = own;
    }
    const hereabouts_atlas *atlas = NULL;
    for (size_t k = 0; k < inputs[2].length && atlas == NULL; k++) {
        const struct ArrowArray *array = inputs[2].arrays[k];
        if (array->length > 0) atlas = shared_atlas(((const uint64_t *)array->buffers[1])[array->offset]);
    }
    if (atlas == NULL && rows > 0) return "the atlas of this expression is not open in this process: make the expression here";
    double *latitudes = malloc(rows * 8 + 8), *longitudes = malloc(rows * 8 + 8);
    hereabouts_region *regions = malloc(rows * 4 + 4);
    Snapped *snapped = calloc(1, sizeof *snapped);
    Table *table = NULL;
    int32_t status = latitudes && longitudes && regions && snapped ? HEREABOUTS_OK : HEREABOUTS_NO_MEMORY;
    if (status == HEREABOUTS_OK && rows > 0) {
        read_column(&inputs[0], rows, latitudes);
        read_column(&inputs[1], rows, longitudes);
        status = hereabouts_snap(atlas, rows, latitudes, 8, longitudes, 8, regions, NULL);
    }
    if (status == HEREABOUTS_OK) status = make_table(atlas, rows, regions, &table);
    if (status == HEREABOUTS_OK && !make_schema(&snapped->schema, inputs[0].field->name)) {
        free_table(table);
        status = HEREABOUTS_NO_MEMORY;
    }
    free(latitudes), free(longitudes), free(regions);
    if (status != HEREABOUTS_OK) {
        free(snapped);
        return hereabouts_error_text(status);
    }
    make_array(&snapped->array, table);
    snapped->pointer = &snapped->array;
    *result = (Series){&snapped->schema, &snapped->pointer, 1, release_series, snapped};
    return NULL;
}

void _polars_plugin_snap(
    Series *inputs, size_t count, const uint8_t *options, size_t length, Series *result, void *context) {
    (void)options, (void)length, (void)context;
    const char *error = plugin_snap(inputs, count, result);
    plugin_error = error != NULL ? error : "";
    /* They are the plugin's. */
    for (size_t k = 0; k < count; k++) {
        for (size_t place = 0; place < inputs[k].length; place++)
            if (inputs[k].arrays[place]->release != NULL) inputs[k].arrays[place]->release(inputs[k].arrays[place]);
        inputs[k].release(&inputs[k]);
    }
}
