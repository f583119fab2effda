/* heap_priv.h -- the one heap of the process, for gc/'s own files and white-box tests.
 *
 * Layer: gc/.
 *
 *   field                     writer                readers       order
 *   is_on, plan, tlab_bytes,  heap_start, _end      any           before and after all threads
 *   regions.space             the same              any           the same
 *   regions, rest             mutators, attach and  the same,     lock; all of it may be read
 *   mutators                  detach in any state   operations    in an operation under it
 *   a mutator's tlab          its owner             operations    a stop
 *
 * Whoever holds the lock neither polls nor waits, so a wait for it is short, in any state.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_HEAP_PRIV_H
#define GC_HEAP_PRIV_H

#include "base/lock.h"
#include "gc/heap.h"
#include "gc/plan.h"
#include "gc/region.h"

struct heap {
    bool is_on;
    const struct plan *plan;
    uint64_t tlab_bytes;

    struct lock lock;
    struct region_table regions;
    uint32_t shared;       /* the SMALL region that is handed out from; REGION_NONE */
    uint32_t rest_cursor;  /* where the search for a rest goes on */
    uint64_t no_rest_from; /* no SMALL region has a rest of that many bytes; 0 = not known */
    uint64_t used_bytes;   /* handed out of SMALL regions, whole regions of humongous ones */
    bool was_refused;      /* the system gave no memory the last time it was asked */
    struct mutator *mutators;
};

extern struct heap heap;

/* [self] The rest goes back, if nothing was taken behind it; the TLAB is empty then. */
void heap_retire_tlab_locked(struct mutator *mutator);

/* [start] Gives back what verification keeps between two calls. */
void heap_verify_end(void);

#endif
