/* stop_trace.h -- the steps of a stop, as the coordinator and each participant note them.
 *
 * Read next: base/trace.h (the rings), docs/safepoint.md, tools/explain/.
 * Layer:     safepoint/.  With -XX:+TraceStops; without, a step costs one predictable branch.
 *
 * Instants that the ledger has carry the ledger's own stamps.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_STOP_TRACE_H
#define SAFEPOINT_STOP_TRACE_H

#include "base/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The argument of a step that is about a participant: which one, and its state. */
#define STOP_STEP_ABOUT(number, state) ((number)*8 + (state))

/*   row: name, what it means, argument */
#define STOP_STEP_LIST(X)                                                                          \
    X(BEGIN, "the stop begins, before its first lock", "epoch")                                    \
    X(ARMED, "the epoch is odd: who leaves a safe state now waits at the gate", "epoch")           \
    X(SEEN_SAFE, "it is in a safe state: nothing to wait for", "about")                            \
    X(SEEN_ARRIVED, "it ran when the stop began, and is here already", "about")                    \
    X(SEEN_UNSAFE, "it is running: it gets a ticket, and its poll word is set", "about")           \
    X(FOUND_SAFE, "it has become safe meanwhile: takes the ticket back, that is its arrival",      \
      "about")                                                                                     \
    X(SCANNED, "every participant was looked at", "epoch")                                         \
    X(SPINS, "waits by looking again and again", "tickets outstanding")                            \
    X(SLEEPS, "gives its CPU away until the last one wakes it", "tickets outstanding")             \
    X(NOTICED, "knows that all are here", "epoch")                                                 \
    X(OP_BEGIN, "runs the operation, alone", "epoch")                                              \
    X(OP_END, "the operation has ended", "epoch")                                                  \
    X(RELEASED, "the epoch is even: who looks may go", "epoch")                                    \
    X(WOKEN, "has woken the first of those who wait", "epoch")                                     \
    X(POLL_FIRED, "its poll found the word set", "epoch")                                          \
    X(ENTERS_SAFE, "goes native, goes to sleep or ends: safe without a poll", "epoch")             \
    X(STEPS_BACK, "wanted to leave its safe state, found the epoch odd and goes back", "epoch")    \
    X(ARRIVED, "stamps its arrival, then says that it is safe", "epoch")                           \
    X(COUNTED, "turns its ticket: one fewer is missing", "1 = it was the last")                    \
    X(WAITS, "waits at the gate", "epoch")                                                         \
    X(AWAKE, "sees the gate open: the epoch is even", "epoch")                                     \
    X(WAKES, "has woken the next one or two of those who wait, then goes on itself", "epoch")      \
    X(RESUMED, "is back in guest code", "epoch")

enum stop_step {
#define X(name, meaning, argument) STOP_STEP_##name,
    STOP_STEP_LIST(X)
#undef X
        STOP_STEPS
};

const char *stop_step_name(enum stop_step step);
const char *stop_step_meaning(enum stop_step step);

/* [start] From -XX:+TraceStops; the coordinator's ring.  False: no memory. */
bool stop_trace_start(void);
bool stop_trace_is_on(void);
struct trace_ring *stop_trace_coordinator(void);

/* [VM thread, outside stops] All rings since from_ns: the participants', newest first, then those
 * of the ones that have ended since, then the coordinator's, with number 0.  COUNTED is put
 * after the fact and may be missing from a ring that is read soon; all else of a stop that
 * nobody waits in any more is there. */
typedef void stop_trace_visitor(void *argument, const char *name, uint32_t number,
                                const struct trace_event *events, size_t count, uint64_t lost);
void stop_trace_each(uint64_t from_ns, stop_trace_visitor *visit, void *argument);

#endif
