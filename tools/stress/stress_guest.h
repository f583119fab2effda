/* stress_guest.h -- guest programs whose threads race on purpose and check what they read.
 *
 * Read next: the programs in tools/stress/guest/, stress_guest.c.
 * Layer:     tools/.
 *
 * Rounds of 50 ms to 2 s: one program in a child process, 8 threads, a stop each
 * millisecond; builds with asserts verify the heap in each.  The programs end with the
 * number of checks they have made, or with a run-time error after having printed what they
 * read.  A child that ends with another exit code than 0 has failed too: that is how a
 * sanitizer tells.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GUEST_H
#define TOOLS_STRESS_STRESS_GUEST_H

#include "tools/stress/stress_protocol.h"

#include <stdbool.h>

#define STRESS_GUEST_MOST_THREADS 64
/* In the order of the rounds; the last is a control that must fail, by its name only. */
#define STRESS_GUEST_PROGRAMS "fields, values, caches, sync, strings, prints, hammer; unlocked"
/* options->program: one of these, alone; NULL = all in turn. */
bool stress_guest_has_program(const char *name);
/* Of the options threads are at most STRESS_GUEST_MOST_THREADS.  result: stops, transitions,
 * ttsp, checks, failures, failure, and attaches = rounds.  ERR_SYSTEM: the system or the
 * heap's limit refused, failure says what. */
MUST_USE enum err stress_guest_run(const struct stress_protocol_options *options,
                                   struct stress_protocol_result *result_out);

#endif
