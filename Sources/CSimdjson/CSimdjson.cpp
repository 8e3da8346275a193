#include "CSimdjson.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// A path of interest: its last name, and where it goes on.
struct node {
    std::string name;
    /// The name's first eight bytes, the first one lowest, zeros after its end.
    uint64_t head = 0;
    int32_t field = -1;
    std::vector<uint32_t> children;
    /// The value that it was last found in, by number.
    uint64_t seen = 0;
};

bool is_blank(uint8_t byte) { return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09; }

bool is_digit(uint8_t byte) { return uint8_t(byte - '0') < 10; }

/// The first eight bytes of a text, of which so many are its own. At least eight are readable.
uint64_t head_of(const uint8_t *text, size_t count) {
    uint64_t word;
    std::memcpy(&word, text, sizeof word);
    return count >= 8 ? word : word & ((uint64_t(1) << (8 * count)) - 1);
}

/// The bits of a word's bytes that are no digits, the first byte's lowest.
uint64_t other_than_digits(uint64_t word) {
    const uint64_t high = 0x8080808080808080, bytes = word ^ 0x3030303030303030;
    const uint64_t others = (((bytes & ~high) + 0x7676767676767676) | bytes) & high;
    return (others >> 7) * 0x0102040810204080 >> 56;
}

/// Whether a text of 1 to 16 bytes is a number without an exponent; at least 16 bytes are readable.
bool is_short_number(const uint8_t *text, size_t count) {
    uint64_t words[2];
    std::memcpy(words, text, sizeof words);
    const size_t sign = text[0] == '-';
    const uint64_t others =
        (other_than_digits(words[0]) | other_than_digits(words[1]) << 8) & ((uint64_t(1) << count) - 1) & ~uint64_t(sign);
    if (count <= sign || (others & (others - 1)) != 0) return false;
    const size_t whole = others == 0 ? count : size_t(__builtin_ctzll(others));
    if (others != 0 && (text[whole] != '.' || whole == sign || whole + 1 == count)) return false;
    return text[sign] != '0' || whole == sign + 1;
}

/// Whether a text is a number as RFC 8259 has it.
bool is_number(const uint8_t *at, const uint8_t *end) {
    const auto digits = [&] {
        const uint8_t *const start = at;
        while (at < end && is_digit(*at)) at++;
        return at > start;
    };
    if (at < end && *at == '-') at++;
    if (at < end && *at == '0') {
        at++;
    } else if (!digits()) {
        return false;
    }
    if (at < end && *at == '.') {
        at++;
        if (!digits()) return false;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        if (!digits()) return false;
    }
    return at == end;
}

bool is_word(const uint8_t *start, const uint8_t *end, std::string_view word) {
    return size_t(end - start) == word.size() && std::memcmp(start, word.data(), word.size()) == 0;
}

/// Whether a text is `true`, `false`, `null` or a number.
bool is_scalar(const uint8_t *start, const uint8_t *end) {
    switch (*start) {
    case 't': return is_word(start, end, "true");
    case 'f': return is_word(start, end, "false");
    case 'n': return is_word(start, end, "null");
    default: return is_number(start, end);
    }
}

