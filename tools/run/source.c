/* source.c -- see source.h.  SPDX-License-Identifier: MIT */
#include "tools/run/source.h"

#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above it line numbers and jump distances would need more than 32 bits. */
#define MOST_BYTES  ((size_t)1 << 30)
#define FIRST_BYTES ((size_t)64 << 10)

struct reading {
    char *bytes;
    size_t length, capacity;
    const char *fault; /* NULL = none */
};

/* False at the end, or with a fault. */
static bool read_more(struct reading *r, FILE *file)
{
    if (r->length == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : FIRST_BYTES;
        char *larger = capacity <= 2 * MOST_BYTES ? realloc(r->bytes, capacity) : NULL;
        if (!larger) {
            r->fault = capacity > 2 * MOST_BYTES ? "larger than 1 GiB" : strerror(ENOMEM);
            return false;
        }
        r->bytes = larger;
        r->capacity = capacity;
    }
    size_t got = fread(r->bytes + r->length, 1, r->capacity - r->length, file);
    r->length += got;
    if (ferror(file))
        r->fault = strerror(errno);
    return got > 0 && !r->fault;
}

bool source_read(const char *path, char **bytes_out, size_t *length_out, char *message_out,
                 size_t message_bytes)
{
    struct reading r = { NULL, 0, 0, NULL };
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file || (!is_stdin && os_is_directory(path)))
        r.fault = file ? strerror(EISDIR) : strerror(errno);
    else
        while (read_more(&r, file))
            ;
    if (!r.fault && r.length > MOST_BYTES)
        r.fault = "larger than 1 GiB";
    if (file && !is_stdin)
        fclose(file);
    if (r.fault) {
        snprintf(message_out, message_bytes, "cannot read %s: %s", is_stdin ? "stdin" : path,
                 r.fault);
        free(r.bytes);
        return false;
    }
    *bytes_out = r.bytes;
    *length_out = r.length;
    return true;
}
