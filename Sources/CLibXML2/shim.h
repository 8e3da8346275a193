// The part of libxml2 that Swift uses: the SAX2 push parser, and functions for macros and fields that Swift cannot see.
#ifndef HEREABOUTS_CLIBXML2_SHIM_H
#define HEREABOUTS_CLIBXML2_SHIM_H

#include <stdlib.h>

#include <libxml/xmlversion.h>
// If libxml2 was built with ICU, its headers include ICU's, which conflict with those in Foundation. Only the layout of
// encoding handlers depends on it, which we do not access.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

/// The magic number of a SAX2 handler; Swift does not import the macro as an unsigned int (it is above INT_MAX).
static inline unsigned int hereabouts_sax2_magic(void) { return XML_SAX2_MAGIC; }

/// The version of the library that is loaded, such as 20914.
static inline int hereabouts_xml_version(void) { return atoi(xmlParserVersion); }

/// The parser's current line, from 1.
static inline int hereabouts_xml_line(xmlParserCtxtPtr context) {
    return context->input ? context->input->line : 0;
}

/// Bytes pushed to the parser and not yet consumed: an incomplete tag, comment or attribute.
static inline long hereabouts_xml_pending(xmlParserCtxtPtr context) {
    return context->input ? (long)(context->input->end - context->input->cur) : 0;
}

/// Whether the parser is in the content of an element, has consumed all bytes pushed to it, and reads them without
/// conversion (UTF-8).
static inline _Bool hereabouts_xml_is_in_content(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && context->inputNr == 1 && context->instate == XML_PARSER_CONTENT && input->cur == input->end
        && input->buf && !input->buf->encoder;
}

/// Whether the bytes pushed next may be converted before they are parsed: there is an encoder, or none is chosen yet.
static inline _Bool hereabouts_xml_may_convert(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return context->instate == XML_PARSER_START || (input && input->buf && input->buf->encoder);
}

/// libxml2's handlers, on the calling thread, for messages that belong to no parser.
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

/// Drops such messages, which libxml2 would print on standard error with bytes of the text. Returns the handlers to
/// restore.
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

/// Bytes pushed to the parser that its decoder has not consumed: after a document, an incomplete or invalid character.
static inline size_t hereabouts_xml_undecoded(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && input->buf && input->buf->raw ? xmlBufUse(input->buf->raw) : 0;
}

/// Whether the unconsumed bytes may begin a tag, rather than a comment, CDATA section or instruction, which may be long.
static inline _Bool hereabouts_xml_is_in_tag(xmlParserCtxtPtr context) {
    const xmlParserInput *input = context->input;
    return input && input->end - input->cur >= 2 && input->cur[0] == '<' && input->cur[1] != '!' && input->cur[1] != '?';
}

/// Number of namespaces declared by open elements.
static inline int hereabouts_xml_namespaces(xmlParserCtxtPtr context) { return context->nsNr / 2; }

/// Adds lines that bypassed the parser to its line number.
static inline void hereabouts_xml_skip_lines(xmlParserCtxtPtr context, int lines) { context->input->line += lines; }

#endif
