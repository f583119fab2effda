/* json_writer.h -- a small writer that cannot produce unbalanced or unescaped JSON.
 *
 * Layer: tools/.  One writer per thread.  key is NULL inside arrays.  Reading JSON
 * is jansson's work, not ours.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_JSON_WRITER_H
#define TOOLS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_WRITER_MOST_DEPTH 16

struct json_writer {
    FILE *out;
    int depth;
    bool is_empty[JSON_WRITER_MOST_DEPTH]; /* nothing written yet at this depth */
    bool is_array[JSON_WRITER_MOST_DEPTH];
};

void json_writer_start(struct json_writer *json, FILE *out);
void json_writer_end(struct json_writer *json); /* asserts balance, writes a newline */

void json_writer_open_object(struct json_writer *json, const char *key);
void json_writer_open_array(struct json_writer *json, const char *key);
void json_writer_close(struct json_writer *json);

void json_writer_string(struct json_writer *json, const char *key, const char *value);
void json_writer_unsigned(struct json_writer *json, const char *key, uint64_t value);
void json_writer_signed(struct json_writer *json, const char *key, int64_t value);
void json_writer_double(struct json_writer *json, const char *key,
                        double value); /* null when not finite */
void json_writer_bool(struct json_writer *json, const char *key, bool value);
void json_writer_null(struct json_writer *json, const char *key);

#endif
