/* text.h -- numbers as people read and type them.
 *
 * Layer: tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "312ns", "1.24us", "45.1ms", "2.30s": three digits that matter. */
void text_ns(char *text_out, size_t bytes, uint64_t ns);
/* "0.51", "12.3", "245": a ratio with about three digits. */
void text_ratio(char *text_out, size_t bytes, double ratio);
/* "5ms", "250us", "1.5s", "100ns"; a bare number has no unit and is refused. */
bool text_parse_duration(const char *text, uint64_t *ns_out);
/* "6", "0.5": seconds above 0, at most a day. */
bool text_parse_seconds(const char *text, uint64_t *ns_out);
bool text_parse_unsigned(const char *text, uint64_t *value_out);

#endif
