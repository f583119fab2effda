/* stop_trace.c -- see stop_trace.h.  SPDX-License-Identifier: MIT */
#include "safepoint/stop_trace.h"

#include "base/flags.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"

#define MOST_READ 256 /* of one ring; a stop of more participants is told in part */

static struct trace_ring *coordinator_ring;

const char *stop_step_name(enum stop_step step)
{
    static const char *const names[] = {
#define X(name, meaning, argument) #name,
        STOP_STEP_LIST(X)
#undef X
    };
    return names[step];
}

const char *stop_step_meaning(enum stop_step step)
{
    static const char *const meanings[] = {
#define X(name, meaning, argument) meaning,
        STOP_STEP_LIST(X)
#undef X
    };
    return meanings[step];
}

bool stop_trace_is_on(void) { return flags->trace_stops; }

bool stop_trace_start(void)
{
    if (flags->trace_stops && !coordinator_ring)
        coordinator_ring = trace_ring_create();
    return !flags->trace_stops || coordinator_ring;
}

struct trace_ring *stop_trace_coordinator(void) { return coordinator_ring; }

static void visit_ring(const struct trace_ring *ring, const char *name, uint32_t number,
                       uint64_t from_ns, stop_trace_visitor *visit, void *argument)
{
    static struct trace_event events[MOST_READ]; /* the VM thread's */
    uint64_t lost;
    size_t count = trace_read(ring, from_ns, events, MOST_READ, &lost);
    visit(argument, name, number, events, count, lost);
}

void stop_trace_each(uint64_t from_ns, stop_trace_visitor *visit, void *argument)
{
    if (!coordinator_ring)
        return;
    visit_ring(coordinator_ring, "coordinator", 0, from_ns, visit, argument);
    registry_read_lock();
    registry_for_each (line)
        if (line->participant->trace)
            visit_ring(line->participant->trace, line->participant->name, line->participant->number,
                       from_ns, visit, argument);
    registry_read_unlock();
}