/// The value of a hexadecimal digit; negative for another byte.
int hexadecimal(uint8_t byte) {
    if (is_digit(byte)) return byte - '0';
    const uint8_t letter = byte | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// The code unit of four hexadecimal digits; negative for others.
int code_unit(const uint8_t *at, const uint8_t *end) {
    if (end - at < 4) return -1;
    int unit = 0;
    for (int k = 0; k < 4; k++) {
        const int digit = hexadecimal(at[k]);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/// Reads what follows a backslash, up to the end of the character. Surrogates must come in pairs. Negative for what is no
/// escape.
int32_t escape(const uint8_t *&at, const uint8_t *end) {
    if (at == end) return -1;
    switch (*at++) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return 8;
    case 'f': return 12;
    case 'n': return 10;
    case 'r': return 13;
    case 't': return 9;
    case 'u': break;
    default: return -1;
    }
    const int32_t first = code_unit(at, end);
    if (first < 0) return -1;
    at += 4;
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    const int32_t second = code_unit(at + 2, end);
    if (second < 0xdc00 || second > 0xdfff) return -1;
    at += 6;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

bool has_valid_escapes(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        at = static_cast<const uint8_t *>(std::memchr(at, '\\', size_t(end - at)));
        if (at == nullptr) return true;
        at++;
        if (escape(at, end) < 0) return false;
    }
    return true;
}

/// The name that a member of the outermost object had in the last value, by its place: most values have the same members
/// in the same order.
struct remembered {
    /// The first and last eight bytes of a name of 1 to 16; no name has length 0 here.
    uint64_t head = 0, tail = 0;
    uint32_t length = 0;
    uint32_t node = 0;
};

/// A member of the objects that are read as rows.
struct row_member {
    /// The name with its quotes and the colon.
    std::string name;
    /// The name's first and last eight bytes; of shorter ones, all bytes twice. `mask` is set in the bytes that they have.
    uint64_t head = 0, tail = 0, mask = ~uint64_t(0);
    size_t tail_offset = 0;
    int32_t field = -1;

    row_member(const uint8_t *text, size_t count, int32_t field)
        : name(reinterpret_cast<const char *>(text), count), field(field) {
        if (count < 8) mask = (uint64_t(1) << (8 * count)) - 1;
        tail_offset = count < 8 ? 0 : count - 8;
        head = head_of(text, count);
        tail = head_of(text + tail_offset, count);
    }

    /// Whether a text of so many bytes is the name; 16 bytes at least are readable.
    bool is(const uint8_t *text, size_t count) const {
        if (count != name.size()) return false;
        uint64_t first, last;
        std::memcpy(&first, text, sizeof first);
        std::memcpy(&last, text + tail_offset, sizeof last);
        if ((first & mask) != head || (last & mask) != tail) return false;
        return count <= 16 || std::memcmp(text, name.data(), count) == 0;
    }
};

} // namespace

struct json_parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> tokenizer;
    std::vector<node> nodes = std::vector<node>(1);
    remembered members[64];
    uint32_t field_count = 0;
    uint64_t values = 0;
    int maximum_depth = json_maximum_depth;

    const uint8_t *text = nullptr;
    size_t count = 0;
    const uint32_t *tokens = nullptr;
    size_t token_count = 0;
    bool has_escapes = false;

    /// The members of objects that are read as rows; none where none were learned.
    std::vector<row_member> row;
    /// How often members were learned since a row was read of such.
    uint32_t unused_rows = 0;
};

namespace {

/// Validates a value and finds its fields.
class reader {
  public:
    reader(json_parser &parser, size_t token, uint32_t limit, json_span *fields)
        : parser(parser), text(parser.text), at(parser.tokens + token), limit(limit), fields(fields) {}

    /// Where the names of the outermost object are listed.
    json_span *names = nullptr;
    size_t most_names = 0, name_count = 0;

    const uint32_t *at_end() const { return at; }

    json_status read(bool is_alone) {
        if (*at >= limit) return json_empty;
        const bool is_object = text[*at] == '{';
        if (!value(0, true, 0)) return status;
        if (is_alone && *at < limit) return json_malformed;
        return is_object ? status : json_no_object;
    }

  private:
    json_parser &parser;
    const uint8_t *const text;
    // The token after the last is the text's size, which is no less than the limit: so no token beyond it is looked at.
    const uint32_t *at;
    const uint32_t limit;
    json_span *const fields;
    json_status status = json_ok;

    bool fail(json_status reason) {
        status = reason;
        return false;
    }

    /// Where the token's text can end at most: blanks before the next one aside.
    uint32_t token_end() const {
        uint32_t end = std::min(at[1], limit);
        while (end > *at + 1 && is_blank(text[end - 1])) end--;
        return end;
    }

