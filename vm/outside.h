/* outside.h -- the part of a guest object that lies outside the heap.
 *
 * Read next: gc/weak.h (when it goes), vm/sync.c (the plainest user).
 * Layer:     vm/.
 *
 * A futex is an address and the memory of a direct buffer is foreign code's, so both must not
 * move.  The object in the heap holds the address of such a part, which is given back when a
 * collection has found the object dead, or when the program ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_OUTSIDE_H
#define VM_OUTSIDE_H

#include "gc/weak.h"

#include <stdbool.h>
#include <stddef.h>

/* [any] All zero, on a cache line of its own; NULL = the system has none.  release(part) is called
 * once when the object is dead, outside stops, in a thread that is no guest thread; it frees
 * the part with outside_free(), or keeps it.  False: not now, ask again. */
void *outside_calloc(size_t bytes, bool (*release)(void *part));
/* [self] The part is complete and the object's first word holds its address. */
void outside_watch(void *part, value_t object);
/* [any] Of one that is not watched, or by its release(). */
void outside_free(void *part);
/* A release() for parts that own nothing else. */
bool outside_release_plain(void *part);

#endif
