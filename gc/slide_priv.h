/* slide_priv.h -- what slide_plan.c decides and slide.c carries out.
 *
 * Layer: gc/, for the two.  All of it: [operation]; written between the gang's runs by the VM
 * thread, or by the worker that has the region or stripe.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_SLIDE_PRIV_H
#define GC_SLIDE_PRIV_H

#include "base/gang.h"
#include "gc/heap_priv.h"
#include "gc/slide.h"

/* Of one region, for one collection. */
struct source {
    uint64_t live_words, live_objects;
    char *first_to;   /* new address of its first object */
    char *divided_at; /* first object that goes to second_to; NULL = none does */
    char *second_to;
    uint64_t used_after; /* bytes, as a destination */
};

struct stripe {
    uint32_t from, to; /* regions */
    uint64_t moved_objects, moved_bytes;
};

struct slide {
    struct source *sources;
    bool must_move; /* and can */
    unsigned stripe_count;
    struct stripe stripe[GANG_MOST_WORKERS];
    CACHE_ALIGNED _Atomic uint32_t next; /* ticket of a phase */
};

extern struct slide slide;

/* Of a block's destination: objects of it go to two places, Note [D] in slide_plan.c. */
#define SLIDE_DIVIDED UINT64_C(1)

/* Does anything of the region move? */
static inline bool slide_is_source(uint32_t index)
{
    return heap.regions.region[index].state == REGION_SMALL && slide.sources[index].live_words > 0;
}

/* A phase over regions: work() takes some at a time until slide_take_regions() is false. */
void slide_run_on_regions(unsigned workers, void (*work)(void *unused, unsigned worker));
bool slide_take_regions(uint32_t *from_out, uint32_t *to_out);

#endif