    bool string(uint32_t &end) {
        const uint32_t start = *at;
        end = token_end();
        if (end - start < 2 || text[end - 1] != '"') return fail(json_malformed);
        if (parser.has_escapes && !has_valid_escapes(text + start + 1, text + end - 1)) return fail(json_malformed);
        at++;
        return true;
    }

    bool scalar(uint32_t &end) {
        end = token_end();
        if (!is_scalar(text + *at, text + end)) return fail(json_malformed);
        at++;
        return true;
    }

    /// The same of the root, for its member at a place.
    uint32_t child(size_t place, uint32_t start, uint32_t end) {
        const uint32_t length = end - start;
        if (place >= std::size(parser.members) || length == 0 || length > 16)
            return child(parser.nodes[0], start, end);
        remembered &member = parser.members[place];
        const uint64_t head = head_of(text + start, length);
        const uint64_t tail = length > 8 ? head_of(text + end - 8, 8) : 0;
        if (member.length != length || member.head != head || member.tail != tail)
            member = remembered{head, tail, length, child(parser.nodes[0], start, end)};
        return member.node;
    }

    /// The child of a node with a string's content as its name; 0 for none.
    uint32_t child(const node &parent, uint32_t start, uint32_t end) {
        const uint8_t *name = text + start;
        size_t count = end - start;
        uint8_t decoded[256];
        if (parser.has_escapes && std::memchr(name, '\\', count) != nullptr) {
            // No shorter one can be a name of interest: six bytes become one at most.
            if (count > sizeof decoded - 8) return 0;
            std::memset(decoded, 0, sizeof decoded);
            count = hereabouts_json_decode(name, count, decoded);
            name = decoded;
        }
        return find(parent, name, count);
    }

    uint32_t find(const node &parent, const uint8_t *name, size_t count) const {
        const uint64_t head = head_of(name, count);
        for (const uint32_t number : parent.children) {
            const node &child = parser.nodes[number];
            if (child.head == head && child.name.size() == count
                && (count <= 8 || std::memcmp(child.name.data(), name, count) == 0))
                return number;
        }
        return 0;
    }

    /// - number: of the value's node, if it is of interest.
    bool value(uint32_t number, bool is_of_interest, int depth) {
        if (*at >= limit) return fail(json_malformed);
        const uint32_t start = *at;
        uint32_t end = 0;
        switch (text[start]) {
        case '{':
            if (!object(number, is_of_interest, depth + 1, end)) return false;
            break;
        case '[':
            if (!array(number, is_of_interest, depth + 1, end)) return false;
            break;
        case '"':
            if (!string(end)) return false;
            break;
        default:
            if (!scalar(end)) return false;
        }
        if (is_of_interest && fields != nullptr) {
            const int32_t field = parser.nodes[number].field;
            if (field >= 0) fields[field] = json_span{start, end};
        }
        return true;
    }

    /// Marks a node as found in this value; false where it was before.
    bool mark(uint32_t number) {
        node &found = parser.nodes[number];
        if (found.seen == parser.values) status = json_duplicate;
        found.seen = parser.values;
        return true;
    }

    bool object(uint32_t number, bool is_of_interest, int depth, uint32_t &end) {
        if (depth > parser.maximum_depth) return fail(json_too_deep);
        at++;
        const bool looks = is_of_interest && !parser.nodes[number].children.empty();
        if (*at < limit && text[*at] == '}') {
            end = *at++ + 1;
            return true;
        }
        for (size_t place = 0;; place++) {
            if (*at >= limit || text[*at] != '"') return fail(json_malformed);
            const uint32_t start = *at;
            uint32_t stop = 0;
            if (!string(stop)) return false;
            if (depth == 1 && names != nullptr && name_count < most_names) names[name_count++] = json_span{start, stop};
            if (*at >= limit || text[*at] != ':') return fail(json_malformed);
            at++;
            const uint32_t next = !looks ? 0
                : number == 0            ? child(place, start + 1, stop - 1)
                                         : child(parser.nodes[number], start + 1, stop - 1);
            if (next != 0) mark(next);
            if (!value(next, next != 0, depth)) return false;
            if (*at >= limit) return fail(json_malformed);
            const uint8_t mark = text[*at];
            at++;
            if (mark == ',') continue;
            if (mark != '}') return fail(json_malformed);
            end = at[-1] + 1;
            return true;
        }
    }

