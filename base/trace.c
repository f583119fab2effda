/* trace.c -- see trace.h.
 *
 * Note [R] Reading while the owner writes.  Event n lies in slot n mod N, over event n - N.
 *   The owner writes the slot, then `written` := n + 1.  All its stores are releases, so a
 *   reader that sees one word of event n (acquire) also sees `written` >= n when it looks
 *   after reading; it then throws away what lies N or more behind, event n - N among it.
 *   What is left was not touched while it was read.
 *
 * SPDX-License-Identifier: MIT */
#include "base/trace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct trace_ring *trace_ring_create(void)
{
    struct trace_ring *ring = malloc(sizeof *ring);
    if (ring)
        memset(ring, 0, sizeof *ring);
    return ring;
}

void trace_ring_destroy(struct trace_ring *ring) { free(ring); }

static struct trace_event event_at(const struct trace_ring *ring, uint64_t number)
{
    uint64_t ns = load_acquire(&ring->slot[number % TRACE_EVENTS].ns);     /* [R] */
    uint64_t rest = load_acquire(&ring->slot[number % TRACE_EVENTS].rest); /* [R] */
    return (struct trace_event){ ns, (uint32_t)(rest >> 32), (uint32_t)rest };
}

size_t trace_read(const struct trace_ring *ring, uint64_t from_ns, struct trace_event *events_out,
                  size_t most, uint64_t *lost_out)
{
    uint64_t end = load_acquire(&ring->written), first = end; /* [R] */
    uint64_t oldest = end > TRACE_EVENTS ? end - TRACE_EVENTS : 0;
    while (first > oldest && end - first < most && event_at(ring, first - 1).ns >= from_ns)
        first--;
    for (uint64_t n = first; n < end; n++)
        events_out[n - first] = event_at(ring, n);
    bool has_more = first > oldest ? end - first == most && event_at(ring, first - 1).ns >= from_ns
                                   : oldest > 0; /* what lay before may be of interest too */
    uint64_t now = load_relaxed(&ring->written); /* after the acquires, [R] */
    uint64_t gone = now >= TRACE_EVENTS ? now - TRACE_EVENTS + 1 : 0;
    size_t late = gone > first ? (size_t)(gone - first) : 0;
    size_t count = (size_t)(end - first);
    if (late > count)
        late = count;
    memmove(events_out, events_out + late, (count - late) * sizeof *events_out);
    *lost_out = late + has_more;
    return count - late;
}
