/* live_walk.h -- the marked objects of a region, in the order of their addresses.
 *
 * Read next: side_tables.h (what the marks look like).
 * Layer:     gc/, for its own files; in a stop, while nobody marks, or the caller alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_LIVE_WALK_H
#define GC_LIVE_WALK_H

#include "gc/heap_priv.h"

struct live_walk {
    uint64_t first_block, block, end_block; /* block: the one that is being looked at */
    uint64_t starts;                        /* of that block, those not told yet */
};

static inline void live_walk_load(struct live_walk *w)
{
    const _Atomic uint64_t *marks = &heap.side.marks[w->block]; /* nobody else marks now */
    uint64_t bits = load_relaxed(marks);
    uint64_t before = w->block > w->first_block ? load_relaxed(marks - 1) : 0;
    w->starts = bits & ~(bits << 1 | before >> (BLOCK_WORDS - 1));
}

/* Of a region that is free or goes on with another's object there are none. */
static inline struct live_walk live_walk_of_region(uint32_t index)
{
    const struct region *region = &heap.regions.region[index];
    char *bottom = region_bottom(&heap.regions, index);
    bool has_objects = region->state == REGION_SMALL || region->state == REGION_HUMONGOUS_START;
    uint64_t first = block_of(&heap.side, bottom);
    struct live_walk w = { first, first, first, 0 };
    if (has_objects) {
        w.end_block += region->state == REGION_HUMONGOUS_START
                           ? 1
                           : (region->used_bytes + BLOCK_BYTES - 1) >> BLOCK_SHIFT;
        if (w.block < w.end_block)
            live_walk_load(&w);
    }
    return w;
}

/* NULL = no more. */
static inline struct object *live_walk_next(struct live_walk *w)
{
    while (w->block < w->end_block) {
        if (w->starts) {
            unsigned bit = (unsigned)__builtin_ctzll(w->starts);
            w->starts &= w->starts - 1;
            return (struct object *)(void *)(heap.side.heap_base + w->block * BLOCK_BYTES +
                                             bit * sizeof(uint64_t));
        }
        if (++w->block < w->end_block)
            live_walk_load(w);
    }
    return NULL;
}

#endif
