/* stops.h -- the stop machinery as a whole: start, exit, figures.
 *
 * Read next: vm_thread.c (who serves requests), participant.h (who is stopped).
 * Layer:     safepoint/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_STOPS_H
#define SAFEPOINT_STOPS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* [any] Once per process, after the flags are parsed: RCU's worker, libunwind's
 * tables, the VM thread.  ERR_NO_MEMORY, ERR_NO_THREAD; ERR_STATE when on already. */
MUST_USE enum err stops_start(void);
bool stops_are_on(void);
bool stops_have_ended(void); /* stops_exit() has returned */

/* [any] Stops all for the last time (Exit never releases), drains the ledger and
 * ends the VM thread.  Participants stay where they are until the process ends.
 * The caller must not be a participant in GUEST or VM.  [checked, INSIST]  A second
 * caller waits for the first. */
void stops_exit(void);

/* [any] Asks for a stop that runs run(argument), NULL = nothing.  Before the start
 * and after the exit it returns at once, without a stop; so does a dump. */
void stops_force(void (*run)(void *), void *argument);
/* [any] Stops all and writes every participant's state, doing and native frames to
 * stderr.  SIGQUIT does the same once stops_handle_sigquit() was called. */
void stops_dump_threads(void);
void stops_handle_sigquit(void);

/* [any] What a stop of -XX:+SafepointALot runs in builds with asserts, under the rules of
 * an operation's run(), but that it may write when it aborts; NULL = nothing. */
void stops_set_check(void (*check_at_safepoint)(void));

/* [any] Figures since the start; relaxed. */
struct stops_figures {
    uint64_t stops, attached, transitions;
};
struct stops_figures stops_figures(void);
void stops_count_transitions(uint64_t transitions); /* [self] of one ending participant */

/* [signal handler, watchdog] Every participant's state and the number of stops, by
 * crash_write(); takes no lock, may read a list that changes. */
void stops_describe(void);

#endif
