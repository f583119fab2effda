/* mark_queue.h -- what a marking worker has still to look at, and how others get some of it.
 *
 * Layer: gc/, for mark.c.
 *
 *   own      a ring that only its worker touches: pushed and popped at the young end, which
 *            keeps depth first and the cache warm; its old end holds the large subtrees
 *   shared   a ring from which anybody takes; its worker moves entries from the old end of its
 *            own ring into it while others are idle
 *
 * Note [K] Taking from a shared ring.  One producer, any number of takers.  `bottom` is stored
 *   with release after the entries, and read with acquire before them.  A taker reads `top`,
 *   then `bottom`, then an entry, then moves `top` on by CAS.  `top` only grows, so a CAS that
 *   succeeds proves that nobody took the entry meanwhile, and the producer overwrites a slot
 *   only after it has seen (acquire) a top beyond it: the entry that was read is the one that
 *   was put.  A CAS that fails makes the taker look again.
 *
 * An entry: an object's address; or, for the rest of a long array, its address and in the upper
 * 16 bits the number of the slice that comes next.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_MARK_QUEUE_H
#define GC_MARK_QUEUE_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

struct mark_queue {
    /* own */
    uint64_t *own;
    uint32_t own_mask, own_old, own_young; /* indices count up; entries are [old, young) */
    /* shared */
    _Atomic uint64_t *shared;
    uint32_t shared_mask;
    CACHE_ALIGNED _Atomic uint64_t top;    /* takers, by CAS */
    CACHE_ALIGNED _Atomic uint64_t bottom; /* the producer */
};

static inline uint32_t mark_queue_count(const struct mark_queue *q)
{
    return q->own_young - q->own_old;
}
static inline bool mark_queue_is_full(const struct mark_queue *q)
{
    return mark_queue_count(q) > q->own_mask;
}
/* [owner] Not when it is full. */
static inline void mark_queue_push(struct mark_queue *q, uint64_t entry)
{
    q->own[q->own_young++ & q->own_mask] = entry;
}
/* [owner] 0 = nothing there. */
static inline uint64_t mark_queue_pop(struct mark_queue *q)
{
    return q->own_young == q->own_old ? 0 : q->own[--q->own_young & q->own_mask];
}

/* [owner] Moves up to `most` of the oldest entries to the shared ring; returns how many. */
static inline uint32_t mark_queue_share(struct mark_queue *q, uint32_t most)
{
    uint64_t bottom = load_relaxed(&q->bottom);                            /* we alone write */
    uint64_t room = q->shared_mask + 1 - (bottom - load_acquire(&q->top)); /* [K] */
    uint32_t count = mark_queue_count(q) < most ? mark_queue_count(q) : most;
    if (count > room)
        count = (uint32_t)room;
    for (uint32_t i = 0; i < count; i++)
        store_relaxed(&q->shared[(bottom + i) & q->shared_mask], /* bottom publishes it */
                      q->own[q->own_old++ & q->own_mask]);
    store_release(&q->bottom, bottom + count); /* [K] */
    return count;
}

static inline bool mark_queue_has_shared(struct mark_queue *q)
{
    return load_acquire(&q->top) < load_acquire(&q->bottom);
}
/* [any worker] 0 = nothing there. */
static inline uint64_t mark_queue_take(struct mark_queue *q)
{
    uint64_t top = load_acquire(&q->top); /* [K] */
    while (top < load_acquire(&q->bottom)) {
        uint64_t entry = load_relaxed(&q->shared[top & q->shared_mask]); /* the CAS decides */
        if (compare_exchange_seq(&q->top, &top, top + 1))
            return entry;
    }
    return 0;
}

#endif
