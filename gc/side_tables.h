/* side_tables.h -- what a collection notes beside the heap: marks, and where objects go.
 *
 * Read next: mark.c (who sets the marks), slide.c (who makes destinations of them).
 * Layer:     gc/, for its own files.
 *
 * The heap in blocks of 64 words, 512 bytes.  For each block one word of marks and one
 * destination, so each table is 1/64 of the heap.
 *
 *   an object of n words (2 at least) sets n - 1 bits, all but that of its last word:
 *
 *      words     A A A A B B C C C . . D D
 *      marks     1 1 1 0 1 0 1 1 0 0 0 1 0
 *
 *   Neighbours never touch, so the table alone tells where objects begin (a 1 behind a 0), how
 *   long they are and how many words of a block are live: bits | bits << 1.  An object that
 *   lies in regions of its own sets its first bit only: it is not moved.
 *
 *   destination of a block: the new address of what the block's first live word moves to.  The
 *   new address of an object is that plus 8 for each live word of the block below it: two loads
 *   and a population count.  (The idea of computing addresses from a mark bitmap and an offset
 *   per block: Abuaiadh, Ossia, Petrank and Silbershtein, "An efficient parallel heap compaction
 *   algorithm", OOPSLA 2004; with bits for whole objects: Kermany and Petrank, "The Compressor",
 *   PLDI 2006.)  Headers stay as they are.
 *
 * Both tables are committed along with the heap and, all zero, are valid.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_SIDE_TABLES_H
#define GC_SIDE_TABLES_H

#include "alloc/vspace.h"
#include "base/atomics.h"
#include "base/err.h"
#include "gc/value.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_WORDS 64
#define BLOCK_SHIFT 9 /* of addresses: 64 words of 8 bytes */
#define BLOCK_BYTES (UINT64_C(1) << BLOCK_SHIFT)

struct side_tables {
    char *heap_base;
    _Atomic uint64_t *marks; /* in a stop: fetch-or by workers; else the VM thread's */
    uint64_t *destinations;  /* in a stop: each by one worker, then read by all */
    struct vspace marks_space, destinations_space;
    uint64_t committed_bytes, touched_bytes; /* of each of the two */
};

/* [start] Reserves both, for a heap of that size at that address. */
MUST_USE enum err side_tables_start(struct side_tables *t, char *heap_base, uint64_t heap_bytes);
void side_tables_end(struct side_tables *t);
/* [heap's lock] Both are memory for the first heap_bytes of the heap. */
MUST_USE enum err side_tables_commit(struct side_tables *t, uint64_t heap_bytes);
/* [VM thread, outside a stop] First touches of the tables for those bytes, so that the stop has
 * none. */
void side_tables_touch(struct side_tables *t, uint64_t heap_bytes);
/* [VM thread] Takes the marks of the first heap_bytes away. */
void side_tables_clear_marks(struct side_tables *t, uint64_t heap_bytes);

static inline uint64_t block_of(const struct side_tables *t, const void *address)
{
    return (uint64_t)((const char *)address - t->heap_base) >> BLOCK_SHIFT;
}
static inline unsigned bit_of(const struct side_tables *t, const void *address)
{
    return (unsigned)((uint64_t)((const char *)address - t->heap_base) / 8 % BLOCK_WORDS);
}
/* Of an object's address. */
static inline bool is_marked(const struct side_tables *t, const void *object)
{
    return load_relaxed(&t->marks[block_of(t, object)]) >> bit_of(t, object) & 1;
}

#endif
