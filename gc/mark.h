/* mark.h -- finds what is alive: from the roots along all references.
 *
 * Read next: mark.c (the loop), mark_queue.h (how workers share), side_tables.h (the marks).
 * Layer:     gc/, for its own files.
 *
 * Promises
 *   M1  When mark_all() returns, an object is marked exactly when a path of references leads to
 *       it from a root, and every worker is done.
 *   M2  No recursion, no allocation in the stop: a stack that is full is remembered, and what it
 *       could not take is found again by a walk over the marked objects.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "base/err.h"

#include <stdint.h>

/* [VM thread, outside a stop] Stacks for that many workers, touched, as a heap of that many bytes
 * in use may need them.  Returns how many workers have one: fewer when there is no memory. */
unsigned mark_prepare(unsigned workers, uint64_t used_bytes);
/* [operation, heap's lock] With that many workers of the gang.  Returns how often it had to walk
 * for what a stack had lost. */
uint64_t mark_all(unsigned workers);
/* [start] */
void mark_end(void);

/* [test] Entries a worker's stack holds from the next mark_prepare() on, a power of two; 0 = as
 * many as usual. */
void mark_set_stack_for_test(uint32_t entries);

#endif
