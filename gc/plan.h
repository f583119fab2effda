/* plan.h -- what a collector is, seen from the heap.
 *
 * Read next: epsilon.c, the plan that never collects.
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
    /* The heap has no room for bytes more.  True: something was freed, try again. */
    bool (*make_room_mp)(struct mutator *mutator, size_t bytes);
};

extern const struct plan plan_epsilon;

/* The one the flags choose. */
const struct plan *plan_chosen(void);

#endif
