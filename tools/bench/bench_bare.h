/* bench_bare.h -- the least that can stop threads: what bench_ttsp.c compares us with.
 *
 * Read next: bench_bare_stop() in bench_bare.c, from the stop to the open gate.
 * Layer:     tools/, for the files of this folder.
 *
 * One shared word to poll, one count to wait for, two futexes; no registry, no states, no
 * account.  Who arrives reads the clock before it counts itself, as ours does.
 *
 * Asks of callers
 *   C1  All pollers run when a stop begins; none starts or ends afterwards.
 *   C2  A stop begins when the pollers of the one before have resumed.
 *
 * Who may call:  [poller] a thread to be stopped   [stopper] one other thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_BARE_H
#define TOOLS_BENCH_BENCH_BARE_H

#include <stdint.h>

struct bench_bare_stop {
    uint64_t begin_ns, last_arrival_ns;
    uint64_t noticed_ns; /* the stopper knows that all have arrived */
    uint64_t woken_ns;   /* the gate is open and its sleepers are woken */
};

/* [poller] A tight loop with a poll in it; only the end of the process ends it. */
_Noreturn void bench_bare_poll_for_ever(void);
/* [stopper] Stops that many pollers, which is all of them, and lets them go at once. */
struct bench_bare_stop bench_bare_stop(uint32_t pollers);
/* [stopper] Until pollers have resumed that many times, all stops together. */
void bench_bare_wait_resumed(uint32_t times);

#endif
