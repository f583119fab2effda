/* stress_guest.h -- guest programs whose threads race on purpose and check what they read.
 *
 * Read next: the programs in tools/stress/guest/, stress_guest.c.
 * Layer:     tools/.
 *
 * Rounds of a few seconds: one program in a child process, 8 threads, a stop each
 * millisecond; builds with asserts verify the heap in each.  The programs end with the
 * number of checks they have made, or with a run-time error that says what they read.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GUEST_H
#define TOOLS_STRESS_STRESS_GUEST_H

#include "tools/stress/stress_protocol.h"

#include <stdbool.h>

/* Of the options threads are at most STRESS_GUEST_MOST_THREADS.  result: stops, checks, failures,
 * failure, and attaches = rounds.  ERR_NO_MEMORY: no process, or a system that refuses. */
#define STRESS_GUEST_MOST_THREADS 64
/* options->program: one of these, alone; NULL = all in turn. */
bool stress_guest_has_program(const char *name);
MUST_USE enum err stress_guest_run(const struct stress_protocol_options *options,
                                   struct stress_protocol_result *result_out);

#endif
