/* trace.h -- rings of events: what one thread did and when, for looking at it later.
 *
 * Read next: Note [R] in trace.c; safepoint/stop_trace.h for what is put into them.
 * Layer:     base/.
 *
 * Promises
 *   T1  Putting an event allocates nothing, locks nothing and touches no new memory.
 *   T2  A reader gets whole events only, in order, and learns whether it came too late for some.
 * Asks of callers
 *   C1  One thread puts; any number of threads read.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/atomics.h"

#include <stddef.h>
#include <stdint.h>

#define TRACE_EVENTS 1024 /* kept per ring; a power of two, 16 KiB */

struct trace_event {
    uint64_t ns;
    uint32_t what, argument; /* the layer's that traces */
};

struct trace_ring {
    _Atomic uint64_t written; /* events ever */
    struct {
        _Atomic uint64_t ns, rest; /* [R] */
    } slot[TRACE_EVENTS];
};

/* [any] All of it touched; NULL = no memory. */
struct trace_ring *trace_ring_create(void);
void trace_ring_destroy(struct trace_ring *ring);

/* [owner] */
static inline void trace_put(struct trace_ring *ring, uint64_t ns, uint32_t what, uint32_t argument)
{
    uint64_t n = load_relaxed(&ring->written);           /* we alone write */
    store_release(&ring->slot[n % TRACE_EVENTS].ns, ns); /* [R] */
    store_release(&ring->slot[n % TRACE_EVENTS].rest, (uint64_t)what << 32 | argument); /* [R] */
    store_release(&ring->written, n + 1);                                               /* [R] */
}

/* [any] The events since from_ns, oldest first, at most `most` (the latest ones); returns how
 * many.  *lost_out: how many since then were overwritten while we read, and one more if some
 * did not fit or were overwritten before: nobody knows how many those were. */
size_t trace_read(const struct trace_ring *ring, uint64_t from_ns, struct trace_event *events_out,
                  size_t most, uint64_t *lost_out);

#endif
