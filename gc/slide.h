/* slide.h -- moves what is alive together, to the lower end of the heap, in place.
 *
 * Read next: Note [P] in slide_plan.c (why nothing is overwritten), side_tables.h (new addresses).
 * Layer:     gc/, for its own files.
 *
 *   slide_prepare   live words of each region; where each region's objects go; destinations
 *   slide_adjust    roots, weak references, humongous objects: each reference gets its new value
 *   slide_compact   objects move, and their references change on the way
 *   slide_finish    the regions' records say what is where now
 *
 * Each is called once per collection, in this order, in the operation, under the heap's lock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_SLIDE_H
#define GC_SLIDE_H

#include "base/err.h"
#include "gc/value.h"

#include <stdbool.h>
#include <stdint.h>

/* What the marks say. */
struct slide_live {
    uint64_t objects, bytes, small_bytes; /* of them, what is not humongous */
};

struct slide_sums {
    uint64_t moved_objects, moved_bytes;
    uint32_t stripes;
};

/* [VM thread, outside a stop] Records for `most` regions, those of the first `regions` touched.
 * ERR_NO_MEMORY. */
MUST_USE enum err slide_ready(uint32_t regions, uint32_t most);
/* [start] */
void slide_end(void);

/* is_tight: one stripe, so that all free regions are neighbours; else a stripe for each worker.
 * must_move: everything goes to regions that are free now, if there are enough. */
struct slide_live slide_prepare(unsigned workers, bool is_tight, bool must_move);
void slide_adjust(unsigned workers);
void slide_compact(unsigned workers);
struct slide_sums slide_finish(void);

/* [between slide_prepare and slide_finish] Where a reference leads from now on; any value. */
value_t slide_new_value(value_t value);

#endif
