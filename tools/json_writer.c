/* json_writer.c -- see json_writer.h.  SPDX-License-Identifier: MIT */
#include "tools/json_writer.h"

#include "base/insist.h"

#include <inttypes.h>
#include <math.h>

void json_writer_start(struct json_writer *json, FILE *out)
{
    json->out = out;
    json->depth = 0;
    json->is_empty[0] = true;
    json->is_array[0] = true;
}

void json_writer_end(struct json_writer *json)
{
    INSIST(json->depth == 0, "JSON ends at depth %d", json->depth);
    fputc('\n', json->out);
}

/* UTF-8 passes through; bytes below 0x20, quotes and backslashes are escaped. */
static void write_escaped(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void begin_value(struct json_writer *json, const char *key)
{
    INSIST((key == NULL) == json->is_array[json->depth], "JSON key %s in an %s",
           key ? key : "(none)", json->is_array[json->depth] ? "array" : "object");
    if (!json->is_empty[json->depth])
        fputc(',', json->out);
    if (json->depth > 0)
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    json->is_empty[json->depth] = false;
    if (key) {
        write_escaped(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_level(struct json_writer *json, const char *key, bool is_array)
{
    begin_value(json, key);
    fputc(is_array ? '[' : '{', json->out);
    json->depth++;
    INSIST(json->depth < JSON_WRITER_MOST_DEPTH, "JSON is %d levels deep", json->depth);
    json->is_empty[json->depth] = true;
    json->is_array[json->depth] = is_array;
}

void json_writer_open_object(struct json_writer *json, const char *key)
{
    open_level(json, key, false);
}
void json_writer_open_array(struct json_writer *json, const char *key)
{
    open_level(json, key, true);
}

void json_writer_close(struct json_writer *json)
{
    INSIST(json->depth > 0, "JSON closes at depth %d", json->depth);
    bool is_array = json->is_array[json->depth], is_empty = json->is_empty[json->depth];
    json->depth--;
    if (!is_empty)
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    fputc(is_array ? ']' : '}', json->out);
}

void json_writer_string(struct json_writer *json, const char *key, const char *value)
{
    begin_value(json, key);
    write_escaped(json->out, value);
}

void json_writer_unsigned(struct json_writer *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_writer_signed(struct json_writer *json, const char *key, int64_t value)
{
    begin_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_writer_double(struct json_writer *json, const char *key, double value)
{
    if (!isfinite(value)) {
        json_writer_null(json, key);
        return;
    }
    begin_value(json, key);
    fprintf(json->out, "%.9g", value);
}

void json_writer_bool(struct json_writer *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_writer_null(struct json_writer *json, const char *key)
{
    begin_value(json, key);
    fputs("null", json->out);
}