    bool array(uint32_t number, bool is_of_interest, int depth, uint32_t &end) {
        if (depth > parser.maximum_depth) return fail(json_too_deep);
        at++;
        const bool looks = is_of_interest && !parser.nodes[number].children.empty();
        if (*at < limit && text[*at] == ']') {
            end = *at++ + 1;
            return true;
        }
        for (size_t index = 0;; index++) {
            uint32_t next = 0;
            if (looks) {
                uint8_t digits[32] = {};
                next = find(parser.nodes[number], digits, write(index, digits));
            }
            if (!value(next, next != 0, depth)) return false;
            if (*at >= limit) return fail(json_malformed);
            const uint8_t mark = text[*at];
            at++;
            if (mark == ',') continue;
            if (mark != ']') return fail(json_malformed);
            end = at[-1] + 1;
            return true;
        }
    }

    /// Writes an index in decimal; returns how many digits it has.
    static size_t write(size_t index, uint8_t *digits) {
        const std::string text = std::to_string(index);
        std::memcpy(digits, text.data(), text.size());
        return text.size();
    }
};

} // namespace

json_parser *hereabouts_json_create(void) {
    std::unique_ptr<json_parser> parser(new (std::nothrow) json_parser);
    if (!parser
        || simdjson::get_active_implementation()->create_dom_parser_implementation(
               1 << 16, json_maximum_depth, parser->tokenizer)
            != simdjson::SUCCESS)
        return nullptr;
    return parser.release();
}

void hereabouts_json_destroy(json_parser *parser) { delete parser; }

void hereabouts_json_limit_depth(json_parser *parser, int32_t depth) {
    parser->maximum_depth = std::min<int>(depth, json_maximum_depth);
}

uint32_t hereabouts_json_add_child(json_parser *parser, uint32_t number, const uint8_t *name, size_t count) {
    const std::string text(reinterpret_cast<const char *>(name), count);
    for (const uint32_t child : parser->nodes[number].children)
        if (parser->nodes[child].name == text) return child;
    node added;
    added.name = text;
    std::memcpy(&added.head, text.data(), std::min<size_t>(count, 8));
    parser->nodes.push_back(added);
    const uint32_t child = uint32_t(parser->nodes.size() - 1);
    parser->nodes[number].children.push_back(child);
    return child;
}

void hereabouts_json_set_field(json_parser *parser, uint32_t number, uint32_t field) {
    parser->nodes[number].field = int32_t(field);
    parser->field_count = std::max(parser->field_count, field + 1);
}

json_status hereabouts_json_tokenize(json_parser *parser, const uint8_t *text, size_t count) {
    parser->text = text;
    parser->count = count;
    parser->token_count = 0;
    if (count == 0) return json_empty;
    if (count > parser->tokenizer->capacity()
        && parser->tokenizer->set_capacity(std::max(count, 2 * parser->tokenizer->capacity())) != simdjson::SUCCESS)
        return json_malformed;
    const auto error = parser->tokenizer->stage1(text, count, simdjson::stage1_mode::regular);
    if (error == simdjson::EMPTY) return json_empty;
    if (error != simdjson::SUCCESS) return json_malformed;
    parser->tokens = parser->tokenizer->structural_indexes.get();
    parser->token_count = parser->tokenizer->n_structural_indexes;
    parser->unused_rows = 0;
    parser->has_escapes = std::memchr(text, '\\', count) != nullptr;
    return json_ok;
}

