/* stress.h -- stillpoint stress: the machinery against itself, seeded.
 *
 * Read next: stress.c (the command), stress_protocol.h (the one test there is so far).
 * Layer:     tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_H
#define TOOLS_STRESS_STRESS_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

/* [main thread] The arguments after "stress"; returns the exit code. */
int stress_main(int argc, char **argv);

/* [main thread] Aborts the process, with the states of all threads, when *progress has
 * not changed for ten seconds.  False: the system gave no thread. */
bool stress_watchdog_start(const char *name, _Atomic uint32_t *progress);
/* Nothing is left that could hang. */
void stress_watchdog_end(void);

#endif
