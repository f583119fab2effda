/* outside.c -- see outside.h.  SPDX-License-Identifier: MIT */
#include "vm/outside.h"

#include "base/atomics.h"

#include <stdlib.h>
#include <string.h>

struct outside {
    struct weak weak; /* first */
    bool (*release)(void *part);
    CACHE_ALIGNED char part[];
};

static struct outside *outside_of_part(void *part)
{
    return (struct outside *)(void *)((char *)part - offsetof(struct outside, part));
}

static bool clean(struct weak *weak)
{
    struct outside *outside = (struct outside *)weak;
    return outside->release(outside->part);
}

void *outside_calloc(size_t bytes, bool (*release)(void *part))
{
    size_t whole = (sizeof(struct outside) + bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES *
                   CACHE_LINE_BYTES;
    struct outside *outside = aligned_alloc(CACHE_LINE_BYTES, whole);
    if (!outside)
        return NULL;
    memset(outside, 0, whole);
    outside->weak.clean = clean;
    outside->release = release;
    return outside->part;
}

void outside_watch(void *part, value_t object) { weak_watch(&outside_of_part(part)->weak, object); }

void outside_free(void *part) { free(outside_of_part(part)); }

bool outside_release_plain(void *part)
{
    outside_free(part);
    return true;
}