uint32_t hereabouts_json_token(const json_parser *parser, size_t number) {
    return number < parser->token_count ? parser->tokens[number] : uint32_t(parser->count);
}

bool hereabouts_json_has_escapes(const json_parser *parser) { return parser->has_escapes; }

json_status hereabouts_json_read(
    json_parser *parser, size_t *token, uint32_t limit, bool is_alone, json_span *fields) {
    if (fields != nullptr) std::memset(fields, 0, parser->field_count * sizeof(json_span));
    if (*token >= parser->token_count) return json_empty;
    parser->values++;
    reader reader(*parser, *token, limit, fields);
    const json_status status = reader.read(is_alone);
    *token = size_t(reader.at_end() - parser->tokens);
    if (status == json_malformed || status == json_too_deep)
        while (*token < parser->token_count && parser->tokens[*token] < limit) ++*token;
    return status;
}

json_status hereabouts_json_names(
    json_parser *parser, size_t token, uint32_t limit, json_span *names, size_t most, size_t *count) {
    *count = 0;
    if (token >= parser->token_count) return json_empty;
    parser->values++;
    reader reader(*parser, token, limit, nullptr);
    reader.names = names;
    reader.most_names = most;
    const json_status status = reader.read(false);
    *count = reader.name_count;
    return status;
}

void hereabouts_json_learn_row(json_parser *parser, size_t token) {
    // Objects that differ from each other cost no more than a few attempts.
    constexpr uint32_t most_unused = 16;
    constexpr size_t most_members = 256;
    std::vector<row_member> &row = parser->row;
    row.clear();
    if (parser->unused_rows >= most_unused || token >= parser->token_count) return;
    parser->unused_rows++;
    const uint8_t *const text = parser->text;
    const uint32_t *tokens = parser->tokens + token;
    for (const uint32_t *const end = parser->tokens + parser->token_count; end - tokens > 4; tokens += 4) {
        const uint32_t start = tokens[1], colon = tokens[2];
        const uint8_t first = text[tokens[3]], mark = text[tokens[4]];
        const bool is_plain = text[start] == '"' && text[colon] == ':' && text[colon - 1] == '"'
            && std::memchr(text + start, '\\', colon - start) == nullptr;
        if (!is_plain || first == '{' || first == '[' || (mark != ',' && mark != '}') || row.size() == most_members) break;
        uint32_t child = 0;
        for (const uint32_t number : parser->nodes[0].children) {
            const std::string &name = parser->nodes[number].name;
            if (is_word(text + start + 1, text + colon - 1, name)) child = number;
        }
        row.emplace_back(text + start, colon + 1 - start, child == 0 ? -1 : parser->nodes[child].field);
        if (mark == '}') return;
    }
    row.clear();
}

