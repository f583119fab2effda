/* scenario_header.h -- what a Lox file says of itself as a scenario, in its first comments.
 *
 * Layer: tools/.
 *
 *   // question: What does a 256 MiB buffer zeroed in one piece do?
 *   // flags: -XX:BulkPolicy=whole -Xmx1g
 *   // every: 5ms          between two probes
 *   // seconds: 6          of probing
 *   // setup: 30s          how long the main thread may take before it first waits
 *   // focus: zero         kind of work whose stops are counted apart
 *   // cure: zero-chunked  the scenario that cures this disease
 *
 * Read are the lines before the first that is neither blank nor a comment.  All keys may be left
 * out, in any order; other comments are free.  A word with a colon that is nearly one of the keys
 * is taken for a slip and refused.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_SCENARIO_HEADER_H
#define TOOLS_TTSP_SCENARIO_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENARIO_MOST_FLAGS 8

struct scenario_header {
    char question[160], focus[24], cure[64]; /* "" = not said */
    uint64_t every_ns, seconds_ns, setup_ns; /* 0 = not said */
    char flag_text[512];
    const char *flags[SCENARIO_MOST_FLAGS + 1]; /* into flag_text, ended by NULL */
};

/* [any] False: message_out says what is wrong, in one line "NAME:LINE: ..."; exit 64. */
bool scenario_header_read(const char *name, const char *source, size_t bytes,
                          struct scenario_header *header_out, char *message_out,
                          size_t message_bytes);

#endif
