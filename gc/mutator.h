/* mutator.h -- what the heap knows of one thread: its allocation buffer and its roots.
 *
 * Read next: heap.h for allocation, roots.h for what a collector walks.
 * Layer:     gc/.  vm/ puts a struct mutator first in its thread.
 *
 * The rooting discipline of all C code that touches objects:
 *   - a function that may poll, and so may let objects move, ends in _mp;
 *   - across a call of such a function no raw struct object * or reference lives in a C
 *     variable: it stands in a guest register, or in a ROOTED slot, and is read again
 *     afterwards.
 *
 *       ROOTED(m, name, a_value);          registers the slot, until the block ends
 *       ... = heap_allocate_mp(m, ...);
 *       use(name.value);                   where the object is now
 *
 * Who may call: [self] the thread that owns the mutator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_MUTATOR_H
#define GC_MUTATOR_H

#include "gc/value.h"
#include "safepoint/participant.h"

#include <stddef.h>
#include <stdint.h>

struct root_visitor;

/* A thread-local allocation buffer: memory between top and end is free and zero. */
struct tlab {
    char *top, *end;
};

struct rooted {
    value_t value;
    struct rooted *outer;
    struct mutator *mutator;
};

struct mutator {
    struct tlab tlab;
    struct participant *participant;
    struct rooted *rooted;    /* innermost first */
    uint64_t allocated_bytes; /* by slow paths: TLABs handed out, humongous objects */
    struct tlab_figures {
        uint64_t wanted_bytes;   /* of the next TLAB; 0 = none was taken yet */
        uint64_t allocated_then; /* allocated_bytes at the last collection */
        uint64_t waste_bytes;    /* given up since then */
        uint32_t refills;        /* since then */
    } tlab_figures;
    uint64_t stress_count; /* allocations until the next collection of a stress flag */
    uint64_t random;       /* of -XX:+GCALot */
    /* vm/: visits the roots of this thread that are not ROOTED slots. */
    void (*each_root_at_safepoint)(struct mutator *mutator, struct root_visitor *visitor);
    /* vm/: what this thread holds that is no root becomes nil; called by a collection for each
     * mutator. */
    void (*forget_leftovers_at_safepoint)(struct mutator *mutator);
    struct mutator *next, **link; /* in the heap's list, under its lock */
};

static inline struct rooted *mutator_root(struct rooted *slot)
{
    slot->outer = slot->mutator->rooted;
    slot->mutator->rooted = slot;
    return slot;
}
static inline void mutator_unroot(struct rooted *slot) { slot->mutator->rooted = slot->outer; }

#define ROOTED(m, name, initial)                                                                   \
    struct rooted name __attribute__((cleanup(mutator_unroot))) = { (initial), NULL, (m) };        \
    mutator_root(&name)

#endif