size_t hereabouts_json_read_rows(
    json_parser *parser, size_t *token, size_t *offset, const json_rows *rows, uint32_t *entries, size_t most) {
    const uint8_t *const text = parser->text;
    const size_t last = 4 * parser->row.size();
    if (last == 0) return 0;
    size_t count = 0;
    for (; count < most && parser->token_count > last && *token < parser->token_count - last; count++) {
        const uint32_t *tokens = parser->tokens + *token;
        const uint32_t close = tokens[last];
        if (tokens[0] != *offset || text[tokens[0]] != '{' || text[close] != '}') break;
        // The text ends with a line feed, so that it has the byte behind the bracket, and the one behind a return.
        const uint32_t feed = text[close + 1] == '\r' ? close + 2 : close + 1;
        if (text[feed] != '\n' || feed - *offset > rows->longest) break;
        uint32_t *const row = entries + count * rows->stride;
        for (size_t entry = 0; entry < rows->stride; entry += 2) {
            row[entry] = UINT32_MAX;
            row[entry + 1] = 0;
        }
        bool is_alike = true;
        for (const row_member &member : parser->row) {
            uint32_t start = tokens[3], end = tokens[4];
            const bool is_number_field =
                member.field >= 0 && (member.field == rows->numbers[0] || member.field == rows->numbers[1]);
            const uint8_t mark = tokens[4] == close ? '}' : ',';
            is_alike = text[end] == mark && member.is(text + tokens[1], tokens[2] + 1 - tokens[1]);
            if (!is_alike) break;
            if (text[start] == '"') {
                is_alike = end - start >= 2 && text[end - 1] == '"'
                    && (!parser->has_escapes || has_valid_escapes(text + start + 1, text + end - 1));
                if (is_number_field) {
                    start++;
                    end--;
                }
            } else if (end - start > 16 || !is_short_number(text + start, end - start)) {
                is_alike = !is_number_field && is_scalar(text + start, text + end);
            }
            if (!is_alike) break;
            if (member.field >= 0) {
                row[2 * member.field] = start - 1;
                row[2 * member.field + 1] = end;
            }
            tokens += 4;
        }
        if (!is_alike) break;
        *token += last + 1;
        *offset = feed + 1;
    }
    if (count > 0) parser->unused_rows = 0;
    return count;
}

size_t hereabouts_json_decode(const uint8_t *at, size_t count, uint8_t *text) {
    const uint8_t *const start = text, *const end = at + count;
    while (at < end) {
        if (*at != '\\') {
            *text++ = *at++;
            continue;
        }
        at++;
        const int32_t scalar = escape(at, end);
        if (scalar < 0) break;
        if (scalar < 0x80) {
            *text++ = uint8_t(scalar);
        } else if (scalar < 0x800) {
            *text++ = uint8_t(0xc0 | scalar >> 6);
            *text++ = uint8_t(0x80 | (scalar & 0x3f));
        } else if (scalar < 0x10000) {
            *text++ = uint8_t(0xe0 | scalar >> 12);
            *text++ = uint8_t(0x80 | (scalar >> 6 & 0x3f));
            *text++ = uint8_t(0x80 | (scalar & 0x3f));
        } else {
            *text++ = uint8_t(0xf0 | scalar >> 18);
            *text++ = uint8_t(0x80 | (scalar >> 12 & 0x3f));
            *text++ = uint8_t(0x80 | (scalar >> 6 & 0x3f));
            *text++ = uint8_t(0x80 | (scalar & 0x3f));
        }
    }
    return size_t(text - start);
}

/// The bytes that end a number or a word.
static constexpr auto marks = [] {
    std::array<bool, 256> marks{};
    for (const char byte : {',', ':', '{', '}', '[', ']', '"', '\x1e', ' ', '\n', '\r', '\t'}) marks[uint8_t(byte)] = true;
    return marks;
}();

/// Whether the name read last is that of a list.
static bool is_list(const json_splitter &state) {
    static const char *const takeout[] = {
        "locations", "timelineObjects", "semanticSegments", "rawSignals", "timelineEdits"};
    const std::string_view name(reinterpret_cast<const char *>(state.name), state.name_count);
    switch (state.lists) {
    case json_lists_geojson: return name == "features";
    case json_lists_takeout: return std::find(std::begin(takeout), std::end(takeout), name) != std::end(takeout);
    case json_lists_none: return false;
    }
    return false;
}

