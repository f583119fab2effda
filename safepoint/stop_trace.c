/* stop_trace.c -- see stop_trace.h.  SPDX-License-Identifier: MIT */
#include "safepoint/stop_trace.h"

#include "base/flags.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"

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

struct visit {
    stop_trace_visitor *to;
    void *argument;
    uint64_t from_ns;
};

/* Returns how many there were. */
static size_t visit_ring(const struct visit *visit, const struct trace_ring *ring, const char *name,
                         uint32_t number, uint64_t lost_with_others)
{
    static struct trace_event events[TRACE_EVENTS]; /* the VM thread's */
    uint64_t lost;
    size_t count = trace_read(ring, visit->from_ns, events, TRACE_EVENTS, &lost);
    visit->to(visit->argument, name, number, events, count, lost + lost_with_others);
    return count;
}

/* An ended one is wanted while it has steps of this stop; a later stop has later ones. */
static bool visit_participant(struct participant *p, void *argument)
{
    return p->trace && visit_ring(argument, p->trace, p->name, p->number, 0) > 0;
}

void stop_trace_each(uint64_t from_ns, stop_trace_visitor *to, void *argument)
{
    struct visit visit = { to, argument, from_ns };
    if (!coordinator_ring)
        return;
    uint64_t dropped_ns = registry_visit_all(visit_participant, &visit);
    visit_ring(&visit, coordinator_ring, "coordinator", 0, dropped_ns >= from_ns);
}
