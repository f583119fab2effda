/* memory_zero.c -- see memory_zero.h.
 *
 * Little is cleared at once.  More than -XX:BulkChunkBytes is cleared in pieces with polls between
 * them; meanwhile the object is rooted and is, for everybody else, a BYTES of its size: a
 * collection moves or skips it, and never takes what is in it for references.  A humongous
 * object never moves, so one bulk operation clears it.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/memory_zero.h"

#include "alloc/bulk.h"
#include "base/insist.h"
#include "gc/heap_priv.h"

#include <string.h>

#define HEAD_BYTES 16 /* header and length */

/* A walk through a gigabyte would show itself in every benchmark of a debug build. */
#define CHECKED_BYTES 4096

static void check_zero(const char *start, uint64_t bytes)
{
    bytes = bytes < CHECKED_BYTES ? bytes : CHECKED_BYTES;
    for (uint64_t i = 0; i < bytes; i += sizeof(uint64_t))
        VERIFY(*(const uint64_t *)(const void *)(start + i) == 0, "new memory at %p holds 0x%llx",
               (const void *)(start + i),
               (unsigned long long)*(const uint64_t *)(const void *)(start + i));
}

static void make_bytes(struct object *object, uint64_t bytes)
{
    store_relaxed(&object->word[0], bytes - HEAD_BYTES); /* ours alone so far */
    store_relaxed(&object->header, object_header(OBJECT_BYTES, 0, 0));
}

/* In pieces of our own, because the object may be elsewhere after each poll. */
static void zero_moving_mp(struct participant *self, const struct rooted *root, uint64_t from,
                           uint64_t to)
{
    uint64_t piece = flags->bulk_policy == BULK_POLICY_WHOLE ? to - from : flags->bulk_chunk_bytes;
    for (;;) {
        uint64_t now = to - from < piece ? to - from : piece;
        memset((char *)value_as_object(root->value) + from, 0, now);
        from += now;
        if (from == to)
            return;
        participant_poll(self);
    }
}

static void *zero_much_mp(struct mutator *mutator, void *start, uint64_t bytes, uint64_t from,
                          uint64_t to)
{
    struct participant *self = mutator->participant;
    if (to > bytes) { /* the rest of a TLAB: before any poll, for the object alone is what moves */
        memset((char *)start + bytes, 0, to - bytes);
        to = bytes;
    }
    make_bytes(start, bytes);
    ROOTED(mutator, root, value_of_object(start));
    if (from < HEAD_BYTES)
        from = HEAD_BYTES;
    if (from >= to)
        from = to; /* its head alone was dirty */
    else if (heap_is_humongous(bytes))
        bulk_zero_mp(self, (char *)start + from, to - from);
    else
        zero_moving_mp(self, &root, from, to);
    struct object *object = value_as_object(root.value);
    store_relaxed(&object->word[0], 0); /* ours alone; the caller stores the header next */
    store_relaxed(&object->header, 0);
    return object;
}

void *memory_zero_mp(struct mutator *mutator, void *start, uint64_t bytes, uint64_t dirty_from,
                     uint64_t dirty_to)
{
    if (dirty_to - dirty_from <= flags->bulk_chunk_bytes)
        memset((char *)start + dirty_from, 0, dirty_to - dirty_from);
    else
        start = zero_much_mp(mutator, start, bytes, dirty_from, dirty_to);
    check_zero(start, bytes);
    return start;
}
