/* source.h -- a program's source, from a file or stdin.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_SOURCE_H
#define TOOLS_RUN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads all of it; "-" is stdin.  The bytes are malloc'ed.  False: message_out says why, in
 * one line; exit 74. */
bool source_read(const char *path, char **bytes_out, size_t *length_out, char *message_out,
                 size_t message_bytes);

#endif
