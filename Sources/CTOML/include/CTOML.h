#ifndef CTOML_H
#define CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// TOML 1.0 documents as a list of items, by toml++.

typedef enum toml_kind { toml_table, toml_array, toml_string, toml_integer, toml_float, toml_boolean, toml_date } toml_kind;

/// A table, an array or a value. All texts are UTF-8, belong to the document and have no terminator.
typedef struct toml_item {
    /// The table or array that has it, by number: less than its own. The root, number 0, has itself.
    uint32_t parent;
    toml_kind kind;
    /// Where its key stands, or the element itself in an array; from 1. The root has 0.
    uint32_t line, column;
    /// The name of a table's member; empty for others.
    const char *_Nullable key;
    size_t key_count;
    /// Of a string.
    const char *_Nullable text;
    size_t text_count;
    /// Of an integer, or 0 and 1 of a boolean.
    int64_t integer;
    double number;
} toml_item;

/// Tables and arrays nested deeper are refused.
enum { toml_maximum_depth = 16 };

typedef struct toml_document toml_document;

/// Reads a document. Null where there is no memory.
toml_document *_Nullable hereabouts_toml_read(const char *_Nullable text, size_t count);
void hereabouts_toml_destroy(toml_document *_Nonnull document);

/// How many items there are; none where the text is no document.
size_t hereabouts_toml_count(const toml_document *_Nonnull document);

/// An item by number, less than their count: members in order of their keys, elements in order.
toml_item hereabouts_toml_item(const toml_document *_Nonnull document, size_t number);

/// Why the text is no document, and where; with a terminator. Null where it is one.
const char *_Nullable hereabouts_toml_error(
    const toml_document *_Nonnull document, uint32_t *_Nonnull line, uint32_t *_Nonnull column);

/// toml++'s version: 10,000 times the first number, 100 times the second, and the third.
uint32_t hereabouts_toml_version(void);

#ifdef __cplusplus
}
#endif

#endif
