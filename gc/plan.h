/* plan.h -- what a collector is, seen from the heap.
 *
 * Read next: epsilon.c, the plan that never collects; collection.c, the one that does.
 * Layer:     gc/, for its own files.
 *
 * The heap hands out regions and TLABs; the plan says what happens when there are none
 * left, and what a store of a reference has to tell.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_PLAN_H
#define GC_PLAN_H

#include "gc/mutator.h"

#include <stdbool.h>
#include <stddef.h>

struct plan {
    const char *name; /* as HotSpot's "Using Epsilon" line says it */
    bool collects;    /* else the heap grows without being asked */
    /* The heap had no room for bytes more when that many collections had begun.  True: there
     * has been one since, try again. */
    bool (*make_room_mp)(struct mutator *mutator, size_t bytes, uint64_t collections_seen);
};

extern const struct plan plan_epsilon, plan_full;

/* The one the flags choose. */
const struct plan *plan_chosen(void);

#endif
