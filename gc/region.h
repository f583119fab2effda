/* region.h -- the regions of the heap: which are memory, which are taken, by what.
 *
 * Read next: region_take() below, heap_priv.h (whose lock protects all of this).
 * Layer:     gc/, for its own files.
 *
 *              region_take(n), first fit
 *    FREE -------------------------------> SMALL
 *     ^  ^\-----------------------------> HUMONGOUS_START HUMONGOUS_NEXT ...
 *     |  |                                  |            |
 *     |  +-- region_set_used(0) ---- SMALL  |            |   both in a collection's stop
 *     +----- region_free(n) ----------------+------------+
 *
 * Promises
 *   R1  A zeroed record is a free, empty region of zero memory; no record is written before its
 *       region is taken, so a start builds nothing and a large -Xmx costs address space only.
 *   R2  The committed regions are the first ones; what is taken is committed.
 *   R3  used <= committed <= reserved, and used counts the records that are not FREE.
 *   R4  From dirty_bytes and used_bytes on, whichever is more, a region is zero to its end.
 * Asks of callers
 *   C1  The heap's lock, or a stop, but for region_index() and region_bottom().
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_REGION_H
#define GC_REGION_H

#include "alloc/vspace.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum region_state {
    REGION_FREE,
    REGION_SMALL,           /* objects one after another, and zero words between them */
    REGION_HUMONGOUS_START, /* one object, from the bottom on */
    REGION_HUMONGOUS_NEXT,  /* more of the object that starts below */
};

struct region {
    enum region_state state;
    bool is_closed;       /* nobody may touch it; builds with asserts only, region_set_used() */
    uint64_t used_bytes;  /* SMALL: handed out; START: the object's size; else 0 */
    uint64_t dirty_bytes; /* below it there may be what earlier objects left; R4 */
};

struct side_tables;

struct region_table {
    struct vspace space;      /* the reservation */
    struct side_tables *side; /* committed along with the heap; NULL = there are none */
    struct region *region;    /* a record for each region of the reservation */
    uint64_t region_bytes;
    unsigned region_shift;
    uint32_t reserved, committed, used, humongous;
    uint32_t first_free; /* none below is FREE */
    uint32_t high;       /* none from here on is taken */
};

/* What a call has grown the heap by; 0 wanted = it had no need to. */
struct region_growth {
    uint64_t wanted_bytes, got_bytes; /* got < wanted: the system refused */
};

#define REGION_NONE UINT32_MAX

/* [start] Reserves; nothing is committed.  max_bytes: a multiple of region_bytes. */
MUST_USE enum err region_table_start(struct region_table *t, uint64_t max_bytes,
                                     uint64_t region_bytes);
void region_table_end(struct region_table *t);
/* Makes the first count regions memory, in one call. */
MUST_USE enum err region_commit_first(struct region_table *t, uint32_t count);

/* The first of count neighbours below limit that were FREE, all in the wanted state now (or
 * START, NEXT, NEXT, ...), or REGION_NONE.  Grows the committed part when it must. */
uint32_t region_take(struct region_table *t, uint32_t count, enum region_state state,
                     uint32_t limit, struct region_growth *growth_out);

/* [collection] The count neighbours, START and NEXTs, become FREE.  The table's sums and marks
 * are wrong until region_table_settle(). */
void region_free(struct region_table *t, uint32_t first, uint32_t count);
/* [collection] A SMALL or FREE region holds objects up to used_bytes from now on, 0 = it is
 * FREE.  Where free memory is kept closed, it can be touched only after region_open(). */
void region_set_used(struct region_table *t, uint32_t index, uint64_t used_bytes);
/* [collection] Lets the first bytes of a region be written to. */
void region_open(struct region_table *t, uint32_t index, uint64_t bytes);
/* [collection] Counts and bounds again, from the records. */
void region_table_settle(struct region_table *t);

static inline char *region_bottom(const struct region_table *t, uint32_t index)
{
    return t->space.base + ((uint64_t)index << t->region_shift);
}
/* Of an address inside the reservation. */
static inline uint32_t region_index(const struct region_table *t, const void *address)
{
    return (uint32_t)((uint64_t)((const char *)address - t->space.base) >> t->region_shift);
}
static inline uint64_t region_rest(const struct region_table *t, uint32_t index)
{
    return t->region[index].state == REGION_SMALL ? t->region_bytes - t->region[index].used_bytes
                                                  : 0;
}
/* Regions that an object of that size fills, when it has them to itself. */
static inline uint64_t region_count_for(const struct region_table *t, uint64_t bytes)
{
    return (bytes + t->region_bytes - 1) >> t->region_shift;
}

#endif
