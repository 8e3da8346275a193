#include "CTOML.h"

/// A malformed text that toml++ does not expect: version 3.3 has preconditions that `[[[` violates, for example (its pull
/// request 301). It would abort in debug builds, and be undefined in others.
struct unexpected_text {};
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : throw unexpected_text())

// Values; this also bounds the recursion of toml++'s parser.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include <new>
#include <string>
#include <string_view>
#include <vector>

struct toml_document {
    /// Owns the texts of the items.
    toml::table root;
    std::vector<toml_item> items;
    std::string error;
    uint32_t line = 0, column = 0;
};

namespace {

toml_kind kind_of(const toml::node &node) {
    switch (node.type()) {
    case toml::node_type::table: return toml_table;
    case toml::node_type::array: return toml_array;
    case toml::node_type::string: return toml_string;
    case toml::node_type::integer: return toml_integer;
    case toml::node_type::floating_point: return toml_float;
    case toml::node_type::boolean: return toml_boolean;
    default: return toml_date;
    }
}

/// Appends an item and all that it has. False where it is nested too deep.
bool append(
    toml_document &document, const toml::node &node, std::string_view key, toml::source_position place, uint32_t parent,
    int depth) {
    const uint32_t number = uint32_t(document.items.size());
    toml_item item = {};
    item.parent = parent;
    item.kind = kind_of(node);
    item.line = uint32_t(place.line);
    item.column = uint32_t(place.column);
    item.key = key.data();
    item.key_count = key.size();
    if (const auto *text = node.as_string()) {
        item.text = text->get().data();
        item.text_count = text->get().size();
    }
    if (const auto *integer = node.as_integer()) item.integer = integer->get();
    if (const auto *number = node.as_floating_point()) item.number = number->get();
    if (const auto *boolean = node.as_boolean()) item.integer = boolean->get() ? 1 : 0;
    document.items.push_back(item);
    if (item.kind != toml_table && item.kind != toml_array) return true;
    if (depth == toml_maximum_depth) {
        document.error = "tables or arrays are nested too deep";
        document.line = item.line;
        document.column = item.column;
        return false;
    }
    if (const auto *table = node.as_table()) {
        for (auto &&[name, member] : *table) {
            if (!append(document, member, name.str(), name.source().begin, number, depth + 1)) return false;
        }
    }
    if (const auto *array = node.as_array()) {
        for (auto &&element : *array) {
            if (!append(document, element, {}, element.source().begin, number, depth + 1)) return false;
        }
    }
    return true;
}

} // namespace

extern "C" {

toml_document *hereabouts_toml_read(const char *text, size_t count) {
    toml_document *document = new (std::nothrow) toml_document;
    if (document == nullptr) return nullptr;
    try {
        document->root = toml::parse(std::string_view(text == nullptr ? "" : text, count));
        if (!append(*document, document->root, {}, {}, 0, 0)) document->items.clear();
    } catch (const toml::parse_error &error) {
        document->error = error.description();
        document->line = uint32_t(error.source().begin.line);
        document->column = uint32_t(error.source().begin.column);
    } catch (const unexpected_text &) {
        document->error = "the text is no TOML";
    } catch (...) {
        delete document;
        return nullptr;
    }
    return document;
}

void hereabouts_toml_destroy(toml_document *document) { delete document; }

size_t hereabouts_toml_count(const toml_document *document) { return document->items.size(); }

toml_item hereabouts_toml_item(const toml_document *document, size_t number) { return document->items[number]; }

const char *hereabouts_toml_error(const toml_document *document, uint32_t *line, uint32_t *column) {
    *line = document->line;
    *column = document->column;
    return document->items.empty() ? document->error.c_str() : nullptr;
}

} // extern "C"

uint32_t hereabouts_toml_version(void) {
    return TOML_LIB_MAJOR * 10000 + TOML_LIB_MINOR * 100 + TOML_LIB_PATCH;
}
