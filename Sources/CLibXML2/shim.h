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

/// Counts lines that the parser is not given.
static inline void hereabouts_xml_skip_lines(xmlParserCtxtPtr context, int lines) { context->input->line += lines; }

#endif
