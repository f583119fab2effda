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

#include "base/gang.h"
#include "base/lock.h"
#include "gc/heap.h"
#include "gc/plan.h"
#include "gc/region.h"
#include "gc/side_tables.h"

struct heap {
    bool is_on;
    const struct plan *plan;
    uint64_t tlab_bytes;      /* of a TLAB at most */
    bool is_tlab_fixed;       /* they do not adapt */
    uint64_t stress_interval; /* allocations between two collections, 0 = as the heap needs */
    bool is_stress_random;    /* that many on average */
    struct gang *gang;        /* the VM thread's */
    struct side_tables side;  /* all zero when nothing collects */

    struct lock lock;
    struct region_table regions;
    uint32_t goal;         /* regions that are committed before a collection is tried */
    uint32_t shared;       /* the SMALL region that is handed out from; REGION_NONE */
    uint32_t rest_cursor;  /* where the search for a rest goes on */
    uint64_t no_rest_from; /* no SMALL region has a rest of that many bytes; 0 = not known */
    uint64_t used_bytes;   /* handed out of SMALL regions, whole regions of humongous ones */
    bool was_refused;      /* the system gave no memory the last time it was asked */
    bool was_hopeless;     /* the last collection was one too many, see overhead */
    uint32_t overhead;     /* collections in a row that cost too much; collection.c */
    struct mutator *mutators;
    uint64_t allocated_bytes, waste_bytes, refills; /* by mutators that have detached */
};

extern struct heap heap;

/* Has an object of that size regions of its own? */
static inline bool heap_is_humongous(uint64_t bytes)
{
    return bytes > heap.regions.region_bytes / 2;
}

/* [self, or a collection] The rest goes back, if nothing was taken behind it; the TLAB is empty
 * then. */
void heap_retire_tlab_locked(struct mutator *mutator);
/* [collection] The size of its next TLAB, from what it allocated since the last collection. */
void heap_resize_tlab_locked(struct mutator *mutator);

struct heap_contents {
    uint64_t objects, bytes;
};
/* [operation] heap_verify_at_safepoint() for who holds the lock; contents_out: what the walk
 * found, NULL = of no interest. */
bool heap_verify_locked(char *text_out, size_t bytes, struct heap_contents *contents_out);

/* [start] Gives back what verification keeps between two calls. */
void heap_verify_end(void);

#endif