json_split hereabouts_json_split(json_splitter *splitter, const uint8_t *text, size_t count, size_t *offset) {
    json_splitter state = *splitter;
    size_t at = *offset;
    const auto give = [&](json_split event) {
        if (event == json_split_end) state.before = json_before_element;
        *splitter = state;
        *offset = at;
        return event;
    };
    // An element begins: in an array behind its bracket or a comma.
    const auto begin = [&] {
        if (state.depth > 0 && state.before == json_before_element) return give(json_split_malformed);
        state.is_in_element = true;
        return give(json_split_start);
    };
    while (at < count) {
        const uint8_t byte = text[at];
        if (state.is_in_string) {
            at++;
            if (state.is_escaped) {
                state.is_escaped = false;
            } else if (byte == '\\') {
                state.is_escaped = true;
                state.is_in_name = false;
            } else if (byte == '"') {
                state.is_in_string = false;
                state.is_list = state.is_in_name && is_list(state);
                state.is_in_name = false;
                if (state.depth == state.element_depth) {
                    state.is_in_element = false;
                    return give(json_split_end);
                }
            } else if (state.is_in_name) {
                state.is_in_name = state.name_count < json_longest_list;
                if (state.is_in_name) state.name[state.name_count++] = byte;
            } else {
                while (at < count && text[at] != '"' && text[at] != '\\') at++;
            }
            continue;
        }
        const bool is_outside = state.depth == state.element_depth;
        const bool may_begin = is_outside && !state.is_in_element;
        if (state.is_in_scalar && marks[byte]) {
            state.is_in_scalar = state.is_in_element = false;
            return give(json_split_end);
        }
        if (state.is_behind && byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) {
            return give(json_split_malformed);
        }
        switch (byte) {
        case 0x20: case 0x0a: case 0x0d: case 0x09: at++; break;
        // RFC 7464 begins each text with a record separator.
        case 0x1e:
            if (state.depth > 0) return give(json_split_malformed);
            at++;
            break;
        case '{': case '[':
            if (may_begin) return begin();
            at++;
            state.depth++;
            if (byte == '[' && state.is_after_colon && state.depth == 2) {
                state.is_list = state.is_after_colon = false;
                state.is_collection = true;
                state.is_in_element = false;
                state.element_depth = 2;
                state.before = json_before_opening;
                return give(json_split_collection);
            }
            state.is_list = state.is_after_colon = false;
            break;
        case '}': case ']':
            // Elements stand in arrays.
            if (state.depth == 0 || (is_outside && (byte == '}' || state.before == json_before_comma))) {
                return give(json_split_malformed);
            }
            at++;
            state.depth--;
            state.is_list = state.is_after_colon = false;
            if (is_outside) {
                // The list of elements ends: nothing is one before the next list or text.
                if (state.is_collection) state.element_depth = UINT32_MAX;
                state.is_behind = !state.is_collection;
            } else if (state.is_in_element && state.depth == state.element_depth) {
                state.is_in_element = false;
                return give(json_split_end);
            }
            if (state.depth == 0 && state.is_collection) {
                state.is_collection = false;
                state.element_depth = 0;
            }
            break;
        case '"':
            if (may_begin) return begin();
            at++;
            state.is_in_string = true;
            state.is_in_name = state.depth == 1 && state.lists != json_lists_none;
            state.is_list = state.is_after_colon = false;
            state.name_count = 0;
            break;
        case ',':
            if (state.depth == 0) return give(json_split_malformed);
            if (is_outside) {
                if (state.before == json_before_opening || state.before == json_before_comma) {
                    return give(json_split_malformed);
                }
                state.before = json_before_comma;
            }
            state.is_list = state.is_after_colon = false;
            at++;
            break;
        case ':':
            // No element has a name.
            if (is_outside) return give(json_split_malformed);
            state.is_after_colon = state.is_list;
            state.is_list = false;
            at++;
            break;
        default:
            if (may_begin) {
                state.is_in_scalar = true;
                return begin();
            }
            state.is_list = state.is_after_colon = false;
            do {
                at++;
            } while (at < count && !marks[text[at]]);
        }
    }
    return give(json_split_more);
}

// The macro is no text.
#define TEXT_OF(value) #value
#define VALUE_TEXT_OF(macro) TEXT_OF(macro)

const char *hereabouts_json_version(void) { return VALUE_TEXT_OF(SIMDJSON_VERSION); }
