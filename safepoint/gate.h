/* gate.h -- where participants wait while a stop is on, and who is still there.
 *
 * Read next: participant.c (who waits), coordinator.c (who opens).
 * Layer:     safepoint/.
 *
 * Promises
 *   G1  A participant that waits for stop e is woken after e ends, whoever else
 *       is woken or late.                                         Note [W] in gate.c
 *   G2  When e is closed, every participant counted in for e has been counted
 *       out, or the next stop took the rest over as carried.
 *
 *                enter     wait      leave     arm       open
 *     enter      ok        ok        ok        ok        ok
 *     arm        ok        ok        ok        one       one thread only:
 *     open       ok        ok        ok        one       the coordinator
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_GATE_H
#define SAFEPOINT_GATE_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a stop's waiters when its record closes. */
struct gate_count {
    uint32_t waiting;     /* counted in, not yet out */
    uint64_t last_out_ns; /* after the release, of the last one counted out; 0 = nobody waited */
};

/* [coordinator] Before epoch e becomes odd.  Returns what stop e-2 left behind. */
struct gate_count gate_arm(uint64_t epoch);
/* [coordinator] What is known of the latest stop. */
struct gate_count gate_look(void);
/* [coordinator] Before the epoch becomes even: when it was. */
void gate_note_release(uint64_t released_ns);
/* [coordinator] After the epoch became even: wakes all, or the first of a tree. */
void gate_open(uint64_t epoch);

/* [self] Counted in for stop e; false when e is over already. */
STOP_PATH bool gate_enter(uint64_t epoch);
/* [self] Sleeps while the epoch is e.  True: it was woken, and must wake others next. */
STOP_PATH bool gate_wait(uint64_t epoch);
/* [self] The next ones of those who wait for the end of e, if there are any (Note [W]); returns
 * how many there were. */
STOP_PATH int gate_wake_others(uint64_t epoch);
/* [self] Counted out: in GUEST or VM again at now_ns. */
STOP_PATH void gate_leave(uint64_t epoch, uint64_t now_ns);

#endif
