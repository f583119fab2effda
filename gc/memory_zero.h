/* memory_zero.h -- clears memory that earlier objects lay in, without holding up a stop.
 *
 * Layer: gc/, for heap_allocate.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_MEMORY_ZERO_H
#define GC_MEMORY_ZERO_H

#include "gc/mutator.h"

#include <stddef.h>

/* [self] Of memory that was taken for one object of bytes bytes, or for a TLAB that begins with
 * it, the part [dirty_from, dirty_to) becomes zero.  Returns where the object is now: when much
 * has to be cleared this polls, and the object may move.  It has no header then. */
void *memory_zero_mp(struct mutator *mutator, void *start, uint64_t bytes, uint64_t dirty_from,
                     uint64_t dirty_to);

#endif
