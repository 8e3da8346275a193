#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// JSON texts (RFC 8259) as byte ranges. simdjson tokenizes: it finds where brackets, commas, colons, strings and other
// scalars begin, many bytes at a time, and validates UTF-8 and what strings must not contain. On its tokens the grammar is
// validated here, and the values at some paths are found, whose text stays where it is.

/// A byte range of a text: a value as it is written, quotes and brackets included. Empty where there is none.
typedef struct json_span {
    uint32_t start, end;
} json_span;

typedef enum json_status {
    json_ok,
    /// There is no value.
    json_empty,
    json_malformed,
    /// The value is well-formed, and no object.
    json_no_object,
    /// Brackets are nested deeper than the parser's limit.
    json_too_deep,
    /// A member that is looked for stands twice in its object.
    json_duplicate,
} json_status;

enum { json_maximum_depth = 64 };

typedef struct json_parser json_parser;

/// Null where there is no memory.
json_parser *_Nullable hereabouts_json_create(void);
void hereabouts_json_destroy(json_parser *_Nonnull parser);

/// Has brackets refused that are nested deeper than this, at most `json_maximum_depth`, which holds without it.
void hereabouts_json_limit_depth(json_parser *_Nonnull parser, int32_t depth);

/// Adds a path of interest: the child of a node (0 is the root) with a name, a member's or the decimal index of an
/// array's element. Returns its node.
uint32_t hereabouts_json_add_child(
    json_parser *_Nonnull parser, uint32_t node, const uint8_t *_Nullable name, size_t count);

/// Has the value at a node reported as a field, numbered from 0.
void hereabouts_json_set_field(json_parser *_Nonnull parser, uint32_t node, uint32_t field);

/// Tokenizes a text of one or more values, less than 2 GiB, which must stay until the next call.
/// `json_malformed` where any of it cannot be tokenized.
json_status hereabouts_json_tokenize(json_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t count);

/// The offset of a token, by number; the text's size for the number after the last. No other number is allowed.
uint32_t hereabouts_json_token(const json_parser *_Nonnull parser, size_t number);

/// Whether the text has a backslash.
bool hereabouts_json_has_escapes(const json_parser *_Nonnull parser);

/// Reads the value that begins with a token, as far as the text's byte `limit`, and finds its fields. Moves to the token
/// after it; of one that is malformed or too deep, to the first token from `limit` on.
///
/// - is_alone: whether nothing may follow the value before `limit`.
/// - fields: as many as were set, all written.
json_status hereabouts_json_read(
    json_parser *_Nonnull parser, size_t *_Nonnull token, uint32_t limit, bool is_alone, json_span *_Nullable fields);

/// Lists the names of the members of an object, the first `most` of them, as strings with quotes.
json_status hereabouts_json_names(
    json_parser *_Nonnull parser, size_t token, uint32_t limit, json_span *_Nonnull names, size_t most,
    size_t *_Nonnull count);

/// How rows are written.
typedef struct json_rows {
    /// Entries of a row: two for each field, the byte before its start and its end; `UINT32_MAX` and 0 where there is none.
    size_t stride;
    /// Fields that are numbers, of which a string's quotes are left off; negative where there is none.
    int32_t numbers[2];
    /// The longest line.
    size_t longest;
} json_rows;

/// Remembers the members of an object that was read as it should be, so that `hereabouts_json_read_rows` reads those like
/// it: objects of the same names in the same order, whose values are strings, numbers and words.
void hereabouts_json_learn_row(json_parser *_Nonnull parser, size_t token);

/// Reads lines that are objects like the one that was learned, as `hereabouts_json_read` reads them one by one, and writes
/// a row of entries for each: until one is not, or there are `most`. The text's last byte is a line feed, and 16 bytes
/// behind it are readable.
///
/// - token, offset: the first token of a line and its first byte; moved to those of the line after the last one read.
/// Returns how many lines were read.
size_t hereabouts_json_read_rows(
    json_parser *_Nonnull parser, size_t *_Nonnull token, size_t *_Nonnull offset, const json_rows *_Nonnull rows,
    uint32_t *_Nonnull entries, size_t most);

/// Decodes what stands between a string's quotes. `text` has room for `count` bytes. Returns how many it has.
size_t hereabouts_json_decode(const uint8_t *_Nullable string, size_t count, uint8_t *_Nonnull text);

/// The names of the arrays whose elements a document is cut into.
typedef enum json_lists {
    json_lists_none,
    /// GeoJSON's `features`.
    json_lists_geojson,
    /// `locations`, `timelineObjects`, `semanticSegments`, `rawSignals`, `timelineEdits` of Google's exports.
    json_lists_takeout,
} json_lists;

/// Bytes of the longest of these names.
enum { json_longest_list = 16 };

/// What stands before a place in an array of elements.
typedef enum json_before {
    /// Not known: the text begins somewhere in the array.
    json_before_unknown,
    json_before_opening,
    json_before_element,
    json_before_comma,
} json_before;

/// Where the values of a stream of bytes end: what cuts a document of any size into texts that can be parsed.
typedef struct json_splitter {
    /// Brackets that are open.
    uint32_t depth;
    /// Brackets that are open around an element.
    uint32_t element_depth;
    bool is_in_string, is_escaped;
    /// Whether the current text has begun.
    bool is_in_element;
    /// Whether the text is a scalar, which ends where something else begins.
    bool is_in_scalar;
    /// Whether the document was an array of elements and has ended: nothing but blanks may follow.
    bool is_behind;
    json_before before;
    /// Which arrays at the top of an object are lists of elements, in place of the object.
    json_lists lists;
    /// Whether such an array was found in the current object.
    bool is_collection;
    /// Whether a string at the top of the object is read as a name, and is one of a list.
    bool is_in_name, is_list;
    /// Whether the list's colon was just read.
    bool is_after_colon;
    uint8_t name_count;
    uint8_t name[json_longest_list];
} json_splitter;

typedef enum json_split {
    /// All bytes are read.
    json_split_more,
    /// An element begins at the offset.
    json_split_start,
    /// An element ends at the offset.
    json_split_end,
    /// What was thought to be an element is a collection of them.
    json_split_collection,
    /// Something else stands where an element or a comma belongs, or brackets do not match.
    json_split_malformed,
} json_split;

/// Reads from an offset to the next event.
json_split hereabouts_json_split(
    json_splitter *_Nonnull splitter, const uint8_t *_Nonnull text, size_t count, size_t *_Nonnull offset);

/// simdjson's version.
const char *_Nonnull hereabouts_json_version(void);

#ifdef __cplusplus
}
#endif

#endif
