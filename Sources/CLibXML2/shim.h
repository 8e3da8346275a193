// What Swift needs of libxml2: the SAX2 push parser.
#ifndef HEREABOUTS_CLIBXML2_SHIM_H
#define HEREABOUTS_CLIBXML2_SHIM_H

#include <libxml/xmlversion.h>
// Where libxml2 was built with ICU, its headers would bring ICU's along, which clash with the ones in Foundation. Only
// the layout of encoding handlers depends on it, and we touch none.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

/// The magic number that makes a handler SAX2, whose macro (above INT_MAX) does not come over as an unsigned int.
static inline unsigned int hereabouts_sax2_magic(void) { return XML_SAX2_MAGIC; }

/// The line the parser stands on, from 1.
static inline int hereabouts_xml_line(xmlParserCtxtPtr context) {
    return context->input ? context->input->line : 0;
}

/// Bytes given to the parser that it has not yet consumed: an unfinished tag, comment or attribute.
static inline long hereabouts_xml_pending(xmlParserCtxtPtr context) {
    return context->input ? (long)(context->input->end - context->input->cur) : 0;
}

/// Whether the parser stands in the content of an element, and has consumed all bytes it was given, which it takes as
/// they are.
static inline _Bool hereabouts_xml_is_in_content(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && context->inputNr == 1 && context->instate == XML_PARSER_CONTENT && input->cur == input->end
        && input->buf && !input->buf->encoder;
}

/// What libxml2 does with messages that are no parser's own, on the calling thread.
typedef struct {
    xmlGenericErrorFunc generic;
    void *generic_context;
    xmlStructuredErrorFunc structured;
    void *structured_context;
} hereabouts_xml_messages;

static inline void hereabouts_xml_ignore(void *context, const char *message, ...) {
    (void)context;
    (void)message;
}

static inline void hereabouts_xml_ignore_error(void *context, xmlErrorPtr error) {
    (void)context;
    (void)error;
}

/// Has them dropped, where they would be printed on standard error with bytes of the text; returns what was done before.
static inline hereabouts_xml_messages hereabouts_xml_silence(void) {
    const hereabouts_xml_messages before = {
        xmlGenericError, xmlGenericErrorContext, xmlStructuredError, xmlStructuredErrorContext};
    xmlSetGenericErrorFunc(NULL, hereabouts_xml_ignore);
    xmlSetStructuredErrorFunc(NULL, hereabouts_xml_ignore_error);
    return before;
}

static inline void hereabouts_xml_restore(hereabouts_xml_messages before) {
    xmlSetGenericErrorFunc(before.generic_context, before.generic);
    xmlSetStructuredErrorFunc(before.structured_context, before.structured);
}

/// Bytes given to the parser that its decoder has not yet taken: after a document, an unfinished or wrong character.
static inline size_t hereabouts_xml_undecoded(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && input->buf && input->buf->raw ? xmlBufUse(input->buf->raw) : 0;
}

/// Whether what the parser has not yet consumed may be the start of a tag, rather than of something that may be long.
static inline _Bool hereabouts_xml_is_in_tag(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && input->end - input->cur >= 2 && input->cur[0] == '<' && input->cur[1] != '!' && input->cur[1] != '?';
}

/// Namespaces declared by the elements that are open.
static inline int hereabouts_xml_namespaces(xmlParserCtxtPtr context) { return context->nsNr / 2; }

/// Counts lines that the parser is not given.
static inline void hereabouts_xml_skip_lines(xmlParserCtxtPtr context, int lines) { context->input->line += lines; }

#endif
